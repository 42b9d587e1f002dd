"""``openai-agents`` for Python: its ``RealtimeSession``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stock_clients.running import check_report, check_wire, run_player

if TYPE_CHECKING:
    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer


def test_openai_agents_in_python_play_all_turns(server: RunningServer, wires: list[Wire]) -> None:
    url = f"ws://127.0.0.1:{server.port}/v1/realtime"
    report = run_player("openai_agents", url)
    check_report(report)
    check_wire(server, wires)
    # What was not heard of the story is not in the history any more, nor in the conversation.
    [wire] = wires
    assert wire.of("conversation.item.truncated")
