"""Opens ONNX models so that they leave the cores to others while they have nothing to do."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import onnxruntime

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_session"]


def open_session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    """Open a model on the CPU; the session may be run from several threads at once.

    All sessions share one stock of memory for what they compute: that of a voice grows to
    180 MB.

    Args:
        path: The ``.onnx`` file.
        threads: How many threads work on one run.

    Raises:
        OSError: The file can't be read.
        RuntimeError: It is not an ONNX model.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Threads that spin for the next call would take the cores from the other models.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    _share_memory()
    options.add_session_config_entry("session.use_env_allocators", "1")
    return onnxruntime.InferenceSession(
        str(path), sess_options=options, providers=["CPUExecutionProvider"]
    )


@cache
def _share_memory() -> None:
    where = onnxruntime.OrtMemoryInfo(
        "Cpu",
        onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR,
        0,
        onnxruntime.OrtMemType.DEFAULT,
    )
    # No limit, and the library's own ways of growing.
    onnxruntime.create_and_register_allocator(where, onnxruntime.OrtArenaCfg(0, -1, -1, -1))
