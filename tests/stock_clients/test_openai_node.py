"""``openai`` for JavaScript: its ``OpenAIRealtimeWS``, on Node, over TLS."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stock_clients.running import (
    NODE_PROGRAMS,
    check_report,
    check_wire,
    report_of,
    run_node,
)
from tests.stock_clients.tls import TlsProxy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer


def test_openai_in_javascript_plays_all_turns_over_tls(
    server: RunningServer, wires: list[Wire], tmp_path: Path
) -> None:
    with TlsProxy(tmp_path, server.port) as proxy:
        url = f"https://127.0.0.1:{proxy.port}/v1"
        env = {"NODE_EXTRA_CA_CERTS": str(proxy.certificate)}
        report = report_of(run_node(NODE_PROGRAMS / "openai_player.mjs", url, env=env))
    check_report(report)
    check_wire(server, wires)
