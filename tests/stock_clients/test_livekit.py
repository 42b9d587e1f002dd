"""``livekit-plugins-openai``: its realtime model in an ``AgentSession``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stock_clients.running import check_report, check_wire, run_player

if TYPE_CHECKING:
    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer


def test_livekit_plays_all_turns(server: RunningServer, wires: list[Wire]) -> None:
    url = f"http://127.0.0.1:{server.port}/v1"
    report = run_player("livekit", url)
    check_report(report)
    # It cancels what an interruption has cancelled already, and knows the answer by its words.
    check_wire(server, wires, tolerated="Cancellation failed: no active response found")
    [wire] = wires
    assert wire.of("conversation.item.truncated")
