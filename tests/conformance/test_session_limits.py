"""The longest life of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .realtime_conformance.checks import FULL, check
from .realtime_conformance.target import not_applicable

if TYPE_CHECKING:
    from collections.abc import Callable

    from .realtime_conformance.client import Client
    from .realtime_conformance.target import Target


@check("session/28", FULL)
def test_a_session_that_is_too_long_expires(target: Target, connect: Callable[..., Client]) -> None:
    if target.expiring_url is None:
        not_applicable("no --expiring-server")
    with connect(url=target.expiring_url) as client:
        assert client.error()["code"] == "session_expired"
        assert client.closed(target.patience_s) == 1001
