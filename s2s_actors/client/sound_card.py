"""Microphone and speaker by way of ``sounddevice`` (PortAudio), if this machine has them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Protocol

from s2s_actors.client.audio_file import SAMPLE_RATE_HZ
from s2s_actors.client.playback import Playback
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractContextManager

__all__ = ["SoundCard", "open_sound_card"]

_FRAME_SAMPLES: Final = SAMPLE_RATE_HZ // 50  # 20 ms
_QUEUE_FRAMES: Final = 250  # 5 s: more means that the network is stuck
_KINDS: Final = (("input", "microphone"), ("output", "speaker"))
_FILE_HINT: Final = "talk from a recording instead: --input FILE"


class SoundCard:
    """An open microphone and a speaker.

    Attributes:
        playback: What the speaker plays.
    """

    def __init__(self, playback: Playback) -> None:
        self.playback = playback
        self._heard: asyncio.Queue[bytes] = asyncio.Queue(_QUEUE_FRAMES)

    async def frames(self) -> AsyncIterator[bytes]:
        """What the microphone hears, in pieces of 20 ms (24 kHz PCM), for ever."""
        while True:
            yield await self._heard.get()

    def hear(self, frame: bytes) -> None:
        """Take a frame from the microphone; with 5 s waiting the oldest is lost."""
        if self._heard.full():
            self._heard.get_nowait()
        self._heard.put_nowait(frame)


class _Stream(Protocol):
    latency: float


class _SoundDevice(Protocol):
    """The part of ``sounddevice`` that is used here."""

    PortAudioError: type[Exception]

    def query_devices(self, device: None = None, kind: str | None = None) -> object: ...

    def RawInputStream(self, **settings: object) -> AbstractContextManager[_Stream]: ...  # noqa: N802

    def RawOutputStream(self, **settings: object) -> AbstractContextManager[_Stream]: ...  # noqa: N802


@asynccontextmanager
async def open_sound_card() -> AsyncIterator[SoundCard]:
    """Open the default microphone and speaker.

    Raises:
        SetupError: ``sounddevice`` or PortAudio is not installed, or a device is missing.
    """
    sounddevice = _sounddevice()
    loop = asyncio.get_running_loop()
    card = SoundCard(Playback())

    # Both callbacks run in threads of PortAudio.
    def listen(data: object, *_: object) -> None:
        loop.call_soon_threadsafe(card.hear, bytes(memoryview(data)))  # type: ignore[arg-type]

    def speak(data: bytearray, *_: object) -> None:
        data[:] = card.playback.take(len(data))

    try:
        speaker = sounddevice.RawOutputStream(**_settings(speak))
        microphone = sounddevice.RawInputStream(**_settings(listen))
        with speaker as out, microphone:
            card.playback.latency_ms = out.latency * 1000.0
            yield card
    except sounddevice.PortAudioError as error:
        raise SetupError(f"the sound card can't be used: {error}", hint=_FILE_HINT) from error


def _settings(callback: Callable[..., None]) -> dict[str, object]:
    return {
        "samplerate": SAMPLE_RATE_HZ,
        "channels": 1,
        "dtype": "int16",
        "blocksize": _FRAME_SAMPLES,
        "callback": callback,
    }


def _sounddevice() -> _SoundDevice:
    """Import the library and make sure that there is something to hear and speak with."""
    try:
        import sounddevice  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise SetupError(
            "microphone and speaker need the package sounddevice",
            hint="pip install 's2s_actors[microphone]', or --input FILE",
        ) from error
    except OSError as error:
        raise SetupError(
            f"microphone and speaker need a system library: {error}",
            hint="sudo apt install libportaudio2 (macOS: brew install portaudio), or --input FILE",
        ) from error
    library: _SoundDevice = sounddevice
    for kind, name in _KINDS:
        try:
            library.query_devices(kind=kind)
        except (library.PortAudioError, ValueError) as error:
            raise SetupError(f"this machine has no {name}", hint=_FILE_HINT) from error
    return library
