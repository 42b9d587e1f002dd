"""Whose voice it is: what is told of each frame, and how long somebody has to wait for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.actors.echo_watch import (
    FRAMES_A_CHECK,
    QUIET_PATH_MS,
    SURE_AFTER_CHECKS,
    EchoWatch,
    Verdict,
)
from tests.support.sound import noise, silence

if TYPE_CHECKING:
    from numpy.typing import NDArray

FRAME_MS, PER_MS = 32, 24
VOICE = noise(4000, level_db=-6, seed=21)
USER = noise(2000, level_db=-6, seed=22)


class Room:
    """A microphone, and the clock of its session."""

    def __init__(self) -> None:
        self.watch = EchoWatch(24_000, FRAME_MS * PER_MS)
        self.here = 0

    def play(self, pcm: bytes) -> None:
        """The assistant speaks from now on."""
        self.watch.played(pcm, self.here)

    def hear(self, pcm: bytes, *, in_speech: bool = False) -> list[Verdict]:
        """What is told of so much sound."""
        samples = (np.frombuffer(pcm, "<i2") / 32768).astype(np.float32)
        size = FRAME_MS * PER_MS
        verdicts = []
        for start in range(0, len(samples) // size * size, size):
            frame: NDArray[np.float32] = samples[start : start + size]
            self.here += size
            loud = float(np.abs(frame).max()) > 0.01
            verdicts.append(self.watch.judge(frame, self.here, loud=loud, in_speech=in_speech))
        return verdicts


def softer(pcm: bytes) -> bytes:
    """What comes back from the loudspeaker."""
    return (np.frombuffer(pcm, "<i2") * 0.2).astype("<i2").tobytes()


def test_while_nothing_plays_all_sound_is_the_users() -> None:
    assert set(Room().hear(USER)) == {Verdict.USER}


def test_echo_is_never_told_for_the_user() -> None:
    room = Room()
    room.hear(silence(320))
    room.play(VOICE)
    room.hear(silence(160))
    verdicts = room.hear(softer(VOICE))
    assert verdicts[:2] == [Verdict.UNSURE] * 2
    assert set(verdicts[FRAMES_A_CHECK:]) == {Verdict.ECHO}


def test_where_there_may_be_echo_a_user_is_heard_after_some_checks() -> None:
    room = Room()
    room.play(VOICE)
    verdicts = room.hear(USER)
    waits = FRAMES_A_CHECK * SURE_AFTER_CHECKS - 1
    assert verdicts == [Verdict.UNSURE] * waits + [Verdict.USER] * (len(verdicts) - waits)


def test_where_the_microphone_has_heard_nothing_a_user_is_heard_at_once() -> None:
    room = Room()
    room.play(VOICE)
    room.hear(silence(QUIET_PATH_MS + FRAME_MS))
    assert set(room.hear(USER)) == {Verdict.USER}


def test_silence_while_nothing_plays_proves_nothing() -> None:
    room = Room()
    room.hear(silence(QUIET_PATH_MS * 2))
    room.play(VOICE)
    assert room.hear(USER)[0] is Verdict.UNSURE


def test_once_echo_was_heard_the_microphone_is_known_to_hear_it() -> None:
    room = Room()
    room.play(VOICE)
    room.hear(silence(1024))
    room.hear(softer(VOICE)[1024 * 48 - 160 * 48 :][: 640 * 48])
    room.hear(silence(FRAME_MS))
    assert room.hear(USER)[0] is Verdict.UNSURE


@pytest.mark.parametrize("after_ms", [0, 320])
def test_who_speaks_already_does_not_have_to_wait(after_ms: int) -> None:
    room = Room()
    room.play(VOICE)
    room.hear(silence(after_ms))
    assert set(room.hear(USER, in_speech=True)) == {Verdict.USER}


def test_when_the_client_plays_nothing_any_more_all_sound_is_the_users_again() -> None:
    room = Room()
    room.play(VOICE)
    room.hear(silence(320))
    room.play(b"")
    room.hear(silence(2000))
    assert set(room.hear(USER)) == {Verdict.USER}
