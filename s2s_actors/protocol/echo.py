"""Tells the server's own voice, come back through the client's microphone, from the user's.

A loudspeaker is heard by the microphone beside it: later, softer, and with the sound of the
room. What was sent is known, so what comes in can be compared with it. Nothing is removed
from the audio; the guard only says whose voice a piece of it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import soxr

from s2s_actors.protocol.audio import WIRE_RATE_HZ
from s2s_actors.protocol.echo_path import (
    MATCHING_RATE_HZ,
    ROOM_TAPS,
    SPECTRUM_SAMPLES,
    Match,
    Room,
    best_match,
)
from s2s_actors.protocol.played_audio import PlayedAudio

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["EARLIEST_MS", "LATEST_MS", "MAX_WINDOW_MS", "MIN_WINDOW_MS", "EchoGuard"]

MIN_WINDOW_MS = 96
"""Shorter pieces are never taken for echo: too many things sound alike for so long."""
MAX_WINDOW_MS = 500
"""Of longer pieces the end is looked at."""
EARLIEST_MS = -100
"""Echo may come so much before its time: when playback begins is only estimated."""
LATEST_MS = 1000
"""Or so much after it: network, playout buffer, sound card and the air take their time."""
KEPT_S = 10
"""What was played so long ago is forgotten."""

_DOWN = WIRE_RATE_HZ // MATCHING_RATE_HZ
_PER_MS = MATCHING_RATE_HZ // 1000
_NEAR_MS = 40
"""A path once found stays, but for the estimate of when playback begins."""
_SAME_MS = 5
_LEARN_MS = 180
"""Shorter windows say little about the room."""

# How alike (0..1) a window and what was played must be. Measured: 99 % of the windows of a
# user, also one with the server's voice, stay below at the best of all delays; echo of a
# loudspeaker that stands in the same room as the microphone stays above.
_ALIKE = 0.56
_SHRINKING = 0.35
# Where the delay is known, chance has far fewer tries. Below that even long windows are not
# echo. Somebody 3 dB louder than the echo is taken for it in most windows of 192 ms, 6 dB
# louder in half of them, 10 dB in one of seven, 15 dB in one of fifty.
_ALIKE_NEAR = 0.45
# Two windows that agree on the delay need less to tell it: chance would not hit it twice.
_SUSPECT = 0.65


class EchoGuard:
    """Knows the echo of one session.

    Promises: what it keeps is bounded by ten seconds and what is still to be played; loudness
    does not matter. It learns how late the echo comes, and how the room sounds, from windows
    that it is sure of, and so gets surer. Positions are samples of the session's input clock,
    at 24 kHz.
    """

    def __init__(self, mic_rate_hz: int = 16_000) -> None:
        self._mic_rate_hz = mic_rate_hz
        self._played = PlayedAudio()
        self._room = Room()
        self._delay_ms: float | None = None
        self._suspect: tuple[float, int] | None = None

    @property
    def delay_ms(self) -> float | None:
        """How much later than expected the echo comes; ``None`` until some was heard."""
        return self._delay_ms

    def played(self, pcm: bytes, at_sample: int) -> None:
        """The client plays 16-bit PCM at 24 kHz from a position on.

        It may be ahead of the clock. Playback that begins after a pause is taken to begin
        about now: what lies far before it is forgotten.
        """
        if at_sample > self._played.end:
            self._played.forget(at_sample - KEPT_S * WIRE_RATE_HZ)
        self._played.add(pcm, at_sample)

    def stopped(self, at_sample: int) -> None:
        """The client plays nothing from a position on: it was interrupted."""
        self._played.cut(at_sample)

    def is_echo(self, mic: NDArray[np.float32], end_sample: int) -> bool:
        """Whether what was heard up to a position is for the most part what was played.

        Args:
            mic: Samples at the guard's rate, the last 96 to 500 ms. The more of it is
                speech, and the longer it is, the surer the answer.
            end_sample: Position of their end.
        """
        self._played.forget(end_sample - KEPT_S * WIRE_RATE_HZ)
        window_ms = min(MAX_WINDOW_MS, len(mic) * 1000 // self._mic_rate_hz)
        if window_ms < MIN_WINDOW_MS:
            return False
        heard = mic[-window_ms * self._mic_rate_hz // 1000 :].astype(np.float64)
        heard = soxr.resample(heard, self._mic_rate_hz, MATCHING_RATE_HZ)
        latest = end_sample - _DOWN * (len(heard) + LATEST_MS * _PER_MS + ROOM_TAPS)
        around = self._played.between(latest, end_sample - _DOWN * EARLIEST_MS * _PER_MS)
        if not around.any() or not heard.any():
            return False
        reference = soxr.resample(around, WIRE_RATE_HZ, MATCHING_RATE_HZ)[:SPECTRUM_SAMPLES]
        return self._judge(heard, reference, window_ms, end_sample)

    def _judge(
        self, heard: NDArray[np.float64], played: NDArray[np.float64], window_ms: int, end: int
    ) -> bool:
        by_chance = _ALIKE * (MIN_WINDOW_MS / window_ms) ** _SHRINKING
        enough = max(by_chance, _ALIKE_NEAR)
        if self._room.known:
            match = best_match(heard, played, self._room, self._near())
            near = match.delay_samples in self._near()
            if match.likeness >= (_ALIKE_NEAR if near else enough):
                self._learn(match, window_ms)
                return True
        # The first time; or somebody has moved, or taken another microphone.
        plain = best_match(heard, played, Room())
        found = bool(plain.likeness >= enough)
        suspected = plain.likeness >= _SUSPECT * by_chance and window_ms >= _LEARN_MS
        if found or (suspected and self._is_confirmed(plain, window_ms, end)):
            self._learn(plain, window_ms)
        return found

    def _near(self) -> range:
        if self._delay_ms is None:
            return range(0)
        earliest, latest = self._delay_ms - _NEAR_MS, self._delay_ms + _NEAR_MS
        return range(max(0, _samples(earliest)), max(0, _samples(latest)))

    def _is_confirmed(self, match: Match, window_ms: int, end: int) -> bool:
        """Whether the suspect before, none of which is in this one, had the same delay."""
        before = self._suspect
        if before is not None and end - before[1] < window_ms * WIRE_RATE_HZ // 1000:
            return False
        self._suspect = (_ms(match), end)
        return before is not None and abs(before[0] - _ms(match)) <= _SAME_MS

    def _learn(self, match: Match, window_ms: int) -> None:
        self._delay_ms = _ms(match)
        if window_ms >= _LEARN_MS:
            self._room.learn(match)


def _ms(match: Match) -> float:
    return match.delay_samples / _PER_MS + EARLIEST_MS


def _samples(delay_ms: float) -> int:
    return round((delay_ms - EARLIEST_MS) * _PER_MS)
