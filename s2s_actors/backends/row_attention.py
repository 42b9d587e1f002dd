"""Several chats in one call of a model: the weights are read once for all of them.

The new tokens of all chats stand behind one another, as if they were one chat. Only attention
has to know where each begins: there each chat looks into a cache of its own, so caches of
different lengths need no padding and are never copied together.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.cache_utils import Cache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from s2s_actors.backends.growing_cache import GrowingLayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn
    from transformers import DynamicCache

__all__ = ["attend_in_rows", "read_alone", "read_rows"]

_NAME = "row_sdpa"


def attend_in_rows(model: Any, empty: DynamicCache) -> bool:
    """Let a model on the CPU read rows; whether it can.

    Not every model can: some attend to a window, or keep something else than keys and values.
    Those get the faster attention of one row at least, if they use torch's own.

    Args:
        model: Of the transformers library.
        empty: A cache for it that holds nothing.
    """
    now = getattr(model.config, "_attn_implementation", None)
    if model.device.type != "cpu" or now != "sdpa":
        return False
    model.set_attn_implementation(_NAME)
    keeps_all = all(isinstance(layer, GrowingLayer) for layer in empty.layers)
    return keeps_all and bool(getattr(model, "_supports_attention_backend", False))


def read_rows(
    model: Any, pieces: Sequence[Sequence[int]], caches: Sequence[DynamicCache]
) -> torch.Tensor:
    """Read on in several chats at once, each of which has a piece and a cache.

    Returns:
        Scores of what comes next: chats x vocabulary.
    """
    rows = _Rows(caches, [len(piece) for piece in pieces], model.device)
    with torch.inference_mode():
        tokens = [token for piece in pieces for token in piece]
        output = model(
            torch.tensor([tokens], device=model.device),
            position_ids=torch.tensor([rows.positions], device=model.device),
            cache=rows,
            use_cache=True,
            logits_to_keep=torch.tensor(rows.ends, device=model.device) - 1,
        )
        scores: torch.Tensor = output.logits[0].float()
    return scores


def read_alone(model: Any, piece: Sequence[int], cache: DynamicCache) -> torch.Tensor:
    """Read on in one chat, with any model; the scores of what comes next are 1 x vocabulary."""
    with torch.inference_mode():
        ids = torch.tensor([piece], device=model.device)
        output = model(ids, cache=cache, use_cache=True, logits_to_keep=1)
        scores: torch.Tensor = output.logits[:, -1].float()
    return scores


@dataclass(frozen=True, slots=True)
class _Row:
    """What one chat attends to in one layer.

    Attributes:
        length: How many of its tokens are new.
        mask: Which of all its tokens each new one may look at, None for those before it.
        keys: Of all its tokens, as the cache has them.
        values: Likewise.
    """

    length: int
    mask: torch.Tensor | None
    keys: torch.Tensor
    values: torch.Tensor


class _Rows(Cache):  # type: ignore[misc]
    """To the model a cache of one chat that begins with this step."""

    def __init__(
        self, caches: Sequence[DynamicCache], lengths: list[int], device: torch.device
    ) -> None:
        super().__init__(layers=[])
        before = [cache.get_seq_length() for cache in caches]
        self._caches = caches
        self._lengths = lengths
        self._masks = [
            _mask(seen, length, device) for seen, length in zip(before, lengths, strict=True)
        ]
        self.ends = list(accumulate(lengths))
        self.positions = [
            seen + index
            for seen, length in zip(before, lengths, strict=True)
            for index in range(length)
        ]

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *_: Any,
        **__: Any,
    ) -> tuple[Any, Any]:
        """Part the new keys and values among the chats; to the model they are one thing."""
        new = zip(
            key_states.split(self._lengths, dim=2),
            value_states.split(self._lengths, dim=2),
            strict=True,
        )
        rows = [
            _Row(length, mask, *cache.update(keys, values, layer_idx))
            for cache, length, mask, (keys, values) in zip(
                self._caches, self._lengths, self._masks, new, strict=True
            )
        ]
        return rows, rows

    def get_seq_length(self, layer_idx: int = 0) -> int:  # noqa: ARG002
        """Nothing comes before this step, so the library makes no mask."""
        return 0

    def get_mask_sizes(self, query_length: int, layer_idx: int) -> tuple[int, int]:  # noqa: ARG002
        """As for :meth:`get_seq_length`."""
        return query_length, 0


def _mask(seen: int, length: int, device: torch.device) -> torch.Tensor | None:
    """None where torch's own rule does: one token sees all, and so does a chat's beginning."""
    if length == 1 or not seen:
        return None
    return torch.ones(length, seen + length, dtype=torch.bool, device=device).tril(seen)


def _attend(
    module: nn.Module,
    query: torch.Tensor,
    key: torch.Tensor | list[_Row],
    value: torch.Tensor | list[_Row],
    attention_mask: torch.Tensor | None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """As the library's own, whose shapes these are: batch x heads x tokens x size."""
    scale = options.get("scaling")
    if isinstance(key, list):
        lengths = [row.length for row in key]
        parts = [
            _attend_row(part, row, scale)
            for part, row in zip(query.split(lengths, dim=2), key, strict=True)
        ]
        return parts[0] if len(parts) == 1 else torch.cat(parts, dim=1), None
    if query.shape[2] == 1 and query.shape[0] == 1 and attention_mask is None:
        assert isinstance(value, torch.Tensor)
        return _attend_row(query, _Row(1, None, key, value), scale), None
    result: tuple[torch.Tensor, None] = sdpa_attention_forward(
        module, query, key, value, attention_mask, **options
    )
    return result


def _attend_row(query: torch.Tensor, row: _Row, scale: float | None) -> torch.Tensor:
    """What one chat's new tokens see; the result is 1 x tokens x heads x size.

    Torch repeats the keys and values for each head that shares them: with SmolLM2-135M and 340
    tokens in the chat that takes 10 ms of each step, with 1,000 tokens 30 ms, against 2 and
    4 ms when the heads that share are rows of one multiplication. So can one new token have it.
    """
    _, heads, tokens, size = query.shape
    attend = torch.nn.functional.scaled_dot_product_attention
    if tokens == 1:
        folded = query.reshape(1, row.keys.shape[1], -1, size)
        seen = attend(folded, row.keys, row.values, scale=scale)
        return seen.reshape(1, 1, heads, row.values.shape[-1])
    seen = attend(
        query,
        row.keys,
        row.values,
        attn_mask=row.mask,
        is_causal=row.mask is None,
        scale=scale,
        enable_gqa=heads != row.keys.shape[1],
    )
    return seen.transpose(1, 2)


AttentionInterface.register(_NAME, _attend)
AttentionMaskInterface.register(_NAME, sdpa_mask)
