"""Without the library or a device there is one line that says what mends it."""

from __future__ import annotations

import asyncio
import sys

import pytest

from s2s_actors.client.sound_card import open_sound_card
from s2s_actors.errors import SetupError
from tests.support.fake_sounddevice import FakeSoundDevice


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
