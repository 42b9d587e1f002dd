"""What a person types becomes an address."""

from __future__ import annotations

import pytest

from s2s_actors.client.address import http_url, is_loopback, realtime_url
from s2s_actors.errors import SetupError


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("ws://h:1/v1/realtime?model=x", "ws://h:1/v1/realtime?model=x"),
        ("ws://h:1", "ws://h:1/v1/realtime?model=s2s-actors"),
        ("ws://h:1/", "ws://h:1/v1/realtime?model=s2s-actors"),
        ("h:1", "ws://h:1/v1/realtime?model=s2s-actors"),
        ("http://h", "ws://h/v1/realtime?model=s2s-actors"),
        ("https://h/base/v1/realtime", "wss://h/base/v1/realtime?model=s2s-actors"),
        ("ws://[::1]:9/v1/realtime", "ws://[::1]:9/v1/realtime?model=s2s-actors"),
        ("ws://h?call_id=rtc_1", "ws://h/v1/realtime?call_id=rtc_1"),
    ],
)
def test_what_is_typed_becomes_the_address_of_the_endpoint(typed: str, meant: str) -> None:
    assert realtime_url(typed) == meant


@pytest.mark.parametrize("typed", ["", "ws://", "ftp://h", "ws://h:99999", "ws://h:port", "ws://["])
def test_what_is_no_address_is_refused_by_name(typed: str) -> None:
    with pytest.raises(SetupError, match="is no address of a server"):
        realtime_url(typed)


def test_a_get_endpoint_is_on_the_same_server() -> None:
    assert http_url("ws://h:1/v1/realtime?model=x", "/v1/pool") == "http://h:1/v1/pool"
    assert http_url("https://h", "/v1/pool") == "https://h/v1/pool"


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("ws://127.0.0.1:8", True),
        ("ws://127.8.8.8", True),
        ("ws://[::1]:8", True),
        ("ws://localhost", True),
        ("ws://192.0.2.1", False),
        ("ws://example.org", False),
    ],
)
def test_this_machine_is_known_by_its_addresses(url: str, *, loopback: bool) -> None:
    assert is_loopback(url) is loopback
