"""Audio files in and out: any WAV, FLAC or MP3 becomes the PCM that the protocol carries.

PCM in this package is 16-bit little-endian mono at 24 kHz.
"""

from __future__ import annotations

import io
import tempfile
import wave
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import av

from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BYTES_PER_MS", "SAMPLE_RATE_HZ", "duration_ms", "read_pcm", "write_wav"]

SAMPLE_RATE_HZ: Final = 24_000
BYTES_PER_MS: Final = SAMPLE_RATE_HZ * 2 // 1000


def duration_ms(pcm: bytes) -> float:
    """How long the PCM plays."""
    return len(pcm) / BYTES_PER_MS


def read_pcm(path: Path) -> bytes:
    """Read any audio file that FFmpeg knows as 24 kHz mono PCM.

    Raises:
        SetupError: The file is missing, unreadable, empty, damaged or not audio; the
            message names it.
    """
    try:
        with path.open("rb") as file:
            pcm = _decode(file)
    except (av.FFmpegError, ValueError) as error:  # data that no decoder understands
        raise SetupError(_why_not_audio(path)) from error
    except FileNotFoundError as error:
        raise SetupError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise SetupError(f"{path} is a directory, not an audio file") from error
    except OSError as error:
        raise SetupError(f"can't read {path}: {error.strerror or error}") from error
    if not pcm:
        raise SetupError(f"{path} holds no audio")
    return pcm


def write_wav(path: Path, pcm: bytes, *, sample_rate_hz: int = SAMPLE_RATE_HZ) -> None:
    """Write PCM as a WAV file, whole or not at all; missing folders are made.

    A device or a pipe is written to. It is not replaced by a file, which root could.

    Raises:
        SetupError: The place can't be written; the message names it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        wav = _wav(pcm, sample_rate_hz)
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(wav)
        else:
            _write_beside_and_rename(path.resolve(), wav)
    except OSError as error:
        raise SetupError(f"can't write {path}: {error.strerror or error}") from error


def _decode(file: BinaryIO) -> bytes:
    with av.open(file, metadata_errors="ignore") as container:
        if not container.streams.audio:
            raise ValueError("no audio stream")
        resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
        return b"".join(_resampled(container, resampler))


def _resampled(
    container: av.container.InputContainer, resampler: av.AudioResampler
) -> Iterator[bytes]:
    stream = container.streams.audio[0]
    for frame in (*container.decode(stream), None):  # None drains the resampler
        for piece in resampler.resample(frame):
            yield bytes(piece.planes[0])[: piece.samples * 2]


def _why_not_audio(path: Path) -> str:
    if path.stat().st_size == 0:
        return f"{path} is empty"
    return f"{path} is damaged or not an audio file (WAV, FLAC and MP3 are read)"


def _wav(pcm: bytes, sample_rate_hz: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(sample_rate_hz)
        wav.writeframes(pcm)
    return file.getvalue()


def _write_beside_and_rename(path: Path, wav: bytes) -> None:
    with tempfile.NamedTemporaryFile(
        dir=path.parent, prefix=f".{path.name}.", delete=False
    ) as file:
        try:
            file.write(wav)
            file.flush()
            # A temporary file is private; the answer is as readable as any other file.
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
