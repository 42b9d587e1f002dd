"""From the probability of speech, frame by frame, to where speech starts, pauses and stops."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.protocol.end_of_turn import longest_silence_ms
from s2s_actors.protocol.session import ServerVad

if TYPE_CHECKING:
    from s2s_actors.protocol.session import TurnDetection

MIN_SPEECH_MS = 96
"""Speech shorter than three frames is a click or a cough (faults: answers cut by a cough)."""
PAUSE_MS = 96
"""After so much silence it is worth while to guess that all has been said."""
MIN_RESUMED_MS = 64
"""A pause is over when speech has lasted for two frames; a click in it does not count."""
HYSTERESIS = 0.15
"""Speech goes on until the probability falls this far below the threshold (silero-vad)."""
MIN_GOING_ON = 0.01
"""But no threshold is so low that silence goes on as speech (silero-vad)."""
TICK_FINE_MS, TICK_COARSE_MS, TICKS_FINE_UNTIL_MS = 32, 256, 640
"""How often it is told that speech goes on: at first often, since an answer may have to stop."""
_SEMANTIC_THRESHOLD, _SEMANTIC_PREFIX_MS = 0.5, 300


@dataclass(frozen=True, slots=True)
class Started:
    """Speech begins at ``at_ms``, prefix padding included."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Lasted:
    """Up to ``at_ms`` speech has gone on for ``for_ms`` since it started or was resumed."""

    at_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class Paused:
    """Speech ended at ``quiet_ms``, and has been followed by a short silence, up to ``at_ms``."""

    at_ms: int
    quiet_ms: int


@dataclass(frozen=True, slots=True)
class Quiet:
    """The pause has lasted for ``for_ms`` by now; told only where that has to be weighed."""

    at_ms: int
    for_ms: int


@dataclass(frozen=True, slots=True)
class Resumed:
    """Speech goes on after a pause, from ``at_ms``."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """Speech ended at ``quiet_ms``, and has been followed by enough silence, up to ``at_ms``."""

    at_ms: int
    quiet_ms: int


Boundary: TypeAlias = Started | Lasted | Paused | Quiet | Resumed | Stopped


@dataclass(frozen=True, slots=True)
class EndpointingRules:
    """When speech has started and stopped.

    Attributes:
        threshold: Probability from which a frame is speech.
        prefix_padding_ms: How far before its first frame an utterance begins.
        silence_duration_ms: Silence that ends an utterance in any case.
        is_weighed: Whether it may end earlier, by what was said and how.
    """

    threshold: float
    prefix_padding_ms: int
    silence_duration_ms: int
    is_weighed: bool = False

    @classmethod
    def of(cls, detection: TurnDetection) -> EndpointingRules:
        """The rules of a session; with ``semantic_vad`` eagerness sets the longest wait."""
        if isinstance(detection, ServerVad):
            return cls(
                detection.threshold, detection.prefix_padding_ms, detection.silence_duration_ms
            )
        longest_ms = longest_silence_ms(detection.eagerness)
        return cls(_SEMANTIC_THRESHOLD, _SEMANTIC_PREFIX_MS, longest_ms, is_weighed=True)


class _State(Enum):
    QUIET = "quiet"
    SPEAKING = "speaking"
    PAUSED = "paused"


class Endpointer:
    """Finds utterances in a stream of frames.

    Promises: ``Started`` and ``Stopped`` alternate, ``Paused`` and ``Resumed`` alternate
    between them, ``Stopped`` follows a ``Paused``, and no time goes back.
    """

    def __init__(self, rules: EndpointingRules) -> None:
        self.rules = rules
        self._last_stop_ms = 0
        self.reset()

    def reset(self) -> None:
        """Forget the utterance; the times go on."""
        self._state = _State.QUIET
        self._onset_ms: int | None = None  # of speech that is not told yet
        self._loud_ms = 0
        self._told_onset_ms = 0
        self._utterance_ms = 0
        self._quiet_since_ms = 0

    @property
    def in_speech(self) -> bool:
        """Whether an utterance has started and has not stopped."""
        return self._state is not _State.QUIET

    @property
    def onset_ms(self) -> int:
        """Where the utterance was heard first."""
        return self._utterance_ms

    @property
    def speech_ms(self) -> int:
        """How long the utterance is so far, from its first loud frame to its last."""
        return self._quiet_since_ms - self._utterance_ms

    def push(self, probability: float, start_ms: int, end_ms: int) -> list[Boundary]:
        """Take the next frame, which covers ``start_ms`` to ``end_ms`` of the session."""
        if probability >= self.rules.threshold:
            return self._loud(start_ms, end_ms)
        going_on = max(self.rules.threshold - HYSTERESIS, MIN_GOING_ON)
        if self._state is _State.SPEAKING and probability >= going_on:
            self._quiet_since_ms = end_ms
            return self._tick(start_ms, end_ms)
        return self._quiet(end_ms)

    def stop(self, at_ms: int) -> list[Boundary]:
        """There is no more audio: what was being said is over."""
        found: list[Boundary] = []
        if self._state is _State.SPEAKING:
            found.append(Paused(at_ms, self._quiet_since_ms))
        if self.in_speech:
            found.append(self._end(at_ms))
        self._onset_ms = None
        return found

    def _loud(self, start_ms: int, end_ms: int) -> list[Boundary]:
        if self._state is _State.SPEAKING:
            self._quiet_since_ms = end_ms
            return self._tick(start_ms, end_ms)
        if self._onset_ms is None:
            self._onset_ms, self._loud_ms = start_ms, 0
        self._loud_ms += end_ms - start_ms
        if self._state is _State.PAUSED:
            return self._loud_in_pause(end_ms)
        self._quiet_since_ms = end_ms
        if self._loud_ms < MIN_SPEECH_MS:
            return []
        onset_ms = self._speak()
        self._utterance_ms = onset_ms
        # What belongs to the utterance before is not padding of this one.
        padded_ms = max(self._last_stop_ms, onset_ms - self.rules.prefix_padding_ms)
        return [Started(padded_ms)]

    def _loud_in_pause(self, end_ms: int) -> list[Boundary]:
        if self._loud_ms < MIN_RESUMED_MS:
            return []
        self._quiet_since_ms = end_ms
        return [Resumed(self._speak())]

    def _speak(self) -> int:
        assert self._onset_ms is not None
        self._state = _State.SPEAKING
        self._told_onset_ms, self._onset_ms = self._onset_ms, None
        return self._told_onset_ms

    def _tick(self, start_ms: int, end_ms: int) -> list[Boundary]:
        before_ms, for_ms = start_ms - self._told_onset_ms, end_ms - self._told_onset_ms
        step_ms = TICK_FINE_MS if for_ms <= TICKS_FINE_UNTIL_MS else TICK_COARSE_MS
        return [Lasted(end_ms, for_ms)] if before_ms // step_ms < for_ms // step_ms else []

    def _quiet(self, end_ms: int) -> list[Boundary]:
        silence_ms = end_ms - self._quiet_since_ms
        if self._state is _State.QUIET:
            # A frame or two of silence do not part the syllables of one word.
            if silence_ms > MIN_SPEECH_MS:
                self._onset_ms = None
            return []
        self._onset_ms = None
        found: list[Boundary] = []
        is_over = silence_ms >= self.rules.silence_duration_ms
        if self._state is _State.SPEAKING and (silence_ms >= PAUSE_MS or is_over):
            self._state = _State.PAUSED
            found.append(Paused(end_ms, self._quiet_since_ms))
        if is_over:
            found.append(self._end(end_ms))
        elif self._state is _State.PAUSED and self.rules.is_weighed:
            found.append(Quiet(end_ms, silence_ms))
        return found

    def _end(self, at_ms: int) -> Stopped:
        self._state = _State.QUIET
        self._last_stop_ms = at_ms
        return Stopped(at_ms, self._quiet_since_ms)
