"""Without the library or a device there is one line that says what mends it."""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Self

import pytest

from s2s_actors.client.sound_card import open_sound_card
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Callable


class FakePortAudioError(Exception):
    """What sounddevice raises."""


class FakeStream:
    """A stream that calls back once, from the thread that opens it."""

    latency = 0.01

    def __init__(self, callback: Callable[[bytearray, int, None, None], None], data: bytearray):
        self._callback = callback
        self.data = data

    def __enter__(self) -> Self:
        self._callback(self.data, 480, None, None)
        return self

    def __exit__(self, *_: object) -> None:
        return


class FakeSoundDevice(ModuleType):
    """The part of sounddevice that is used."""

    PortAudioError = FakePortAudioError

    def __init__(self, missing: str | None = None, *, broken: bool = False) -> None:
        super().__init__("sounddevice")
        self.missing = missing
        self.broken = broken

    def query_devices(self, device: None = None, kind: str | None = None) -> object:
        del device
        if kind == self.missing:
            raise FakePortAudioError("Error querying device -1")
        return {"name": kind}

    def RawInputStream(self, **settings: object) -> FakeStream:  # noqa: N802
        return FakeStream(settings["callback"], bytearray(b"\1" * 960))  # type: ignore[arg-type]

    def RawOutputStream(self, **settings: object) -> FakeStream:  # noqa: N802
        if self.broken:
            raise FakePortAudioError("Invalid sample rate")
        return FakeStream(settings["callback"], bytearray(b"\1" * 960))  # type: ignore[arg-type]


async def first_frame() -> bytes:
    async with open_sound_card() as card:
        return await anext(card.frames())


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(SetupError, match="package sounddevice") as caught:
        asyncio.run(first_frame())
    assert "pip install 's2s_actors[microphone]'" in str(caught.value.hint)


@pytest.mark.parametrize(("kind", "name"), [("input", "microphone"), ("output", "speaker")])
def test_a_missing_device_is_named(monkeypatch: pytest.MonkeyPatch, kind: str, name: str) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakeSoundDevice(kind))
    with pytest.raises(SetupError, match=f"no {name}") as caught:
        asyncio.run(first_frame())
    assert "--input FILE" in str(caught.value.hint)


def test_a_device_that_refuses_our_format_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakeSoundDevice(broken=True))
    with pytest.raises(SetupError, match="Invalid sample rate"):
        asyncio.run(first_frame())


def test_what_the_microphone_hears_comes_as_pcm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakeSoundDevice())
    assert asyncio.run(first_frame()) == b"\1" * 960
