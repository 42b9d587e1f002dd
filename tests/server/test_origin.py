"""A page of a stranger can't use the server that its visitor runs."""

from __future__ import annotations

import pytest

from s2s_actors.server.origin import ANY, Origins, is_origin

OWN = "127.0.0.1:8765"


def test_clients_that_are_no_browsers_are_let_in() -> None:
    assert Origins().lets_in(None, OWN)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://127.0.0.1:8765", OWN),
        ("http://localhost:8765", "localhost:8765"),
        ("http://[::1]:8765", "[::1]:8765"),
        ("http://localhost", "localhost"),
        ("http://LOCALHOST:8765", "localhost:8765"),
    ],
)
def test_the_servers_own_pages_are_let_in(origin: str, host: str) -> None:
    assert Origins().lets_in(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.example", OWN),
        ("http://127.0.0.1:3000", OWN),  # another program on this machine is another origin
        ("https://127.0.0.1:8765", "127.0.0.1:443"),
        ("http://evil.example:8765", "evil.example:8765"),  # a name that leads here
        ("null", OWN),
        ("", OWN),
        ("file://", OWN),
        ("http://127.0.0.1:8765", None),
        ("http://127.0.0.1:8765.evil.example", OWN),
        ("http://127.0.0.1:99999", OWN),
        ("javascript:alert(1)", OWN),
    ],
)
def test_other_pages_are_not(origin: str, host: str | None) -> None:
    assert not Origins().lets_in(origin, host)


def test_pages_of_the_list_are_let_in_and_no_others() -> None:
    origins = Origins(frozenset({"https://app.example.org"}))
    assert origins.lets_in("https://app.example.org", OWN)
    assert origins.lets_in("HTTPS://App.Example.org", OWN)
    assert not origins.lets_in("http://app.example.org", OWN)
    assert not origins.lets_in("https://app.example.org.evil.example", OWN)
    assert Origins(frozenset({ANY})).lets_in("null", OWN)


def test_the_name_that_is_listened_on_is_an_own_one() -> None:
    origins = Origins(host="voice.example.org")
    assert origins.lets_in("https://voice.example.org", "voice.example.org")
    assert not origins.lets_in("https://voice.example.org", "other.example.org")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("https://app.example.org", True),
        ("http://localhost:3000", True),
        ("*", True),
        ("app.example.org", False),
        ("https://app.example.org/", False),
        ("https://app.example.org/path", False),
        ("https://App.example.org", False),
        ("ftp://example.org", False),
        ("", False),
    ],
)
def test_a_setting_is_an_origin_and_nothing_else(text: str, is_one: bool) -> None:
    assert is_origin(text) is is_one
