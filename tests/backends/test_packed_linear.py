"""Packing changes the layout of weights, and nothing that they compute."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from s2s_actors.backends.packed_linear import can_pack, pack


def _layers(dtype: torch.dtype) -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(
        nn.Linear(64, 96, bias=False), nn.Sequential(nn.ReLU(), nn.Linear(96, 32))
    ).to(dtype)


def _plain(model: nn.Module) -> int:
    """How many matrices are there as they were."""
    return sum(parameter.dim() == 2 for parameter in model.parameters())


@pytest.mark.skipif(not can_pack(), reason="needs a processor that multiplies bfloat16")
@pytest.mark.parametrize("rows", [1, 7, 200])
def test_packed_layers_compute_what_they_did(rows: int) -> None:
    model = _layers(torch.bfloat16)
    values = torch.randn(1, rows, 64, dtype=torch.bfloat16)
    with torch.inference_mode():
        before = model(values)
        pack(model)
        after = model(values)
    assert _plain(model) == 0
    assert torch.allclose(after, before, atol=0.01)


def test_other_floats_are_left_as_they_are() -> None:
    model = _layers(torch.float32)
    pack(model)
    assert _plain(model) == 2
