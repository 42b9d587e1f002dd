"""The key command: what it prints is a key file, and the key is nowhere in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from s2s_actors.cli import run
from s2s_actors.server.keys import ApiKey, hash_of, read_keys

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


def made(capsys: Capture, *arguments: str) -> tuple[str, str]:
    """The table and the secret of a new key."""
    assert run(["key", *arguments]) == 0
    printed = capsys.readouterr()
    secret = re.search(r"^key of .*, shown this once: (\S+)$", printed.err, re.MULTILINE)
    assert secret is not None
    return printed.out, secret[1]


def test_the_lines_of_two_keys_are_a_key_file_that_knows_both(
    capsys: Capture, tmp_path: Path
) -> None:
    first, one = made(capsys, "kitchen")
    second, other = made(capsys, "shop", "--max-sessions", "4", "--audio-minutes-per-hour", "9")
    path = tmp_path / "keys.toml"
    path.write_text(first + second)
    ring = read_keys(path)
    assert ring.find(one) == ApiKey("kitchen", hash_of(one))
    assert ring.find(other) == ApiKey(
        "shop", hash_of(other), max_sessions=4, audio_minutes_per_hour=9
    )
    assert one not in first
    assert other not in second


@pytest.mark.parametrize("name", ['the "old" one', "кухня", "back\\slash", "[[key]]", "#"])
def test_any_printable_name_is_kept(capsys: Capture, tmp_path: Path, name: str) -> None:
    table, secret = made(capsys, name)
    path = tmp_path / "keys.toml"
    path.write_text(table, encoding="utf-8")
    found = read_keys(path).find(secret)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("name", ["", "x" * 65, "two\nlines"])
def test_other_names_are_refused(capsys: Capture, name: str) -> None:
    assert run(["key", name]) == 2
    assert capsys.readouterr().err.startswith("error: NAME must be")


@pytest.mark.parametrize("limit", ["0", "-1", "many"])
def test_a_limit_is_a_number_from_one_on(capsys: Capture, limit: str) -> None:
    assert run(["key", "kitchen", "--max-sessions", limit]) == 2
    assert capsys.readouterr().out == ""
