"""A language model without a model: it writes what its script says."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from s2s_actors.backends.chat import Finished, TextDelta, ToolCallDelta, ToolCallStarted
from s2s_actors.backends.images import text_alone
from s2s_actors.backends.script import LlmAnswer, LlmScript, Script, in_band
from s2s_actors.backends.scripted_base import REAL_WAITS, Scripted, Waits, befall

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.backends.base import Call, Kind
    from s2s_actors.backends.chat import ChatMessage, LlmEvent, LlmRequest
    from s2s_actors.runtime.cancel import CancelToken

__all__ = ["ScriptedLlm"]

_WORD = re.compile(r"\s*\S+|\s+$")
_ARGUMENTS_CHUNK_CHARS = 8


class ScriptedLlm(Scripted):
    """Writes what the script says, a word at a time; a word counts as a token.

    It keeps nothing between calls but how many of tools it has made: the turn's number is read
    off the chat. A user message opens a turn, and so do the outputs of tools.
    """

    kind: Kind = "llm"

    def __init__(
        self, script: Script | None = None, source: str | None = None, waits: Waits = REAL_WAITS
    ) -> None:
        super().__init__(script, source, waits)
        self._call_numbers = itertools.count(1)

    @property
    def context_tokens(self) -> int | None:
        """What the script says of it."""
        return self._script.llm.context_tokens

    def generate(self, request: LlmRequest, call: Call) -> Iterator[LlmEvent]:
        """Stream the scripted answer; ``length`` where it is cut by the token limit."""
        script = _session_script(request.messages) or self._script.llm
        turns = _turns(request.messages)
        answer = script.answer(turns)
        text = _fill(answer.text, request.messages, turns)
        words: list[str] = _WORD.findall(text)
        limit = request.max_output_tokens
        kept = words if limit is None else words[:limit]
        input_tokens = sum(len(message.text.split()) for message in request.messages)
        for event in itertools.chain(
            self._speak(answer, kept, call.cancel), self._call_tools(answer)
        ):
            if call.cancel.cancelled:
                return
            yield event
        if not call.cancel.cancelled:
            output_tokens = len(kept) + len(answer.tool_calls)
            cut = len(kept) < len(words)
            yield Finished("length" if cut else "stop", input_tokens, output_tokens)

    def _speak(
        self, answer: LlmAnswer, words: list[str], cancel: CancelToken
    ) -> Iterator[LlmEvent]:
        for index, word in enumerate(words):
            if index == answer.after:
                befall(answer, cancel, self._waits)
            if self._waits.pause(cancel, answer.token_ms if index else answer.first_token_ms):
                return
            yield TextDelta(word)
        if answer.after >= len(words):
            befall(answer, cancel, self._waits)

    def _call_tools(self, answer: LlmAnswer) -> Iterator[LlmEvent]:
        for call in answer.tool_calls:
            call_id = f"call_{next(self._call_numbers)}"
            yield ToolCallStarted(call_id, call.name)
            arguments = call.arguments_json
            for start in range(0, len(arguments), _ARGUMENTS_CHUNK_CHARS):
                yield ToolCallDelta(call_id, arguments[start : start + _ARGUMENTS_CHUNK_CHARS])


def _session_script(messages: tuple[ChatMessage, ...]) -> LlmScript | None:
    systems = [message.text for message in messages if message.role == "system"]
    return in_band(systems[-1], LlmScript) if systems else None


def _turns(messages: tuple[ChatMessage, ...]) -> list[str]:
    """The user text that governs each turn, oldest first."""
    turns: list[str] = []
    user, previous_role = "", ""
    for message in messages:
        if message.role == "user":
            user = text_alone(message)
        if message.role == "user" or (message.role == "tool" and previous_role != "tool"):
            turns.append(user)
        previous_role = message.role
    return turns


def _fill(text: str, messages: tuple[ChatMessage, ...], turns: list[str]) -> str:
    tools = [message.text for message in messages if message.role == "tool"]
    values = {
        "n": str(len(turns)),
        "user": turns[-1] if turns else "",
        "tool": tools[-1] if tools else "",
    }
    return re.sub(r"\{(n|user|tool)\}", lambda match: values[match[1]], text)
