"""The MCP servers of a session: what tools they have, and what the model is offered of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UnsetType
from msgspec.structs import replace

from s2s_actors.protocol import mcp_events as ev
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.mcp_items import McpListTools, McpToolInfo
from s2s_actors.protocol.mcp_tools import McpChoice, McpTool
from s2s_actors.protocol.outputs import StartMcpListing, StopMcp
from s2s_actors.protocol.server_events import ItemAdded, ItemDone
from s2s_actors.protocol.session import FunctionChoice, FunctionTool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.mcp_items import McpError
    from s2s_actors.protocol.outputs import OfferedChoice
    from s2s_actors.protocol.response_plan import ResponsePlan

MAX_NAME_CHARS = 64
"""Longest name of a tool that language models behind an API take."""
_MAX_KEPT = 32
"""Lists of servers that only single responses named; the oldest is forgotten."""


@dataclass(frozen=True, slots=True)
class Route:
    """Where a call by the model goes."""

    server: McpTool
    tool: McpToolInfo

    @property
    def needs_approval(self) -> bool:
        """Whether the client has to be asked first."""
        return self.server.needs_approval(self.tool)


@dataclass(frozen=True, slots=True)
class Offer:
    """What the model may call: all of it as functions, by names that are unique."""

    tools: tuple[FunctionTool, ...]
    tool_choice: OfferedChoice
    routes: dict[str, Route]


@dataclass(slots=True)
class _Listing:
    """What is known of a server; ``tools`` is None while it is asked."""

    server: McpTool
    item_id: str
    of_session: bool
    entry: Entry | None
    tools: tuple[McpToolInfo, ...] | None = None


@dataclass(slots=True)
class _Names:
    """Names that the model calls tools by, each given once."""

    taken: set[str] = field(default_factory=set)

    def give(self, server: McpTool, tool: McpToolInfo) -> str:
        """The tool's own name; if that is taken, with the label of its server in front."""
        name = plain_name(tool.name)
        if name in self.taken:
            name = plain_name(f"{server.server_label}__{tool.name}")
        stem, number = name, 2
        while name in self.taken:
            name, number = f"{stem[: MAX_NAME_CHARS - 4]}_{number}", number + 1
        self.taken.add(name)
        return name


class McpServers:
    """Keeps the lists of tools.

    Promises: a server is asked once as long as its settings stay the same; a list that was
    begun is closed once, as completed or failed; nobody waits for a server but a response
    that names it itself.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._listings: list[_Listing] = []

    def session_has(self, tools: Iterable[object]) -> None:
        """These are the tools of the session from now on: ask the servers that are new."""
        wanted = [tool for tool in tools if isinstance(tool, McpTool)]
        for listing in [each for each in self._listings if each.of_session]:
            if listing.server not in wanted:
                self._drop(listing)
        for server in wanted:
            if listing_now := self._find(server):
                listing_now.of_session = True
            else:
                self._ask(server, of_session=True, in_conversation=True)

    def prepare(self, plan: ResponsePlan) -> None:
        """Ask the servers that only this response names."""
        for server in plan.awaited:
            if self._find(server) is None:
                self._ask(server, of_session=False, in_conversation=plan.in_conversation)

    def ready(self, plan: ResponsePlan) -> bool:
        """Whether the servers that the response itself names have answered."""
        listings = map(self._find, plan.awaited)
        return all(listing is None or listing.tools is not None for listing in listings)

    def listed(self, item_id: str, found: tuple[McpToolInfo, ...] | McpError) -> None:
        """A server has told its tools, or has failed to."""
        listing = next((each for each in self._listings if each.item_id == item_id), None)
        if listing is None or listing.tools is not None:
            return
        failed = not isinstance(found, tuple)
        tools = found if isinstance(found, tuple) else ()
        listing.tools = tuple(tool for tool in tools if listing.server.allows(tool))
        self._tell(listing, failed=failed)

    def offer(self, plan: ResponsePlan) -> Offer:
        """What a response may call, as far as it is known now."""
        tools, routes = list(plan.tools), dict[str, Route]()
        names = _Names({tool.name for tool in tools})
        for route in self._routes(plan):
            name = names.give(route.server, route.tool)
            routes[name] = route
            tools.append(_as_function(name, route))
        return _chosen(plan, tools, routes)

    def _routes(self, plan: ResponsePlan) -> Iterable[Route]:
        for server in plan.servers:
            listing = self._find(server)
            for tool in (listing.tools or ()) if listing else ():
                route = Route(server, tool)
                # An approval is asked for and given in the conversation.
                if plan.in_conversation or not route.needs_approval:
                    yield route

    def _find(self, server: McpTool) -> _Listing | None:
        return next((each for each in self._listings if each.server == server), None)

    def _ask(self, server: McpTool, *, of_session: bool, in_conversation: bool) -> None:
        item = McpListTools(id=new_id("mcpl"), server_label=server.server_label)
        entry = Entry(item) if in_conversation else None
        self._listings.append(_Listing(server, item.id, of_session, entry))
        if entry is not None:
            previous = self._desk.conversation.add(entry)
            self._desk.send(ItemAdded(item=item, previous_item_id=previous))
            self._desk.send(ev.McpListInProgress(item_id=item.id))
        self._desk.put(StartMcpListing(item.id, server))
        passing = [each for each in self._listings if not each.of_session]
        for oldest in passing[:-_MAX_KEPT]:
            self._drop(oldest)

    def _drop(self, listing: _Listing) -> None:
        self._listings.remove(listing)
        if listing.tools is None:
            listing.tools = ()
            self._desk.put(StopMcp(listing.item_id))
            self._tell(listing, failed=True)

    def _tell(self, listing: _Listing, *, failed: bool) -> None:
        entry = listing.entry
        if entry is None:
            return
        event = ev.McpListFailed if failed else ev.McpListCompleted
        self._desk.send(event(item_id=listing.item_id))
        assert isinstance(entry.item, McpListTools)
        assert listing.tools is not None
        entry.item = replace(entry.item, tools=listing.tools)
        # The client may have deleted the item meanwhile.
        if self._desk.conversation.find(listing.item_id) is entry:
            previous = self._desk.conversation.previous_of(listing.item_id)
            self._desk.send(ItemDone(item=entry.item, previous_item_id=previous))


def plain_name(name: str) -> str:
    """A name in the characters that language models behind an API take."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:MAX_NAME_CHARS]


def _as_function(name: str, route: Route) -> FunctionTool:
    about, tool = route.server.server_description, route.tool
    described = f"{about}: {tool.description}" if isinstance(about, str) else tool.description
    return FunctionTool(name=name, description=described, parameters=tool.input_schema)


def _chosen(plan: ResponsePlan, tools: list[FunctionTool], routes: dict[str, Route]) -> Offer:
    choice = plan.tool_choice
    if not isinstance(choice, McpChoice):
        return Offer(tuple(tools), choice, routes)
    wanted = {
        name: route
        for name, route in routes.items()
        if route.server.server_label == choice.server_label
        and (choice.name is None or isinstance(choice.name, UnsetType) or _is(route, choice.name))
    }
    if not wanted:
        # The server has no such tool, or has not answered: the model does what it can.
        return Offer(tuple(tools), "auto", routes)
    if isinstance(choice.name, str):
        return Offer(tuple(tools), FunctionChoice(name=next(iter(wanted))), routes)
    return Offer(tuple(tool for tool in tools if tool.name in wanted), "required", wanted)


def _is(route: Route, name: str) -> bool:
    return route.tool.name == name
