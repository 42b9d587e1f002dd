"""``pipecat-ai``: its ``OpenAIRealtimeLLMService`` in a pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.stock_clients.running import check_report, check_wire, run_player

if TYPE_CHECKING:
    from tests.stock_clients.wire import Wire
    from tests.support.running_server import RunningServer


def test_pipecat_plays_all_turns(server: RunningServer, wires: list[Wire]) -> None:
    url = f"ws://127.0.0.1:{server.port}/v1/realtime"
    report = run_player("pipecat", url)
    # It hands every output of a function on as JSON.
    check_report(report, weather_answer='It is "22 degrees and sunny".')
    check_wire(server, wires)
    [wire] = wires
    assert wire.of("conversation.item.truncated")
