"""Placeholder until the owner of this file puts the real one here (it may be overwritten)."""

from __future__ import annotations

from typing import Literal


def silence_needed_ms(
    completeness: float | None,
    words: str | None,
    eagerness: Literal["low", "medium", "high", "auto"],
    speech_ms: int,
) -> int:
    """How long the silence has to be before the turn ends."""
    del words, eagerness, speech_ms
    return 200 if completeness is not None and completeness >= 0.5 else 800
