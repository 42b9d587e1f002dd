"""The way of sound from loudspeaker to microphone: finding it, and learning what it does.

Everything here is at 8 kHz: telephones carry nothing above 4 kHz, and most of the energy of
speech lies below.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MATCHING_RATE_HZ", "ROOM_TAPS", "SPECTRUM_SAMPLES", "Match", "Room", "best_match"]

MATCHING_RATE_HZ: Final = 8000
SPECTRUM_SAMPLES: Final = 16_384
"""Longest piece of audio that can be searched: two seconds."""
ROOM_TAPS: Final = 64 * MATCHING_RATE_HZ // 1000
"""How long the sound of a room is followed."""
_ROOM_BEFORE = 5 * MATCHING_RATE_HZ // 1000
_ROOM_MEMORY = 0.9
_ROOM_FLOOR = 0.02

_HZ = np.fft.rfftfreq(SPECTRUM_SAMPLES, 1 / MATCHING_RATE_HZ)
_BAND = (_HZ > 200) & (_HZ < 3600)
# Loud low notes would drown the rest, and make all voices alike: the spectrum is levelled,
# though not wholly, or the noise between the notes would count as much as they do.
_LEVELLING = 0.7
_SMOOTHING = round(150 / (_HZ[1] - _HZ[0]))
_LEVELLING_FLOOR = 1e-3
_PLAYED_FLOOR = 3e-3
_FAVOUR = 1.25
# Delays, as frequency responses.
_LATER = np.exp(-2j * np.pi * _HZ / MATCHING_RATE_HZ * ROOM_TAPS)
_BACK = np.exp(2j * np.pi * _HZ / MATCHING_RATE_HZ * _ROOM_BEFORE)


@dataclass(frozen=True, slots=True)
class Match:
    """Where a window resembles most what was played."""

    likeness: float
    """Correlation, 0 to 1: its square is the share of the energy that is explained."""
    delay_samples: int
    """How much later than at the earliest, at 8 kHz."""
    heard: NDArray[np.complex128] = field(repr=False)
    played: NDArray[np.complex128] = field(repr=False)
    """Levelled spectra of the window and of what was played then, aligned."""


class Room:
    """What becomes of sound on its way, as a filter of 64 ms; at first it passes unchanged."""

    def __init__(self) -> None:
        self._cross: NDArray[np.complex128] | None = None
        self._power: NDArray[np.float64] = np.zeros(len(_HZ))
        self.response: NDArray[np.complex128] = np.ones(len(_HZ), np.complex128)
        """Its frequency response; the loudest path has no delay."""

    @property
    def known(self) -> bool:
        """Whether anything was learnt."""
        return self._cross is not None

    def learn(self, match: Match) -> None:
        """Take in a window that is echo; older ones fade."""
        energy = float(np.sum(np.abs(match.heard) ** 2))
        cross = match.heard * np.conj(match.played) / energy
        power = np.abs(match.played) ** 2 / energy
        if self._cross is not None:
            cross += _ROOM_MEMORY * self._cross
            power += _ROOM_MEMORY * self._power
        self._cross, self._power = cross, power
        filtering = np.fft.irfft(cross / (power + _ROOM_FLOOR * power.mean()))
        taps = np.roll(filtering, _ROOM_BEFORE)[:ROOM_TAPS]
        self.response = np.fft.rfft(taps, SPECTRUM_SAMPLES) * _BACK


def best_match(
    heard: NDArray[np.float64],
    played: NDArray[np.float64],
    room: Room,
    favoured: range = range(0),
) -> Match:
    """Search what was played for what was heard.

    Args:
        heard: The window; neither silent nor longer than ``played``.
        played: What was played from :data:`ROOM_TAPS` before the latest echo on, up to the
            earliest; at most :data:`SPECTRUM_SAMPLES`.
        room: What is known of the room.
        favoured: Delays, in samples, where likeness counts a quarter more.
    """
    mic = np.fft.rfft(heard, SPECTRUM_SAMPLES)
    levelling = _levelling(mic)
    mic = mic * levelling
    echo = np.fft.rfft(played, SPECTRUM_SAMPLES) * levelling * room.response
    places = len(played) - len(heard) + 1
    correlation = np.fft.irfft(echo * np.conj(mic))[:places]
    energy = np.concatenate([[0.0], np.cumsum(np.fft.irfft(echo)[: len(played)] ** 2)])
    energies = energy[len(heard) :] - energy[: -len(heard)]
    # Where hardly anything was played, everything would resemble it.
    energies = np.maximum(energies, _PLAYED_FLOOR * energies.max())
    heard_energy = np.sum(np.fft.irfft(mic) ** 2)
    likeness = np.abs(correlation) / np.sqrt(energies * heard_energy + np.finfo(float).tiny)
    weighted = likeness.copy()
    weighted[places - favoured.stop : places - favoured.start] *= _FAVOUR
    place = ROOM_TAPS + int(weighted[ROOM_TAPS:].argmax())
    piece = played[place - ROOM_TAPS : place + len(heard) + _ROOM_BEFORE]
    return Match(
        likeness=float(likeness[place]),
        delay_samples=places - 1 - place,
        heard=mic * _LATER,
        played=np.fft.rfft(piece, SPECTRUM_SAMPLES) * levelling,
    )


def _levelling(spectrum: NDArray[np.complex128]) -> NDArray[np.float64]:
    power = np.abs(spectrum) ** 2
    total = np.cumsum(np.pad(power, _SMOOTHING, mode="edge"))
    smooth = (total[2 * _SMOOTHING :] - total[: -2 * _SMOOTHING]) / (2 * _SMOOTHING)
    floor = _LEVELLING_FLOOR * smooth[_BAND].mean() + np.finfo(float).tiny
    levelling: NDArray[np.float64] = _BAND / (smooth + floor) ** (_LEVELLING / 2)
    return levelling
