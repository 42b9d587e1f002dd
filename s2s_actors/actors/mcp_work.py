"""What a session has asked of MCP servers and not been told yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.actors.messages import McpCalled, McpListed
from s2s_actors.protocol.outputs import StartMcpCall, StartMcpListing, StopMcp

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.actors.lease import Lease
    from s2s_actors.backends.mcp_base import McpGateway
    from s2s_actors.protocol.mcp_items import McpError, McpToolInfo
    from s2s_actors.runtime.cancel import CancelToken
    from s2s_actors.runtime.outlet import Outlet

Work: TypeAlias = StartMcpListing | StartMcpCall | StopMcp


class McpWork:
    """Puts a session's requests to the gateway, and the answers into the conversation.

    Promises: answers come as messages that carry the lease; whatever runs is broken off with
    the session, and a call also with its response.
    """

    def __init__(
        self, gateway: McpGateway, lease: Lease, scope: CancelToken, conversation: Outlet
    ) -> None:
        self._gateway = gateway
        self._lease = lease
        self._scope = scope
        self._conversation = conversation
        self._tokens: dict[str, CancelToken] = {}

    def do(self, work: Work, token_of: Callable[[str], CancelToken]) -> None:
        """Do what the dialogue asks for.

        Args:
            work: What it asks for.
            token_of: The token of a response.
        """
        match work:
            case StartMcpListing():
                self._gateway.list_tools(
                    work.server, self._begin(work.item_id, self._scope), self._listed(work.item_id)
                )
            case StartMcpCall():
                parent = token_of(work.response_id) if work.response_id else self._scope
                self._gateway.call_tool(
                    work.server,
                    work.name,
                    work.arguments,
                    self._begin(work.item_id, parent),
                    self._called(work.item_id),
                )
            case StopMcp():
                self.over(work.item_id)

    def over(self, item_id: str) -> None:
        """Nothing more is wanted for this request: it has its answer, or needs none."""
        if token := self._tokens.pop(item_id, None):
            token.cancel()

    def _begin(self, item_id: str, parent: CancelToken) -> CancelToken:
        token = self._tokens[item_id] = parent.child()
        return token

    def _listed(self, item_id: str) -> Callable[[tuple[McpToolInfo, ...] | McpError], None]:
        return lambda found: self._conversation.put(McpListed(self._lease, item_id, found))

    def _called(self, item_id: str) -> Callable[[str | McpError], None]:
        return lambda result: self._conversation.put(McpCalled(self._lease, item_id, result))
