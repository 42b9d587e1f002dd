"""Whose voice the microphone hears while the assistant speaks, frame by frame."""

from __future__ import annotations

from collections import deque
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from s2s_actors.protocol.audio import BYTES_PER_SAMPLE, WIRE_RATE_HZ
from s2s_actors.protocol.echo import LATEST_MS, EchoGuard

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAMES_A_CHECK, FRAMES_COMPARED = 3, 15
"""Each 96 ms of sound are compared with what was played, together with what came before them,
480 ms in all: the longer, the surer."""
SURE_AFTER_CHECKS = 3
"""So many checks in a row must find no echo, where there may be some (of the first checks of an
echo whose path is not known yet up to one in ten finds none)."""
QUIET_PATH_MS = 800
"""A microphone that was silent for so long while the assistant spoke does not hear it: there are
headphones, or the client removes the echo. Then nobody has to wait for three checks."""
_LATE_MS = LATEST_MS + 500
"""So long after the last audio has been played there is no echo of it."""
_PER_MS = WIRE_RATE_HZ // 1000


class Verdict(Enum):
    """What a frame of sound is."""

    USER = "user"
    UNSURE = "unsure"
    ECHO = "echo"


class EchoWatch:
    """Compares what is heard with what is played.

    Promises: while nothing plays, all sound is the user's; where the microphone hears the
    loudspeaker, sound is not taken for the user's before it has been compared several times.
    """

    def __init__(self, rate_hz: int, frame_samples: int) -> None:
        """Begin in silence.

        Args:
            rate_hz: Sampling rate of the frames.
            frame_samples: Their length.
        """
        self._guard = EchoGuard(rate_hz)
        self._frame_ms = frame_samples * 1000 / rate_hz
        self._recent: deque[NDArray[np.float32]] = deque(maxlen=FRAMES_COMPARED)
        self._played_until = -_LATE_MS * _PER_MS
        self._silent_ms = 0.0
        self._quiet()

    def begin(self) -> None:
        """What comes does not follow what was heard before."""
        self._recent.clear()
        self._quiet()

    def played(self, pcm: bytes, at_sample: int) -> None:
        """The client plays this from a position on; without audio, nothing any more."""
        if pcm:
            self._guard.played(pcm, at_sample)
        else:
            self._guard.stopped(at_sample)
        self._played_until = at_sample + len(pcm) // BYTES_PER_SAMPLE

    def judge(
        self, frame: NDArray[np.float32], here: int, *, loud: bool, in_speech: bool
    ) -> Verdict:
        """Whose voice the next frame holds.

        Args:
            frame: What is heard.
            here: Position of its end in the session, in samples at 24 kHz.
            loud: Whether it is a voice at all.
            in_speech: Whether the user is taken to speak already.
        """
        self._recent.append(frame)
        if not loud:
            if here <= self._played_until:
                self._silent_ms += self._frame_ms
            self._quiet()
            return Verdict.USER
        self._loud_frames += 1
        if here > self._played_until + _LATE_MS * _PER_MS:
            return Verdict.USER
        if self._loud_frames % FRAMES_A_CHECK == 0:
            self._check(here)
        if self._is_echo:
            return Verdict.ECHO
        is_sure = self._silent_ms >= QUIET_PATH_MS or self._clear_checks >= SURE_AFTER_CHECKS
        return Verdict.USER if in_speech or is_sure else Verdict.UNSURE

    def _quiet(self) -> None:
        self._loud_frames = self._clear_checks = 0
        self._is_echo = False

    def _check(self, here: int) -> None:
        heard = list(self._recent)[-self._loud_frames :]
        self._is_echo = self._guard.is_echo(np.concatenate(heard), here)
        if self._is_echo:
            self._silent_ms = 0.0
            self._clear_checks = 0
        else:
            self._clear_checks += 1
