"""What one session's ear tells, in which order, and what it keeps to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pytest

from s2s_actors.actors import messages as m
from s2s_actors.actors.ear import Ear, Weighing
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.vad import VadActor
from s2s_actors.protocol.session import SemanticVad, ServerVad
from s2s_actors.runtime.supervision import Crashed
from tests.actors.stage_harness import StageBench, around
from tests.support.sound import mixed, noise
from tests.support.stepped_plant import FakeTurn, FakeVad, loud, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from s2s_actors.protocol.session import TurnDetection
    from s2s_actors.runtime.mailbox import Marker

T = TypeVar("T")

FRAME_MS = 32
SERVER_VAD = ServerVad(prefix_padding_ms=0, silence_duration_ms=200)
SEMANTIC_VAD = SemanticVad(eagerness="high")


class Judge(FakeTurn):
    """Keeps what it was asked about."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[NDArray[np.float32]] = []

    def completeness(self, audio: NDArray[np.float32]) -> float:
        self.asked.append(audio)
        return 0.25


class Listener:
    """An ear, and the clock of its session."""

    def __init__(self, detection: TurnDetection | None = SERVER_VAD) -> None:
        self.lease = Lease.issue(0, "sess_ear")
        self.judge = Judge()
        self.ear = Ear(self.lease, FakeVad(), self.judge, self.weigh)
        self.at_sample = 0
        self.told: list[Marker] = []
        if detection is not None:
            self.configure(detection)

    def configure(self, detection: TurnDetection | None, generation: int = 0) -> None:
        self.ear.configure(m.ConfigureVad(self.lease, detection, generation))

    def hearing(self, pcm: bytes) -> Iterator[Marker]:
        """Take in audio, as far as somebody wants to know what is in it."""
        message = m.AudioIn(self.lease, pcm, self.at_sample, 0.0)
        self.at_sample += len(pcm) // 2
        self.ear.take_in(message)
        return self.ear.catch_up()

    def weigh(self, weighing: Weighing) -> None:
        self.told.append(weighing.answer(self.lease, self.judge))

    def hear(self, *parts: bytes) -> Listener:
        for pcm in parts:
            self.told += self.hearing(pcm)
        return self

    def play(self, pcm: bytes, *, late_ms: int = 0) -> None:
        """The client plays something, some time from now."""
        self.ear.played(m.AnswerPlayed(self.lease, pcm, self.at_sample + 24 * late_ms))

    def end(self, generation: int = 0) -> list[Marker]:
        return self.ear.end(m.AudioEnded(self.lease, generation))

    def of(self, kind: type[T]) -> list[T]:
        """What was told of one kind."""
        return [each for each in self.told if isinstance(each, kind)]

    @property
    def kinds(self) -> list[str]:
        """What was told, but for how long speech or silence has lasted."""
        dull = m.SpeechLasted | m.SpeechQuiet | m.Listened
        return [type(each).__name__ for each in self.told if not isinstance(each, dull)]


def softer(pcm: bytes, db: float) -> bytes:
    samples = np.frombuffer(pcm, "<i2") * 10 ** (db / 20)
    return bytes(samples.astype("<i2").tobytes())


# --- order ---------------------------------------------------------------------------------------


def test_an_utterance_with_a_pause_is_told_as_it_goes() -> None:
    listener = Listener().hear(silent(320), loud(640), silent(160), loud(320), silent(640))
    assert listener.kinds == [
        "SpeechStarted",
        "SpeechPaused",
        "SpeechResumed",
        "SpeechPaused",
        "SpeechStopped",
    ]
    assert listener.judge.asked == [], "nobody weighs it"


def test_a_pause_that_is_weighed_is_told_before_it_is() -> None:
    listener = Listener(SEMANTIC_VAD)
    listener.hear(silent(320), loud(640), silent(640))
    dull = m.SpeechLasted | m.Listened
    kinds = [type(each) for each in listener.told if not isinstance(each, dull)]
    assert kinds[:3] == [m.SpeechStarted, m.SpeechPaused, m.SpeechWeighed]
    assert set(kinds[3:]) == {m.SpeechQuiet}
    assert len(listener.judge.asked) == 1, "once in a pause"


def test_nobody_waits_for_the_judgement_to_hear_of_the_pause() -> None:
    listener = Listener(SEMANTIC_VAD)
    for each in listener.hearing(silent(320) + loud(640) + silent(640)):
        if isinstance(each, m.SpeechPaused):
            assert listener.judge.asked == []
            break
    else:
        pytest.fail("no pause was told")


def test_each_pause_is_judged_and_how_long_the_speech_was_is_told_with_it() -> None:
    listener = Listener(SEMANTIC_VAD)
    listener.hear(silent(320), loud(640), silent(320), loud(640), silent(320))
    weighed = listener.of(m.SpeechWeighed)
    assert [each.completeness for each in weighed] == [0.25, 0.25]
    assert [each.speech_ms for each in weighed] == [
        pytest.approx(640, abs=2 * FRAME_MS),
        pytest.approx(1600, abs=2 * FRAME_MS),
    ]


def test_only_what_belongs_to_the_utterance_is_judged() -> None:
    listener = Listener(SemanticVad(eagerness="high"))
    listener.hear(loud(640), silent(2400))  # over, and forgotten
    listener.judge.asked.clear()
    listener.hear(loud(320), silent(160))
    (audio,) = listener.judge.asked
    # 300 ms of padding, the speech, and the silence that told of the pause.
    assert len(audio) / 16 == pytest.approx(300 + 320 + 96, abs=2 * FRAME_MS)
    loud_ms = np.count_nonzero(np.abs(audio) > 0.05) / 16
    assert loud_ms == pytest.approx(320, abs=FRAME_MS)


def test_of_a_long_utterance_only_the_end_is_judged() -> None:
    listener = Listener(SEMANTIC_VAD)
    listener.hear(*[loud(1000)] * 10, silent(160))
    (audio,) = listener.judge.asked
    assert len(audio) == FakeTurn.window_samples


def test_what_is_told_is_on_the_clock_of_the_session() -> None:
    listener = Listener().hear(silent(1000))
    listener.at_sample += 24 * 5000  # audio that never came here
    listener.hear(silent(960), loud(640), silent(640))
    (started,) = listener.of(m.SpeechStarted)
    (paused,) = listener.of(m.SpeechPaused)
    (stopped,) = listener.of(m.SpeechStopped)
    assert started.at_ms == pytest.approx(6960, abs=FRAME_MS)
    assert started.heard_ms == pytest.approx(started.at_ms + 96, abs=FRAME_MS)
    assert paused.quiet_ms == stopped.quiet_ms == pytest.approx(7600, abs=FRAME_MS)
    assert paused.at_ms == pytest.approx(paused.quiet_ms + 96, abs=1)
    assert stopped.at_ms == pytest.approx(stopped.quiet_ms + 224, abs=1)


def test_after_a_gap_nothing_is_left_of_what_was_being_said() -> None:
    listener = Listener(SEMANTIC_VAD).hear(silent(320), loud(640))
    listener.at_sample += 24
    listener.hear(silent(1000))
    assert listener.kinds == ["SpeechStarted"]
    assert listener.end() == []
    listener.hear(loud(320), silent(160))
    assert listener.kinds == ["SpeechStarted", "SpeechStarted", "SpeechPaused", "SpeechWeighed"]
    (audio,) = listener.judge.asked
    assert np.count_nonzero(np.abs(audio) > 0.05) / 16 == pytest.approx(320, abs=FRAME_MS)


# --- generations and the end ---------------------------------------------------------------------


def test_all_that_is_told_bears_the_generation_of_the_settings() -> None:
    listener = Listener(SEMANTIC_VAD)
    listener.configure(SEMANTIC_VAD, generation=7)
    listener.hear(silent(320), loud(640), silent(160), loud(320), silent(2400))
    told = [each for each in listener.told if not isinstance(each, m.Listened)]
    assert {type(each) for each in told} == {
        m.SpeechStarted,
        m.SpeechLasted,
        m.SpeechPaused,
        m.SpeechWeighed,
        m.SpeechQuiet,
        m.SpeechResumed,
        m.SpeechStopped,
    }
    assert {each.generation for each in told} == {7}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([silent(640)], []),
        ([loud(640)], [m.SpeechPaused, m.SpeechStopped]),
        ([loud(640), silent(128)], [m.SpeechStopped]),
        ([loud(640), silent(640)], []),
    ],
)
def test_when_no_more_audio_comes_what_is_being_said_is_over(
    before: list[bytes], expected: list[type]
) -> None:
    listener = Listener().hear(*before)
    found = listener.end()
    assert [type(each) for each in found] == expected
    end_ms = listener.at_sample / 24
    for each in found:
        assert isinstance(each, m.SpeechPaused | m.SpeechStopped)
        assert each.at_ms == pytest.approx(end_ms, abs=FRAME_MS)
    assert listener.end() == []


def test_an_end_that_is_about_other_settings_or_none_changes_nothing() -> None:
    listener = Listener().hear(loud(640))
    assert listener.end(generation=1) == []
    assert [type(each) for each in listener.end()] == [m.SpeechPaused, m.SpeechStopped]
    assert Listener(None).hear(loud(640)).end() == []


# --- the assistant's own voice -------------------------------------------------------------------

# White noise stands for a voice: every stretch of it sounds like no other.
VOICE = noise(4000, level_db=-6, seed=11)
LATE_MS = 160


def echo_of(voice: bytes) -> bytes:
    """What the microphone hears of it."""
    return silent(LATE_MS) + softer(voice, -12)


def test_echo_is_never_taken_for_speech() -> None:
    listener = Listener()
    listener.hear(silent(320))
    listener.play(VOICE)
    listener.hear(echo_of(VOICE), silent(640))
    assert listener.kinds == []


def test_the_same_sound_is_speech_where_nothing_was_played() -> None:
    listener = Listener().hear(silent(320), echo_of(VOICE), silent(640))
    assert listener.kinds[0] == "SpeechStarted"
    assert listener.kinds[-1] == "SpeechStopped"


def test_speech_that_turns_out_to_be_echo_is_dismissed_once() -> None:
    listener = Listener()
    listener.hear(silent(320))
    own, rest = noise(160, level_db=-18, seed=12), VOICE
    # With headphones on, nobody has to wait; then they are taken off.
    listener.play(silent(1000))
    listener.hear(silent(1200))
    listener.play(rest, late_ms=160)
    # Somebody makes a sound, and the echo follows without a gap.
    listener.hear(own, softer(rest, -12), silent(640))
    assert listener.kinds[0] == "SpeechStarted"
    assert listener.kinds.count("SpeechDismissed") == 1
    assert "SpeechStopped" not in listener.kinds
    assert listener.end() == []


def test_what_may_have_been_echo_is_forgotten_with_the_utterance() -> None:
    listener = Listener()
    listener.play(VOICE)
    listener.hear(noise(200, level_db=-6, seed=15))
    listener.configure(SERVER_VAD, generation=1)
    listener.hear(silent(640))
    assert listener.kinds == []


def test_echo_behind_what_a_user_has_said_is_silence() -> None:
    listener = Listener()
    listener.hear(silent(320))
    listener.play(VOICE)
    user = noise(1600, level_db=-6, seed=14)
    listener.hear(mixed(softer(VOICE[: len(user)], -26), user))
    # An answer that may not be interrupted goes on playing.
    behind = silent(LATE_MS) + softer(VOICE, -26)
    listener.hear(behind[len(user) :])
    assert listener.kinds[0] == "SpeechStarted"
    assert listener.kinds[-1] == "SpeechStopped"
    assert "SpeechDismissed" not in listener.kinds


def test_a_user_who_is_louder_than_the_echo_is_heard() -> None:
    listener = Listener()
    listener.hear(silent(320))
    listener.play(VOICE)
    user = silent(1000) + noise(1000, level_db=-10, seed=13)
    listener.hear(mixed(softer(VOICE[: len(user)], -26), user))
    listener.play(b"")  # as it is when the user is heard
    listener.hear(silent(640))
    assert [each.at_ms for each in listener.of(m.SpeechStarted)] == [
        pytest.approx(1320, abs=3 * FRAME_MS)
    ]
    assert "SpeechDismissed" not in listener.kinds


def test_long_after_the_last_sound_there_is_no_echo_of_it() -> None:
    listener = Listener()
    listener.hear(silent(320))
    listener.play(VOICE[: 48 * 1000])
    listener.hear(silent(4000), softer(VOICE[: 48 * 1000], -12), silent(640))
    assert listener.kinds == ["SpeechStarted", "SpeechPaused", "SpeechStopped"]


def test_what_the_client_did_not_play_any_more_has_no_echo() -> None:
    listener = Listener()
    listener.hear(silent(320))
    listener.play(VOICE)
    listener.play(b"", late_ms=0)
    listener.hear(softer(VOICE, -12), silent(640))
    assert listener.kinds[0] == "SpeechStarted"
    assert "SpeechDismissed" not in listener.kinds


# --- accidents -----------------------------------------------------------------------------------


class Broken(FakeTurn):
    """Fails."""

    def completeness(self, audio: NDArray[np.float32]) -> float:
        raise RuntimeError(f"a bug with {len(audio)} samples")


def test_a_turn_detector_that_fails_is_the_units_business_and_the_pause_is_told() -> None:
    stage = StageBench(lambda links: VadActor("vad-0", links, FakeVad(), Broken(), around()))
    stage.put(
        m.ConfigureVad(stage.lease, SEMANTIC_VAD, 0),
        m.AudioIn(stage.lease, silent(320) + loud(640) + silent(640), 0, 0.0),
    )
    assert stage.unit.of(Crashed)
    assert stage.conversation.of(m.SpeechPaused)
