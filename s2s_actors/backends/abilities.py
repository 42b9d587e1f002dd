"""What a backend may be able to do beside what its interface asks for.

A backend shows each of these by an attribute or a method; one that has none of them is whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from s2s_actors.backends.base import Backend, LanguageModel, VadStream, VoiceActivityDetector

__all__ = ["VadBatch", "batch_of", "context_tokens_of", "forget_session", "runs_here"]

VadBatch: TypeAlias = "Callable[[Sequence[VadStream], Sequence[NDArray[np.float32]]], list[float]]"
"""Hears one frame of each stream."""


def runs_here(backend: Backend) -> bool:
    """Whether a backend's work takes time of this machine's cores.

    One that only waits for another machine says so with an attribute ``runs_here = False``.
    """
    return bool(getattr(backend, "runs_here", True))


def batch_of(vad: VoiceActivityDetector) -> VadBatch | None:
    """How a detector hears several sessions in one go, None if it can't."""
    batch: VadBatch | None = getattr(vad, "probabilities", None)
    return batch


def context_tokens_of(model: LanguageModel) -> int | None:
    """How many tokens a model can take, its answer included; None if it does not say."""
    tokens: int | None = getattr(model, "context_tokens", None)
    return tokens


def forget_session(model: LanguageModel, session_id: str) -> None:
    """Let a model drop what it keeps of a session, if it keeps anything."""
    forget: Callable[[str], None] | None = getattr(model, "forget", None)
    if forget is not None:
        forget(session_id)
