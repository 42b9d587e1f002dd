"""Audio of the user: appending, committing, and where turns begin and end."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check
from .realtime_conformance.sound import from_pcmu, silence, to_pcma, to_pcmu, tone

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event
    from .realtime_conformance.target import Target

BUFFER = "input_audio_buffer"
VAD_ONLY = {"type": "server_vad", "create_response": False}
TURN = [
    f"{BUFFER}.speech_started",
    f"{BUFFER}.speech_stopped",
    f"{BUFFER}.committed",
    "conversation.item.added",
    "conversation.item.done",
]


def item_id(event: Event) -> str:
    return str(event["item_id"] if "item_id" in event else event["item"]["id"])


def commit(client: Client) -> Event:
    """Commit, and wait for the item."""
    event_id = client.send(f"{BUFFER}.commit")
    committed = client.event(f"{BUFFER}.committed")
    added = client.event("conversation.item.added")
    done = client.event("conversation.item.done")
    assert item_id(committed) == item_id(added) == item_id(done)
    assert not [e for e in client.of("error") if e["error"].get("event_id") == event_id]
    return committed


def empty(client: Client) -> None:
    """A commit finds nothing in the buffer."""
    error = client.error(client.send(f"{BUFFER}.commit"))
    assert error["type"] == "invalid_request_error"
    assert error["code"] == f"{BUFFER}_commit_empty"


@check("input_audio_buffer/29", CORE)
def test_an_append_is_not_acknowledged(client: Client) -> None:
    since = client.mark()
    client.append(silence(100))
    client.sync()
    assert client.types[since:] == ["session.updated"]


@check("input_audio_buffer/30", CORE)
def test_a_commit_makes_an_item_and_no_response(client: Client) -> None:
    client.listen(turn_detection=None)
    since = client.mark()
    client.append(tone(1000))
    assert commit(client)["previous_item_id"] is None
    client.nothing("response.created", f"{BUFFER}.speech_started", since=since)


@check("input_audio_buffer/previous", CORE)
def test_a_commit_comes_after_the_last_item(client: Client) -> None:
    client.listen(turn_detection=None)
    item = client.write("First.")
    client.append(tone(500))
    assert commit(client)["previous_item_id"] == item["id"]


@check("input_audio_buffer/31", CORE)
def test_an_empty_commit_is_an_error_about_that_event(client: Client) -> None:
    empty(client)
    client.sync()


@check("input_audio_buffer/short", FULL)
def test_a_commit_of_less_than_100_ms_is_too_small(client: Client) -> None:
    client.listen(turn_detection=None)
    client.append(tone(60))
    empty(client)


@check("input_audio_buffer/32", CORE)
def test_a_cleared_buffer_is_empty(client: Client) -> None:
    client.listen(turn_detection=None)
    client.append(tone(500))
    client.send(f"{BUFFER}.clear")
    client.event(f"{BUFFER}.cleared")
    empty(client)


@check("input_audio_buffer/clear-empty", CORE)
def test_clearing_an_empty_buffer_is_answered(client: Client) -> None:
    client.send(f"{BUFFER}.clear")
    client.event(f"{BUFFER}.cleared")


@check("input_audio_buffer/33", CORE)
def test_a_spoken_turn_comes_in_order_with_one_item_id(client: Client) -> None:
    client.say()
    created = client.event("response.created")
    order = client.received[1 : client.received.index(created)]
    events = [event for event in order if event["type"] in TURN]
    assert [event["type"] for event in events] == TURN
    assert len({item_id(event) for event in events}) == 1
    assert client.done()["status"] == "completed"


@check("input_audio_buffer/34", CORE)
def test_offsets_count_from_the_first_byte_of_the_session(client: Client, target: Target) -> None:
    client.listen(turn_detection=VAD_ONLY)
    client.say()
    client.event(f"{BUFFER}.speech_stopped")
    client.append(silence(1000))
    onset_ms = client.sent_audio_ms + target.onset_ms
    client.say()
    start_ms = client.event(f"{BUFFER}.speech_started")["audio_start_ms"]
    end_ms = client.event(f"{BUFFER}.speech_stopped")["audio_end_ms"]
    assert isinstance(start_ms, int)
    assert isinstance(end_ms, int)
    assert onset_ms - 550 <= start_ms <= onset_ms - 100
    assert start_ms < end_ms <= client.sent_audio_ms


@check("input_audio_buffer/padding", FULL)
def test_more_prefix_padding_means_an_earlier_start(client: Client) -> None:
    client.listen(turn_detection=VAD_ONLY | {"prefix_padding_ms": 100})
    client.append(silence(1000))
    client.say()
    first_ms = client.event(f"{BUFFER}.speech_started")["audio_start_ms"] - 1000
    client.event(f"{BUFFER}.speech_stopped")
    client.listen(turn_detection=VAD_ONLY | {"prefix_padding_ms": 600})
    client.append(silence(1000))
    onset_ms = client.sent_audio_ms
    client.say()
    second_ms = client.event(f"{BUFFER}.speech_started")["audio_start_ms"] - onset_ms
    assert 350 <= first_ms - second_ms <= 650


@check("input_audio_buffer/35", FULL)
def test_audio_that_is_not_base64_is_an_error_and_later_audio_works(client: Client) -> None:
    error = client.error(client.send(f"{BUFFER}.append", audio="!not base64!"))
    assert error["type"] == "invalid_request_error"
    client.listen(turn_detection=None)
    client.append(tone(500))
    commit(client)


@check("input_audio_buffer/odd", FULL)
def test_an_odd_byte_waits_for_the_next_append(client: Client) -> None:
    client.listen(turn_detection=None)
    sound = tone(500)
    for piece in (sound[:9601], sound[9601:]):
        client.send(f"{BUFFER}.append", audio=base64.b64encode(piece).decode())
    item = client.retrieve(commit(client)["item_id"])
    assert base64.b64decode(item["content"][0]["audio"]) == sound


@check("input_audio_buffer/largest", FULL)
def test_an_append_of_14_mib_is_taken(client: Client) -> None:
    client.listen(turn_detection=None)
    audio = base64.b64encode(bytes(14 << 20)).decode()
    client.send(f"{BUFFER}.append", audio=audio)
    client.send(f"{BUFFER}.clear")
    client.event(f"{BUFFER}.cleared")
    client.no_error()


@check("input_audio_buffer/37", FULL)
def test_an_append_of_16_mib_is_refused_and_closes_nothing(client: Client) -> None:
    client.listen(turn_detection=None)
    audio = base64.b64encode(bytes(16 << 20)).decode()
    assert client.error(client.send(f"{BUFFER}.append", audio=audio))["param"] == "audio"
    empty(client)


@check("input_audio_buffer/39", FULL)
def test_turns_may_be_detected_without_answers_or_interruptions(client: Client) -> None:
    client.listen(turn_detection=VAD_ONLY | {"interrupt_response": False})
    client.write("Count from one to fifty.")
    client.create(output_modalities=["text"], max_output_tokens=60)
    response = client.created()
    client.say()
    for type_ in TURN[:3]:
        client.event(type_)
    done = client.event("response.done")["response"]
    assert done["id"] == response["id"]
    assert done["status"] in ("completed", "incomplete")
    assert len(client.of("response.created")) == 1


@check("input_audio_buffer/manual", CORE)
def test_a_commit_while_detection_is_on_ends_the_turn_by_hand(client: Client) -> None:
    client.listen(turn_detection=VAD_ONLY)
    since = client.mark()
    client.append(silence(300) + client.target.speech[:24_000])
    commit(client)
    client.append(silence(1500))
    client.nothing("response.created", since=since)


@check("input_audio_buffer/silence", CORE)
def test_silence_begins_no_turn(client: Client) -> None:
    since = client.mark()
    client.append(silence(4000))
    client.nothing(f"{BUFFER}.speech_started", since=since)


def split_by(client: Client, eagerness: str) -> list[Event]:
    """Speak with a pause in the middle; the turns that have become of it."""
    client.listen(turn_detection=VAD_ONLY | {"type": "semantic_vad", "eagerness": eagerness})
    half = len(client.target.speech) // 4 * 2
    begin, end = client.target.speech[:half], client.target.speech[half:]
    since = client.mark()
    client.append(begin + silence(1000) + end + silence(9000))
    client.sync()
    client.event(f"{BUFFER}.committed")
    client.nothing(since=since)
    return [e for e in client.received[since:] if e["type"] == f"{BUFFER}.speech_stopped"]


@check("input_audio_buffer/41", FULL)
def test_an_eager_ear_waits_no_longer_than_a_patient_one(client: Client) -> None:
    patient = split_by(client, "low")
    begin_ms = len(client.target.speech) // 48 + 10_000  # the second time comes behind the first
    eager = split_by(client, "high")
    assert len(patient) <= len(eager)
    assert eager[-1]["audio_end_ms"] - begin_ms < patient[-1]["audio_end_ms"]


@check("input_audio_buffer/42", FULL)
def test_long_silence_after_an_answer_is_a_turn_of_its_own(client: Client) -> None:
    client.listen(turn_detection={"type": "server_vad", "idle_timeout_ms": 5000})
    response = client.ask("Say exactly: Hi.")
    client.append(silence(200))
    timeout = client.event(f"{BUFFER}.timeout_triggered", within_s=40)
    assert timeout["audio_end_ms"] >= timeout["audio_start_ms"]
    assert client.event(f"{BUFFER}.committed")["item_id"] == timeout["item_id"]
    assert client.created()["id"] != response["id"]
    client.done()


@check("input_audio_buffer/43", FULL)
def test_an_idle_timeout_of_semantic_vad_closes_nothing(client: Client) -> None:
    detection = {"type": "semantic_vad", "idle_timeout_ms": 6000}
    session = {"type": "realtime", "audio": {"input": {"turn_detection": detection}}}
    client.send("session.update", session=session)
    found = client.event_that(lambda e: e["type"] in ("error", "session.updated"), "an answer")
    assert found["type"] == "error" or client.close_code is None
    client.sync()


@check("input_audio_buffer/23", FULL)
@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
def test_a_turn_may_be_spoken_in_a_format_of_telephony(client: Client, kind: str) -> None:
    formats: Any = {"format": {"type": kind}}
    client.update(audio={"input": formats, "output": formats})
    encode = to_pcmu if kind == "audio/pcmu" else to_pcma
    client.bytes_per_ms = 8
    client.append(encode(client.target.speech + silence(1200)))
    response = client.done()
    assert response["audio"]["output"]["format"] == {"type": kind}
    assert len(client.audio_of(response["id"])) >= 800
    if kind == "audio/pcmu":
        assert any(from_pcmu(client.audio_of(response["id"])))


@check("input_audio_buffer/offsets-g711", FULL)
def test_offsets_are_in_milliseconds_in_every_format(client: Client, target: Target) -> None:
    formats = {"format": {"type": "audio/pcmu"}}
    client.update(audio={"input": formats | {"turn_detection": VAD_ONLY}})
    client.bytes_per_ms = 8
    client.append(to_pcmu(silence(2000) + target.speech + silence(1200)))
    start_ms = client.event(f"{BUFFER}.speech_started")["audio_start_ms"]
    assert 1400 <= start_ms <= 2000 + target.onset_ms
    client.event("conversation.item.done")
