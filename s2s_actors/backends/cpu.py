"""How many threads the models may use: the one place that decides it.

Models run beside each other (one session is transcribed while another is answered), and a
model's own threads must leave the event loop and the audio path room. Beyond four threads
models of this size gain nothing. Sources: measured with the embedded models on 2 cores.
"""

from __future__ import annotations

from pathlib import Path

import torch

from s2s_actors.runtime.cores import available_cores

__all__ = ["MODEL_THREADS", "WORKERS", "float_type", "use_torch_threads"]


MODEL_THREADS = min(4, max(1, available_cores()))
"""Threads that work on one call of a model."""

WORKERS = max(1, available_cores() // MODEL_THREADS)
"""Calls of one model that are worth running at once."""


def use_torch_threads() -> None:
    """Set torch's threads for the process; torch has one setting for all models."""
    torch.set_num_threads(MODEL_THREADS)


def float_type() -> torch.dtype:
    """The floats that language models run fastest in.

    Writing a token is bound by reading the weights, so half the size is half as fast again
    where the processor multiplies bfloat16 itself (SmolLM2-135M on 2 cores that had other work
    too: 24 tokens a second against 17), and slower where it does not.
    """
    if torch.cuda.is_available():
        return torch.bfloat16
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return torch.float32
    return torch.bfloat16 if "avx512_bf16" in flags or "amx_bf16" in flags else torch.float32
