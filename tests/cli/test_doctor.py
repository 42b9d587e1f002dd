"""What the doctor makes of what is installed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends import gguf_conversion, weights
from s2s_actors.cli import run
from s2s_actors.cli.doctor import checks

if TYPE_CHECKING:
    from pathlib import Path

    from s2s_actors.backends.weights import Finding

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def lose(name: str, monkeypatch: Patch) -> Finding:
    """Make the survey miss one thing."""
    findings = [
        replace(found, where=None, version=None) if found.name == name else found
        for found in weights.survey()
    ]
    monkeypatch.setattr(weights, "survey", lambda: findings)
    return next(found for found in findings if found.name == name)


def test_where_all_is_there_serve_can_run(capsys: Capture) -> None:
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    for weight in weights.EMBEDDED:
        assert str(weight.find()) in out
    assert out.endswith("s2s-actors serve can run with its defaults.\n")


@pytest.mark.parametrize("name", ["torch", "piper-tts", "SmolLM2-135M-Instruct", "tiny.en"])
def test_what_serve_needs_is_missed_with_the_command_that_mends_it(
    name: str, monkeypatch: Patch, capsys: Capture
) -> None:
    lost = lose(name, monkeypatch)
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert f"MISSING  {name}" in out
    assert f"mend it with: {lost.remedy}" in out
    assert out.endswith(f"can't run with its defaults: {name}\n")


def test_what_serve_does_without_is_no_failure(monkeypatch: Patch, capsys: Capture) -> None:
    lose("sounddevice", monkeypatch)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "absent   sounddevice" in out
    assert "absent   Graphviz" in out


def test_a_cache_folder_that_can_not_be_made_is_a_failure(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setattr(gguf_conversion, "cache_directory", lambda: blocked / "models")
    cache = next(check for check in checks() if check.name == "cache folder")
    assert cache.needed
    assert not cache.found
    assert str(blocked) in cache.remedy
