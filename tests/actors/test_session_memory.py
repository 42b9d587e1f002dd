"""Of a session that is over nothing is left: its unit idles, and its audio is gone."""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING

import pytest

from s2s_actors.actors.ear import Ear
from s2s_actors.actors.open_session import OpenSession
from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol.conversation import Conversation
from s2s_actors.protocol.dialogue import Dialogue
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.input_audio import InputAudioBuffer
from tests.support.stepped_plant import SteppedPlant, append, loud, silent

if TYPE_CHECKING:
    from collections.abc import Iterator

OF_A_SESSION = (Dialogue, Conversation, Entry, InputAudioBuffer, OpenSession, Ear)


@pytest.fixture(autouse=True)
def nobody_keeps_the_log() -> Iterator[None]:
    """A record of a crash holds its traceback, and that the whole stack; pytest keeps records."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    """What is freed is freed because nobody holds it, not because of a collection in time."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def left_over() -> list[str]:
    gc.collect()
    # Not isinstance: that asks weak proxies, whose object may be gone.
    return [type(each).__name__ for each in gc.get_objects() if type(each) in OF_A_SESSION]


def converse(plant: SteppedPlant) -> None:
    """A session that has heard, spoken, written and left some audio uncommitted."""
    client = plant.visit("a")
    client.say(append(loud(400)), append(silent(800)))
    plant.run()
    client.ask()
    plant.run()
    client.say(append(silent(300)))
    plant.run()
    assert "response.done" in client.types
    client.leave()
    client.frames.clear()


def test_of_a_session_that_was_left_nothing_stays() -> None:
    with SteppedPlant() as plant:
        converse(plant)
        plant.run()
        assert plant.state() == "idle"
        assert left_over() == []


@pytest.mark.parametrize("stage", ["conversation", "vad", "stt", "llm", "tts", "unit"])
def test_of_a_session_in_which_something_crashed_nothing_stays(stage: str) -> None:
    with SteppedPlant() as plant:
        client = plant.visit("a")
        client.say(append(loud(400)), append(silent(800)))
        plant.run()
        plant.crash(f"{stage}-0")
        plant.run()
        client.leave()
        plant.run()
        plant.advance(10)
        assert plant.state() == "idle"
        assert left_over() == []


@pytest.mark.parametrize("stage", ["conversation", "vad", "stt", "llm", "tts"])
def test_of_a_session_whose_unit_was_in_quarantine_nothing_stays(stage: str) -> None:
    with SteppedPlant() as plant:
        client = plant.visit("a")
        client.say(append(loud(400)), append(silent(800)))
        plant.run()
        plant.wedged.add(f"{stage}-0")
        client.say(append(loud(400)))
        client.leave()
        plant.run()
        assert plant.state() != "idle"
        plant.advance(30)
        assert plant.state() == "idle"
        assert left_over() == []


@pytest.mark.usefixtures("no_garbage_collection")
def test_the_audio_of_a_session_is_gone_without_a_garbage_collection() -> None:
    with SteppedPlant() as plant:
        client = plant.visit("a")
        client.say(append(loud(1000)), append(silent(800)))
        plant.run()
        client.say(append(silent(2000)), ce.AudioCommit(), append(silent(1000)))
        plant.run()
        entries = [each for each in gc.get_objects() if type(each) is Entry]
        buffers = [each for each in gc.get_objects() if type(each) is InputAudioBuffer]
        assert sum(entry.audio_bytes for entry in entries) > 100_000
        assert sum(buffer.held_ms for buffer in buffers) > 0
        client.leave()
        plant.run()
        assert plant.state() == "idle"
        assert sum(entry.audio_bytes for entry in entries) == 0
        assert sum(buffer.held_ms for buffer in buffers) == 0
