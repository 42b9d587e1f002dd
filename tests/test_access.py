"""What the operator sets decides who may come in; what is broken is named before anything runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.access import Access
from s2s_actors.errors import SetupError
from s2s_actors.server.keys import hash_of
from s2s_actors.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path


def key_file(folder: Path, *secrets: str) -> Path:
    path = folder / "keys.toml"
    tables = [f'[[key]]\nname = "{each}"\nhash = "{hash_of(each)}"\n' for each in secrets]
    path.write_text("\n".join(tables))
    return path


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_on_this_machine_nobody_needs_a_key(host: str) -> None:
    assert Access(Settings(host=host)).door.keys is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "voice.example.org"])  # noqa: S104
def test_other_machines_need_one_or_the_operators_word(host: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="--host"):
        Access(Settings(host=host))
    assert Access(Settings(host=host, open_to_all="on")).door.keys is None
    path = key_file(tmp_path, "a")
    keys = Access(Settings(host=host, api_key_file=str(path))).door.keys
    assert keys is not None
    assert keys.find("a") is not None


def test_keys_are_read_again_and_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    path = key_file(tmp_path, "old")
    access = Access(Settings(api_key_file=str(path)))
    key_file(tmp_path, "new")
    access.reload()
    assert access.door.keys is not None
    assert [access.door.keys.find(each) is not None for each in ("old", "new")] == [False, True]
    path.write_text("[[key")
    access.reload()
    path.unlink()
    access.reload()
    assert access.door.keys.find("new") is not None


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"allow_origin": "example.org"}, "--allow-origin"),
        ({"tls_key": "key.pem"}, "--tls-key"),
        ({"tls_cert": "nothing.pem"}, "--tls-cert"),
        ({"api_key_file": "nothing.toml"}, "--api-key-file"),
    ],
)
def test_what_is_of_no_use_is_named(given: dict[str, str], named: str) -> None:
    with pytest.raises(SetupError, match=named):
        Access(Settings(**given))  # type: ignore[arg-type]


def test_several_origins_may_be_allowed() -> None:
    door = Access(Settings(allow_origin="https://a.example, https://b.example")).door
    assert door._origins.allowed == {"https://a.example", "https://b.example"}


def test_a_key_file_that_all_users_can_read_is_told_in_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = key_file(tmp_path, "a")
    path.chmod(0o640)
    access = Access(Settings(api_key_file=str(path)))
    assert caplog.messages == []
    path.chmod(0o644)
    access.reload()
    assert [each for each in caplog.messages if str(path) in each and "chmod" in each]
