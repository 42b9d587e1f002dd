"""``@openai/agents`` for JavaScript: its ``RealtimeSession``, on Node, over a websocket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stock_clients.running import (
    NODE_PROGRAMS,
    check_report,
    check_wire,
    report_of,
    run_node,
)

if TYPE_CHECKING:
    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer


def test_openai_agents_in_javascript_play_all_turns(
    server: RunningServer, wires: list[Wire]
) -> None:
    url = f"ws://127.0.0.1:{server.port}/v1/realtime"
    report = report_of(run_node(NODE_PROGRAMS / "openai_agents_player.mjs", url))
    check_report(report)
    check_wire(server, wires)
    [wire] = wires
    assert wire.of("conversation.item.truncated")
