"""Voice detection of one session: from audio to what is told of the user's speech."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

import numpy as np
import soxr

from s2s_actors.actors import messages as m
from s2s_actors.actors.echo_watch import EchoWatch, Verdict
from s2s_actors.actors.endpointing import (
    Boundary,
    Endpointer,
    EndpointingRules,
    Lasted,
    Paused,
    Quiet,
    Resumed,
    Started,
    Stopped,
)
from s2s_actors.actors.framing import Framing
from s2s_actors.protocol.audio import WIRE_RATE_HZ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.base import TurnDetector, VadStream, VoiceActivityDetector
    from s2s_actors.runtime.mailbox import Marker

TELL_EVERY_MS = 1000
"""How often the conversation hears how far voice detection has come."""
_PER_MS = WIRE_RATE_HZ // 1000
_ALL_ECHO_MS = 800
"""So long after its beginning, what is told for echo was not all echo."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """How likely a stretch of the session is speech."""

    probability: float
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Weighing:
    """Something to ask the end-of-turn model.

    Attributes:
        audio: The utterance and the pause after it, or the end of that; mono, in -1..1.
        rate_hz: Its sampling rate.
        speech_ms: How long it was.
        quiet_ms: Where the pause began, on the session's clock.
        generation: Of the settings.
    """

    audio: NDArray[np.float32]
    rate_hz: int
    speech_ms: int
    quiet_ms: int
    generation: int

    def answer(self, lease: Lease, turns: TurnDetector) -> m.SpeechWeighed:
        """Ask; this takes as long as the model does."""
        heard = self.audio
        if turns.sample_rate_hz != self.rate_hz:
            heard = soxr.resample(heard, self.rate_hz, turns.sample_rate_hz)
        completeness = turns.completeness(heard[-turns.window_samples :])
        return m.SpeechWeighed(lease, completeness, self.speech_ms, self.quiet_ms, self.generation)


class Ear:
    """Listens to one session.

    Promises: what it tells is on the session's clock, whatever was cleared or left out of
    the audio; it keeps no more than the last seconds, and what it has not listened to.

    Attributes:
        stream: Tells speech from the rest.
        framing: What there is to listen to.

    Args:
        lease: The session.
        backend: Hears speech.
        turns: Its window says how much is kept for it.
        ask_turns: Asks it, and need not wait for the answer.
    """

    def __init__(
        self,
        lease: Lease,
        backend: VoiceActivityDetector,
        turns: TurnDetector,
        ask_turns: Callable[[Weighing], None],
    ) -> None:
        self._lease = lease
        self._rate_hz = backend.sample_rate_hz
        self.stream: VadStream = backend.open_stream(lease.session_id)
        self._ask_turns = ask_turns
        kept = -(-turns.window_samples * self._rate_hz // turns.sample_rate_hz)
        self._recent: deque[NDArray[np.float32]] = deque(maxlen=-(-kept // backend.frame_samples))
        self._endpointer: Endpointer | None = None
        self._echo = EchoWatch(self._rate_hz, backend.frame_samples)
        self._held: list[_Frame] = []
        self._generation = 0
        self._told_ms = 0
        self._utterance_ms = 0
        self.framing = Framing(self._rate_hz, backend.frame_samples, self._begin_at)
        self._begin_at(0)

    def configure(self, message: m.ConfigureVad) -> None:
        """Take new settings; another generation means a fresh utterance."""
        fresh = message.generation != self._generation
        self._generation = message.generation
        if message.turn_detection is None:
            self._endpointer = None
            return
        rules = EndpointingRules.of(message.turn_detection)
        if self._endpointer is None or fresh:
            self._endpointer = Endpointer(rules)
            self._held.clear()
        else:
            self._endpointer.rules = rules

    def take_in(self, message: m.AudioIn) -> None:
        """Take in audio to listen to, frame by frame."""
        if self._endpointer is not None:
            self.framing.add(message.pcm, message.at_sample)

    def catch_up(self) -> Iterator[Marker]:
        """Listen to all that was taken in, without company.

        Each thing is yielded as soon as it is known: a model may be asked for the next one.
        """
        while (frame := self.framing.next()) is not None:
            yield from self.hear(frame, self.stream.probability(frame))

    def hear(self, frame: NDArray[np.float32], probability: float) -> Iterator[Marker]:
        """Yield what is found in a frame, and from time to time how far it goes."""
        assert self._endpointer is not None
        yield from self._listen(self._endpointer, frame, probability)
        if self._heard_ms - self._told_ms >= TELL_EVERY_MS:
            self._told_ms = self._heard_ms
            yield m.Listened(self._lease, self._told_ms)

    def end(self, message: m.AudioEnded) -> list[Marker]:
        """There is no more audio: end what is being said."""
        if self._endpointer is None or message.generation != self._generation:
            return []
        return [self._told(each) for each in self._endpointer.stop(self._heard_ms)]

    def played(self, message: m.AnswerPlayed) -> None:
        """The client plays this: the microphone may hear it."""
        self._echo.played(message.pcm, message.at_sample)

    @property
    def _heard_ms(self) -> int:
        return int(self._origin_ms + self._heard_samples * 1000 / self._rate_hz)

    def _begin_at(self, sample: int) -> None:
        """Start over after a gap: detection was off, or the buffer was cleared."""
        self._origin_ms = sample * 1000 / WIRE_RATE_HZ
        self._heard_samples = 0
        self._told_ms = int(self._origin_ms)
        self._recent.clear()
        self._held.clear()
        self._echo.begin()
        self.stream.reset()
        if self._endpointer is not None:
            self._endpointer.reset()

    def _listen(
        self, endpointer: Endpointer, samples: NDArray[np.float32], probability: float
    ) -> Iterator[Marker]:
        start_ms = self._heard_ms
        self._heard_samples += len(samples)
        self._recent.append(samples)
        frame = _Frame(probability, start_ms, self._heard_ms)
        match self._verdict(endpointer, samples, frame):
            case Verdict.UNSURE:
                self._held.append(frame)
            case Verdict.ECHO:
                self._held.clear()
                yield from self._ignore(endpointer, frame)
            case Verdict.USER:
                held, self._held = self._held, []
                for each in (*held, frame):
                    yield from self._judge(endpointer, each)

    def _verdict(
        self, endpointer: Endpointer, samples: NDArray[np.float32], frame: _Frame
    ) -> Verdict:
        here = round((self._origin_ms + self._heard_samples * 1000 / self._rate_hz) * _PER_MS)
        return self._echo.judge(
            samples,
            here,
            loud=frame.probability >= endpointer.rules.threshold,
            in_speech=endpointer.in_speech,
        )

    def _ignore(self, endpointer: Endpointer, frame: _Frame) -> Iterator[Marker]:
        """The assistant is heard: nobody speaks."""
        if not endpointer.in_speech:
            endpointer.reset()
        elif frame.end_ms - endpointer.onset_ms > _ALL_ECHO_MS:
            # The user has spoken, and the answer is heard behind that.
            yield from self._judge(endpointer, replace(frame, probability=0.0))
        else:
            yield m.SpeechDismissed(self._lease, self._generation)
            endpointer.reset()

    def _judge(self, endpointer: Endpointer, frame: _Frame) -> Iterator[Marker]:
        for boundary in endpointer.push(frame.probability, frame.start_ms, frame.end_ms):
            if isinstance(boundary, Started):
                self._utterance_ms = boundary.at_ms
            yield self._told(boundary)
            if isinstance(boundary, Paused) and endpointer.rules.is_weighed:
                self._weigh(endpointer, boundary)

    def _weigh(self, endpointer: Endpointer, pause: Paused) -> None:
        """Ask how finished the utterance sounds; what was said before it has no part in that."""
        samples = (self._heard_ms - self._utterance_ms) * self._rate_hz // 1000
        self._ask_turns(
            Weighing(
                np.concatenate(self._recent)[-samples:],
                self._rate_hz,
                endpointer.speech_ms,
                pause.quiet_ms,
                self._generation,
            )
        )

    def _told(self, boundary: Boundary) -> Marker:
        lease, generation = self._lease, self._generation
        match boundary:
            case Started(at_ms=at_ms):
                return m.SpeechStarted(lease, at_ms, generation, self._heard_ms)
            case Lasted(at_ms=at_ms, for_ms=for_ms):
                return m.SpeechLasted(lease, at_ms, for_ms, generation)
            case Paused(at_ms=at_ms, quiet_ms=quiet_ms):
                return m.SpeechPaused(lease, at_ms, quiet_ms, generation)
            case Quiet(at_ms=at_ms, for_ms=for_ms):
                return m.SpeechQuiet(lease, at_ms, for_ms, generation)
            case Resumed(at_ms=at_ms):
                return m.SpeechResumed(lease, at_ms, generation)
            case Stopped(at_ms=at_ms, quiet_ms=quiet_ms):
                return m.SpeechStopped(lease, at_ms, quiet_ms, generation)
            case _:
                assert_never(boundary)
