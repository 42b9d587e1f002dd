"""Attention of one new token, for models whose query heads share keys and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

if TYPE_CHECKING:
    from torch import nn

__all__ = ["fold_attention"]

_NAME = "folded_sdpa"


def fold_attention(model: Any) -> None:
    """Let a model on the CPU attend in a way that costs less the longer the chat is.

    Torch repeats the keys and values for each head that shares them: with SmolLM2-135M and 340
    tokens in the chat that takes 10 ms of each step, with 1,000 tokens 30 ms, against 2 and
    4 ms when the heads that share are rows of one multiplication.
    """
    now = getattr(model.config, "_attn_implementation", None)
    if model.device.type == "cpu" and now == "sdpa":
        model.set_attn_implementation(_NAME)


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """As the library's own, whose shapes these are: batch x heads x tokens x size."""
    batch, heads, tokens, size = query.shape
    if tokens > 1 or attention_mask is not None or heads == key.shape[1]:
        result: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, **options
        )
        return result
    folded = torch.nn.functional.scaled_dot_product_attention(
        query.reshape(batch, key.shape[1], -1, size), key, value, scale=options.get("scaling")
    )
    return folded.reshape(batch, 1, heads, value.shape[-1]), None


AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, sdpa_mask)
