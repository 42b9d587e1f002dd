"""Speaks a text with the local voice, to have something to say to a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import soxr

from s2s_actors.client.audio_file import BYTES_PER_MS, SAMPLE_RATE_HZ
from s2s_actors.errors import SetupError, StageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["spoken"]

_LEAD_IN_MS: Final = 300


def spoken(text: str) -> bytes:
    """Speak ``text``; return 24 kHz PCM that begins with 300 ms of silence.

    Raises:
        SetupError: The text is blank, or the local voice is not installed or failed.
    """
    if not text.strip():
        raise SetupError("there is nothing to say: the text is blank")
    # Imported here: who talks from a file needs no voice.
    from s2s_actors.backends.base import BackendOptions, Call, TtsRequest  # noqa: PLC0415
    from s2s_actors.backends.registry import load_backend  # noqa: PLC0415
    from s2s_actors.runtime.cancel import CancelToken  # noqa: PLC0415

    voice = load_backend("tts", "piper", BackendOptions())
    try:
        call = Call("talk", CancelToken())
        pcm = b"".join(voice.synthesize(TtsRequest(text), call))
        rate_hz = voice.sample_rate_hz
    except StageError as error:
        raise SetupError(f"the local voice failed: {error.message}") from error
    finally:
        voice.close()
    samples = np.frombuffer(pcm, dtype="<i2")
    resampled: NDArray[np.int16] = soxr.resample(samples, rate_hz, SAMPLE_RATE_HZ)
    return bytes(_LEAD_IN_MS * BYTES_PER_MS) + resampled.astype("<i2").tobytes()
