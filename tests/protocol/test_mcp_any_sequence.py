"""Any sequence of events keeps the protocol, with MCP servers among those who act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from s2s_actors.protocol import outputs
from s2s_actors.protocol.mcp_items import McpHttpError, McpToolError
from tests.protocol.test_any_sequence import AnySequence
from tests.protocol.test_mcp import SEARCH, WEATHER, McpPlayer, server

if TYPE_CHECKING:
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo

TOOLS = st.sampled_from(
    [
        [],
        [server()],
        [server(require_approval="always")],
        [{"type": "function", "name": "look"}, server("b"), server("c", allowed_tools=["x"])],
        [{"type": "mcp", "server_label": "meteo"}],
        [{"type": "mcp", "server_label": "meteo", "server_url": "nowhere"}],
    ]
)
FOUND: st.SearchStrategy[tuple[McpToolInfo, ...] | McpError] = st.sampled_from(
    [(WEATHER,), (WEATHER, SEARCH), (), McpHttpError(code=502, message="Gone.")]
)
RESULTS: st.SearchStrategy[str | McpError] = st.sampled_from(
    ["sunny", "", McpToolError(message="No such luck.")]
)


class McpSequence(AnySequence):
    """The same game with more players."""

    player: McpPlayer

    def __init__(self) -> None:
        super().__init__()
        self.player = McpPlayer()

    def some(self, data: st.DataObject, *kinds: Any) -> str:
        asked = [each.item_id for kind in kinds for each in self.player.of(kind)]
        return str(data.draw(st.sampled_from([*asked, "mcp_unknown"])))

    @rule(tools=TOOLS)
    def name_servers(self, tools: list[Any]) -> None:
        self.say("session.update", session={"type": "realtime", "tools": tools})

    @rule(tools=TOOLS, beside=st.booleans())
    def ask_with_servers(self, tools: list[Any], beside: bool) -> None:
        where = {"conversation": "none" if beside else "auto"}
        self.say("response.create", response={"tools": tools, **where})

    @rule(data=st.data(), found=FOUND)
    def server_lists(self, data: st.DataObject, found: Any) -> None:
        self.player.lists(self.some(data, outputs.StartMcpListing), found)

    @precondition(lambda self: self.player.work.generations)
    @rule(
        data=st.data(),
        name=st.sampled_from(["weather", "search_docs", "look"]),
        arguments=st.sampled_from(["{}", '{"city":"Rome"}', "{", ""]),
    )
    def call_a_tool(self, data: st.DataObject, name: str, arguments: str) -> None:
        self.player.calls(self.some_generation(data), "call_3", name, arguments)

    @rule(data=st.data(), result=RESULTS)
    def call_returns(self, data: st.DataObject, result: Any) -> None:
        self.player.returns(self.some(data, outputs.StartMcpCall), result)

    @rule(data=st.data(), approve=st.booleans())
    def decide(self, data: st.DataObject, approve: bool) -> None:
        requests = [
            event["item"]["id"]
            for event in self.player.events
            if event["type"] == "conversation.item.done"
            and event["item"]["type"] == "mcp_approval_request"
        ]
        self.serial += 1
        self.player.approve(data.draw(st.sampled_from([*requests, "mcpr_unknown"])), approve)

    def do_what_is_left(self) -> None:
        for listing in self.player.of(outputs.StartMcpListing):
            self.player.lists(listing.item_id, ())
        super().do_what_is_left()
        # What ends a generation may begin calls, and what ends a call a generation.
        while self.player.checker.open_responses:
            for call in self.player.of(outputs.StartMcpCall):
                self.player.returns(call.item_id, "done")
            super().do_what_is_left()


McpSequence.TestCase.settings = settings(
    max_examples=80,
    stateful_step_count=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
TestMcpSequence = McpSequence.TestCase
