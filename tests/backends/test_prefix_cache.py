"""What a model has read is read once; sessions share nothing, and memory is bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from s2s_actors.backends.growing_cache import empty_cache
from s2s_actors.backends.prefix_cache import PrefixCache, Reading

if TYPE_CHECKING:
    from transformers import DynamicCache

PROMPT = list(range(40, 60))
OTHER = list(range(70, 80))
CONFIG = LlamaConfig(
    hidden_size=32,
    intermediate_size=32,
    num_hidden_layers=2,
    num_attention_heads=2,
    num_key_value_heads=1,
    vocab_size=128,
)


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    torch.manual_seed(1)
    return LlamaForCausalLM(CONFIG).eval()


@pytest.fixture
def prefixes() -> PrefixCache:
    return PrefixCache(_nothing)


def _nothing() -> DynamicCache:
    return empty_cache(CONFIG)


def _read(model: LlamaForCausalLM, tokens: list[int], reading: Reading) -> torch.Tensor:
    """Read on; the logits of what comes next."""
    with torch.inference_mode():
        output = model(torch.tensor([tokens]), cache=reading.cache, use_cache=True)
    reading.tokens += tokens
    logits: torch.Tensor = output.logits[0, -1]
    return logits


def _read_and_keep(
    model: LlamaForCausalLM, prefixes: PrefixCache, prompt: list[int], session: str = "s"
) -> int:
    """Read a prompt as a call does; how many of its tokens had been read before."""
    reading = prefixes.begin(session, prompt)
    before = len(reading.tokens)
    _read(model, prompt[before:], reading)
    prefixes.keep(session, reading)
    return before


def test_only_what_is_new_is_left_to_read(model: LlamaForCausalLM, prefixes: PrefixCache) -> None:
    assert _read_and_keep(model, prefixes, PROMPT) == 0
    assert _read_and_keep(model, prefixes, [*PROMPT, 1, 2]) == len(PROMPT)
    assert _read_and_keep(model, prefixes, [*PROMPT, 1, 3, 4]) == len(PROMPT) + 1


def test_the_last_token_is_always_left_to_read(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT)
    assert _read_and_keep(model, prefixes, PROMPT) == len(PROMPT) - 1
    assert _read_and_keep(model, prefixes, PROMPT[:5]) == 4


def test_reading_on_gives_what_reading_anew_gives(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, [*PROMPT, 9, 9, 9])
    longer = [*PROMPT, 7, 8]
    reading = prefixes.begin("s", longer)
    continued = _read(model, longer[len(reading.tokens) :], reading)
    anew = _read(model, longer, Reading([], _nothing()))
    assert torch.allclose(continued, anew, atol=1e-6)


def test_calls_at_once_do_not_disturb_each_other(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT)
    one = prefixes.begin("s", [*PROMPT, 1])
    other = prefixes.begin("s", [*PROMPT, 2])
    assert len(one.tokens) == len(other.tokens) == len(PROMPT)
    _read(model, [1], one)
    beside = _read(model, [2], other)
    anew = _read(model, [*PROMPT, 2], Reading([], _nothing()))
    assert torch.allclose(beside, anew, atol=1e-6)


def test_a_session_gets_nothing_of_another(model: LlamaForCausalLM, prefixes: PrefixCache) -> None:
    _read_and_keep(model, prefixes, PROMPT, "a")
    assert _read_and_keep(model, prefixes, PROMPT, "b") == 0


def test_a_session_that_is_forgotten_leaves_nothing(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT, "a")
    _read_and_keep(model, prefixes, OTHER, "b")
    prefixes.forget("a")
    prefixes.forget("nobody")
    assert _read_and_keep(model, prefixes, [*OTHER, 1], "b") == len(OTHER)
    prefixes.forget("b")
    assert prefixes.size_bytes == 0


def test_a_question_beside_the_chat_does_not_drive_the_chat_out(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT)
    _read_and_keep(model, prefixes, OTHER)
    assert _read_and_keep(model, prefixes, [*PROMPT, 1]) == len(PROMPT)
    assert _read_and_keep(model, prefixes, [*OTHER, 1]) == len(OTHER)


def test_a_longer_reading_takes_the_place_of_the_shorter(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT)
    size_bytes = prefixes.size_bytes
    _read_and_keep(model, prefixes, PROMPT * 2)
    # Both of them would take more than twice as much.
    assert size_bytes < prefixes.size_bytes < 2 * size_bytes


def test_a_call_that_read_nothing_new_leaves_what_there_was(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT)
    prefixes.keep("s", prefixes.begin("s", PROMPT[:9]))
    assert _read_and_keep(model, prefixes, [*PROMPT, 1]) == len(PROMPT)


def test_a_session_keeps_two_readings_at_most(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    for first in (10, 30, 50, 70):
        _read_and_keep(model, prefixes, list(range(first, first + 10)))
    assert _read_and_keep(model, prefixes, list(range(10, 21))) == 0


def test_a_reading_that_failed_half_way_is_not_kept(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    reading = prefixes.begin("s", PROMPT)
    _read(model, PROMPT, reading)
    reading.tokens.append(1)
    prefixes.keep("s", reading)
    assert prefixes.size_bytes == 0


def test_the_session_served_longest_ago_makes_room(model: LlamaForCausalLM) -> None:
    one = Reading([], _nothing())
    _read(model, PROMPT, one)
    prefixes = PrefixCache(_nothing, limit_bytes=3 * one.size_bytes)
    for session in "abc":
        _read_and_keep(model, prefixes, PROMPT, session)
    _read_and_keep(model, prefixes, PROMPT, "a")
    _read_and_keep(model, prefixes, PROMPT, "d")
    assert prefixes.size_bytes == 3 * one.size_bytes
    assert prefixes.begin("b", PROMPT).tokens == []
    assert all(prefixes.begin(session, PROMPT).tokens for session in "acd")


def test_two_calls_that_read_on_at_once_do_not_see_each_other(
    model: LlamaForCausalLM, prefixes: PrefixCache
) -> None:
    _read_and_keep(model, prefixes, PROMPT)
    ends = ([1, 2], [3, 4])
    first, second = (prefixes.begin("s", [*PROMPT, *end]) for end in ends)
    # In turns, as steps go.
    for reading, token in ((first, 1), (second, 3)):
        _read(model, [token], reading)
    together = [_read(model, [2], first), _read(model, [4], second)]
    alone = [_read(model, [*PROMPT, *end], Reading([], _nothing())) for end in ends]
    assert torch.allclose(torch.stack(together), torch.stack(alone), atol=1e-6)
    assert _read_and_keep(model, prefixes, [*PROMPT, 5]) == len(PROMPT)


def test_what_a_failed_step_left_is_dropped(model: LlamaForCausalLM) -> None:
    reading, other = Reading([], _nothing()), Reading([], _nothing())
    for each in (reading, other):
        _read(model, PROMPT, each)
    half_read = torch.ones(1, 1, 3, 16)
    with torch.inference_mode():
        reading.cache.layers[0].update(half_read, half_read)
    reading.rewind()
    assert reading.can_be_kept
    assert torch.equal(_read(model, [1], reading), _read(model, [1], other))
