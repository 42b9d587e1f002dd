"""Attention that is folded gives what the library's gives, in prompts and in steps."""

from __future__ import annotations

import pytest
import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from s2s_actors.backends.folded_attention import fold_attention

PIECES = ([5, 6, 7, 8], [9], [10, 11], [12], [13])


def _model(key_value_heads: int) -> LlamaForCausalLM:
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


def _logits(model: LlamaForCausalLM) -> list[torch.Tensor]:
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        return [
            model(torch.tensor([piece]), cache=cache, use_cache=True).logits for piece in PIECES
        ]


@pytest.mark.parametrize("key_value_heads", [2, 6])
def test_folded_attention_sees_what_attention_sees(key_value_heads: int) -> None:
    model = _model(key_value_heads)
    before = _logits(model)
    fold_attention(model)
    assert model.config._attn_implementation == "folded_sdpa"
    for folded, plain in zip(_logits(model), before, strict=True):
        assert torch.allclose(folded, plain, atol=1e-6)


def test_a_model_with_another_attention_keeps_it() -> None:
    model = _model(2)
    model.set_attn_implementation("eager")
    fold_attention(model)
    assert model.config._attn_implementation == "eager"
