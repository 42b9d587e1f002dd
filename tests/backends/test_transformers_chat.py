"""The embedded chat model answers, stops, takes turns and stays within its context."""

from __future__ import annotations

import threading
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
)
from s2s_actors.backends.transformers_chat import TransformersChat
from s2s_actors.errors import SetupError, StageError
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from pathlib import Path

    from s2s_actors.backends.base import LanguageModel

pytestmark = pytest.mark.models

PARIS = LlmRequest((ChatMessage("user", "What is the capital of France?"),))


def _call() -> Call:
    return Call("s", CancelToken())


def _text(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _done(events: list[LlmEvent]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def test_it_knows_the_capital_of_france(smollm: LanguageModel) -> None:
    events = list(smollm.generate(PARIS, _call()))
    assert "Paris" in _text(events)
    assert _done(events).reason == "stop"
    assert _done(events).input_tokens > 10
    assert 0 < _done(events).output_tokens < 40


def test_the_token_limit_cuts_the_answer(smollm: LanguageModel) -> None:
    request = LlmRequest(PARIS.messages, max_output_tokens=3)
    assert _done(list(smollm.generate(request, _call()))) == Finished("length", 37, 3)


def test_cancelling_ends_the_answer_without_a_last_event(smollm: LanguageModel) -> None:
    request = LlmRequest((ChatMessage("user", "Tell me a long story."),))
    call = _call()
    events = smollm.generate(request, call)
    next(events)
    call.cancel.cancel()
    assert list(events) == []


def test_characters_of_several_tokens_come_out_whole(smollm: LanguageModel) -> None:
    request = LlmRequest(
        (ChatMessage("user", "Say something with emoji 👍 please"),), max_output_tokens=20
    )
    text = _text(list(smollm.generate(request, _call())))
    assert "👍" in text
    assert "\ufffd" not in text


def test_answers_at_once_equal_answers_alone(smollm: LanguageModel) -> None:
    questions = ["What is the capital of France?", "Tell me about cats.", "Hello!", "What is rain?"]
    requests = [
        LlmRequest((ChatMessage("user", question),), max_output_tokens=15) for question in questions
    ]
    alone = [_text(list(smollm.generate(request, _call()))) for request in requests]
    together = [""] * len(requests)

    def run(index: int) -> None:
        together[index] = _text(list(smollm.generate(requests[index], _call())))

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == alone


def test_a_short_answer_is_not_held_up_by_a_long_one(smollm: LanguageModel) -> None:
    story = LlmRequest((ChatMessage("user", "Tell me a long story."),), max_output_tokens=150)
    call = _call()
    begun = threading.Event()
    tokens_before_cancel: list[int] = []

    def tell() -> None:
        count = 0
        for _ in smollm.generate(story, call):
            count += 1
            begun.set()
        tokens_before_cancel.append(count)

    thread = threading.Thread(target=tell)
    thread.start()
    assert begun.wait(60)
    list(smollm.generate(LlmRequest(PARIS.messages, max_output_tokens=10), _call()))
    call.cancel.cancel()
    thread.join()
    # Turn about, the story gets as many steps as the short answer, and a few to spare.
    assert tokens_before_cancel[0] < 60


def test_a_message_longer_than_the_context_fails(smollm: LanguageModel) -> None:
    request = LlmRequest((ChatMessage("user", "word " * 9000),))
    with pytest.raises(StageError) as caught:
        list(smollm.generate(request, _call()))
    assert caught.value.code == "context_length_exceeded"


def test_calls_in_the_history_are_understood(smollm: LanguageModel) -> None:
    request = LlmRequest(
        (
            ChatMessage("user", "Weather?"),
            ChatMessage("assistant", "", (ToolCall("c", "weather", "{}"),)),
            ChatMessage("tool", "sunny", call_id="c"),
        ),
        max_output_tokens=5,
    )
    assert _done(list(smollm.generate(request, _call()))).output_tokens > 0


def test_a_directory_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--llm-model"):
        TransformersChat.load(BackendOptions(model=str(tmp_path)), print)


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"nonsense")
    with pytest.raises(SetupError, match=r"--llm-model.*bad\.gguf"):
        TransformersChat.load(BackendOptions(model=str(path)), print)
