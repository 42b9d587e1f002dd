"""What the stages ask of a model: plain synchronous calls, no threads, no actors.

A backend object is loaded once per process and shared by every unit, so all of its
methods may be called from several threads at once; what belongs to one session lives in
the arguments or in a stream object. A backend that wraps a library which is not
re-entrant brings its own lock.

A backend raises :exc:`s2s_actors.errors.StageError` for what a client may be told, and
:exc:`s2s_actors.errors.SetupError` from ``load`` for what an operator has to mend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from s2s_actors.backends.chat import LlmEvent, LlmRequest
    from s2s_actors.runtime.cancel import CancelToken

Kind: TypeAlias = Literal["vad", "stt", "llm", "tts", "turn"]

Progress: TypeAlias = "Callable[[str], None]"
"""Takes one line for the operator while a backend loads."""


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks, and how to stop.

    Attributes:
        session_id: The session that the work is for.
        cancel: Polled between chunks; once cancelled, the rest of the result is not wanted
            and the call should return (or its iterator end) within one chunk, without error.
        urgency: Whether the result is wanted for sure. A backend that serves one call at a
            time takes those first; it may change while the call runs.
        piece: How many pieces of the same answer were asked for before this one. A backend
            that serves one call at a time takes first pieces first.
    """

    session_id: str
    cancel: CancelToken
    urgency: Urgency = field(default_factory=Urgency)
    piece: int = 0


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is loaded, for ``/v1/models`` and ``doctor``.

    Attributes:
        id: Name of the model, such as ``tiny.en``.
        kind: What it is for: a stage, or ``turn`` for the ends of turns.
        backend: Name of the backend that runs it, as in the configuration.
        source: Where the weights came from (a package, a path or an URL).
    """

    id: str
    kind: Kind
    backend: str
    source: str


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """What ``load`` may need; each backend reads what concerns it.

    Attributes:
        model: Model name or path, None for the backend's default.
        voice: Voice name or path (TTS), None for the default.
        base_url: Where a remote backend listens.
        api_key: Its key; never logged.
        connect_timeout_s: How long a connection to a remote backend may take.
        first_timeout_s: How long the first of an answer may take, with all tries to get it.
        timeout_s: Longest silence within an answer.
        script: File that the scripted backends play, None for their built-in script.
    """

    model: str | None = None
    voice: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    connect_timeout_s: float = 5.0
    first_timeout_s: float = 30.0
    timeout_s: float = 15.0
    script: str | None = None


class Backend(Protocol):
    """What all kinds have in common.

    A backend class also has ``load(options: BackendOptions, progress: Progress)``, a class
    method that the registry calls to make the one instance of the process.
    """

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        ...

    def warm_up(self) -> None:
        """Do once what makes a first call slow; called before the server is ready."""
        ...

    def close(self) -> None:
        """Free what the backend holds (threads, connections). Idempotent."""
        ...


class VadStream(Protocol):
    """Voice activity of one session: holds the recurrent state."""

    def probability(self, frame: NDArray[np.float32]) -> float:
        """Probability in 0..1 that one frame holds speech.

        Args:
            frame: ``frame_samples`` samples, mono, in -1..1.
        """
        ...

    def reset(self) -> None:
        """Forget everything heard so far."""
        ...


class VoiceActivityDetector(Backend, Protocol):
    """Tells speech from the rest, frame by frame.

    One that can hear a frame of each of several sessions in one go has a method
    ``probabilities(streams, frames)``, which gives what each stream's ``probability`` would; if it
    raises, no stream has changed.
    """

    @property
    def sample_rate_hz(self) -> int:
        """Sampling rate of the frames."""
        ...

    @property
    def frame_samples(self) -> int:
        """Samples in one frame."""
        ...

    def open_stream(self, session_id: str) -> VadStream:
        """Fresh state for one session; cheap, and shares the weights."""
        ...


@dataclass(frozen=True, slots=True)
class SttRequest:
    """One utterance to transcribe.

    Attributes:
        pcm: 16-bit little-endian mono PCM at 16 kHz.
        language: ISO-639-1 code, None to detect.
        prompt: Free text that guides the model, as in the protocol's transcription settings.
        logprobs: Whether ``tokens`` are wanted of the transcript.
        beginning: The speech goes on: this is its first moment, and a fast answer is wanted,
            however doubtful. An empty text means that nothing can be told yet.
    """

    pcm: bytes
    language: str | None = None
    prompt: str | None = None
    logprobs: bool = False
    beginning: bool = False


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """A piece of a transcript, and the natural logarithm of its probability."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was heard.

    Attributes:
        text: Empty where there was no speech.
        language: ISO-639-1 code of what was spoken, if that is known.
        tokens: The text in pieces that add up to it, each with its probability. Empty unless
            they were asked for, and where the model can't tell.
    """

    text: str
    language: str | None = None
    tokens: tuple[TokenLogprob, ...] = ()


class SpeechToText(Backend, Protocol):
    """Turns one utterance into text."""

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """Transcribe; a cancelled call may return whatever it has."""
        ...


class LanguageModel(Backend, Protocol):
    """Writes the answer, a piece at a time; :mod:`s2s_actors.backends.chat` has its words.

    A backend that knows how many tokens its model can take says so in an attribute
    ``context_tokens``: then the oldest turns are left out in time, as the session asks.
    One that keeps something of a session from call to call has a method
    ``forget(session_id)``, which must not block: it is called when the session has ended.
    """

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Yield the answer as it is written.

        Deltas of one tool call follow its start; text and calls may alternate. The caller
        may stop iterating at any time; closing the iterator frees what the call holds.
        """
        ...


@dataclass(frozen=True, slots=True)
class TtsRequest:
    """One piece of text to speak.

    Attributes:
        text: A sentence or clause; the backend may split it further.
        voice: Voice name as the session has it; a backend without that voice uses its default.
        speed: 1.0 is the voice's own pace (0.25 to 1.5).
    """

    text: str
    voice: str | None = None
    speed: float = 1.0


class TextToSpeech(Backend, Protocol):
    """Turns text into audio, a piece at a time."""

    @property
    def sample_rate_hz(self) -> int:
        """Sampling rate of what :meth:`synthesize` yields."""
        ...

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        """Yield 16-bit little-endian mono PCM as soon as each piece is ready.

        The caller may stop iterating at any time; closing the iterator frees what the
        synthesis holds.
        """
        ...


class TurnDetector(Backend, Protocol):
    """Tells whether what was said sounds finished, or like a pause in the middle of it."""

    @property
    def sample_rate_hz(self) -> int:
        """Sampling rate of the audio."""
        ...

    @property
    def window_samples(self) -> int:
        """How much of the end of an utterance it looks at."""
        ...

    def completeness(self, audio: NDArray[np.float32]) -> float:
        """Probability in 0..1 that the speaker has finished.

        Args:
            audio: The utterance up to now with the silence after it, or the end of that:
                ``window_samples`` samples at most, mono, in -1..1.
        """
        ...


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a process, loaded once and shared by all units."""

    vad: VoiceActivityDetector
    stt: SpeechToText
    llm: LanguageModel
    tts: TextToSpeech
    turn: TurnDetector

    def __iter__(self) -> Iterator[Backend]:
        return iter((self.vad, self.stt, self.llm, self.tts, self.turn))
