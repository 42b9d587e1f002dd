"""What the bench says: recordings, or a few short questions of its own.

The questions are spoken by the local voice if it is installed, once, and kept in the cache;
without it there is the one question that comes with the package.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import platformdirs

from s2s_actors.client.audio_file import BYTES_PER_MS, read_pcm, write_wav
from s2s_actors.client.demo import QUESTION, QUESTION_TEXT
from s2s_actors.client.speech import speech_regions_ms
from s2s_actors.client.voice import spoken
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["BACKCHANNELS", "QUESTIONS", "Clip", "clip_of", "load_clips", "references", "said"]

QUESTIONS: Final = (
    "How far is it from the earth to the moon?",
    "Please tell me what people eat for breakfast in Japan.",
    "Which river flows through the middle of London?",
)
"""What is asked beside the question of the demonstration."""

BACKCHANNELS: Final = ("Mm-hmm.", "Yeah.", "Uh-huh.", "Right.", "Okay.")
"""What a listener says without wanting the floor."""


@dataclass(frozen=True, slots=True)
class Clip:
    """Something to say (24 kHz PCM).

    Attributes:
        name: As the report names it.
        pcm: The audio.
        start_ms: Where its speech begins, by its energy.
        end_ms: Where its speech ends, by its energy.
        reference: What is said in it, None if nobody knows.
    """

    name: str
    pcm: bytes
    start_ms: int
    end_ms: int
    reference: str | None = None

    def trimmed(self) -> Clip:
        """The same, beginning with the first speech."""
        pcm = self.pcm[self.start_ms * BYTES_PER_MS :]
        return Clip(self.name, pcm, 0, self.end_ms - self.start_ms, self.reference)


def clip_of(name: str, pcm: bytes, reference: str | None = None) -> Clip:
    """Measure where the speech lies.

    Raises:
        SetupError: There is none.
    """
    regions = speech_regions_ms(pcm)
    if not regions:
        raise SetupError(f"there is nothing to hear in {name}")
    return Clip(name, pcm, regions[0][0], regions[-1][1], reference)


def load_clips(paths: Sequence[Path], texts: Mapping[str, str]) -> list[Clip]:
    """Read recordings, or make our own questions if there are none.

    Args:
        paths: WAV, FLAC or MP3.
        texts: What is said in them, by file name.

    Raises:
        SetupError: A file can't be read or holds no speech.
    """
    if paths:
        return [clip_of(path.name, read_pcm(path), texts.get(path.name)) for path in paths]
    ours = clip_of(QUESTION.name, read_pcm(QUESTION), QUESTION_TEXT)
    return [ours, *said(QUESTIONS)]


def said(texts: Sequence[str]) -> list[Clip]:
    """Texts in the local voice, out of the cache; none without a local voice."""
    try:
        return [clip_of(text, _cached(text), text) for text in texts]
    except SetupError:
        return []


def references(path: Path) -> dict[str, str]:
    """Read what is said in recordings: a line a file, name and text apart by a tab.

    Columns between the first and the last are passed over, and so is a heading ``file``.

    Raises:
        SetupError: The file can't be read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"can't read {path}: {error}") from error
    rows = [line.split("\t") for line in lines if "\t" in line]
    return {row[0].strip(): row[-1].strip() for row in rows if row[0].strip() != "file"}


def _cached(text: str) -> bytes:
    folder = platformdirs.user_cache_path("s2s-actors", appauthor=False) / "bench"
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.wav"
    if path.exists():
        return read_pcm(path)
    pcm = spoken(text)
    write_wav(path, pcm)
    return pcm
