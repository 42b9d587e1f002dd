"""What stock clients always send is accepted, and answered as they need it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.playing import Player, one, response_id_of, speech, types, user_text

ITEM = "conversation.item."
TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "Tells the weather.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
        "$schema": "http://json-schema.org/draft-07/schema#",
    },
    "strict": True,
}
JAVASCRIPT_AGENT = {
    "type": "realtime",
    "instructions": "Talk.",
    "model": "gpt-realtime-2.1",
    "output_modalities": ["audio"],
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24000},
            "noise_reduction": None,
            "transcription": {"model": "gpt-4o-mini-transcribe"},
            "turn_detection": {"type": "semantic_vad"},
        },
        "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "ash", "speed": 1},
    },
    "tool_choice": "auto",
    "tools": [TOOL],
}
PYTHON_AGENT = {
    "type": "realtime",
    "model": "gpt-realtime-2.1",
    "instructions": "Talk.",
    "output_modalities": ["audio"],
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24000},
            "transcription": {"model": "gpt-4o-mini-transcribe"},
            "turn_detection": {"type": "semantic_vad", "interrupt_response": True},
        },
        "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "ash"},
    },
    "tools": [],
}


@pytest.fixture(params=[JAVASCRIPT_AGENT, PYTHON_AGENT], ids=["javascript", "python"])
def player(request: pytest.FixtureRequest) -> Player:
    player = Player()
    (updated,) = player.send("session.update", session=request.param)
    assert updated["type"] == "session.updated"
    return player


def errors(player: Player) -> list[dict[str, Any]]:
    return [event for event in player.events if event["type"] == "error"]


def test_their_settings_are_taken_and_shown_filled_in(player: Player) -> None:
    session = player.events[-1]["session"]

    assert session["model"] == "local-cascade"
    assert session["instructions"] == "Talk."
    # Without it they send a cancel of their own at each barge-in.
    assert session["audio"]["input"]["turn_detection"]["interrupt_response"] is True
    assert session["audio"]["input"]["transcription"] == {"model": "gpt-4o-mini-transcribe"}
    assert session["audio"]["output"] == {
        "format": {"type": "audio/pcm", "rate": 24000},
        "voice": "ash",
        "speed": 1.0,
    }


@pytest.mark.parametrize(
    "tracing", ["auto", None, {"workflow_name": "w", "group_id": "g", "metadata": {"a": [1]}}]
)
def test_tracing_is_taken_and_echoed(player: Player, tracing: object) -> None:
    session = {"type": "realtime", "model": "gpt-realtime-2.1", "tracing": tracing}
    (updated,) = player.send("session.update", session=session)

    assert updated["session"]["tracing"] == tracing


def test_a_turn_with_a_barge_in_as_they_play_it(player: Player) -> None:
    question = player.says()
    heard = player.hears(question, "Tell me a story.")
    assert types(player.send(ITEM + "retrieve", item_id=question)) == [ITEM + "retrieved"]
    response_id = response_id_of(heard)
    player.writes(response_id, "Once upon a time, there was a king. And ")
    player.speaks(player.work.segments[0], speech(900, 1), last=False)
    answer = player.checker.items[-1]
    player.starts()
    player.send(ITEM + "truncate", item_id=answer, content_index=0, audio_end_ms=400)
    assert types(player.send(ITEM + "retrieve", item_id=answer)) == [ITEM + "retrieved"]
    player.append(speech(600))
    player.stops()
    (second,) = player.work.utterances
    player.answers(response_id_of(player.hears(second, "Enough.")), "Good.")

    assert errors(player) == []
    player.finish()


def test_a_message_and_a_call_as_they_play_them(player: Player) -> None:
    player.send(ITEM + "create", item=user_text("What is the weather?"))
    response_id = response_id_of(
        player.send("response.create", event_id="agents_js_response_create_1")
    )
    player.calls(response_id, "call_1", "get_weather", '{"city": "Paris"}')
    events = player.ends(response_id)
    item = one(events, "response.output_item.done")["item"]
    assert item["status"] == "completed"  # only then do they run the function
    output = {"type": "function_call_output", "output": "Sun.", "call_id": item["call_id"]}
    player.send(ITEM + "create", item=output, previous_item_id=item["id"])
    player.answers(response_id_of(player.send("response.create")), "It is sunny.")

    assert errors(player) == []
    player.finish()


def test_edits_of_the_history_as_they_make_them(player: Player) -> None:
    first = player.create_text("One.")
    player.send(ITEM + "delete", item_id=first, event_id="agents_delete_1")
    player.send(
        ITEM + "create",
        item=user_text("One, again.", id=first, status="completed"),
        previous_item_id="root",
        event_id="agents_create_1",
    )

    assert errors(player) == []
    assert player.items()[0]["content"][0]["text"] == "One, again."


def test_a_refused_request_gives_them_back_their_event_id(player: Player) -> None:
    player.respond()
    (event,) = player.send("response.create", event_id="agents_py_response_create_2")

    assert event["error"]["code"] == "conversation_already_has_active_response"
    assert event["error"]["event_id"] == "agents_py_response_create_2"


def test_an_agent_without_tools_clears_them(player: Player) -> None:
    (updated,) = player.send("session.update", session={"type": "realtime", "tools": []})

    assert updated["session"]["tools"] == []
