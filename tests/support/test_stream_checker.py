"""The checker of streams lets good ones pass and notices each kind of broken one."""

from __future__ import annotations

import base64
import copy
import itertools
import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from tests.support import strict_events
from tests.support.stream_checker import CrossSessionChecker, StreamChecker

if TYPE_CHECKING:
    from collections.abc import Callable

Event: TypeAlias = "dict[str, Any]"
Stream: TypeAlias = "list[tuple[str, Event]]"

SOUND = base64.b64encode(bytes(480)).decode()
USAGE = {
    "total_tokens": 15,
    "input_tokens": 10,
    "output_tokens": 5,
    "input_token_details": {"text_tokens": 10, "audio_tokens": 0, "cached_tokens": 0},
    "output_token_details": {"text_tokens": 3, "audio_tokens": 2},
}
TRANSCRIPTION = "conversation.item.input_audio_transcription"


def session(*, transcription: bool = True, detection: bool = True) -> Event:
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": "sess_1",
        "model": "m",
        "expires_at": 1,
        "audio": {
            "input": {
                "transcription": {"model": "whisper-1"} if transcription else None,
                "turn_detection": {"type": "server_vad"} if detection else None,
            }
        },
    }


def response(response_id: str, modality: str, **fields: Any) -> Event:
    return {
        "object": "realtime.response",
        "id": response_id,
        "status": "in_progress",
        "status_details": None,
        "output": [],
        "conversation_id": "conv_1",
        "output_modalities": [modality],
        "audio": {"output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "alloy"}},
        "usage": None,
        "metadata": None,
    } | fields


def user_item(item_id: str) -> Event:
    return {
        "type": "message",
        "id": item_id,
        "status": "completed",
        "role": "user",
        "content": [{"type": "input_audio", "transcript": None}],
    }


def spoken_turn() -> Stream:
    """The user speaks and gets a spoken answer."""
    of = {"response_id": "resp_1", "item_id": "a1", "output_index": 0}
    part = of | {"content_index": 0}
    item = {"type": "message", "id": "a1", "role": "assistant"}
    open_item = item | {"status": "in_progress", "content": []}
    done_item = item | {
        "status": "completed",
        "content": [{"type": "output_audio", "transcript": "Hello there."}],
    }
    end = response("resp_1", "audio", status="completed", output=[done_item], usage=USAGE)
    return [
        s("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=100),
        s("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=900),
        s("input_audio_buffer.committed", item_id="u1", previous_item_id=None),
        s("conversation.item.added", item=user_item("u1"), previous_item_id=None),
        s("conversation.item.done", item=user_item("u1"), previous_item_id=None),
        s("response.created", response=response("resp_1", "audio")),
        s(f"{TRANSCRIPTION}.delta", item_id="u1", content_index=0, delta="Hi "),
        s(f"{TRANSCRIPTION}.delta", item_id="u1", content_index=0, delta="you"),
        s(
            f"{TRANSCRIPTION}.completed",
            item_id="u1",
            content_index=0,
            transcript="Hi you",
            usage={"type": "duration", "seconds": 0.8},
        ),
        s("response.output_item.added", response_id="resp_1", output_index=0, item=open_item),
        s("conversation.item.added", item=open_item, previous_item_id="u1"),
        s("response.content_part.added", **part, part={"type": "audio", "transcript": ""}),
        s("response.output_audio_transcript.delta", **part, delta="Hello "),
        s("response.output_audio.delta", **part, delta=SOUND),
        s("response.output_audio_transcript.delta", **part, delta="there."),
        s("response.output_audio.delta", **part, delta=SOUND),
        s("response.output_audio.done", **part),
        s("response.output_audio_transcript.done", **part, transcript="Hello there."),
        s(
            "response.content_part.done",
            **part,
            part={"type": "audio", "transcript": "Hello there."},
        ),
        s("conversation.item.done", item=done_item, previous_item_id="u1"),
        s("response.output_item.done", response_id="resp_1", output_index=0, item=done_item),
        s("response.done", response=end),
        s("rate_limits.updated", rate_limits=[]),
    ]


def written_turn() -> Stream:
    """The client writes and gets text and a call, cancelled in the middle of the call."""
    asked = {
        "type": "message",
        "id": "c1",
        "status": "completed",
        "role": "user",
        "content": [{"type": "input_text", "text": "What?"}],
    }
    text = {"response_id": "resp_2", "item_id": "a2", "output_index": 0}
    part = text | {"content_index": 0}
    call = {"response_id": "resp_2", "item_id": "f1", "output_index": 1, "call_id": "call_1"}
    message = {"type": "message", "id": "a2", "role": "assistant"}
    message_open = message | {"status": "in_progress", "content": []}
    message_done = message | {
        "status": "completed",
        "content": [{"type": "output_text", "text": "Well, then"}],
    }
    function = {"type": "function_call", "id": "f1", "name": "look", "call_id": "call_1"}
    function_open = function | {"status": "in_progress", "arguments": ""}
    function_done = function | {"status": "incomplete", "arguments": '{"a":'}
    details = {"type": "cancelled", "reason": "client_cancelled"}
    end = response(
        "resp_2",
        "text",
        status="cancelled",
        status_details=details,
        output=[message_done, function_done],
        usage=USAGE,
    )
    return [
        c("conversation.item.create", "e1", item={"id": "c1"}),
        s("conversation.item.added", item=asked, previous_item_id="a1"),
        s("conversation.item.done", item=asked, previous_item_id="a1"),
        c("response.create", "e2", response={"output_modalities": ["text"]}),
        s("response.created", response=response("resp_2", "text")),
        s("response.output_item.added", response_id="resp_2", output_index=0, item=message_open),
        s("conversation.item.added", item=message_open, previous_item_id="c1"),
        s("response.content_part.added", **part, part={"type": "text", "text": ""}),
        s("response.output_text.delta", **part, delta="Well, "),
        s("response.output_text.delta", **part, delta="then"),
        s("response.output_text.done", **part, text="Well, then"),
        s("response.content_part.done", **part, part={"type": "text", "text": "Well, then"}),
        s("conversation.item.done", item=message_done, previous_item_id="c1"),
        s("response.output_item.done", response_id="resp_2", output_index=0, item=message_done),
        s("response.output_item.added", response_id="resp_2", output_index=1, item=function_open),
        s("conversation.item.added", item=function_open, previous_item_id="a2"),
        s("response.function_call_arguments.delta", **call, delta='{"a":'),
        c("response.cancel", "e3"),
        s("response.function_call_arguments.done", **call, name="look", arguments='{"a":'),
        s("conversation.item.done", item=function_done, previous_item_id="a2"),
        s("response.output_item.done", response_id="resp_2", output_index=1, item=function_done),
        s("response.done", response=end),
        c("response.cancel", "e4"),
        s("error", error=error("response_cancel_not_active", "e4")),
        c("nonsense", "e5"),
        s("error", error=error("invalid_value", "e5")),
    ]


def odds_and_ends() -> Stream:
    """Manual commit, clear in the middle of speech, settings, retrieval, deletion."""
    return [
        c("session.update", None, session={"type": "realtime"}),
        s("session.updated", session=session()),
        s("input_audio_buffer.speech_started", item_id="u2", audio_start_ms=900),
        c("input_audio_buffer.commit", "e6"),
        s("input_audio_buffer.committed", item_id="u2", previous_item_id="f1"),
        s("conversation.item.added", item=user_item("u2"), previous_item_id="f1"),
        s("conversation.item.done", item=user_item("u2"), previous_item_id="f1"),
        s(
            f"{TRANSCRIPTION}.failed",
            item_id="u2",
            content_index=0,
            error={"type": "server_error", "code": "x", "message": "y"},
        ),
        s("input_audio_buffer.speech_started", item_id="u3", audio_start_ms=2000),
        c("input_audio_buffer.clear", "e7"),
        s("input_audio_buffer.speech_stopped", item_id="u3", audio_end_ms=2500),
        s("input_audio_buffer.cleared"),
        c("conversation.item.retrieve", "e8", item_id="u1"),
        s("conversation.item.retrieved", item=user_item("u1")),
        c("conversation.item.truncate", "e9", item_id="a1"),
        s("conversation.item.truncated", item_id="a1", content_index=0, audio_end_ms=10),
        c("conversation.item.delete", "e10", item_id="a1"),
        s("conversation.item.deleted", item_id="a1"),
        s(
            "input_audio_buffer.timeout_triggered",
            item_id="u4",
            audio_start_ms=2500,
            audio_end_ms=7500,
        ),
        s("input_audio_buffer.committed", item_id="u4", previous_item_id="u2"),
        s("conversation.item.added", item=user_item("u4"), previous_item_id="u2"),
        s("conversation.item.done", item=user_item("u4"), previous_item_id="u2"),
        s(
            f"{TRANSCRIPTION}.completed",
            item_id="u4",
            content_index=0,
            transcript="",
            usage={"type": "duration", "seconds": 5.0},
        ),
    ]


def error(code: str, event_id: str | None) -> Event:
    return {
        "type": "invalid_request_error",
        "code": code,
        "message": "no",
        "param": None,
        "event_id": event_id,
    }


def s(kind: str, **fields: Any) -> tuple[str, Event]:
    return "server", {"type": kind, **fields}


def c(kind: str, event_id: str | None, **fields: Any) -> tuple[str, Event]:
    return "client", {"type": kind, **fields} | ({"event_id": event_id} if event_id else {})


def good_stream() -> Stream:
    stream = [
        s("session.created", session=session()),
        *spoken_turn(),
        *written_turn(),
        *odds_and_ends(),
    ]
    stream = [(side, json.loads(json.dumps(event))) for side, event in stream]  # no aliases
    for number, (side, event) in enumerate(stream):
        if side == "server":
            event["event_id"] = f"event_{number}"
    return stream


def play(stream: Stream, *, cut: bool = False) -> None:
    checker = StreamChecker()
    fresh = itertools.count()
    for side, event in stream:
        if side == "client":
            checker.client(event)
        else:
            event.setdefault("event_id", f"more_{next(fresh)}")
            checker.server(event)
    checker.finish(cut=cut)


def place(stream: Stream, kind: str, nth: int = 0) -> int:
    places = [n for n, (_, event) in enumerate(stream) if event["type"] == kind]
    return places[nth]


Change: TypeAlias = "Callable[[Stream], None]"


def without(kind: str, nth: int = 0) -> Change:
    def change(stream: Stream) -> None:
        del stream[place(stream, kind, nth)]

    return change


def twice(kind: str, nth: int = 0) -> Change:
    def change(stream: Stream) -> None:
        at = place(stream, kind, nth)
        side, event = stream[at]
        stream.insert(at + 1, (side, {k: v for k, v in event.items() if k != "event_id"}))

    return change


def before(kind: str, other: str, nth: int = 0, other_nth: int = 0) -> Change:
    """Move an event in front of another one."""

    def change(stream: Stream) -> None:
        moved = stream.pop(place(stream, kind, nth))
        stream.insert(place(stream, other, other_nth), moved)

    return change


def after_all(kind: str, nth: int = 0) -> Change:
    def change(stream: Stream) -> None:
        stream.append(stream.pop(place(stream, kind, nth)))

    return change


def with_field(kind: str, path: str, value: Any, nth: int = 0) -> Change:
    def change(stream: Stream) -> None:
        target: Any = stream[place(stream, kind, nth)][1]
        *parents, last = path.split(".")
        for name in parents:
            target = target[int(name) if name.isdigit() else name]
        target[last] = value

    return change


def test_a_good_stream_passes() -> None:
    play(good_stream())


def test_a_stream_that_is_cut_anywhere_passes_as_cut() -> None:
    whole = good_stream()
    for length in range(len(whole)):
        play(copy.deepcopy(whole[:length]), cut=True)


R = "response."
ITEM = "conversation.item."
BUFFER = "input_audio_buffer."


@pytest.mark.parametrize(
    ("invariant", "change"),
    [
        ("I1", without("session.created")),
        ("I1", twice("session.created")),
        ("I1", with_field("session.created", "session.id", "")),
        ("I1", with_field("session.updated", "session.model", "another")),
        ("I2", without(R + "created")),
        ("I2", twice(R + "created", 1)),
        ("I3", without(R + "done")),
        ("I2", without(R + "done", 1)),
        ("I2", twice(R + "done")),
        ("I2", after_all(R + "output_audio.delta", 1)),
        ("I2", with_field(R + "output_text.delta", "response_id", "resp_9")),
        ("I2", without(R + "output_item.done")),
        ("I2", with_field(R + "created", "response.status", "completed")),
        ("I2", with_field(R + "done", "response.conversation_id", None)),
        ("I2", with_field(R + "done", "response.usage", None)),
        ("I2", with_field(R + "done", "response.usage.total_tokens", 16)),
        ("I2", with_field(R + "done", "response.usage.output_token_details.audio_tokens", 0)),
        ("I2", with_field(R + "done", "response.usage.input_token_details.text_tokens", 0)),
        ("I2", with_field(R + "done", "response.status", "done")),
        ("I2", with_field(R + "done", "response.status_details", None, 1)),
        ("I2", with_field(R + "done", "response.status_details", {"type": "cancelled"}, 1)),
        ("I2", with_field(R + "done", "response.status_details", {"type": "failed"})),
        ("I3", before(R + "created", R + "done", 1)),
        ("I3", with_field(R + "created", "response.conversation_id", "conv_2", 1)),
        ("I4", with_field(R + "output_item.added", "output_index", 1)),
        ("I4", with_field(R + "output_text.delta", "output_index", 1)),
        ("I4", with_field(R + "output_text.delta", "item_id", "a9")),
        ("I4", with_field(R + "output_item.added", "item.id", "a1", 1)),
        ("I4", with_field(R + "output_item.added", "item.status", "completed")),
        ("I4", with_field(R + "done", "response.output", [])),
        (
            "I4",
            lambda stream: stream[place(stream, R + "done", 1)][1]["response"]["output"].reverse(),
        ),
        ("I4", with_field(R + "function_call_arguments.done", "name", "other")),
        ("I4", with_field(R + "function_call_arguments.delta", "call_id", "call_2")),
        ("I4", with_field(R + "output_item.done", "item.status", "cancelled")),
        ("I5", without(R + "output_text.delta")),
        ("I5", without(R + "output_audio_transcript.delta")),
        ("I5", without(R + "output_text.done")),
        ("I5", twice(R + "output_text.done")),
        ("I5", without(R + "content_part.added")),
        ("I5", twice(R + "content_part.added")),
        ("I5", without(R + "content_part.done")),
        ("I5", twice(R + "content_part.done")),
        ("I5", with_field(R + "content_part.done", "part.transcript", "Hello")),
        ("I5", with_field(R + "output_text.done", "text", "Well")),
        ("I5", with_field(R + "output_audio_transcript.done", "transcript", "Hello")),
        ("I5", with_field(R + "output_audio.delta", "content_index", 1)),
        ("I5", with_field(R + "content_part.added", "part.type", "text")),
        ("I5", before(R + "output_text.done", R + "output_text.delta", 0, 1)),
        ("I5", with_field(R + "output_item.done", "item.content", [])),
        ("I5", without(R + "function_call_arguments.done")),
        ("I5", without(R + "function_call_arguments.delta")),
        ("I5", with_field(R + "output_item.done", "item.arguments", "{}", 2)),
        ("I5", before(R + "output_item.done", R + "content_part.done")),
        ("I6", without(R + "output_audio.done")),
        ("I6", twice(R + "output_audio.done")),
        ("I6", before(R + "output_audio_transcript.done", R + "output_audio.done")),
        ("I6", before(R + "output_audio.done", R + "output_audio.delta", 0, 1)),
        ("I6", before(R + "output_audio.done", R + "output_audio.delta")),
        ("I6", with_field(R + "output_audio.delta", "delta", "AAAA")),
        ("I6", with_field(R + "output_audio.delta", "delta", "")),
        ("I7", twice(BUFFER + "speech_started")),
        ("I7", without(BUFFER + "speech_started")),
        ("I7", with_field(BUFFER + "speech_stopped", "item_id", "u9")),
        ("I7", with_field(BUFFER + "speech_stopped", "audio_end_ms", 99)),
        ("I7", with_field(BUFFER + "speech_started", "audio_start_ms", 899, 1)),
        ("I7", with_field(BUFFER + "speech_started", "item_id", "u1", 1)),
        ("I7", with_field(BUFFER + "committed", "item_id", "u9", 1)),
        ("I7", with_field(BUFFER + "timeout_triggered", "audio_start_ms", 0)),
        ("I7", without(BUFFER + "speech_stopped", 1)),
        ("I8", with_field(BUFFER + "committed", "item_id", "u9")),
        ("I8", without(TRANSCRIPTION + ".completed")),
        ("I8", without(TRANSCRIPTION + ".failed")),
        ("I8", before(TRANSCRIPTION + ".completed", BUFFER + "committed")),
        ("I8", with_field(TRANSCRIPTION + ".completed", "item_id", "u9")),
        (
            "I8",
            with_field("session.created", "session", session(transcription=False)),
        ),
        ("I9", twice(TRANSCRIPTION + ".completed")),
        ("I9", before(TRANSCRIPTION + ".completed", TRANSCRIPTION + ".delta", 0, 1)),
        ("I9", with_field(TRANSCRIPTION + ".delta", "content_index", 1)),
        ("I10", without("error")),
        ("I10", without("error", 1)),
        ("I10", twice("error")),
        ("I10", with_field("error", "error.event_id", "e99")),
        ("I10", lambda stream: stream.extend(s("error", error=error("x", None)) for _ in range(2))),
        ("I10", without("session.updated")),
        ("I10", twice("session.updated")),
        ("I10", without(BUFFER + "cleared")),
        ("I10", twice(BUFFER + "cleared")),
        ("I10", lambda stream: stream.extend([c("response.create", "e20")] * 2)),
        ("I10", lambda stream: stream.append(c("response.cancel", "e20"))),
        ("I10", lambda stream: stream.append(c("input_audio_buffer.commit", "e20"))),
        ("I10", without("conversation.item.retrieve")),
        ("IDS", with_field("session.updated", "event_id", "event_1")),
        ("IDS", with_field("session.updated", "event_id", None)),
        ("ITEMS", twice(ITEM + "added")),
        ("ITEMS", twice(ITEM + "done")),
        ("ITEMS", without(ITEM + "added")),
        ("ITEMS", without(ITEM + "added", 1)),
        ("ITEMS", without(ITEM + "done")),
        ("ITEMS", without(ITEM + "done", 1)),
        ("ITEMS", with_field(ITEM + "done", "item.status", "incomplete", 1)),
        ("ITEMS", with_field(ITEM + "added", "previous_item_id", "u9", 1)),
        ("ITEMS", with_field(ITEM + "done", "previous_item_id", None, 1)),
        ("ITEMS", with_field(BUFFER + "committed", "previous_item_id", None, 1)),
        ("ITEMS", with_field(ITEM + "deleted", "item_id", "a9")),
        ("ITEMS", with_field(ITEM + "truncated", "item_id", "a9")),
        ("ITEMS", with_field(ITEM + "retrieved", "item.id", "a9")),
    ],
)
def test_a_broken_stream_is_named_by_its_invariant(invariant: str, change: Change) -> None:
    stream = good_stream()
    change(stream)

    with pytest.raises(AssertionError, match=rf"^{invariant} \(session\): "):
        play(stream)


def test_the_message_shows_the_latest_events() -> None:
    stream = good_stream()
    twice(R + "done")(stream)

    with pytest.raises(AssertionError, match=r"(?s)latest events:.*response\.output_item\.done"):
        play(stream)


def test_events_out_of_the_conversation_stay_out_of_it() -> None:
    stream = [
        s("session.created", session=session()),
        s("response.created", response=response("resp_1", "text", conversation_id=None)),
        s("response.created", response=response("resp_2", "text")),
        s(
            "response.output_item.added",
            response_id="resp_1",
            output_index=0,
            item={"type": "message", "id": "a1", "status": "in_progress", "content": []},
        ),
    ]
    play(copy.deepcopy(stream), cut=True)
    stream.append(s(ITEM + "added", item={"id": "a1"}, previous_item_id=None))

    with pytest.raises(AssertionError, match=r"^I2 .*out-of-band"):
        play(stream, cut=True)


# --- several sessions ---------------------------------------------------------------------


def test_what_one_session_has_never_said_may_not_come_to_it() -> None:
    cross = CrossSessionChecker()
    cross.canary("a", "zebra")
    cross.canary("b", "quokka")
    cross.server("a", {"event_id": "event_1", "item_id": "i1", "transcript": "a Zebra"})
    cross.server("b", {"event_id": "event_2", "item_id": "i2", "transcript": "a Quokka"})

    with pytest.raises(AssertionError, match=r"^I11: canary 'zebra'"):
        cross.server("b", {"event_id": "event_3", "delta": "the ZEBRA said"})


@pytest.mark.parametrize(
    "leak",
    [
        {"event_id": "event_1"},
        {"item_id": "i1"},
        {"previous_item_id": "i1"},
        {"item": {"id": "i1"}},
        {"response": {"id": "r1"}},
        {"response_id": "r1"},
        {"response": {"conversation_id": "c1"}},
        {"session": {"id": "s1"}},
    ],
)
def test_an_id_of_one_session_may_not_appear_in_another(leak: Event) -> None:
    cross = CrossSessionChecker()
    cross.server(
        "a",
        {
            "event_id": "event_1",
            "session": {"id": "s1"},
            "item_id": "i1",
            "response": {"id": "r1", "conversation_id": "c1"},
        },
    )

    with pytest.raises(AssertionError, match=r"^I11: .* of session a appears in session b"):
        cross.server("b", leak)


def test_what_a_client_has_sent_itself_may_come_back() -> None:
    cross = CrossSessionChecker()
    cross.canary("a", "zebra")
    for name in ("a", "b"):
        cross.client(name, {"item": {"id": "mine", "content": [{"text": "A zebra"}]}})
        cross.server(name, {"item": {"id": "mine", "content": [{"text": "A zebra"}]}})


# --- single events ------------------------------------------------------------------------


def strict(kind: str, **fields: Any) -> None:
    strict_events.validate({"type": kind, "event_id": "event_1", **fields})


ASSISTANT = {
    "type": "message",
    "id": "a1",
    "object": "realtime.item",
    "status": "completed",
    "role": "assistant",
    "content": [{"type": "output_audio", "transcript": "Hi"}],
}
PART = {"response_id": "r", "item_id": "a1", "output_index": 0, "content_index": 0}


def test_events_that_stock_clients_take_are_valid() -> None:
    strict(ITEM + "added", item=user_item("u1"), previous_item_id=None)
    strict(ITEM + "done", item=ASSISTANT, previous_item_id="u1")
    strict("error", error=error("x", None))
    strict(R + "done", response=response("r", "audio", status="completed", usage=USAGE))
    strict(R + "output_audio.delta", **PART, delta=SOUND)
    strict("session.created", session=session())


@pytest.mark.parametrize(
    ("kind", "fields", "complaint"),
    [
        ("scooby.doo", {}, "unknown server event"),
        ("conversation.item.created", {"item": ASSISTANT}, "plain websocket"),
        ("output_audio_buffer.cleared", {"response_id": "r"}, "plain websocket"),
        (BUFFER + "cleared", {"event_id": ""}, "no event_id"),
        (BUFFER + "cleared", {"event_id": None}, "event_id"),
        (BUFFER + "cleared", {"surprise": 1}, "unknown field surprise"),
        (
            BUFFER + "speech_started",
            {"item_id": "u", "audio_start_ms": 1.5},
            "audio_start_ms",
        ),
        (BUFFER + "speech_started", {"item_id": "u"}, "audio_start_ms"),
        (ITEM + "added", {"item": ASSISTANT | {"status": None}}, "null in item.status"),
        (ITEM + "added", {"item": ASSISTANT | {"status": "cancelled"}}, "status"),
        (ITEM + "added", {"item": ASSISTANT | {"mood": "good"}}, "unknown field item.mood"),
        (ITEM + "added", {"item": ASSISTANT | {"id": ""}}, "1 to 32"),
        (ITEM + "added", {"item": ASSISTANT | {"id": "x" * 33}}, "1 to 32"),
        (
            ITEM + "added",
            {"item": ASSISTANT | {"content": [{"type": "output_audio", "transcript": None}]}},
            "output_audio transcript is null",
        ),
        (
            ITEM + "added",
            {"item": ASSISTANT | {"content": [{"type": "output_audio", "audio": SOUND}]}},
            "audio outside",
        ),
        (
            ITEM + "added",
            {"item": ASSISTANT | {"content": [{"type": "output_text"}]}},
            "no text",
        ),
        (
            ITEM + "added",
            {"item": user_item("u1") | {"content": [{"type": "input_audio"}]}},
            "no transcript key",
        ),
        (
            R + "content_part.added",
            PART | {"part": {"type": "output_audio", "transcript": ""}},
            "part.type",
        ),
        (
            R + "content_part.done",
            PART | {"part": {"type": "audio", "transcript": None}},
            "null in part.transcript",
        ),
        (R + "output_audio.delta", PART | {"delta": "!!!"}, "not base64"),
        (R + "output_audio.delta", PART | {"delta": ""}, "empty"),
        (
            R + "created",
            {"response": response("r", "audio", audio={"output": {"voice": {"id": "x"}}})},
            "voice",
        ),
        (
            TRANSCRIPTION + ".completed",
            {"item_id": "u1", "content_index": 0, "transcript": ""},
            "usage",
        ),
        (
            TRANSCRIPTION + ".failed",
            {"item_id": "u1", "content_index": 0, "error": {"message": None, "code": "x"}},
            "null in error.message",
        ),
        (
            R + "function_call_arguments.done",
            {
                "response_id": "r",
                "item_id": "f",
                "output_index": 0,
                "call_id": "c",
                "arguments": "{}",
            },
            "name",
        ),
        (
            "rate_limits.updated",
            {"rate_limits": [{"name": "requests", "limit": None}]},
            "null in",
        ),
        ("session.created", {"session": session() | {"id": None}}, "null in session.id"),
        ("session.created", {"session": session() | {"voice": "x"}}, "unknown field session.voice"),
    ],
)
def test_an_event_that_a_stock_client_drops_is_refused(
    kind: str, fields: Event, complaint: str
) -> None:
    with pytest.raises(AssertionError, match=complaint):
        strict_events.validate({"type": kind, "event_id": "event_1"} | fields)
