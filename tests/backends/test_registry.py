"""Backends are found by name and loaded, or the operator is told what is missing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends import registry
from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.registry import (
    BACKENDS,
    backend_names,
    load_backend,
)
from s2s_actors.backends.scripted import ScriptedStt
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from s2s_actors.backends.base import Kind


def test_importing_the_registry_imports_no_model_library() -> None:
    code = (
        "import sys, s2s_actors.backends.loading, s2s_actors.backends.weights\n"
        "heavy = {'torch', 'onnxruntime', 'transformers', 'faster_whisper', 'piper', 'openai'}\n"
        "sys.exit(', '.join(heavy & sys.modules.keys()) or None)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize("kind", ["vad", "stt", "llm", "tts", "turn"])
def test_an_unknown_name_is_answered_with_the_known_ones(kind: Kind) -> None:
    with pytest.raises(SetupError) as caught:
        load_backend(kind, "nonsense", BackendOptions())
    assert f"--{kind}" in caught.value.message
    assert all(name in caught.value.message for name in BACKENDS[kind])


def test_a_missing_library_is_answered_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    monkeypatch.delitem(sys.modules, "s2s_actors.backends.whisper", raising=False)
    with pytest.raises(SetupError) as caught:
        load_backend("stt", "faster-whisper", BackendOptions())
    assert "faster_whisper" in caught.value.message
    assert caught.value.hint == "pip install 's2s_actors[local]'"


def test_third_parties_add_backends_by_entry_points(monkeypatch: pytest.MonkeyPatch) -> None:
    points = EntryPoints(
        [
            EntryPoint(
                "stt.mine",
                "s2s_actors.backends.scripted:ScriptedStt",
                registry.ENTRY_POINT_GROUP,
            )
        ]
    )
    monkeypatch.setattr(registry, "entry_points", lambda **_: points)
    assert backend_names("stt") == [*BACKENDS["stt"], "mine"]
    assert backend_names("tts") == list(BACKENDS["tts"])
    assert isinstance(load_backend("stt", "mine", BackendOptions()), ScriptedStt)
