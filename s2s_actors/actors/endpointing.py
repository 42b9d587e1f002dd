"""From the probability of speech, frame by frame, to where speech starts and stops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.protocol.session import ServerVad

if TYPE_CHECKING:
    from s2s_actors.protocol.session import TurnDetection

MIN_SPEECH_MS = 96
"""Speech shorter than three frames is a click or a cough (faults: answers cut by a cough)."""
HYSTERESIS = 0.15
"""Speech goes on until the probability falls this far below the threshold (silero-vad)."""
MIN_GOING_ON = 0.01
"""But no threshold is so low that silence goes on as speech (silero-vad)."""
_EAGERNESS_SILENCE_MS = {"low": 1500, "medium": 800, "auto": 800, "high": 400}


@dataclass(frozen=True, slots=True)
class Started:
    """Speech begins at ``at_ms``, prefix padding included."""

    at_ms: int


@dataclass(frozen=True, slots=True)
class Stopped:
    """Speech has been followed by enough silence, up to ``at_ms``."""

    at_ms: int


Boundary: TypeAlias = Started | Stopped


@dataclass(frozen=True, slots=True)
class EndpointingRules:
    """When speech has started and stopped."""

    threshold: float
    prefix_padding_ms: int
    silence_duration_ms: int

    @classmethod
    def of(cls, detection: TurnDetection) -> EndpointingRules:
        """The rules of a session.

        ``semantic_vad`` ends turns by silence alone for now: the eagerness sets how long.
        """
        if isinstance(detection, ServerVad):
            return cls(
                detection.threshold, detection.prefix_padding_ms, detection.silence_duration_ms
            )
        return cls(0.5, 300, _EAGERNESS_SILENCE_MS[detection.eagerness])


class Endpointer:
    """Finds utterances in a stream of frames.

    Promises: ``Started`` and ``Stopped`` alternate, and their times never go back.
    """

    def __init__(self, rules: EndpointingRules) -> None:
        self.rules = rules
        self._onset_ms: int | None = None
        self._last_stop_ms = 0
        self.reset()

    def reset(self) -> None:
        """Forget the utterance; the times go on."""
        self._speaking = False
        self._onset_ms = None
        self._speech_ms = 0
        self._silent_since_ms = 0

    def push(self, probability: float, start_ms: int, end_ms: int) -> Boundary | None:
        """Take the next frame, which covers ``start_ms`` to ``end_ms`` of the session."""
        if probability >= self.rules.threshold:
            return self._loud(start_ms, end_ms)
        if self._speaking and probability >= max(self.rules.threshold - HYSTERESIS, MIN_GOING_ON):
            self._silent_since_ms = end_ms
            return None
        return self._quiet(end_ms)

    def _loud(self, start_ms: int, end_ms: int) -> Boundary | None:
        self._silent_since_ms = end_ms
        if self._speaking:
            return None
        if self._onset_ms is None:
            self._onset_ms = start_ms
            self._speech_ms = 0
        self._speech_ms += end_ms - start_ms
        if self._speech_ms < MIN_SPEECH_MS:
            return None
        self._speaking = True
        # What belongs to the utterance before is not padding of this one.
        return Started(max(self._last_stop_ms, self._onset_ms - self.rules.prefix_padding_ms))

    def _quiet(self, end_ms: int) -> Boundary | None:
        silence_ms = end_ms - self._silent_since_ms
        if not self._speaking:
            # A frame or two of silence do not part the syllables of one word.
            if silence_ms > MIN_SPEECH_MS:
                self._onset_ms = None
            return None
        if silence_ms < self.rules.silence_duration_ms:
            return None
        self._speaking = False
        self._onset_ms = None
        self._last_stop_ms = end_ms
        return Stopped(end_ms)
