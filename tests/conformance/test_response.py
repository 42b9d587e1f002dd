"""Responses of the default conversation, from created to done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event

LONG = "Count from one to fifty."
ITEM_ENDS = {"conversation.item.done", "response.output_item.done"}


def of_response(client: Client, since: int) -> list[str]:
    """Types since a mark, with deltas of one kind in a row shown once."""
    types = [t for t in client.types[since:] if t not in ("rate_limits.updated", "session.updated")]
    return [t for i, t in enumerate(types) if not (t.endswith("delta") and types[i - 1] == t)]


def text_of(response: Event) -> str:
    """What a response says."""
    part: Event = response["output"][0]["content"][0]
    return str(part["text"] if part["type"] == "output_text" else part["transcript"])


@check("response/63", CORE)
def test_a_written_answer_comes_in_order(client: Client) -> None:
    client.write("Say exactly: Hello there.")
    since = client.mark()
    client.create(output_modalities=["text"])
    assert client.done()["status"] == "completed"
    types = of_response(client, since)
    assert types[:4] == [
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
    ]
    middle = ["output_text.delta", "output_text.done", "content_part.done"]
    assert types[4:7] == [f"response.{name}" for name in middle]
    assert set(types[7:9]) == ITEM_ENDS
    assert types[9:] == ["response.done"]
    assert client.of("response.content_part.added")[0]["part"]["type"] == "text"


@check("response/64", CORE)
def test_a_spoken_answer_has_audio_and_transcript_and_closes_in_order(client: Client) -> None:
    client.write("Say exactly: Hello there.")
    since = client.mark()
    client.create()
    response = client.done()
    types = of_response(client, since)
    assert client.of("response.content_part.added")[0]["part"]["type"] == "audio"
    assert {"response.output_audio.delta", "response.output_audio_transcript.delta"} <= set(types)
    assert set(types[-6:-4]) == {
        "response.output_audio.done",
        "response.output_audio_transcript.done",
    }
    assert types[-4] == "response.content_part.done"
    assert set(types[-3:-1]) == ITEM_ENDS
    assert types[-1] == "response.done"
    assert len(client.audio_of(response["id"])) > 4800


@check("response/65", CORE)
def test_all_tellings_of_an_answer_agree(client: Client) -> None:
    response = client.ask("Say exactly: Hello there.")
    done = client.of("response.output_audio_transcript.done")[0]
    deltas = client.of("response.output_audio_transcript.delta")
    assert "".join(event["delta"] for event in deltas) == done["transcript"] == text_of(response)
    assert client.of("response.content_part.done")[0]["part"]["transcript"] == done["transcript"]
    keys = ("response_id", "item_id", "output_index", "content_index")
    assert len({tuple(event[key] for key in keys) for event in (*deltas, done)}) == 1


@check("response/created", CORE)
def test_a_response_begins_in_progress_and_empty(client: Client) -> None:
    client.write("Say exactly: Hello.")
    client.create()
    response = client.created()
    assert response["object"] == "realtime.response"
    assert response["status"] == "in_progress"
    assert response["output"] == []
    assert response["usage"] is None
    assert isinstance(response["audio"]["output"]["voice"], str)
    client.done()


@check("response/67", CORE)
def test_response_done_tells_all(client: Client) -> None:
    response = client.ask("Say exactly: Hello there.", metadata={"topic": "greeting"})
    assert response["status"] == "completed"
    assert response["status_details"] is None
    assert response["conversation_id"]
    assert response["output_modalities"] == ["audio"]
    assert response["max_output_tokens"] == "inf"
    assert response["audio"]["output"]["format"] == {"type": "audio/pcm", "rate": 24000}
    assert isinstance(response["audio"]["output"]["voice"], str)
    assert response["metadata"] == {"topic": "greeting"}
    usage = response["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    assert {"text_tokens", "audio_tokens"} <= set(usage["input_token_details"])
    assert {"text_tokens", "audio_tokens"} <= set(usage["output_token_details"])


@check("response/68", CORE)
def test_a_second_response_is_refused_while_one_is_active(client: Client) -> None:
    client.write(LONG)
    client.create(max_output_tokens=30)
    first = client.created()
    error = client.error(client.create())
    assert error["code"] == "conversation_already_has_active_response"
    done = client.done()
    assert done["id"] == first["id"]
    assert done["status"] in ("completed", "incomplete")


@check("response/68-burst", CORE)
def test_of_two_requests_in_a_burst_one_is_answered(client: Client) -> None:
    client.write(LONG)
    client.create(max_output_tokens=30)
    second = client.create()
    error = client.error(second)
    assert error["code"] == "conversation_already_has_active_response"
    client.done()
    client.nothing("response.created", since=client.mark())
    assert len(client.of("response.created")) == 1


@check("response/69", CORE)
def test_a_cancelled_answer_closes_everything(client: Client) -> None:
    client.write(LONG)
    client.create()
    client.event("response.output_audio.delta")
    client.send("response.cancel")
    response = client.done()
    assert response["status"] == "cancelled"
    assert response["status_details"]["reason"] == "client_cancelled"
    assert [item["status"] for item in response["output"]] == ["incomplete"]
    client.nothing("response.output_audio.delta", since=client.mark())


@check("response/69-text", CORE)
def test_a_cancelled_written_answer_closes_everything(client: Client) -> None:
    client.write(LONG)
    client.create(output_modalities=["text"])
    client.event("response.output_text.delta")
    client.send("response.cancel")
    response = client.done()
    assert response["status"] == "cancelled"
    assert client.of("response.output_text.done")
    assert response["output"][0]["status"] == "incomplete"


@check("response/69-id", FULL)
def test_a_response_is_cancelled_by_its_id(client: Client) -> None:
    client.write(LONG)
    client.create()
    response_id = client.created()["id"]
    client.send("response.cancel", response_id=response_id)
    response = client.done()
    assert (response["id"], response["status"]) == (response_id, "cancelled")


@check("response/69-next", CORE)
def test_a_new_answer_may_be_asked_for_right_behind_a_cancel(client: Client) -> None:
    client.write(LONG)
    client.create()
    client.event("response.output_audio.delta")
    client.send("response.cancel")
    client.create(output_modalities=["text"], max_output_tokens=20)
    assert client.done()["status"] == "cancelled"
    assert client.done()["status"] in ("completed", "incomplete")
    client.no_error()


@check("response/70", CORE)
def test_a_cancel_with_nothing_active_is_an_error(client: Client) -> None:
    assert client.error(client.send("response.cancel"))["code"] == "response_cancel_not_active"
    assert client.ask("Say exactly: Hello.")["status"] == "completed"


@check("response/70-id", FULL)
def test_a_cancel_of_an_unknown_response_is_an_error(client: Client) -> None:
    client.write(LONG)
    client.create(output_modalities=["text"], max_output_tokens=30)
    client.created()
    client.error(client.send("response.cancel", response_id="resp_nosuch"))
    assert client.done()["status"] != "cancelled"


def interrupted(client: Client, **detection: Any) -> tuple[Event, float]:
    """Speak into a long answer; its end, and the seconds from the interruption to it."""
    client.listen(turn_detection={"type": "server_vad", **detection})
    client.write(LONG)
    limit = {} if detection.get("interrupt_response", True) else {"max_output_tokens": 60}
    client.create(**limit)
    response_id = client.event("response.output_audio.delta")["response_id"]
    client.say()
    client.event("input_audio_buffer.speech_started")
    started_s = client.arrived_s[client._cursor - 1]
    found = client.event_that(
        lambda e: e["type"] == "response.done" and e["response"]["id"] == response_id, "the end"
    )
    return dict(found["response"]), client.arrived_s[client._cursor - 1] - started_s


@check("response/71", CORE)
def test_speech_interrupts_an_answer_and_is_answered(client: Client) -> None:
    response, took_s = interrupted(client)
    assert response["status"] == "cancelled"
    assert response["status_details"]["reason"] == "turn_detected"
    assert took_s < 0.3
    assert client.done()["status"] == "completed"


@check("response/72", FULL)
def test_speech_does_not_interrupt_where_that_is_switched_off(client: Client) -> None:
    response, _ = interrupted(client, interrupt_response=False, create_response=False)
    assert response["status"] in ("completed", "incomplete")
    assert response["status_details"] in (
        None,
        {"type": "incomplete", "reason": "max_output_tokens"},
    )


@check("response/77", FULL)
def test_an_answer_that_reaches_its_limit_is_incomplete(client: Client) -> None:
    response = client.ask(LONG, max_output_tokens=5)
    assert response["status"] == "incomplete"
    assert response["status_details"]["type"] == "incomplete"
    assert response["status_details"]["reason"] == "max_output_tokens"
    assert response["max_output_tokens"] == 5


@pytest.mark.needs_script
@check("response/78", FULL)
@pytest.mark.parametrize(
    "prompt", ["Please fail.", "Say exactly: This is unspeakable."], ids=["llm", "tts"]
)
def test_a_failing_model_fails_the_response_and_not_the_session(
    client: Client, prompt: str
) -> None:
    response = client.ask(prompt)
    assert response["status"] == "failed"
    assert response["status_details"]["type"] == "failed"
    assert response["status_details"]["error"]["code"]
    assert client.ask("Say exactly: Hello.")["status"] == "completed"


@check("response/81", FULL)
def test_rate_limits_come_with_each_response(client: Client) -> None:
    client.ask("Say exactly: Hello.")
    client.nothing(since=client.mark())
    limits = client.of("rate_limits.updated")
    assert len(limits) == 1
    for entry in limits[0]["rate_limits"]:
        assert entry["name"] in ("requests", "tokens")
        assert None not in entry.values()


@check("response/spoken-turn", CORE)
def test_a_spoken_turn_is_answered_aloud(client: Client) -> None:
    client.say()
    response = client.done()
    assert response["status"] == "completed"
    assert len(client.audio_of(response["id"])) > 4800
    user = client.of("input_audio_buffer.committed")[0]["item_id"]
    assert client.checker.items == [user, response["output"][0]["id"]]


@check("response/instructions", CORE)
def test_an_answer_follows_the_instructions_of_the_session(client: Client) -> None:
    client.update(instructions="Answer only with the word BANANA.", output_modalities=["text"])
    assert "BANANA" in text_of(client.ask("What is your name?")).upper()
