"""A conversion is done once, and never leaves half a model behind."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends import gguf_conversion
from s2s_actors.backends.cpu import float_type
from s2s_actors.backends.gguf_conversion import converted
from s2s_actors.backends.weights import SMOLLM2
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path


class Converter:
    """Stands in for the library's part: writes a file, or does what goes wrong."""

    def __init__(self) -> None:
        self.runs = 0
        self.failure: BaseException | None = None
        self.meet: threading.Barrier | None = None

    def __call__(self, gguf: Path, target: Path) -> None:
        self.runs += 1
        (target / "model.safetensors").write_bytes(gguf.read_bytes() * 2)
        if self.meet is not None:
            self.meet.wait(20)
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def converter(monkeypatch: pytest.MonkeyPatch) -> Converter:
    stand_in = Converter()
    monkeypatch.setattr(gguf_conversion, "_convert", stand_in)
    return stand_in


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"weights")
    return path


def _quiet(line: str) -> None:
    del line


def test_a_model_is_converted_once(converter: Converter, gguf: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    first = converted(gguf, lines.append, tmp_path / "cache")
    assert (first / "model.safetensors").read_bytes() == b"weightsweights"
    assert len(lines) == 2
    assert converted(gguf, lines.append, tmp_path / "cache") == first
    assert converter.runs == 1
    assert len(lines) == 2


def test_a_damaged_model_is_converted_again(
    converter: Converter, gguf: Path, tmp_path: Path
) -> None:
    target = converted(gguf, _quiet, tmp_path / "cache")
    (target / "model.safetensors").write_bytes(b"half")
    assert converted(gguf, _quiet, tmp_path / "cache") == target
    assert (target / "model.safetensors").read_bytes() == b"weightsweights"
    assert converter.runs == 2


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), RuntimeError("bug")])
def test_a_broken_off_conversion_leaves_nothing(
    converter: Converter, gguf: Path, tmp_path: Path, failure: BaseException
) -> None:
    converter.failure = failure
    with pytest.raises(type(failure)):
        converted(gguf, _quiet, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("converter")
def test_a_process_that_is_killed_leaves_no_half_model_and_nothing_for_ever(
    gguf: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    script = (
        "import os, signal, sys, pathlib\n"
        "from s2s_actors.backends import gguf_conversion\n"
        "def convert(gguf, target):\n"
        "    (target / 'model.safetensors').write_bytes(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "gguf_conversion._convert = convert\n"
        "gguf_conversion.converted(*map(pathlib.Path, sys.argv[1:2]), print,"
        " pathlib.Path(sys.argv[2]))"
    )
    killed = subprocess.run([sys.executable, "-c", script, str(gguf), str(cache)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = cache.iterdir()
    target = converted(gguf, _quiet, cache)
    assert (target / "model.safetensors").read_bytes() == b"weightsweights"
    assert left.exists(), "somebody may be at work there"
    shutil.rmtree(target)
    os.utime(left, (0, 0))
    assert list(converted(gguf, _quiet, cache).parent.iterdir()) == [target]


def test_a_full_disk_is_told_with_the_place(
    converter: Converter, gguf: Path, tmp_path: Path
) -> None:
    converter.failure = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(SetupError, match="no room") as caught:
        converted(gguf, _quiet, tmp_path / "cache")
    assert str(tmp_path / "cache") in caught.value.message
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_made_is_told(
    converter: Converter, gguf: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SetupError, match="can't be used"):
        converted(gguf, _quiet, tmp_path / "file" / "cache")
    assert converter.runs == 0


def test_two_that_convert_at_once_both_get_the_whole_model(
    converter: Converter, gguf: Path, tmp_path: Path
) -> None:
    converter.meet = threading.Barrier(2)
    places: list[Path] = []
    threads = [
        threading.Thread(target=lambda: places.append(converted(gguf, _quiet, tmp_path / "cache")))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert converter.runs == 2
    assert len(set(places)) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [places[0].name]


@pytest.mark.models
def test_what_is_converted_lies_there_as_it_is_loaded() -> None:
    from safetensors.torch import load_file  # noqa: PLC0415 - only where the models are

    weights = load_file(converted(SMOLLM2.path(), _quiet) / "model.safetensors")
    # Under the name of the other half of the pair it would be made up anew before it is found.
    assert "model.embed_tokens.weight" in weights
    assert "lm_head.weight" not in weights
    assert {weight.dtype for weight in weights.values()} == {float_type()}
