"""The microphone: its schedule does not drift and loses nothing."""

from __future__ import annotations

import asyncio
import base64
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.client.bench.microphone import Microphone
from tests.support.sound import tone

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

FRAME_BYTES = 960


class _Enough(Exception):  # noqa: N818 - ends a test's stream
    pass


class _Wire:
    """Takes pieces; sending each takes a while on a clock that only it and sleeping move."""

    def __init__(self, cost_ms: float, pieces: int) -> None:
        self.now_ms = 0.0
        self.sent: list[tuple[float, bytes]] = []
        self.on_send: Callable[[int], None] = lambda _: None
        self._cost_ms = cost_ms
        self._pieces = pieces

    async def send(self, event: Mapping[str, object]) -> None:
        if len(self.sent) == self._pieces:
            raise _Enough
        self.sent.append((self.now_ms, base64.b64decode(str(event["audio"]))))
        self.on_send(len(self.sent))
        self.now_ms += self._cost_ms

    async def sleep(self, seconds: float) -> None:
        self.now_ms += seconds * 1000.0

    @property
    def heard(self) -> bytes:
        return b"".join(piece for _, piece in self.sent)


def stream(microphone: Microphone, wire: _Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asyncio, "sleep", wire.sleep)
    with suppress(_Enough):
        asyncio.run(microphone.stream())


def test_pieces_leave_every_20_ms_however_long_sending_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wire = _Wire(cost_ms=7.0, pieces=100)
    stream(Microphone(wire), wire, monkeypatch)
    times = np.array([at for at, _ in wire.sent])
    np.testing.assert_allclose(times, 20.0 * np.arange(1, 101))


def test_late_pieces_are_caught_up_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = _Wire(cost_ms=0.0, pieces=50)

    def block_once(number: int) -> None:
        wire.now_ms += 200.0 if number == 10 else 0.0

    wire.on_send = block_once
    microphone = Microphone(wire)
    pcm = tone(1000)
    microphone.say(pcm)
    stream(microphone, wire, monkeypatch)
    assert wire.heard == pcm
    assert wire.sent[-1][0] == 1000.0
    assert microphone.late_ms(0.0) == 0.0
    assert microphone.late_ms(205.0) == 180.0
    assert microphone.late_ms(1000.0) is None


def test_what_is_said_begins_where_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = _Wire(cost_ms=0.0, pieces=20)
    microphone, places = Microphone(wire), list[float]()
    pcm = tone(90)

    def speak_once(number: int) -> None:
        if number == 5:
            places.append(microphone.say(pcm))

    wire.on_send = speak_once
    stream(microphone, wire, monkeypatch)
    (place_ms,) = places
    start = int(place_ms) * 48
    assert wire.heard[start : start + len(pcm)] == pcm
    assert {len(piece) for _, piece in wire.sent} == {FRAME_BYTES}


def test_between_clips_there_is_a_faint_hiss(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = _Wire(cost_ms=0.0, pieces=60)
    stream(Microphone(wire), wire, monkeypatch)
    level = float(np.sqrt(np.mean(np.frombuffer(wire.heard, "<i2").astype(float) ** 2)))
    assert 20 * np.log10(level / 32768) == pytest.approx(-75.0, abs=0.5)
