"""A text-to-speech backend that speaks in Morse code."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.backends.base import ModelInfo
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from s2s_actors.backends.base import BackendOptions, Call, Progress, TtsRequest

DOT_S = 0.05
CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,?"
MORSE = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - "
    "..- ...- .-- -..- -.-- --.. ----- .---- ..--- ...-- ....- ..... -.... --... ---.. "
    "----. .-.-.- --..-- ..--.."
)
CODES = dict(zip(CHARACTERS, MORSE.split(), strict=True))


class MorseVoice:
    """One tone, and nothing that belongs to a session: safe from any number of threads."""

    sample_rate_hz = 8_000

    def __init__(self, pitch_hz: float) -> None:
        self._pitch_hz = pitch_hz
        self.info = ModelInfo(
            id=f"morse-{pitch_hz:g}", kind="tts", backend="morse", source="s2s-morse"
        )

    @classmethod
    def load(cls, options: BackendOptions, progress: Progress) -> Self:
        """Take ``--tts-voice`` as the pitch in Hz."""
        wanted = options.voice or "600"
        try:
            pitch_hz = float(wanted)
        except ValueError:
            raise SetupError(
                f"--tts-voice {wanted}: the voices of morse are pitches in Hz",
                hint="--tts-voice 600",
            ) from None
        progress(f"tuning to {pitch_hz:g} Hz")
        return cls(pitch_hz)

    def warm_up(self) -> None:
        """Nothing here is slow the first time."""

    def close(self) -> None:
        """Nothing is held open."""

    def synthesize(self, request: TtsRequest, call: Call) -> Iterator[bytes]:
        """Yield the audio word by word."""
        dot_s = DOT_S / request.speed
        for word in request.text.lower().split():
            if call.cancel.cancelled:
                return
            if pulses := "000".join(_pulses(CODES[each]) for each in word if each in CODES):
                yield self._tone(pulses + "0000000", dot_s)

    def _tone(self, pulses: str, dot_s: float) -> bytes:
        parts = []
        for pulse, run in groupby(pulses):
            samples = round(len(list(run)) * dot_s * self.sample_rate_hz)
            phase = 2 * np.pi * self._pitch_hz / self.sample_rate_hz * np.arange(samples)
            parts.append(np.sin(phase) * (0.3 if pulse == "1" else 0.0))
        pcm: bytes = (np.concatenate(parts) * 32767).astype("<i2").tobytes()
        return pcm


def _pulses(code: str) -> str:
    """On and off, a character for each dot's time: a dash lasts three, a pause one."""
    return "0".join("1" if sign == "." else "111" for sign in code)
