"""What one response may have of its own: settings, context, and a place out of the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event

RIDDLE = "The secret word is zebra."
QUESTION = "What is the secret word?"
FRUIT = "Answer only with the word BANANA."


def message(text: str) -> Event:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def text(response: Event) -> str:
    """What a written response says, in lower case."""
    return str(response["output"][0]["content"][0]["text"]).lower()


def refusal(client: Client, **response: Any) -> Event:
    """The error of a request that starts no response."""
    since = client.mark()
    error = client.error(client.create(**response))
    assert error["type"] == "invalid_request_error"
    client.nothing("response.created", since=since)
    return error


@check("response/76", FULL)
def test_overrides_last_for_one_response(client: Client) -> None:
    before = client.update()
    fruit = client.ask("What is your name?", output_modalities=["text"], instructions=FRUIT)
    assert "banana" in text(fruit)
    assert fruit["output_modalities"] == ["text"]
    assert client.update() == before
    after = client.ask("Say exactly: Hello.")
    assert after["output_modalities"] == ["audio"]
    assert "banana" not in after["output"][0]["content"][0]["transcript"].lower()


@check("response/76-tokens", FULL)
def test_a_limit_of_tokens_lasts_for_one_response(client: Client) -> None:
    client.ask("Say exactly: one two three four.", max_output_tokens=2)
    after = client.ask("Say exactly: one two three four.")
    assert (after["status"], after["max_output_tokens"]) == ("completed", "inf")


@check("response/76-voice", FULL)
def test_the_format_of_one_response_may_differ(client: Client) -> None:
    output = {"format": {"type": "audio/pcmu"}}
    response = client.ask("Say exactly: Hello there.", audio={"output": output})
    assert response["audio"]["output"]["format"] == {"type": "audio/pcmu"}
    again = client.ask("Say exactly: Hello there.")
    ratio = len(client.audio_of(again["id"])) / len(client.audio_of(response["id"]))
    assert 3 < ratio < 12


@check("response/76-text", CORE)
def test_a_written_answer_has_no_audio(client: Client) -> None:
    client.ask("Say exactly: Hello.", output_modalities=["text"])
    assert not [kind for kind in client.types if "output_audio" in kind]


@check("response/74", FULL)
def test_an_input_of_its_own_is_all_that_a_response_knows(client: Client) -> None:
    client.write(RIDDLE)
    known = client.write("My name is Ada.")
    context = [{"type": "item_reference", "id": known["id"]}, message(QUESTION)]
    client.create(input=context, output_modalities=["text"])
    assert "zebra" not in text(client.done())


@check("response/74-reference", FULL)
def test_a_reference_brings_its_item(client: Client) -> None:
    secret = client.write(RIDDLE)
    context = [{"type": "item_reference", "id": secret["id"]}, message(QUESTION)]
    client.create(input=context, output_modalities=["text"], conversation="none")
    assert "zebra" in text(client.done())


@check("response/74-unknown", FULL)
def test_an_unknown_reference_starts_no_response(client: Client) -> None:
    refusal(client, input=[{"type": "item_reference", "id": "item_nosuch"}])


@check("response/74-empty", FULL)
def test_an_empty_input_is_no_context(client: Client) -> None:
    client.write("Say exactly: zebra.")
    client.create(input=[], output_modalities=["text"])
    assert "zebra" not in text(client.done())


@check("response/out-of-band", FULL)
def test_a_response_out_of_band_leaves_the_conversation_alone(client: Client) -> None:
    client.write("First.")
    items = list(client.checker.items)
    since = client.mark()
    client.create(
        conversation="none",
        metadata={"topic": "aside"},
        input=[message("Say exactly: Aside.")],
        output_modalities=["text"],
    )
    created, done = client.created(), client.done()
    assert created["conversation_id"] is done["conversation_id"] is None
    assert created["metadata"] == done["metadata"] == {"topic": "aside"}
    client.nothing("conversation.item.added", "conversation.item.done", since=since)
    assert client.checker.items == items


@check("response/out-of-band-beside", FULL)
def test_a_response_out_of_band_runs_beside_the_conversation(client: Client) -> None:
    client.write("Count from one to fifty.")
    client.create(output_modalities=["text"], max_output_tokens=60)
    main_id = client.created()["id"]
    client.create(
        conversation="none", input=[message("Say exactly: Aside.")], output_modalities=["text"]
    )
    assert client.created()["id"] != main_id
    assert {client.done()["status"] for _ in range(2)} <= {"completed", "incomplete"}
    client.no_error()


@check("response/out-of-band-forgotten", FULL)
def test_later_answers_do_not_know_what_was_out_of_band(client: Client) -> None:
    client.create(conversation="none", input=[message(RIDDLE)], output_modalities=["text"])
    client.done()
    assert "zebra" not in text(client.ask(QUESTION, output_modalities=["text"]))


@check("response/out-of-band-speech", FULL)
def test_speech_does_not_interrupt_what_is_out_of_band(client: Client) -> None:
    client.create(
        conversation="none",
        input=[message("Count from one to fifty.")],
        output_modalities=["text"],
        max_output_tokens=60,
    )
    aside = client.created()["id"]
    client.say()
    client.event("input_audio_buffer.speech_stopped")
    done = client.event_that(
        lambda e: e["type"] == "response.done" and e["response"]["id"] == aside, "the aside"
    )
    assert done["response"]["status"] in ("completed", "incomplete")


BAD: dict[str, Any] = {
    "output_modalities": ["text", "audio"],
    "max_output_tokens": 0,
    "conversation": "other",
    "metadata": {"key": 7},
    "modalities": ["text"],
    "input": "hello",
}


@check("response/bad-override", FULL)
@pytest.mark.parametrize("name", list(BAD))
def test_a_bad_override_starts_no_response(client: Client, name: str) -> None:
    assert refusal(client, **{name: BAD[name]})["param"].startswith(f"response.{name}")


METADATA: dict[str, Any] = {
    "17 pairs": {f"key{n}": "v" for n in range(17)},
    "long key": {"k" * 65: "v"},
    "long value": {"k": "v" * 513},
}


@check("response/metadata", FULL)
@pytest.mark.parametrize("kind", list(METADATA))
def test_metadata_beyond_its_limits_is_refused(client: Client, kind: str) -> None:
    assert refusal(client, metadata=METADATA[kind])["param"].startswith("response.metadata")
