"""Turns a GGUF file into a directory that transformers loads in a second, once per machine.

transformers reads GGUF itself, but takes 10 to 20 s for each start; the converted directory
lies in the user's cache. A directory under its final name is complete: it is written
under another name and renamed, so neither a crash, a full disk nor a second process that
does the same can leave half a model behind.
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from s2s_actors.backends.cpu import float_type
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from s2s_actors.backends.base import Progress

__all__ = ["cache_directory", "converted"]

_MANIFEST = "manifest.json"
# Raised when the layout of the converted directory changes.
_LAYOUT = 2
# 135 M parameters take 270 MB, as 32-bit floats 540, from a GGUF of 98 MB (4 bits and scales).
_GROWTH = 6
_ABANDONED_S = 3600.0
"""What is half converted and this old was left behind by a process that was killed."""


def cache_directory() -> Path:
    """Where converted models lie; ``XDG_CACHE_HOME`` moves it on Linux."""
    return platformdirs.user_cache_path("s2s-actors", appauthor=False) / "models"


def converted(gguf: Path, progress: Progress, cache: Path | None = None) -> Path:
    """The converted form of ``gguf``; converts it unless that has been done.

    Its weights are the floats that this machine works with: to load them is to map the file.

    Args:
        gguf: A model file with its tokenizer, as llama.cpp reads it.
        progress: Told when a conversion starts and ends.
        cache: Where converted models are kept, :func:`cache_directory` by default.

    Raises:
        SetupError: The file is not a model that transformers knows, or the cache can't be
            written or is full.
    """
    cache = cache or cache_directory()
    floats = str(float_type()).removeprefix("torch.")
    target = cache / f"{gguf.stem}-{gguf.stat().st_size}-{floats}-v{_LAYOUT}"
    if _is_complete(target):
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(cache)
        _check_room(cache, gguf)
        progress(f"converting {gguf.stem} into {target} (once, 10 to 30 s) ...")
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=cache))
        try:
            _convert(gguf, scratch)
            _write_manifest(scratch)
            _publish(scratch, target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise _cache_error(cache, error) from error
    progress(f"converted {gguf.stem}")
    return target


def _remove_abandoned(cache: Path) -> None:
    for scratch in cache.glob(".*-v*.*"):
        with contextlib.suppress(OSError):  # another process removes it, too
            if time.time() - scratch.stat().st_mtime > _ABANDONED_S:
                shutil.rmtree(scratch)


def _convert(gguf: Path, target: Path) -> None:
    # Imported here: to find a finished conversion takes less.
    import torch  # noqa: PLC0415
    from safetensors import SafetensorError  # noqa: PLC0415
    from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: PLC0415
    from transformers.utils import logging as transformers_logging  # noqa: PLC0415

    transformers_logging.disable_progress_bar()
    source = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    try:
        tokenizer = AutoTokenizer.from_pretrained(**source, local_files_only=True)
        # The reader of GGUF draws a progress bar that no setting turns off.
        with contextlib.redirect_stderr(io.StringIO()):
            model = AutoModelForCausalLM.from_pretrained(
                **source, dtype=torch.float32, local_files_only=True
            )
    except (ValueError, KeyError, NotImplementedError) as error:
        raise SetupError(f"--llm-model {gguf}: transformers can't read it ({error})") from error
    # The weights are plain floats now; as quantized ones they would be refused.
    del model.config.quantization_config
    model.hf_quantizer = None
    try:
        # Under the names that the library looks for: a weight that it misses it makes up first.
        model.to(float_type()).save_pretrained(target)
    except SafetensorError as error:
        raise OSError(errno.ENOSPC, str(error)) from error
    tokenizer.save_pretrained(target)


def _write_manifest(directory: Path) -> None:
    sizes = {}
    for path in sorted(directory.iterdir()):
        with path.open("rb") as file:
            # A rename may reach the disk before what it renames does.
            os.fsync(file.fileno())
        sizes[path.name] = path.stat().st_size
    (directory / _MANIFEST).write_text(json.dumps(sizes), encoding="utf-8")


def _is_complete(directory: Path) -> bool:
    """Whether every file is there in its full size; disks fill up and users tidy up."""
    try:
        sizes = json.loads((directory / _MANIFEST).read_text(encoding="utf-8"))
        return all((directory / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _publish(scratch: Path, target: Path) -> None:
    if target.exists() and not _is_complete(target):
        # Renamed first, then removed: another process never sees a directory that shrinks.
        target.rename(scratch / "damaged")
    try:
        scratch.rename(target)
    except OSError:
        # A second process was faster: its result is as good.
        if not _is_complete(target):
            raise


def _check_room(cache: Path, gguf: Path) -> None:
    needed_bytes = gguf.stat().st_size * _GROWTH
    if shutil.disk_usage(cache).free < needed_bytes:
        raise OSError(errno.ENOSPC, f"{needed_bytes / 1e6:.0f} MB are needed")


def _cache_error(cache: Path, error: OSError) -> SetupError:
    if error.errno == errno.ENOSPC:
        problem = f"there is no room in {cache} ({error.strerror})"
    else:
        problem = f"the model cache {cache} can't be used ({error.strerror or error})"
    return SetupError(problem, hint="free some space, or set XDG_CACHE_HOME to another place")
