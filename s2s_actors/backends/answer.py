"""One answer of a language model while it is written, and the rules by which words are chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from transformers import RepetitionPenaltyLogitsProcessor

if TYPE_CHECKING:
    from collections.abc import Collection

    from s2s_actors.backends.base import Call
    from s2s_actors.backends.forced_call import CallGrammar
    from s2s_actors.backends.prefix_cache import Reading

__all__ = ["Answer"]

# Small models fall into loops under greedy decoding; the prompt is exempt, for a penalty on
# its words makes answers avoid what the question is about.
_PENALTY = RepetitionPenaltyLogitsProcessor(1.1)


@dataclass(eq=False, slots=True)
class Answer:
    """What has been read and written of one answer, and what is to be read next.

    It is gone on with in whichever thread runs the step, and may be ahead of who takes its
    tokens; so nobody else asks the grammar how far it is.

    Attributes:
        call: Who asks.
        reading: What the model has read.
        unread: What it has to read before it can write the next token; never empty.
        limit: The most tokens to write.
        stop_tokens: Those that end an answer.
        grammar: What it has to be, if it has to be a call.
        written: The tokens up to now.
        has_stopped: Whether it has come to its own end, by a stop token or its grammar.
        error: Why it can't go on.
        last_step: The number of the step in which it last had a share.
    """

    call: Call
    reading: Reading
    unread: list[int]
    limit: int
    stop_tokens: Collection[int]
    grammar: CallGrammar | None = None
    written: list[int] = field(default_factory=list)
    has_stopped: bool = False
    error: Exception | None = None
    last_step: int = 0

    @property
    def is_guess(self) -> bool:
        """Whether it may turn out that nobody wants it."""
        return self.call.urgency.speculative

    @property
    def can_wait(self) -> bool:
        """Whether there is enough of it for now."""
        return self.call.urgency.text_can_wait

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be written."""
        ended = self.has_stopped or len(self.written) >= self.limit
        return ended or self.call.cancel.cancelled or self.error is not None

    def take(self, count: int, scores: torch.Tensor) -> None:
        """Go on after some tokens were read.

        Args:
            count: How many.
            scores: Of what may come next, 1 x vocabulary.
        """
        self.reading.tokens += self.unread[:count]
        self.unread = self.unread[count:]
        if not self.unread:
            token = self._choice(scores)
            self.unread = [token]
            self.written.append(token)
            # After the token: whoever sees meanwhile that this is the end has it already.
            self.has_stopped = token in self.stop_tokens or (
                self.grammar is not None and self.grammar.is_over
            )

    def _choice(self, scores: torch.Tensor) -> int:
        """The likeliest token; of a call, the likeliest one that its grammar allows."""
        with torch.inference_mode():
            if self.grammar is None:
                if self.written:
                    written = torch.tensor([self.written], device=scores.device)
                    scores = _PENALTY(written, scores)
                return int(scores.argmax())
            # JSON repeats its marks: no penalty on them.
            token = int(self.grammar.restrict(scores).argmax())
        self.grammar.take(token)
        return token
