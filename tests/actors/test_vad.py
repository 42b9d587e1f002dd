"""Speech boundaries lie on the session's clock, however the audio comes in."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s_actors.actors.messages import (
    AudioEnded,
    AudioIn,
    Bind,
    ConfigureVad,
    Listened,
    SessionEnd,
    SpeechLasted,
    SpeechPaused,
    SpeechQuiet,
    SpeechResumed,
    SpeechStarted,
    SpeechStopped,
    SpeechWeighed,
)
from s2s_actors.actors.vad import VadActor
from s2s_actors.protocol.session import SemanticVad, ServerVad
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.runtime.supervision import Crashed
from tests.actors.stage_harness import StageBench, around
from tests.support.stepped_plant import FakeTurn, FakeVad, loud, silent

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from s2s_actors.protocol.session import TurnDetection

DETECTION = ServerVad(prefix_padding_ms=100, silence_duration_ms=200)
SAMPLES_PER_MS = 24
# Two utterances, 1280 and 640 ms of voice: whole frames, so that their edges are sharp.
SPEECH = silent(640) + loud(1280) + silent(960) + loud(640) + silent(640)


class Ear:
    """A bench for voice detection that keeps the session's clock, as the buffer does."""

    def __init__(self, backend: FakeVad | None = None, clock: ManualClock | None = None) -> None:
        self.around = around(clock)
        self.stage = StageBench(
            lambda links: VadActor("vad-0", links, backend or FakeVad(), FakeTurn(), self.around)
        )
        self.at_sample = 0

    def configure(self, detection: TurnDetection | None = DETECTION, generation: int = 0) -> Ear:
        self.stage.put(ConfigureVad(self.stage.lease, detection, generation))
        return self

    def hear(self, pcm: bytes, *, came_s: float = 0.0) -> Ear:
        self.stage.put(AudioIn(self.stage.lease, pcm, self.at_sample, came_s))
        self.at_sample += len(pcm) // 2
        return self

    def miss(self, length_ms: int) -> Ear:
        """Audio that is not for voice detection."""
        self.at_sample += length_ms * SAMPLES_PER_MS
        return self

    @property
    def told(self) -> list[Any]:
        """All that is told of speech."""
        messages = self.stage.conversation.messages
        return [message for message in messages if not isinstance(message, Listened)]

    @property
    def boundaries(self) -> list[tuple[str, int]]:
        names: dict[type, str] = {SpeechStarted: "started", SpeechStopped: "stopped"}
        return [
            (names[type(message)], message.at_ms)
            for message in self.stage.conversation.messages
            if isinstance(message, SpeechStarted | SpeechStopped)
        ]


def test_utterances_are_found_where_they_are() -> None:
    boundaries = Ear().configure().hear(SPEECH).boundaries
    assert [kind for kind, _ in boundaries] == ["started", "stopped"] * 2
    # The resampler smears an edge, so that the frame beside it may count as loud, and the
    # end of a silence is the end of a frame.
    for (_, at_ms), expected_ms in zip(boundaries, [540, 2144, 2780, 3744], strict=True):
        assert abs(at_ms - expected_ms) <= 64


@settings(max_examples=60)
@given(cuts=st.lists(st.integers(0, len(SPEECH) // 2), max_size=40))
def test_the_boundaries_are_the_same_however_the_audio_is_cut(cuts: list[int]) -> None:
    whole = Ear().configure().hear(SPEECH)
    cut = Ear().configure()
    edges = [0, *sorted(2 * cut for cut in cuts), len(SPEECH)]
    for start, stop in itertools.pairwise(edges):
        cut.hear(SPEECH[start:stop])
    assert len(whole.boundaries) == 4
    assert cut.boundaries == whole.boundaries


HESITATING = (
    silent(320) + loud(480) + silent(160) + loud(320) + silent(40) + loud(40) + silent(1200)
)


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, len(HESITATING) // 2), max_size=20))
def test_pauses_and_how_long_things_last_are_the_same_however_the_audio_is_cut(
    cuts: list[int],
) -> None:
    semantic = SemanticVad(eagerness="high")
    whole = Ear().configure(semantic).hear(HESITATING)
    cut = Ear().configure(semantic)
    for start, stop in itertools.pairwise([0, *sorted(2 * at for at in cuts), len(HESITATING)]):
        cut.hear(HESITATING[start:stop])
    assert {type(each) for each in whole.told} == {
        SpeechStarted,
        SpeechLasted,
        SpeechPaused,
        SpeechWeighed,
        SpeechQuiet,
        SpeechResumed,
    }
    # How far it had come is told with the start, in whole frames either way.
    assert [replace(each, lease=whole.stage.lease) for each in cut.told] == whole.told


def test_when_the_audio_has_ended_what_is_being_said_is_over() -> None:
    ear = Ear().configure().hear(silent(320) + loud(640))
    ear.stage.put(AudioEnded(ear.stage.lease, 0))
    assert [kind for kind, _ in ear.boundaries] == ["started", "stopped"]
    ear.hear(silent(1000))
    assert [kind for kind, _ in ear.boundaries] == ["started", "stopped"]


def test_audio_in_pieces_of_one_sample_is_heard_as_well() -> None:
    ear = Ear().configure()
    speech = silent(64) + loud(192)
    for start in range(0, len(speech), 2):
        ear.hear(speech[start : start + 2])
    assert ear.boundaries == Ear().configure().hear(speech).boundaries != []


def test_without_settings_nothing_is_detected() -> None:
    assert Ear().hear(SPEECH).boundaries == []
    assert Ear().configure(None).hear(SPEECH).boundaries == []


def test_the_clock_goes_on_while_detection_is_off() -> None:
    at_once = Ear().configure().hear(SPEECH).boundaries
    ear = Ear().configure().hear(silent(1000)).configure(None).hear(loud(5000))
    ear.configure().hear(SPEECH)
    assert ear.boundaries == [(kind, at_ms + 6000) for kind, at_ms in at_once]


def test_the_clock_is_right_after_audio_that_never_came_here() -> None:
    at_once = Ear().configure().hear(SPEECH).boundaries
    ear = Ear().configure().hear(silent(333)).miss(5000).hear(SPEECH)
    assert ear.boundaries == [(kind, at_ms + 5333) for kind, at_ms in at_once]


def test_a_gap_makes_it_forget_the_utterance() -> None:
    ear = Ear().configure().hear(silent(320) + loud(320)).miss(1000).hear(silent(1000))
    assert [kind for kind, _ in ear.boundaries] == ["started"]


def test_another_generation_forgets_the_utterance_and_marks_what_follows() -> None:
    ear = Ear().configure().hear(silent(320) + loud(320))
    ear.configure(generation=1).hear(silent(1000) + loud(320))
    assert [
        (type(message), message.generation)
        for message in ear.stage.conversation.messages
        if isinstance(message, SpeechStarted | SpeechStopped)
    ] == [(SpeechStarted, 0), (SpeechStarted, 1)]


def test_the_same_generation_keeps_the_utterance_and_takes_the_new_settings() -> None:
    ear = Ear().configure().hear(silent(320) + loud(320))
    ear.configure(ServerVad(silence_duration_ms=1000)).hear(silent(900))
    assert [kind for kind, _ in ear.boundaries] == ["started"]
    ear.hear(silent(200))
    assert [kind for kind, _ in ear.boundaries] == ["started", "stopped"]


def test_settings_hold_for_the_audio_behind_them_and_not_for_what_waits() -> None:
    ear = Ear()
    for message in (
        ConfigureVad(ear.stage.lease, DETECTION, 0),
        AudioIn(ear.stage.lease, SPEECH, 0, 0.0),
        ConfigureVad(ear.stage.lease, None, 1),
        AudioIn(ear.stage.lease, SPEECH, len(SPEECH) // 2, 0.0),
    ):
        ear.stage.actor.outlet.put(message)
    ear.stage.put()
    assert ear.boundaries == Ear().configure().hear(SPEECH).boundaries


def test_the_next_session_starts_with_no_voice_in_its_ear() -> None:
    backend = CountingVad()
    ear = Ear(backend).configure().hear(silent(320) + loud(320))
    lease = ear.stage.lease
    ear.stage.put(SessionEnd(lease), Bind(lease, ear.stage.scope))
    ear.at_sample = 0
    ear.hear(SPEECH)
    assert [kind for kind, _ in ear.boundaries] == ["started"], "it has no settings yet"
    ear.stage.conversation.take()
    ear.at_sample = 0
    ear.configure().hear(SPEECH)
    assert ear.boundaries == Ear().configure().hear(SPEECH).boundaries
    assert backend.opened == 2


def test_more_than_five_minutes_that_nobody_has_listened_to_are_refused() -> None:
    ear = Ear()
    second = AudioIn(ear.stage.lease, bytes(48_000), 0, 0.0)
    for _ in range(5 * 60):
        ear.stage.actor.outlet.put(second)
    with pytest.raises(LaneFullError):
        ear.stage.actor.outlet.put(second)


def test_the_conversation_hears_about_once_a_second_how_far_it_has_come() -> None:
    ear = Ear().configure()
    for _ in range(100):
        ear.hear(silent(50))
    messages = ear.stage.conversation.messages
    told = [each.up_to_ms for each in messages if isinstance(each, Listened)]
    assert len(told) == 4
    assert all(1000 <= b - a < 1100 for a, b in itertools.pairwise([0, *told]))


def test_a_model_that_crashes_is_the_units_business() -> None:
    backend = FakeVad()
    backend.mischief.plan("vad", _raiser(RuntimeError("a bug")))
    ear = Ear(backend).configure().hear(SPEECH)
    assert [type(message) for message in ear.stage.unit.messages] == [Crashed]


class CountingVad(FakeVad):
    """Counts its streams."""

    opened = 0

    def open_stream(self, session_id: str) -> FakeVad:
        self.opened += 1
        return super().open_stream(session_id)

    def probability(self, frame: NDArray[np.float32]) -> float:
        assert frame.shape == (self.frame_samples,)
        assert float(np.abs(frame).max()) <= 1.0
        return super().probability(frame)


def _raiser(error: Exception) -> Callable[[], None]:
    def surprise() -> None:
        raise error

    return surprise


# --- how late it is ------------------------------------------------------------------------------


def test_sound_that_is_heard_late_is_noted_and_a_recording_sent_at_once_is_not_late() -> None:
    clock = ManualClock()
    ear = Ear(clock=clock).configure()

    def lateness() -> float:
        sources = ear.around.health.read().sources
        return next(each.late_s for each in sources if each.source == "hearing")

    for _ in range(100):  # ten seconds that came at once, heard as they would play
        ear.hear(silent(100), came_s=0.0)
        clock.advance(0.1)
    assert lateness() == 0.0
    clock.advance(1.0)
    for _ in range(100):
        clock.advance(0.1)
        ear.hear(silent(100), came_s=clock.monotonic_s() - 0.8)
    assert lateness() == pytest.approx(0.8, abs=0.02)
