"""Opens ONNX models so that they leave the cores to others while they have nothing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnxruntime

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["open_session"]


def open_session(path: Path, threads: int) -> onnxruntime.InferenceSession:
    """Open a model on the CPU; the session may be run from several threads at once.

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
    return onnxruntime.InferenceSession(
        str(path), sess_options=options, providers=["CPUExecutionProvider"]
    )
