"""Chats that are read in one call get what they get when each is read alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig

from s2s_actors.backends.growing_cache import empty_cache
from s2s_actors.backends.row_attention import attend_in_rows, read_alone, read_rows

if TYPE_CHECKING:
    from transformers import DynamicCache

CHATS: tuple[tuple[list[int], ...], ...] = (
    ([5, 6, 7, 8], [9], [10, 11], [12], [13]),
    ([20], [21], [22], [23, 24, 25, 26], [27]),
    ([30, 31, 32], [33, 34], [35, 36, 37, 38, 39], [40], [41]),
)
"""The pieces of each, one a step: beginnings, single tokens and later pieces, in any company."""


def _model(key_value_heads: int = 2) -> LlamaForCausalLM:
    torch.manual_seed(1)
    config = LlamaConfig(
        hidden_size=48,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=key_value_heads,
        vocab_size=64,
    )
    return LlamaForCausalLM(config).eval()


def _empty(model: LlamaForCausalLM) -> DynamicCache:
    return empty_cache(model.config)


@pytest.mark.parametrize("key_value_heads", [2, 6])
def test_rows_are_scored_as_the_library_scores_each_chat(key_value_heads: int) -> None:
    model = _model(key_value_heads)
    alone = []
    for pieces in CHATS:
        cache = _empty(model)
        alone.append([read_alone(model, piece, cache)[0] for piece in pieces])
    assert attend_in_rows(model, _empty(model))
    caches = [_empty(model) for _ in CHATS]
    for step, pieces in enumerate(zip(*CHATS, strict=True)):
        scores = read_rows(model, pieces, caches)
        expected = torch.stack([chat[step] for chat in alone])
        assert torch.allclose(scores, expected, atol=1e-6)


def test_a_model_whose_attention_was_changed_still_reads_alone() -> None:
    model = _model()
    cache = _empty(model)
    before = [read_alone(model, piece, cache) for piece in CHATS[0]]
    attend_in_rows(model, _empty(model))
    cache = _empty(model)
    after = [read_alone(model, piece, cache) for piece in CHATS[0]]
    assert torch.allclose(torch.cat(after), torch.cat(before), atol=1e-6)


def test_a_model_with_another_attention_keeps_it_and_reads_no_rows() -> None:
    model = _model()
    model.set_attn_implementation("eager")
    assert not attend_in_rows(model, _empty(model))
    assert model.config._attn_implementation == "eager"


def test_a_model_that_attends_to_a_window_reads_no_rows() -> None:
    windowed = MistralConfig(sliding_window=8, num_hidden_layers=2)
    assert not attend_in_rows(_model(), empty_cache(windowed))
