"""From a chat to the tokens that a transformers model reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jinja2

from s2s_actors.backends.chat import ChatMessage
from s2s_actors.backends.forced_call import forced_tools
from s2s_actors.backends.images import text_alone
from s2s_actors.backends.tool_call_parser import written_call
from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedTokenizerBase

    from s2s_actors.backends.chat import LlmRequest, ToolSpec

__all__ = ["ChatPrompt"]


class ChatPrompt:
    """Writes chats by the model's own template.

    A chat without a system message is left so: templates bring the prompt that the model was
    trained with, and small models answer better under it.

    Args:
        tokenizer: With a chat template.
        context_tokens: What a prompt may take at most.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, context_tokens: int) -> None:
        self._tokenizer: Any = tokenizer
        self._context_tokens = context_tokens
        self.knows_tools = "tools" in (tokenizer.chat_template or "")

    def tokens(self, request: LlmRequest, reserved_tokens: int) -> list[int]:
        """The prompt; the oldest messages but system ones are dropped until it fits.

        Args:
            request: The chat.
            reserved_tokens: Room to leave for the answer.

        Raises:
            StageError: The chat is too long and must not be cut, or instructions and the last
                message alone are too long, or the template refuses the chat.
        """
        tools = self._tools(request)
        system = [message for message in request.messages if message.role == "system"]
        if not self.knows_tools and (forced := forced_tools(request)):
            system.append(ChatMessage("system", _told(forced)))
        rest = [message for message in request.messages if message.role != "system"]
        room_tokens = self._context_tokens - reserved_tokens
        while True:
            tokens = self._write([*system, *rest], tools)
            if len(tokens) <= room_tokens:
                return tokens
            rest = _without_oldest(rest) if request.may_cut else []
            if not rest:
                raise StageError(
                    "context_length_exceeded",
                    "The conversation is too long for the model.",
                    blames_request=True,
                )

    def _tools(self, request: LlmRequest) -> list[dict[str, Any]] | None:
        if not self.knows_tools or request.tool_choice == "none":
            return None
        only = request.tool_choice.removeprefix("function:")
        is_forced = only != request.tool_choice
        chosen = [tool for tool in request.tools if not is_forced or tool.name == only]
        return [_tool_entry(tool) for tool in chosen] or None

    def _write(
        self, messages: Sequence[ChatMessage], tools: list[dict[str, Any]] | None
    ) -> list[int]:
        chat = [self._entry(message) for message in messages]
        try:
            tokens: list[int] = self._tokenizer.apply_chat_template(
                chat, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        except jinja2.TemplateError as error:
            # Templates refuse, say, two user messages in a row; the text names no secret.
            text = f"The model refuses the chat: {error}"
            raise StageError("unsupported_chat", text, blames_request=True) from error
        return tokens

    def _entry(self, message: ChatMessage) -> dict[str, Any]:
        entry: dict[str, Any] = {"role": message.role, "content": text_alone(message)}
        if not message.tool_calls:
            return entry
        if not self.knows_tools:
            calls = (written_call(call.name, call.arguments) for call in message.tool_calls)
            entry["content"] = "\n".join(filter(None, [message.text, *calls]))
            return entry
        entry["tool_calls"] = [
            {
                "type": "function",
                "id": call.call_id,
                "function": {"name": call.name, "arguments": _json_or_text(call.arguments)},
            }
            for call in message.tool_calls
        ]
        return entry


def _without_oldest(messages: list[ChatMessage]) -> list[ChatMessage]:
    """Drop the oldest turn: an answer without its question or call misleads the model."""
    later = [index for index, message in enumerate(messages) if index and message.role == "user"]
    return messages[later[0] :] if later else messages[1:]


def _told(tools: list[ToolSpec]) -> str:
    """Tools in words, for a model whose template has no place for them."""
    listed = json.dumps([_tool_entry(tool)["function"] for tool in tools], ensure_ascii=False)
    return (
        "Answer by calling one of these functions. Write the call as JSON with its name and its "
        f"arguments, taken from what the user says. Functions: {listed}"
    )


def _tool_entry(tool: ToolSpec) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        },
    }


def _json_or_text(arguments: str) -> object:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return arguments
