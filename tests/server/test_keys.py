"""Keys open the door to who has them, and to nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.errors import SetupError
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of, new_secret, read_keys

if TYPE_CHECKING:
    from pathlib import Path

GOOD = f'[[key]]\nname = "kitchen"\nhash = "{hash_of("open sesame")}"\nmax_sessions = 2\n'


def test_a_secret_opens_its_own_key_only() -> None:
    mine, other = new_secret(), new_secret()
    ring = KeyRing([ApiKey("other", hash_of(other)), ApiKey("mine", hash_of(mine))])
    found = ring.find(mine)
    assert found is not None
    assert found.name == "mine"
    assert ring.find(mine[:-1]) is None
    assert ring.find(hash_of(mine)) is None
    assert ring.find("") is None
    assert ring.find("ключ") is None


def test_a_secret_that_is_longer_than_any_key_is_not_even_hashed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ring = KeyRing([ApiKey("mine", hash_of("x" * 513))])
    hashed: list[str] = []
    monkeypatch.setattr("s2s_actors.server.keys.hash_of", hashed.append)
    assert ring.find("x" * 513) is None
    assert hashed == []


def test_fresh_secrets_are_never_the_same_and_long() -> None:
    made = {new_secret() for _ in range(100)}
    assert len(made) == 100
    assert min(map(len, made)) > 40


def test_a_key_file_is_read_with_its_limits(tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(GOOD)
    found = read_keys(path).find("open sesame")
    assert found == ApiKey("kitchen", hash_of("open sesame"), max_sessions=2)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "key"),
        ("key = []", "no key in it"),
        ("[[key]\n", "no TOML"),
        ('[[key]]\nname = "a"\n', "hash"),
        ('[[key]]\nname = "a"\nhash = "open sesame"\n', "hash of key 1"),
        (GOOD + 'colour = "red"\n', "colour"),
        (GOOD.replace("= 2", "= 0"), "max_sessions"),
        (GOOD.replace("= 2", '= "two"'), "max_sessions"),
        (GOOD + GOOD, "twice"),
        (GOOD.replace('"kitchen"', '""'), "name"),
    ],
)
def test_what_is_no_key_file_is_named_and_no_value_is_shown(
    tmp_path: Path, text: str, named: str
) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text)
    with pytest.raises(SetupError) as caught:
        read_keys(path)
    assert named in str(caught.value)
    assert str(path) in str(caught.value)
    assert "open sesame" not in str(caught.value)
    assert hash_of("open sesame") not in str(caught.value)


def test_a_key_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"--api-key-file .*nothing\.toml"):
        read_keys(tmp_path / "nothing.toml")
