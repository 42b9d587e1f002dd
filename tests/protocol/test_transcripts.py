"""What clients are told of what was heard: log probabilities where they are included."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from s2s_actors.protocol.server_events import LogProb
from tests.protocol.playing import START, Player, speech, types

TRANSCRIPTION = "conversation.item.input_audio_transcription."
LOGPROBS = "item.input_audio_transcription.logprobs"
SURE = (LogProb.of("Hé", -0.25), LogProb.of(" you", -1.5))
SHOWN = [
    {"token": "Hé", "logprob": -0.25, "bytes": [72, 195, 169]},
    {"token": " you", "logprob": -1.5, "bytes": [32, 121, 111, 117]},
]


@pytest.fixture
def player() -> Player:
    """A session that transcribes and leaves answers to the client."""
    player = Player()
    player.update(
        include=[LOGPROBS],
        audio={"input": {"transcription": {"model": "m"}, "turn_detection": None}},
    )
    return player


def commit(player: Player) -> str:
    player.append(bytes(4800))
    return str(player.send("input_audio_buffer.commit")[0]["item_id"])


def told(events: list[dict[str, Any]]) -> list[object]:
    assert types(events) == [TRANSCRIPTION + "delta", TRANSCRIPTION + "completed"]
    return [event.get("logprobs", "absent") for event in events]


def test_they_are_asked_for_and_told_when_they_are_included(player: Player) -> None:
    item_id = commit(player)

    assert player.work.utterances[item_id].logprobs
    assert told(player.hears(item_id, "Hé you", *SURE)) == [SHOWN, SHOWN]


def test_the_words_of_a_created_item_have_them_too(player: Player) -> None:
    part = {"type": "input_audio", "audio": base64.b64encode(speech(100)).decode()}
    item = {"type": "message", "role": "user", "content": [part]}
    player.send("conversation.item.create", item=item)
    [work] = player.work.utterances.values()

    assert work.logprobs
    assert told(player.hears(work.voice_id, "Hé you", *SURE)) == [SHOWN, SHOWN]


def test_a_model_that_can_not_tell_leaves_them_out(player: Player) -> None:
    assert told(player.hears(commit(player), "Hé you")) == ["absent", "absent"]


@pytest.mark.parametrize("include", [None, []])
def test_without_include_they_are_neither_asked_for_nor_told(
    player: Player, include: list[str] | None
) -> None:
    asked = commit(player)
    player.update(include=include)
    item_id = commit(player)

    assert not player.work.utterances[item_id].logprobs
    assert told(player.hears(item_id, "Hé you", *SURE)) == ["absent", "absent"]
    assert told(player.hears(asked, "Hé you", *SURE)) == ["absent", "absent"]


def test_nobody_asks_for_what_nobody_sees(player: Player) -> None:
    player.update_input(transcription=None)

    assert not player.work.utterances[commit(player)].logprobs


def test_a_session_that_only_transcribes_may_include_them() -> None:
    player = Player(replace(START, transcription=True))
    session = {"type": "transcription", "include": [LOGPROBS]}
    player.send("session.update", session=session)
    work = player.work.utterances[player.says()]

    assert work.logprobs
    assert told(player.hears(work.voice_id, "Hé you", *SURE)) == [SHOWN, SHOWN]


def test_another_include_is_refused(player: Player) -> None:
    [error] = player.update(include=["everything"])

    assert error["error"]["param"].startswith("session.include")


def test_settings_of_the_transcription_are_kept_and_shown(player: Player) -> None:
    settings = {"model": "whisper-1", "language": "fr", "prompt": "Paris"}
    [updated] = player.update_input(transcription=settings)
    work = player.work.utterances[commit(player)]

    assert updated["session"]["audio"]["input"]["transcription"] == settings
    assert (work.language, work.prompt) == ("fr", "Paris")
