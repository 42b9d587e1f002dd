"""Messages to voice detection, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.runtime.mailbox import Data, Marker

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease
    from s2s_actors.protocol.session import TurnDetection


@dataclass(frozen=True, slots=True)
class ConfigureVad(Marker):
    """Use these settings from the audio that follows; None switches detection off.

    A ``generation`` that differs from the last one means: forget the utterance, keep the clock.
    """

    lease: Lease
    turn_detection: TurnDetection | None
    generation: int


@dataclass(frozen=True, slots=True)
class AudioIn(Data):
    """A slice of the caller's voice at 24 kHz.

    Attributes:
        lease: The session.
        pcm: The audio.
        at_sample: Its place in the session.
        came_s: When it came from the client, on the process's clock.
    """

    lease: Lease
    pcm: bytes
    at_sample: int
    came_s: float

    @property
    def cost_bytes(self) -> int:
        """Size for the lane's bound."""
        return len(self.pcm)


@dataclass(frozen=True, slots=True)
class AudioEnded(Marker):
    """No audio has come for a while: what is being said is over, where detection has come to."""

    lease: Lease
    generation: int


@dataclass(frozen=True, slots=True)
class AnswerPlayed(Marker):
    """Audio of the assistant at 24 kHz that the client plays from ``at_sample`` of the session.

    The user's microphone may hear it. Without audio: the client plays nothing from there on.
    """

    lease: Lease
    pcm: bytes
    at_sample: int


@dataclass(frozen=True, slots=True)
class SpeechStarted(Marker):
    """The user has begun to speak, ``at_ms`` after the session's first sample.

    ``heard_ms`` is how far voice detection has come, None for all that there is.
    """

    lease: Lease
    at_ms: int
    generation: int
    heard_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SpeechLasted(Marker):
    """The user speaks on: for ``for_ms`` by now, since the beginning or the last pause."""

    lease: Lease
    at_ms: int
    for_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechPaused(Marker):
    """Speech ended at ``quiet_ms``, and the user has been silent for a moment, up to ``at_ms``."""

    lease: Lease
    at_ms: int
    quiet_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechWeighed(Marker):
    """How finished what was said before the pause at ``quiet_ms`` sounds, from 0 to 1.

    It took ``speech_ms``. This may come when the pause is over.
    """

    lease: Lease
    completeness: float
    speech_ms: int
    quiet_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class WeighingFailed(Marker):
    """The end-of-turn model failed."""

    lease: Lease
    error: BaseException


@dataclass(frozen=True, slots=True)
class SpeechDismissed(Marker):
    """What was taken for speech was the assistant's own voice."""

    lease: Lease
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechQuiet(Marker):
    """The pause has lasted for ``for_ms`` by now; only where that is weighed."""

    lease: Lease
    at_ms: int
    for_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechResumed(Marker):
    """The user goes on after a pause, from ``at_ms``."""

    lease: Lease
    at_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class SpeechStopped(Marker):
    """The turn is over: speech ended at ``quiet_ms``, the silence that proves it at ``at_ms``."""

    lease: Lease
    at_ms: int
    quiet_ms: int
    generation: int


@dataclass(frozen=True, slots=True)
class Listened(Marker):
    """Voice detection has come so far: about once in a second of audio."""

    lease: Lease
    up_to_ms: int


SpeechMessage: TypeAlias = (
    SpeechStarted
    | SpeechLasted
    | SpeechPaused
    | SpeechWeighed
    | SpeechQuiet
    | SpeechDismissed
    | SpeechResumed
    | SpeechStopped
    | Listened
)
"""All that voice detection says."""
