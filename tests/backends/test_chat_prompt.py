"""Chats become prompts by the model's template, and are cut from the old end."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.backends.chat import ChatMessage, LlmRequest, ToolCall, ToolSpec
from s2s_actors.backends.chat_prompt import ChatPrompt
from s2s_actors.backends.images import IMAGE_NOTE, ImageInput
from s2s_actors.errors import StageError


class WordTokenizer:
    """Stands in for a tokenizer: a token a word, and it keeps the chat it was given."""

    def __init__(self, template: str = "messages") -> None:
        self.chat_template = template
        self.chat: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] | None = None

    def apply_chat_template(
        self, chat: list[dict[str, Any]], *, tools: list[dict[str, Any]] | None, **_: object
    ) -> list[int]:
        self.chat, self.tools = chat, tools
        return [0 for entry in chat for _ in str(entry["content"]).split()]


def _prompt(tokenizer: WordTokenizer, context_tokens: int) -> ChatPrompt:
    return ChatPrompt(tokenizer, context_tokens)


def test_the_oldest_turns_make_room_and_instructions_stay() -> None:
    tokenizer = WordTokenizer()
    turns = [ChatMessage("assistant" if n % 2 else "user", f"number {n} words") for n in range(9)]
    system = ChatMessage("system", "be brief")
    request = LlmRequest((system, *turns))
    assert len(_prompt(tokenizer, 20).tokens(request, reserved_tokens=5)) == 11
    kept = [entry["content"] for entry in tokenizer.chat]
    assert kept == ["be brief", "number 6 words", "number 7 words", "number 8 words"]


def test_what_can_not_be_made_to_fit_fails() -> None:
    request = LlmRequest((ChatMessage("user", "word " * 30),))
    with pytest.raises(StageError) as caught:
        _prompt(WordTokenizer(), 20).tokens(request, reserved_tokens=5)
    assert caught.value.code == "context_length_exceeded"


def test_a_chat_without_instructions_stays_without() -> None:
    tokenizer = WordTokenizer()
    _prompt(tokenizer, 20).tokens(LlmRequest((ChatMessage("user", "hi"),)), 5)
    assert [entry["role"] for entry in tokenizer.chat] == ["user"]


def _with_tools(choice: str) -> LlmRequest:
    tools = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("f", "g"))
    messages = (
        ChatMessage("user", "go"),
        ChatMessage("assistant", "", (ToolCall("c", "f", '{"a": 1}'),)),
        ChatMessage("tool", "done", call_id="c"),
    )
    return LlmRequest(messages, tools, choice)


@pytest.mark.parametrize(
    ("choice", "names"), [("auto", ["f", "g"]), ("function:g", ["g"]), ("none", [])]
)
def test_tools_go_to_a_template_that_knows_them(choice: str, names: list[str]) -> None:
    tokenizer = WordTokenizer("messages tools")
    _prompt(tokenizer, 99).tokens(_with_tools(choice), 5)
    offered = [tool["function"]["name"] for tool in tokenizer.tools or ()]
    assert offered == names
    assert tokenizer.chat[1]["tool_calls"][0]["function"]["arguments"] == {"a": 1}


def test_calls_are_written_out_for_a_template_that_does_not_know_them() -> None:
    tokenizer = WordTokenizer()
    _prompt(tokenizer, 99).tokens(_with_tools("auto"), 5)
    assert tokenizer.tools is None
    assert '"name": "f"' in tokenizer.chat[1]["content"]


def test_a_note_stands_for_each_image() -> None:
    tokenizer = WordTokenizer()
    images = (ImageInput("data:1"), ImageInput("data:2"))
    request = LlmRequest((ChatMessage("user", "Which?", images=images),))
    _prompt(tokenizer, 20).tokens(request, reserved_tokens=5)
    assert tokenizer.chat[0]["content"] == f"Which?\n{IMAGE_NOTE}\n{IMAGE_NOTE}"


def test_a_chat_that_must_not_be_cut_fails_if_it_is_too_long() -> None:
    turns = tuple(ChatMessage("user", f"number {n} words") for n in range(9))
    with pytest.raises(StageError) as caught:
        _prompt(WordTokenizer(), 20).tokens(LlmRequest(turns, may_cut=False), reserved_tokens=5)
    assert caught.value.code == "context_length_exceeded"
    fits = LlmRequest(turns[:5], may_cut=False)
    assert len(_prompt(WordTokenizer(), 20).tokens(fits, reserved_tokens=5)) == 15
