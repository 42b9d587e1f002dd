"""Silero voice activity detection, on the ONNX model that the ``silero-vad`` package carries.

The package's own wrapper keeps one stream's state inside itself; here the state is a stream
object's, so that all sessions share the weights and none hears another. The shapes (64
samples of context before each frame of 512, a recurrent state of (2, 1, 128)) are those of
the package's ``OnnxWrapper``, whose results a stream equals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from silero_vad import load_silero_vad

from s2s_actors.backends.base import ModelInfo
from s2s_actors.backends.cpu import use_torch_threads

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from numpy.typing import NDArray

    from s2s_actors.backends.base import BackendOptions, Progress, VadStream

__all__ = ["SileroStream", "SileroVad"]

_SAMPLE_RATE_HZ = 16_000
_RATE = np.array(_SAMPLE_RATE_HZ, dtype=np.int64)
_FRAME_SAMPLES = 512
_CONTEXT_SAMPLES = 64
_STATE_SHAPE = (2, 1, 128)
_QUIET = 0.02
_QUIET_FRAMES = 160
"""About five seconds: whoever pauses in a sentence is shorter. Music seldom stays so quiet,
so that what was learnt of it is mostly kept (measured: it then is hardly ever speech)."""


class _OnnxSession(Protocol):
    def run(self, outputs: None, inputs: dict[str, NDArray[Any]], /) -> list[NDArray[Any]]: ...


class SileroStream:
    """Recurrent state of one session.

    The model gets used to what goes on in the background within twenty seconds, and then
    hears speech later: a frame or two over noise, up to a second over music. So the state
    begins anew whenever nothing was like speech for some seconds.
    """

    def __init__(self, session: _OnnxSession) -> None:
        self._session = session
        self.state: NDArray[Any] = np.zeros(_STATE_SHAPE, dtype=np.float32)
        self.context: NDArray[Any] = np.zeros(_CONTEXT_SAMPLES, dtype=np.float32)
        self._quiet_frames = 0

    def probability(self, frame: NDArray[np.float32]) -> float:
        """Probability in 0..1 that the frame of 512 samples at 16 kHz holds speech.

        Raises:
            ValueError: The frame has another length.
        """
        [speech] = _hear(self._session, [self], [frame])
        return speech

    def reset(self) -> None:
        """Forget everything heard so far."""
        self._forget()
        self.context = np.zeros(_CONTEXT_SAMPLES, dtype=np.float32)

    def heard(self, frame: NDArray[np.float32], state: NDArray[Any], speech: float) -> None:
        """Go on from a frame."""
        self.state, self.context = state, frame[-_CONTEXT_SAMPLES:]
        self._quiet_frames = self._quiet_frames + 1 if speech < _QUIET else 0
        if self._quiet_frames == _QUIET_FRAMES:
            self._forget()

    def _forget(self) -> None:
        self.state = np.zeros(_STATE_SHAPE, dtype=np.float32)
        self._quiet_frames = 0


def _hear(
    session: _OnnxSession, streams: Sequence[SileroStream], frames: Sequence[NDArray[np.float32]]
) -> list[float]:
    """One frame of each stream, in one call of the model."""
    windows = np.empty((len(frames), _CONTEXT_SAMPLES + _FRAME_SAMPLES), dtype=np.float32)
    for window, stream, frame in zip(windows, streams, frames, strict=True):
        if frame.shape != (_FRAME_SAMPLES,):
            raise ValueError(f"a frame has {_FRAME_SAMPLES} samples, not {frame.shape}")
        window[:_CONTEXT_SAMPLES] = stream.context
        window[_CONTEXT_SAMPLES:] = frame
    state = np.concatenate([stream.state for stream in streams], axis=1)
    inputs = {"input": windows, "state": state, "sr": _RATE}
    found, states = session.run(None, inputs)
    heard: list[float] = found[:, 0].tolist()
    for index, (stream, frame, speech) in enumerate(zip(streams, frames, heard, strict=True)):
        # A copy: a view would keep the states of all the others alive.
        stream.heard(frame, states[:, index : index + 1].copy(), speech)
    return heard


class SileroVad:
    """One ONNX session on one thread, shared by the streams of all sessions."""

    sample_rate_hz = _SAMPLE_RATE_HZ
    frame_samples = _FRAME_SAMPLES

    def __init__(self, session: _OnnxSession) -> None:
        self._session = session

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Load the model; there are no options."""
        del options, progress
        wrapper = load_silero_vad(onnx=True)
        # Importing silero_vad limits torch to one thread in the whole process.
        use_torch_threads()
        return cls(cast("_OnnxSession", wrapper.session))

    @property
    def info(self) -> ModelInfo:
        """What is loaded."""
        return ModelInfo(id="silero-vad", kind="vad", backend="silero", source="silero-vad")

    def open_stream(self, session_id: str) -> SileroStream:
        """Fresh state for one session."""
        del session_id
        return SileroStream(self._session)

    def probabilities(
        self, streams: Sequence[VadStream], frames: Sequence[NDArray[np.float32]]
    ) -> list[float]:
        """What ``probability`` of each stream gives for its frame, in one call of the model.

        A frame costs a third of what it costs alone once there are some sixteen of them.

        Raises:
            ValueError: A frame has another length; no stream has changed.
        """
        return _hear(self._session, cast("Sequence[SileroStream]", streams), frames)

    def warm_up(self) -> None:
        """Run one frame: the first run allocates the model's buffers."""
        SileroStream(self._session).probability(np.zeros(_FRAME_SAMPLES, dtype=np.float32))

    def close(self) -> None:
        """Nothing to free: the weights go with the object."""
