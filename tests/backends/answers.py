"""Answers as the step batcher knows them, without a chat around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformers import DynamicCache

from s2s_actors.backends.answer import Answer
from s2s_actors.backends.base import Call
from s2s_actors.backends.prefix_cache import Reading
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.urgency import Urgency

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.backends.forced_call import CallGrammar


def answer(
    prompt: Sequence[int],
    limit: int = 4,
    *,
    guess: bool = False,
    grammar: CallGrammar | None = None,
    empty: Callable[[], DynamicCache] = DynamicCache,
) -> Answer:
    """An answer of which nothing has been read."""
    call = Call("s", CancelToken(), Urgency(speculative=guess))
    return Answer(call, Reading([], empty()), list(prompt), limit, {0}, grammar)
