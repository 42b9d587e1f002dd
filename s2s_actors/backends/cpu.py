"""How many threads the models may use: the one place that decides it.

Models run beside each other (one session is transcribed while another is answered), and a
model's own threads must leave the event loop and the audio path room. Beyond four threads
models of this size gain nothing. Two threads in one call wait for each other at every layer,
and the slower one sets the pace: beside other work they take longer than one. Sources:
measured with the embedded models on 2 cores.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from s2s_actors.runtime.cores import available_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch

__all__ = ["CORES", "MODEL_THREADS", "WORKERS", "Cores", "float_type", "use_torch_threads"]


MODEL_THREADS: Final = min(4, available_cores())
"""Threads that work on one call of a model, if nothing else runs."""

WORKERS: Final = available_cores()
"""Calls of one model that are worth running at once, one thread each."""


class Cores:
    """Shares the cores out among short calls, those that somebody waits for.

    Promises: a call gets several threads only if as many cores have no other short call;
    otherwise it gets one, and none waits. Safe from any thread.
    """

    def __init__(self, count: int) -> None:
        self._free = count
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, most: int = 1) -> Iterator[int]:
        """Yield how many threads a call may use inside the block: ``most``, or else one."""
        with self._lock:
            threads = most if self._free >= most else 1
            self._free -= threads
        try:
            yield threads
        finally:
            with self._lock:
                self._free += threads


CORES: Final = Cores(available_cores())
"""One for the process, as there is one set of cores."""


def use_torch_threads() -> None:
    """Set torch's threads for the process; torch has one setting for all models."""
    import torch  # noqa: PLC0415 - takes a second, and half of the backends do without

    torch.set_num_threads(MODEL_THREADS)


def float_type() -> torch.dtype:
    """The floats that language models run fastest in.

    Writing a token is bound by reading the weights, so half the size is half as fast again
    where the processor multiplies bfloat16 itself (SmolLM2-135M on 2 cores that had other work
    too: 24 tokens a second against 17), and slower where it does not.
    """
    import torch  # noqa: PLC0415 - as above

    if torch.cuda.is_available():
        return torch.bfloat16
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="ignore")
    except OSError:
        return torch.float32
    return torch.bfloat16 if "avx512_bf16" in flags or "amx_bf16" in flags else torch.float32
