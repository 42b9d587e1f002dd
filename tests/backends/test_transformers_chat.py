"""The embedded chat model answers many at once, stops, and stays within its context."""

from __future__ import annotations

import itertools
import shutil
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
    ToolCallStarted,
    ToolSpec,
)
from s2s_actors.backends.gguf_conversion import converted
from s2s_actors.backends.transformers_chat import TransformersChat, _open
from s2s_actors.backends.weights import SMOLLM2
from s2s_actors.errors import SetupError, StageError
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import torch

    from s2s_actors.backends.base import LanguageModel
    from s2s_actors.backends.step_batcher import StepBatcher
    from s2s_actors.backends.step_plan import Share

pytestmark = pytest.mark.models

PARIS = LlmRequest((ChatMessage("user", "What is the capital of France?"),))


_numbers = itertools.count()


def _call() -> Call:
    """A call of a session of its own: what a session has read decides how a prompt is split."""
    return Call(f"session {next(_numbers)}", CancelToken())


def _text(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def _done(events: list[LlmEvent]) -> Finished:
    last = events[-1]
    assert isinstance(last, Finished)
    return last


def _talk(model: LanguageModel, session: str, questions: list[str]) -> list[str]:
    """Answers to questions of one chat, each of at most 12 tokens."""
    messages: list[ChatMessage] = []
    for question in questions:
        messages.append(ChatMessage("user", question))
        request = LlmRequest(tuple(messages), max_output_tokens=12)
        answer = _text(list(model.generate(request, Call(session, CancelToken()))))
        messages.append(ChatMessage("assistant", answer.strip()))
    return [message.text for message in messages if message.role == "assistant"]


@pytest.fixture(scope="module")
def exact(smollm: LanguageModel) -> TransformersChat:
    """The model in float32, where rounding decides nothing."""
    model, tokenizer = _open(converted(SMOLLM2.path(), print), SMOLLM2.name)
    return TransformersChat(model.float(), tokenizer, smollm.info)


@pytest.fixture
def pieces(smollm: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each piece that the model reads, in tokens."""
    sizes: list[int] = []
    batcher: StepBatcher = smollm._batcher  # type: ignore[attr-defined]
    read = batcher._read

    def spy(shares: Sequence[Share]) -> torch.Tensor:
        sizes.extend(count for _, count in shares)
        return read(shares)

    monkeypatch.setattr(batcher, "_read", spy)
    return sizes


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


def test_of_the_next_turn_only_what_is_new_is_read(
    smollm: LanguageModel, pieces: list[int]
) -> None:
    _talk(smollm, "chat", [f"{'word ' * 150}What is the capital of France?", "And of Italy?"])
    prompts = [size for size in pieces if size > 1]
    assert sum(prompts[:2]) > 150
    # The marks between the turns, the question, and the answer's last token.
    assert 5 < prompts[2] < 20
    assert len(prompts) == 3


def test_a_cancelled_answer_leaves_what_it_has_read(
    smollm: LanguageModel, pieces: list[int]
) -> None:
    def ask(question: str, *, cut: bool) -> None:
        call = Call("guess", CancelToken())
        request = LlmRequest((ChatMessage("user", question),), max_output_tokens=3)
        for _ in smollm.generate(request, call):
            if cut:
                call.cancel.cancel()

    ask("What is the capital", cut=True)
    before = pieces[0]
    pieces.clear()
    ask("What is the capital of France?", cut=False)
    assert before > 20
    assert pieces[0] < 15


def test_a_forgotten_session_is_read_anew(smollm: LanguageModel, pieces: list[int]) -> None:
    _talk(smollm, "gone", ["What is the capital of France?"])
    smollm.forget("gone")  # type: ignore[attr-defined]
    _talk(smollm, "gone", ["What is the capital of France?"])
    prompts = [size for size in pieces if size > 1]
    assert prompts[0] == prompts[1] > 20


def test_a_chat_read_on_has_the_answers_of_a_chat_read_anew(
    exact: TransformersChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ["What is the capital of France?", "Tell me about its food.", "And the weather?"]
    read_on = _talk(exact, "s", questions)
    assert exact._prefixes.size_bytes > 0
    exact.forget("s")
    monkeypatch.setattr(exact._prefixes, "keep", lambda *_: None)
    assert _talk(exact, "s", questions) == read_on


def test_characters_of_several_tokens_come_out_whole(smollm: LanguageModel) -> None:
    request = LlmRequest(
        (ChatMessage("user", "Say something with emoji 👍 please"),), max_output_tokens=20
    )
    text = _text(list(smollm.generate(request, _call())))
    assert "👍" in text
    assert "\ufffd" not in text


def _at_once(model: LanguageModel, requests: list[LlmRequest]) -> list[list[LlmEvent]]:
    """The events of several sessions that ask at the same time."""
    together: list[list[LlmEvent]] = [[] for _ in requests]

    def run(index: int) -> None:
        together[index] = list(model.generate(requests[index], _call()))

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(requests))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return together


def test_answers_at_once_equal_answers_alone(exact: TransformersChat) -> None:
    questions = ["What is the capital of France?", "Tell me about cats.", "Hello!", "What is rain?"]
    requests = [
        LlmRequest((ChatMessage("user", question),), max_output_tokens=15) for question in questions
    ]
    alone = [_text(list(exact.generate(request, _call()))) for request in requests]
    assert [_text(events) for events in _at_once(exact, requests)] == alone


def test_each_of_the_answers_at_once_has_its_own_rules(smollm: LanguageModel) -> None:
    place = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
    tools = tuple(ToolSpec(name, "", place) for name in ("weather", "time"))
    ask = (ChatMessage("user", "Tell me about Paris."),)
    requests = [
        LlmRequest(ask, tools=tools, tool_choice="function:time", max_output_tokens=60),
        LlmRequest(ask, max_output_tokens=20),
        LlmRequest(ask, tools=tools, tool_choice="function:weather", max_output_tokens=60),
    ]
    time, free, weather = _at_once(smollm, requests)
    assert [event.name for event in time if isinstance(event, ToolCallStarted)] == ["time"]
    assert [event.name for event in weather if isinstance(event, ToolCallStarted)] == ["weather"]
    assert "Paris" in _text(free)


def test_a_call_that_is_written_faster_than_it_is_taken_comes_out_whole(
    smollm: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    batcher: StepBatcher = smollm._batcher  # type: ignore[attr-defined]
    tokens = batcher.tokens
    # As when other threads have run all the steps meanwhile.
    monkeypatch.setattr(batcher, "tokens", lambda answer: iter(list(tokens(answer))))
    request = LlmRequest(
        PARIS.messages, tools=(ToolSpec("look_up", "", {"type": "object"}),), tool_choice="required"
    )
    events = list(smollm.generate(request, _call()))
    assert [event.name for event in events if isinstance(event, ToolCallStarted)] == ["look_up"]
    assert _done(events).reason == "stop"


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
    # Step for step the story gets as many tokens as the short answer, and a few to spare.
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


def test_weights_in_a_pickle_are_not_opened(tmp_path: Path) -> None:
    import torch  # noqa: PLC0415 - only where the models are

    for each in converted(SMOLLM2.path(), lambda _line: None).iterdir():
        if each.suffix != ".safetensors":
            shutil.copy(each, tmp_path)
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(SetupError, match=r"model\.safetensors"):
        _open(tmp_path, "ours")


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"nonsense")
    with pytest.raises(SetupError, match=r"--llm-model.*bad\.gguf"):
        TransformersChat.load(BackendOptions(model=str(path)), print)
