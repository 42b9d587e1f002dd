"""Answers join and leave a step at a time, go on together and fail alone."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from s2s_actors.backends.growing_cache import empty_cache
from s2s_actors.backends.row_attention import attend_in_rows, read_rows
from s2s_actors.backends.step_batcher import StepBatcher
from s2s_actors.backends.step_plan import together
from tests.backends.answers import answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from s2s_actors.backends.answer import Answer
    from s2s_actors.backends.step_plan import Share

VOCABULARY = 64


class Counter:
    """A model that counts on from the last token that it has read."""

    def __init__(self) -> None:
        self.steps: list[list[Answer]] = []
        self.before_step: Callable[[Sequence[Share]], None] = lambda _: None

    def read(self, shares: Sequence[Share]) -> torch.Tensor:
        self.before_step(shares)
        self.steps.append([each for each, _ in shares])
        last = [each.unread[count - 1] for each, count in shares]
        return torch.nn.functional.one_hot(torch.tensor(last) + 1, VOCABULARY).float()


@pytest.fixture
def model() -> Counter:
    return Counter()


@pytest.fixture
def batcher(model: Counter) -> StepBatcher:
    return StepBatcher(model.read, together)


def test_a_newcomer_joins_those_who_write(model: Counter, batcher: StepBatcher) -> None:
    first, second = answer([10]), answer([20, 30])
    tokens = batcher.tokens(first)
    assert next(tokens) == 11
    assert list(batcher.tokens(second)) == [31, 32, 33, 34]
    assert model.steps == [[first], [first, second], [first, second], [first, second], [second]]
    # They were written along with the other's, though nobody took them.
    assert list(tokens) == [12, 13, 14]
    assert len(model.steps) == 5


def test_a_stop_token_ends_an_answer(batcher: StepBatcher) -> None:
    stopping = answer([10])
    stopping.stop_tokens = {12}
    assert list(batcher.tokens(stopping)) == [11, 12]


def test_a_cancelled_answer_leaves_before_the_next_step(
    model: Counter, batcher: StepBatcher
) -> None:
    cancelled, other = answer([10]), answer([20])
    tokens = batcher.tokens(cancelled)
    next(tokens)
    others = batcher.tokens(other)
    next(others)
    cancelled.call.cancel.cancel()
    assert list(tokens) == []
    assert list(others) == [22, 23, 24]
    assert model.steps[2:] == [[other], [other], [other]]


def test_an_answer_that_is_given_up_is_not_gone_on_with(
    model: Counter, batcher: StepBatcher
) -> None:
    given_up, other = answer([10]), answer([20])
    tokens = batcher.tokens(given_up)
    next(tokens)
    tokens.close()
    list(batcher.tokens(other))
    assert model.steps[1:] == [[other]] * 4


def test_an_answer_that_fails_fails_alone(model: Counter, batcher: StepBatcher) -> None:
    bad, good = answer([10]), answer([20])

    def fail(shares: Sequence[Share]) -> None:
        if bad.written and any(each is bad for each, _ in shares):
            raise ValueError("bad")

    model.before_step = fail
    tokens = batcher.tokens(bad)
    assert next(tokens) == 11
    assert list(batcher.tokens(good)) == [21, 22, 23, 24]
    with pytest.raises(ValueError, match="bad"):
        next(tokens)


def test_an_answer_whose_token_cannot_be_chosen_fails_alone(batcher: StepBatcher) -> None:
    class Broken:
        is_over = False
        chosen = 0

        def restrict(self, scores: torch.Tensor) -> torch.Tensor:
            if self.chosen:
                raise ValueError("broken")
            return scores

        def take(self, _: int) -> None:
            self.chosen += 1

    bad, good = answer([10], grammar=Broken()), answer([20])  # type: ignore[arg-type]
    tokens = batcher.tokens(bad)
    assert next(tokens) == 11
    assert list(batcher.tokens(good)) == [21, 22, 23, 24]
    with pytest.raises(ValueError, match="broken"):
        next(tokens)


def test_nothing_is_read_for_an_answer_after_it_has_been_closed(
    model: Counter, batcher: StepBatcher
) -> None:
    closed, other = answer([10]), answer([20])
    order: list[str] = []
    tokens = batcher.tokens(closed)
    next(tokens)

    def close() -> None:
        tokens.close()
        order.append("closed")

    closer = threading.Thread(target=close)

    def close_meanwhile(_: Sequence[Share]) -> None:
        model.before_step = lambda _: None
        closer.start()
        closer.join(0.1)
        order.append("read")

    model.before_step = close_meanwhile
    list(batcher.tokens(other))
    closer.join()
    assert order == ["read", "closed"]
    assert [len(step) for step in model.steps] == [1, 2, 1, 1, 1]


def test_a_guess_that_is_cancelled_while_another_leads_ends(
    model: Counter, batcher: StepBatcher
) -> None:
    guess, leader = answer([10], limit=50, guess=True), answer([20])
    result: list[int] = []
    waiter = threading.Thread(target=lambda: result.extend(batcher.tokens(guess)))

    def cancel_meanwhile(_: Sequence[Share]) -> None:
        model.before_step = lambda _: None
        waiter.start()
        guess.call.cancel.cancel()

    model.before_step = cancel_meanwhile
    assert list(batcher.tokens(leader)) == [21, 22, 23, 24]
    waiter.join()
    assert result == []


def test_texts_written_together_are_those_written_alone() -> None:
    torch.manual_seed(2)
    config = LlamaConfig(
        hidden_size=48,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        vocab_size=VOCABULARY,
    )
    llama = LlamaForCausalLM(config).eval()
    assert attend_in_rows(llama, empty_cache(config))

    def read(shares: Sequence[Share]) -> torch.Tensor:
        pieces = [each.unread[:count] for each, count in shares]
        return read_rows(llama, pieces, [each.reading.cache for each, _ in shares])

    def answers() -> list[Answer]:
        # Of different lengths, one of them longer than a step.
        prompts = ([5], range(20, 40), [*range(1, 60)] * 3, range(9, 12))
        return [answer(prompt, 25, empty=lambda: empty_cache(config)) for prompt in prompts]

    alone = [list(StepBatcher(read, together).tokens(each)) for each in answers()]
    assert len({tuple(tokens) for tokens in alone}) == len(alone)
    batcher, texts = StepBatcher(read, together), [[0] for _ in alone]

    def write(index: int, each: Answer) -> None:
        texts[index] = list(batcher.tokens(each))

    threads = [threading.Thread(target=write, args=entry) for entry in enumerate(answers())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts == alone
