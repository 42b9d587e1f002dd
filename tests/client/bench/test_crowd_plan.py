"""Who of a crowd says what when, and how the pieces of all leave by one clock."""

from __future__ import annotations

import base64
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec
import pytest
from websockets.frames import Frame, Opcode
from websockets.streams import StreamReader

from s2s_actors.client.bench.clips import Clip
from s2s_actors.client.bench.crowd_frames import Speech, frames_of, hiss_frames, speech_of
from s2s_actors.client.bench.crowd_plan import SETTLE_S, Utterance, in_turn, one_by_one, sound_of
from s2s_actors.client.bench.crowd_wheel import Stream, Wheel
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORT = Clip("short", silence(60) + tone(400) + silence(40), 60, 460)
LONG = Clip("long", silence(60) + tone(1400) + silence(40), 60, 1460)
CLIPS = [SHORT, LONG]
"""1 s long on average."""


def talking_at(at_s: float, utterances: Iterable[Utterance]) -> int:
    lengths_s = [len(clip.pcm) / 48_000 for clip in CLIPS]
    return sum(each.at_s <= at_s < each.at_s + lengths_s[each.clip] for each in utterances)


def test_that_share_talks_at_any_moment_and_all_in_turn() -> None:
    utterances = in_turn(CLIPS, sessions=40, talking=0.1, duration_s=60.0)
    shares = [talking_at(SETTLE_S + 10.0 + tenth / 10.0, utterances) for tenth in range(300)]
    assert sum(shares) / len(shares) == pytest.approx(4.0, rel=0.05)
    assert max(shares) - min(shares) <= 2
    turns = Counter(each.session for each in utterances)
    assert set(turns) == set(range(40))
    assert max(turns.values()) - min(turns.values()) <= 1


def test_a_session_says_something_else_each_time_and_never_two_things_at_once() -> None:
    utterances = in_turn(CLIPS, sessions=2, talking=0.5, duration_s=30.0)
    own = [each for each in utterances if each.session == 1]
    assert [each.clip for each in own[:4]] == [1, 0, 1, 0]
    lengths_s = [len(clip.pcm) / 48_000 for clip in CLIPS]
    assert all(a.at_s + lengths_s[a.clip] <= b.at_s for a, b in pairwise(own))


def test_what_would_not_be_over_in_time_is_not_begun() -> None:
    utterances = in_turn(CLIPS, sessions=10, talking=0.5, duration_s=3.0)
    ends = [each.at_s + len(CLIPS[each.clip].pcm) / 48_000 for each in utterances]
    assert SETTLE_S + 2.0 < max(ends) <= SETTLE_S + 3.0


def test_a_crowd_that_only_listens_says_nothing() -> None:
    assert in_turn(CLIPS, sessions=10, talking=0.0, duration_s=60.0) == ()


def test_one_alone_says_every_clip_once_with_a_breath_between() -> None:
    first, second = one_by_one(CLIPS)
    assert (first.clip, second.clip) == (0, 1)
    assert second.at_s > first.at_s + len(SHORT.pcm) / 48_000 + 2.0


def audio_in(frames: Iterable[bytes]) -> bytes:
    """What a server hears in frames as they are written."""
    heard = b""
    for written in frames:
        reader = StreamReader()
        reader.feed_data(written)
        with pytest.raises(StopIteration) as parsed:
            next(Frame.parse(reader.read_exact, mask=True))
        frame = parsed.value.value
        assert frame.opcode is Opcode.TEXT
        event = msgspec.json.decode(frame.data)
        assert event["type"] == "input_audio_buffer.append"
        heard += base64.b64decode(event["audio"])
    return heard


@pytest.mark.parametrize("piece_ms", [20, 40, 100])
def test_frames_carry_the_whole_clip_in_whole_pieces(piece_ms: int) -> None:
    frames = frames_of(SHORT.pcm[:-2], piece_ms)
    assert len(frames) == -(-500 // piece_ms)
    heard = audio_in(frames)
    assert heard[: len(SHORT.pcm) - 2] == SHORT.pcm[:-2]
    assert len(heard) == len(frames) * piece_ms * 48


def test_hiss_is_faint_and_never_quite_silent() -> None:
    heard = memoryview(audio_in(hiss_frames(20))).cast("h")
    assert len(heard) == 24_000
    assert 0 < max(heard) < 50


def test_a_speech_knows_which_pieces_hold_its_onset_and_its_end() -> None:
    speech = speech_of(sound_of(SHORT), 20)
    assert (speech.onset, speech.end) == (3, 23)
    speech = speech_of(sound_of(SHORT), 100)
    assert (speech.onset, speech.end) == (0, 4)


SPEECH = Speech(frames=[b"a", b"b", b"c", b"d"], onset=1, end=2)


def test_a_stream_hisses_speaks_when_it_is_time_and_notes_what_left_when() -> None:
    written: list[bytes] = []
    stream = Stream(written.append, [b"1", b"2"], [SPEECH], [Utterance(0, 0, 1.0)])
    for tenth in range(8, 17):
        stream.send(tenth / 10.0)
    assert b"".join(written) == b"12abcd121"
    (said,) = stream.said
    assert (said.begin_s, said.onset_s, said.end_s) == (1.0, 1.1, 1.2)


def test_who_is_still_speaking_finishes_first() -> None:
    written: list[bytes] = []
    both = [Utterance(0, 0, 1.0), Utterance(0, 0, 1.1)]
    stream = Stream(written.append, [b"1"], [SPEECH], both)
    for tenth in range(10, 20):
        stream.send(tenth / 10.0)
    assert b"".join(written) == b"abcdabcd11"
    assert [said.onset_s for said in stream.said] == [1.1, 1.5]


class _Machine:
    """A clock, and streams that cost time on it."""

    def __init__(self, streams: int, cost_s: float = 0.0) -> None:
        self.now_s = 5.0
        self.sent: list[tuple[int, float]] = []
        self.cost_s = cost_s
        self.streams = [_Sink(self, number) for number in range(streams)]

    def clock(self) -> float:
        return self.now_s


class _Sink:
    def __init__(self, machine: _Machine, number: int) -> None:
        self._machine = machine
        self._number = number

    def send(self, now_s: float) -> None:
        self._machine.sent.append((self._number, now_s))
        self._machine.now_s += self._machine.cost_s


def test_the_pieces_of_all_leave_evenly_apart_each_stream_in_its_own_place() -> None:
    machine = _Machine(streams=4)
    wheel = Wheel(machine.streams, 20, machine.clock)
    for _ in range(8):
        machine.now_s += wheel.send_due() + 1e-9
    assert [number for number, _ in machine.sent] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert [now_s for _, now_s in machine.sent] == pytest.approx([n * 0.005 for n in range(8)])


def test_a_late_wheel_catches_up_and_tells_how_late_it_was() -> None:
    machine = _Machine(streams=2)
    wheel = Wheel(machine.streams, 20, machine.clock)
    wheel.counts = True
    machine.now_s += 0.0501
    next_s = wheel.send_due()
    assert [number for number, _ in machine.sent] == [0, 1, 0, 1, 0, 1]
    assert list(wheel.late_ms) == pytest.approx([50, 40, 30, 20, 10, 0], abs=0.2)
    assert next_s == pytest.approx(0.0099)


def test_a_wheel_that_can_not_keep_up_still_lets_others_run() -> None:
    machine = _Machine(streams=2, cost_s=0.02)
    wheel = Wheel(machine.streams, 20, machine.clock)
    machine.now_s += 0.0501
    assert wheel.send_due() < 0
    assert len(machine.sent) == 6
