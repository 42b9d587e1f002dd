"""The OpenAI-compatible chat backend against a real HTTP server that misbehaves."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.base import BackendOptions, Call
from s2s_actors.backends.chat import (
    ChatMessage,
    Finished,
    LlmEvent,
    LlmRequest,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStarted,
    ToolSpec,
)
from s2s_actors.backends.images import ImageInput
from s2s_actors.backends.openai_chat import OpenAIChat
from s2s_actors.errors import SetupError, StageError
from s2s_actors.runtime.cancel import CancelToken
from tests.support.fake_openai import FakeOpenAI, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

from contextlib import contextmanager

QUESTION = LlmRequest((ChatMessage("user", "Hi"),))
# Far longer than anything here takes; only a hang reaches it.
HANG_S = 20.0


@contextmanager
def _chat(
    *replies: Reply, first_timeout_s: float = 10.0, timeout_s: float = 10.0
) -> Iterator[tuple[OpenAIChat, FakeOpenAI]]:
    with FakeOpenAI(*replies) as server:
        options = BackendOptions(
            model="fake",
            base_url=server.base_url,
            api_key="sk-secret",
            first_timeout_s=first_timeout_s,
            timeout_s=timeout_s,
        )
        chat = OpenAIChat.load(options, print)
        try:
            yield chat, server
        finally:
            chat.close()


def _call() -> Call:
    return Call("s", CancelToken())


def _text(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _fails(chat: OpenAIChat) -> StageError:
    with pytest.raises(StageError) as caught:
        list(chat.generate(QUESTION, _call()))
    assert "secret" not in caught.value.message
    assert "127.0.0.1" not in caught.value.message
    return caught.value


def test_an_answer_streams_and_ends_with_the_servers_token_counts() -> None:
    with _chat() as (chat, server):
        events = list(chat.generate(QUESTION, _call()))
    assert _text(events) == "Hello there."
    assert events[-1] == Finished("stop", 7, 3)
    assert server.requests[0].authorization == "Bearer sk-secret"
    assert server.requests[0].body["stream_options"] == {"include_usage": True}


def test_an_answer_without_usage_counts_its_chunks() -> None:
    with _chat(Reply(usage=None, finish_reason="length")) as (chat, _):
        assert list(chat.generate(QUESTION, _call()))[-1] == Finished("length", 0, 3)


def test_the_whole_chat_reaches_the_server() -> None:
    request = LlmRequest(
        (
            ChatMessage("system", "Be brief."),
            ChatMessage("user", "Weather?"),
            ChatMessage("assistant", "", (ToolCall("c1", "weather", '{"city": "Rome"}'),)),
            ChatMessage("tool", "sunny", call_id="c1"),
        ),
        tools=(ToolSpec("weather", "Tells it", {"type": "object"}),),
        tool_choice="function:weather",
        max_output_tokens=9,
    )
    with _chat() as (chat, server):
        list(chat.generate(request, _call()))
    body = server.requests[0].body
    assert [message["role"] for message in body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"city": "Rome"}'
    assert body["messages"][3]["tool_call_id"] == "c1"
    assert body["tool_choice"] == {"type": "function", "function": {"name": "weather"}}
    assert body["max_tokens"] == 9


def test_arguments_of_several_calls_are_put_together_from_any_pieces() -> None:
    deltas = (
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": '{"x"'}},
        {"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}},
        {"index": 0, "function": {"arguments": ": 1}"}},
        {"index": 1, "function": {"arguments": "}"}},
    )
    with _chat(Reply(texts=(), tool_deltas=deltas, finish_reason="tool_calls")) as (chat, _):
        events = list(chat.generate(QUESTION, _call()))
    started = [event for event in events if isinstance(event, ToolCallStarted)]
    assert started == [ToolCallStarted("a", "f"), ToolCallStarted("b", "g")]
    arguments = dict.fromkeys(("a", "b"), "")
    for event in events:
        if isinstance(event, ToolCallDelta):
            arguments[event.call_id] += event.arguments
    assert arguments == {"a": '{"x": 1}', "b": "{}"}


def test_whole_calls_without_number_or_id_stay_apart() -> None:
    deltas = (
        {"function": {"name": "f", "arguments": "{}"}},
        {"function": {"name": "f", "arguments": "{}"}},
    )
    with _chat(Reply(texts=(), tool_deltas=deltas)) as (chat, _):
        events = list(chat.generate(QUESTION, _call()))
    started = [event for event in events if isinstance(event, ToolCallStarted)]
    assert len({event.call_id for event in started}) == 2


@pytest.mark.parametrize("reply", [Reply(silent=True), Reply(stall_after=1)])
def test_cancelling_closes_the_stream_of_a_silent_server(reply: Reply) -> None:
    with _chat(reply) as (chat, server):
        call = _call()
        ended = threading.Event()

        def run() -> None:
            list(chat.generate(QUESTION, call))
            ended.set()

        thread = threading.Thread(target=run)
        thread.start()
        assert server.arrived.acquire(timeout=HANG_S)
        call.cancel.cancel()
        assert ended.wait(HANG_S)
        assert server.requests[0].closed_by_client.wait(HANG_S)
        thread.join()


def test_a_call_cancelled_before_it_starts_yields_nothing() -> None:
    with _chat() as (chat, _):
        call = _call()
        call.cancel.cancel()
        assert list(chat.generate(QUESTION, call)) == []


def test_closing_the_iterator_closes_the_stream() -> None:
    with _chat(Reply(stall_after=1)) as (chat, server):
        events = iter(chat.generate(QUESTION, _call()))
        assert next(events) == TextDelta("Hello")
        events.close()  # type: ignore[attr-defined]
        assert server.requests[0].closed_by_client.wait(HANG_S)


@pytest.mark.parametrize(
    "reply", [Reply(silent=True), Reply(stall_after=0), Reply(stall_after=0, comments=True)]
)
def test_an_answer_that_does_not_begin_in_time_fails_and_is_not_asked_for_again(
    reply: Reply,
) -> None:
    with _chat(reply, first_timeout_s=0.3) as (chat, server):
        assert _fails(chat).code == "llm_timeout"
        assert len(server.requests) == 1


@pytest.mark.parametrize("reply", [Reply(stall_after=1), Reply(stall_after=1, comments=True)])
def test_a_silence_in_the_middle_of_an_answer_fails(reply: Reply) -> None:
    with _chat(reply, timeout_s=0.3) as (chat, server):
        assert _fails(chat).code == "llm_timeout"
        assert len(server.requests) == 1


def test_the_limit_on_the_beginning_is_none_on_the_whole() -> None:
    words = tuple("abcdefghijkl")
    with _chat(Reply(texts=words, delay_s=0.15), first_timeout_s=1.2) as (chat, _):
        assert _text(list(chat.generate(QUESTION, _call()))) == "abcdefghijkl"


def test_a_connection_that_does_not_come_about_fails_long_before_the_answer_is_due() -> None:
    with socket.socket() as full, contextlib.ExitStack() as held:
        # A backlog that is full drops what else knocks: as a host does that is switched off.
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            knocking = held.enter_context(socket.socket())
            knocking.setblocking(False)
            knocking.connect_ex(full.getsockname())
        options = BackendOptions(
            model="fake",
            base_url=f"http://127.0.0.1:{full.getsockname()[1]}/v1",
            connect_timeout_s=0.2,
            first_timeout_s=3600.0,
        )
        chat = OpenAIChat.load(options, print)
        try:
            assert _fails(chat).code == "llm_unreachable"
        finally:
            chat.close()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "llm_refused"),
        (401, "llm_unauthorized"),
        (404, "llm_model_not_found"),
        (429, "llm_rate_limited"),
        (500, "llm_unavailable"),
    ],
)
def test_an_error_status_has_a_code_of_its_own(status: int, code: str) -> None:
    with _chat(Reply(status=status)) as (chat, _):
        assert _fails(chat).code == code


def test_a_chat_that_is_too_long_is_told_apart() -> None:
    with _chat(Reply(status=400, error_code="context_length_exceeded")) as (chat, _):
        assert _fails(chat).code == "context_length_exceeded"


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_failure_before_the_first_byte_is_tried_twice_more(status: int) -> None:
    with _chat(Reply(status=status), Reply(status=status), Reply()) as (chat, server):
        assert _text(list(chat.generate(QUESTION, _call()))) == "Hello there."
        assert len(server.requests) == 3
    with _chat(Reply(status=status)) as (chat, server):
        _fails(chat)
        assert len(server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
def test_what_the_server_finds_wrong_with_the_request_is_not_tried_again(status: int) -> None:
    with _chat(Reply(status=status), Reply()) as (chat, server):
        _fails(chat)
        assert len(server.requests) == 1


def test_a_server_that_asks_for_a_moment_gets_it() -> None:
    with _chat(Reply(status=429, retry_after="0.9"), Reply()) as (chat, server):
        began_s = time.monotonic()
        assert _text(list(chat.generate(QUESTION, _call()))) == "Hello there."
        assert time.monotonic() - began_s >= 0.9
        assert len(server.requests) == 2


def test_a_server_that_asks_for_more_than_a_user_can_wait_has_failed() -> None:
    with _chat(Reply(status=429, retry_after="3600"), Reply()) as (chat, server):
        assert _fails(chat).code == "llm_rate_limited"
        assert len(server.requests) == 1


def test_no_retry_is_waited_for_that_would_come_too_late() -> None:
    reply = Reply(status=503, retry_after="4")
    with _chat(reply, Reply(), first_timeout_s=2.0) as (chat, server):
        # What is told is why it failed, and not that the time was up.
        assert _fails(chat).code == "llm_unavailable"
        assert len(server.requests) == 1


def test_a_call_that_is_cancelled_between_two_tries_waits_no_longer() -> None:
    with _chat(Reply(status=503, retry_after="4.9"), Reply()) as (chat, server):
        call = _call()
        ended = threading.Event()

        def run() -> None:
            list(chat.generate(QUESTION, call))
            ended.set()

        thread = threading.Thread(target=run)
        thread.start()
        assert server.arrived.acquire(timeout=HANG_S)
        call.cancel.cancel()
        assert ended.wait(3.0)
        thread.join()
    assert len(server.requests) == 1


def test_a_refused_connection_fails() -> None:
    with FakeOpenAI() as server:
        gone = server.base_url
    chat = OpenAIChat.load(BackendOptions(model="fake", base_url=gone), print)
    try:
        assert _fails(chat).code == "llm_unreachable"
    finally:
        chat.close()


@pytest.mark.parametrize("reply", [Reply(drop_after=1), Reply(finish_reason=None)])
def test_an_answer_that_breaks_off_fails(reply: Reply) -> None:
    with _chat(reply) as (chat, server):
        assert _fails(chat).code == "llm_disconnected"
        assert len(server.requests) == 1


@pytest.mark.parametrize("raw", ["{not json", "[]", '"text"'])
def test_garbage_in_the_stream_fails(raw: str) -> None:
    with _chat(Reply(raw=raw)) as (chat, _):
        assert _fails(chat).code == "llm_bad_answer"


def test_many_answers_at_once_do_not_mix() -> None:
    with _chat(Reply(texts=tuple("abcdefgh"), delay_s=0.002)) as (chat, _):
        texts: list[str] = []
        threads = [
            threading.Thread(
                target=lambda: texts.append(_text(list(chat.generate(QUESTION, _call()))))
            )
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(HANG_S)
    assert texts == ["abcdefgh"] * 8


def test_closing_ends_answers_that_run_and_refuses_new_ones() -> None:
    with _chat(Reply(stall_after=1)) as (chat, _):
        events = iter(chat.generate(QUESTION, _call()))
        next(events)
        chat.close()
        with pytest.raises(StageError):
            next(events)
        assert _fails(chat).code == "llm_closed"


def test_a_missing_model_name_says_which_setting() -> None:
    with pytest.raises(SetupError, match="name of a model") as caught:
        OpenAIChat.load(BackendOptions(), print)
    assert "--llm-model" in (caught.value.hint or "")


def test_what_is_shown_of_the_address_holds_no_credentials() -> None:
    options = BackendOptions(model="m", base_url="http://user:pw@127.0.0.1:1/v1?key=k")
    chat = OpenAIChat.load(options, print)
    chat.close()
    assert chat.info.source == "http://127.0.0.1:1/v1"


def test_images_are_sent_as_parts_of_their_message() -> None:
    images = (ImageInput("data:1", "low"), ImageInput("data:2"))
    messages = (
        ChatMessage("user", "Which?", images=images),
        ChatMessage("user", "", images=images),
    )
    with _chat() as (chat, server):
        list(chat.generate(LlmRequest(messages), _call()))
    shown = [
        {"type": "image_url", "image_url": {"url": "data:1", "detail": "low"}},
        {"type": "image_url", "image_url": {"url": "data:2", "detail": "auto"}},
    ]
    assert [message["content"] for message in server.requests[0].body["messages"]] == [
        [{"type": "text", "text": "Which?"}, *shown],
        shown,
    ]
