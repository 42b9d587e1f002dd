"""Between our chat and the chat-completions API: pure translation, no I/O."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import openai
from openai import OpenAIError
from openai.types.chat import ChatCompletionChunk

from s2s_actors.backends.chat import Finished, TextDelta, ToolCallDelta, ToolCallStarted
from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall

    from s2s_actors.backends.chat import ChatMessage, LlmEvent, LlmRequest
    from s2s_actors.backends.images import ImageInput

__all__ = ["ChunkReader", "request_body", "stage_error"]


def request_body(request: LlmRequest, model: str, *, limit_key: str) -> dict[str, Any]:
    """Arguments of ``chat.completions.create`` for a streamed answer.

    Args:
        request: The chat.
        model: Name of the model at the server.
        limit_key: ``max_completion_tokens``, or ``max_tokens`` for servers that only know this.
    """
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message) for message in request.messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_output_tokens is not None:
        body[limit_key] = request.max_output_tokens
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
        body["tool_choice"] = _tool_choice(request.tool_choice)
    return body


def _message(message: ChatMessage) -> dict[str, Any]:
    entry: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.images:
        text = [{"type": "text", "text": message.text}] if message.text else []
        entry["content"] = [*text, *(_image(image) for image in message.images)]
    if message.role == "tool":
        entry["tool_call_id"] = message.call_id
    if message.tool_calls:
        entry["content"] = message.text or None
        entry["tool_calls"] = [
            {
                "type": "function",
                "id": call.call_id,
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    return entry


def _image(image: ImageInput) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": image.url, "detail": image.detail}}


def _tool_choice(choice: str) -> str | dict[str, Any]:
    name = choice.removeprefix("function:")
    return choice if name == choice else {"type": "function", "function": {"name": name}}


class ChunkReader:
    """Turns the chunks of one streamed answer into events.

    Servers differ: some number the calls and send the id once, some send each call whole and
    without a number, some send no id or no usage at all. All of that is understood.
    """

    def __init__(self) -> None:
        self._calls: dict[object, str] = {}
        self._last_call: object = None
        self._finish_reason: str | None = None
        self._usage: tuple[int, int] | None = None
        self._chunks = 0

    @property
    def begun(self) -> bool:
        """Whether some of the answer has come."""
        return self._chunks > 0

    def read(self, chunk: object) -> Iterator[LlmEvent]:
        """Events of the next chunk.

        Raises:
            ValueError: It is none; the client library checks no types.
        """
        if not isinstance(chunk, ChatCompletionChunk):
            raise ValueError(f"a {type(chunk).__name__} is no chunk")  # noqa: TRY004
        if chunk.usage is not None:
            self._usage = (chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
        for choice in (chunk.choices or [])[:1]:
            self._finish_reason = choice.finish_reason or self._finish_reason
            # Some servers leave the delta out of the last chunk.
            delta = getattr(choice, "delta", None)
            if delta is None:
                continue
            text = delta.content or getattr(delta, "refusal", None)
            if text:
                self._chunks += 1
                yield TextDelta(text)
            for call in delta.tool_calls or ():
                yield from self._tool_call(call)

    def finish(self) -> Finished:
        """The last event, once the stream is over.

        Raises:
            StageError: The stream broke off before the model was done.
        """
        if self._finish_reason is None:
            raise _broken_off()
        reason = self._finish_reason
        input_tokens, output_tokens = self._usage or (0, self._chunks)
        return Finished("length" if reason == "length" else "stop", input_tokens, output_tokens)

    def _tool_call(self, call: ChoiceDeltaToolCall) -> Iterator[LlmEvent]:
        function = call.function
        key: object = call.index
        if key is None:
            key = call.id or (self._last_call if function and not function.name else object())
        self._last_call = key
        if key not in self._calls:
            if function is None or not function.name:
                return
            self._calls[key] = call.id or f"call_{uuid.uuid4().hex[:24]}"
            yield ToolCallStarted(self._calls[key], function.name)
        if function is not None and function.arguments:
            self._chunks += 1
            yield ToolCallDelta(self._calls[key], function.arguments)


def stage_error(error: OpenAIError, *, begun: bool) -> StageError:
    """What a client may know of a failed request: nothing of addresses, keys or bodies.

    Args:
        error: What the client library raised.
        begun: Whether some of the answer had come.
    """
    match error:
        case openai.APIStatusError():
            status = error.status_code
            if error.code == "context_length_exceeded":
                text = "The conversation is too long for the model."
                return StageError(error.code, text, blames_request=True)
            code = _STATUS_CODES.get(status, "llm_unavailable" if status >= 500 else "llm_refused")
            text = f"The language model's server answered with status {status}."
            # 401, 403, 404 and 429 are about what the operator has set up or paid for.
            return StageError(code, text, blames_request=code == "llm_refused")
        case openai.APIConnectionError() if begun:
            return _broken_off()
        case openai.APIConnectionError():
            return StageError("llm_unreachable", "The language model can't be reached.")
        case _:
            return StageError("llm_error", "The language model reported an error.")


def _broken_off() -> StageError:
    return StageError("llm_disconnected", "The language model broke off its answer.")


_STATUS_CODES = {
    401: "llm_unauthorized",
    403: "llm_unauthorized",
    404: "llm_model_not_found",
    429: "llm_rate_limited",
}
