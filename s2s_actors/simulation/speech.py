"""Speech in words without a voice: a tone whose level tells which words it stands for."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from s2s_actors.backends.base import Transcript
from s2s_actors.backends.scripted import ScriptedStt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.backends.base import Call, SttRequest
    from s2s_actors.backends.script import Script
    from s2s_actors.backends.scripted_base import Waits

__all__ = ["SpokenStt", "SpokenWords"]

WIRE_RATE_HZ: Final = 24_000
STT_RATE_HZ: Final = 16_000
TONE_HZ: Final = 200
MS_PER_CHAR: Final = 60
"""A fast talker's pace."""
SHORTEST_MS: Final = 300
"""Voice detection takes what is much shorter for a noise."""
LEVELS: Final = 20
"""Utterances that are told apart; older ones of a session are forgotten."""
LOWEST_LEVEL: Final = 12_000
RATIO: Final = 1.05
"""Between two levels: what resampling does to a pure tone is far less."""
WINDOW_MS: Final = 20
SHORTEST_RUN: Final = 3
"""Windows; a shorter run is the edge of something."""


@dataclass(frozen=True, slots=True)
class _Said:
    words: tuple[str, ...]
    length_ms: int


class SpokenWords:
    """Makes sound of words, and knows the words again in the sound, as far as they were heard."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, int], _Said] = {}
        self._count: dict[str, int] = {}

    def sound_of(self, session_id: str, text: str) -> bytes:
        """The sound that stands for a text that is spoken in a session: PCM at 24 kHz."""
        number = self._count.get(session_id, 0)
        self._count[session_id] = number + 1
        length_ms = max(SHORTEST_MS, MS_PER_CHAR * len(text))
        level = number % LEVELS
        self._said[session_id, level] = _Said(tuple(text.split()), length_ms)
        phase = 2 * np.pi * TONE_HZ / WIRE_RATE_HZ * np.arange(length_ms * WIRE_RATE_HZ // 1000)
        tone: bytes = (np.sin(phase) * LOWEST_LEVEL * RATIO**level).astype("<i2").tobytes()
        return tone

    def words_in(self, session_id: str, pcm: bytes) -> str | None:
        """What was said in a sound at 16 kHz; None if it holds nothing that was made of words."""
        found: list[str] = []
        for level, windows in _levels(pcm):
            said = self._said.get((session_id, level))
            if said is not None:
                share = min(1.0, (windows + 2) * WINDOW_MS / said.length_ms)
                found += said.words[: math.ceil(share * len(said.words))]
        return " ".join(found) or None


def _levels(pcm: bytes) -> Iterator[tuple[int, int]]:
    """Levels of the tones in a sound, in their order, and for how many windows each lasts."""
    samples = np.abs(np.frombuffer(pcm, "<i2").astype(np.int32))
    size = STT_RATE_HZ * WINDOW_MS // 1000
    peaks = samples[: samples.size - samples.size % size].reshape(-1, size).max(axis=1)
    exact = np.log(np.maximum(peaks, 1) / LOWEST_LEVEL) / math.log(RATIO)
    levels = np.round(exact).astype(int).tolist()
    for level, run in itertools.groupby(levels):
        length = len(list(run))
        if length >= SHORTEST_RUN and 0 <= level < LEVELS:
            yield level, length


class SpokenStt(ScriptedStt):
    """Hears the words that a sound was made of, and in any other sound what the script says."""

    def __init__(self, script: Script, waits: Waits, spoken: SpokenWords) -> None:
        super().__init__(script, "simulation", waits)
        self._spoken = spoken

    def transcribe(self, request: SttRequest, call: Call) -> Transcript:
        """The words, after the delay that the script has for them."""
        scripted = super().transcribe(request, call)
        words = self._spoken.words_in(call.session_id, request.pcm)
        if words is None or call.cancel.cancelled:
            return scripted
        return Transcript(words, request.language or "en")
