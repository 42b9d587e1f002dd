"""A stand-in for the package ``sounddevice``: its streams call back once, when opened."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Self

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
