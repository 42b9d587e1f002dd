"""Makes a model write one call of the tools on offer, and nothing else.

Which tokens may come next is decided by a grammar (llguidance) that is made from the JSON schemas
of the tools: whatever the model prefers, a call comes out whose arguments fit its schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import llguidance
import llguidance.hf
import numpy as np
import torch

from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from transformers import PreTrainedTokenizerBase

    from s2s_actors.backends.chat import LlmRequest, ToolSpec

__all__ = ["CallGrammar", "ForcedCalls", "forced_tools"]

_SCALAR = {"type": ["string", "number", "boolean"]}


def forced_tools(request: LlmRequest) -> list[ToolSpec]:
    """The tools of which one has to be called; none if the model may choose."""
    only = request.tool_choice.removeprefix("function:")
    if only != request.tool_choice:
        return [tool for tool in request.tools if tool.name == only]
    return list(request.tools) if request.tool_choice == "required" else []


class CallGrammar:
    """Follows one call as it is written, token by token."""

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    @property
    def is_over(self) -> bool:
        """Whether the call is complete."""
        return bool(self._matcher.is_stopped())

    def restrict(self, scores: torch.Tensor) -> torch.Tensor:
        """Rule out the tokens that can't come next; ``scores`` is 1 x vocabulary."""
        allowed = np.frombuffer(self._matcher.compute_logit_bias(), np.uint8).astype(bool)
        mask = torch.zeros(scores.shape[-1], dtype=torch.bool, device=scores.device)
        size = min(len(allowed), len(mask))
        mask[:size] = torch.from_numpy(allowed[:size].copy()).to(scores.device)
        return scores.masked_fill(~mask, float("-inf"))

    def take(self, token: int) -> None:
        """Follow the token that was chosen."""
        self._matcher.consume_token(token)


class ForcedCalls:
    """Makes grammars for one tokenizer."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = llguidance.hf.from_tokenizer(tokenizer)

    def grammar(self, tools: Sequence[ToolSpec]) -> CallGrammar:
        """A grammar of one call of any of these tools.

        Arguments that a schema does not name are left out. Of a schema that no grammar can
        express only the names of the arguments count.

        Raises:
            StageError: No grammar can be made even of the names.
        """
        for read in (_exactly, _by_name):
            calls = [_call_schema(tool.name, read(tool.parameters)) for tool in tools]
            grammar = llguidance.LLMatcher.grammar_from_json_schema(
                {"anyOf": calls}, defaults={"whitespace_flexible": False}
            )
            matcher = llguidance.LLMatcher(self._tokenizer, grammar)
            if not matcher.is_error():
                return CallGrammar(matcher)
        text = "The model can't be made to call these tools."
        raise StageError("unsupported_tools", text, blames_request=True)


def _exactly(parameters: Mapping[str, Any]) -> dict[str, Any]:
    # A small model fills whatever is left open until it runs out of tokens.
    return {"type": "object", "additionalProperties": False, **parameters}


def _by_name(parameters: Mapping[str, Any]) -> dict[str, Any]:
    named = parameters.get("properties")
    properties = {str(name): _SCALAR for name in named} if isinstance(named, dict) else {}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _call_schema(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
