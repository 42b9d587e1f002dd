"""MCP tools as pure sequences: lists, calls, approvals, and everything that cuts them short."""

from __future__ import annotations

import json
from typing import Any

import pytest

from s2s_actors.actors.chat import request_of
from s2s_actors.protocol import outputs
from s2s_actors.protocol.mcp_items import (
    McpError,
    McpHttpError,
    McpToolError,
    McpToolInfo,
)
from tests.protocol.playing import Event, Player, error_of, one, response_id_of, types, user_text

URL = "http://127.0.0.1:9/mcp"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "default": None}}}
WEATHER = McpToolInfo(name="weather", description="The weather.", input_schema=SCHEMA)
SEARCH = McpToolInfo(
    name="search.docs", input_schema=SCHEMA, annotations={"readOnlyHint": True, "title": None}
)
LIST_ITEM = "mcp_list_tools"


def server(label: str = "meteo", **fields: Any) -> Event:
    """A tool of the type ``mcp``, by default without approvals."""
    fields = {"require_approval": "never", **fields}
    return {"type": "mcp", "server_label": label, "server_url": URL, **fields}


class McpPlayer(Player):
    """A session whose MCP servers the test plays."""

    def offers(self, *tools: Event, found: tuple[McpToolInfo, ...] | McpError) -> list[Event]:
        """Update the tools of the session, and let every server that is asked answer."""
        before = len(self.of(outputs.StartMcpListing))
        self.update(tools=list(tools))
        events: list[Event] = []
        for asked in self.of(outputs.StartMcpListing)[before:]:
            events += self.lists(asked.item_id, found)
        return events

    def lists(self, item_id: str, found: tuple[McpToolInfo, ...] | McpError) -> list[Event]:
        """A server answers."""
        return self._do(lambda: self.dialogue.mcp_listed(item_id, found))

    def returns(self, item_id: str, result: str | McpError) -> list[Event]:
        """A call ends."""
        return self._do(lambda: self.dialogue.answering.mcp_called(item_id, result))

    def approve(self, request_id: str, approve: bool = True, **fields: Any) -> list[Event]:
        """The client decides."""
        answer = {
            "type": "mcp_approval_response",
            "approval_request_id": request_id,
            "approve": approve,
        }
        return self.send("conversation.item.create", item=answer | fields)

    @property
    def call(self) -> outputs.StartMcpCall:
        """The call that was begun last."""
        return self.of(outputs.StartMcpCall)[-1]

    def generation(self, response_id: str) -> outputs.StartGeneration:
        """What the model was asked for a response."""
        return next(g for g in self.of(outputs.StartGeneration) if g.response_id == response_id)


@pytest.fixture
def player() -> McpPlayer:
    return McpPlayer()


def asked_to_approve(player: McpPlayer, arguments: str = '{"city":"Rome"}') -> tuple[str, str]:
    """Play a response that asks for an approval; the request's id and the call's."""
    player.offers(server(require_approval="always"), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", arguments)
    events = player.ends(response_id)
    request = one(events, "conversation.item.done")["item"]
    assert request["type"] == "mcp_approval_request"
    assert one(events, "response.done")["response"]["status"] == "completed"
    return request["id"], one(events, "response.output_item.done")["item"]["id"]


# --- lists ------------------------------------------------------------------------------


def test_a_server_is_asked_for_its_tools_after_the_update(player: McpPlayer) -> None:
    events = player.update(tools=[server()])

    assert types(events) == [
        "session.updated",
        "conversation.item.added",
        "mcp_list_tools.in_progress",
    ]
    item = events[1]["item"]
    assert item == {"type": LIST_ITEM, "id": item["id"], "server_label": "meteo", "tools": []}
    events = player.lists(item["id"], (WEATHER, SEARCH))
    assert types(events) == ["mcp_list_tools.completed", "conversation.item.done"]
    assert events[1]["item"]["tools"] == [
        {"name": "weather", "description": "The weather.", "input_schema": SCHEMA},
        {
            "name": "search.docs",
            "description": "",
            "input_schema": SCHEMA,
            "annotations": {"readOnlyHint": True, "title": None},
        },
    ]
    (retrieved,) = player.send("conversation.item.retrieve", item_id=item["id"])
    assert retrieved["item"] == events[1]["item"]
    player.finish()


def test_a_server_that_fails_leaves_the_session_usable(player: McpPlayer) -> None:
    events = player.offers(server(), found=McpHttpError(code=502, message="Gone."))

    assert types(events) == ["mcp_list_tools.failed", "conversation.item.done"]
    assert events[1]["item"]["tools"] == []
    response_id = player.respond()
    assert player.generation(response_id).tools == ()
    player.answers(response_id, "Fine.")
    player.finish()


def test_a_server_whose_settings_stay_is_not_asked_again(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER,))
    assert types(player.update(tools=[server()])) == ["session.updated"]
    assert types(player.update(instructions="Be brief.")) == ["session.updated"]
    assert "conversation.item.added" in types(player.update(tools=[server(headers={"a": "b"})]))


def test_a_list_that_nobody_wants_any_more_is_closed(player: McpPlayer) -> None:
    events = player.update(tools=[server()])
    item_id = events[1]["item"]["id"]
    events = player.update(tools=[])

    assert types(events) == ["session.updated", "mcp_list_tools.failed", "conversation.item.done"]
    assert player.of(outputs.StopMcp) == [outputs.StopMcp(item_id)]
    assert player.lists(item_id, (WEATHER,)) == []
    player.finish()


def test_a_list_that_was_deleted_is_not_told_to_be_done(player: McpPlayer) -> None:
    item_id = player.update(tools=[server()])[1]["item"]["id"]
    player.send("conversation.item.delete", item_id=item_id)

    assert types(player.lists(item_id, (WEATHER,))) == ["mcp_list_tools.completed"]
    assert [t.name for t in player.generation(player.respond()).tools] == ["weather"]


def test_nobody_waits_for_a_server_of_the_session(player: McpPlayer) -> None:
    player.update(tools=[server()])
    response_id = player.respond()

    assert player.generation(response_id).tools == ()


def test_a_response_waits_for_a_server_that_only_it_names(player: McpPlayer) -> None:
    events = player.send("response.create", response={"tools": [server()]})
    response_id = response_id_of(events)
    assert types(events)[1:] == ["conversation.item.added", "mcp_list_tools.in_progress"]
    assert player.of(outputs.StartGeneration) == []

    player.lists(events[1]["item"]["id"], (WEATHER,))
    assert [t.name for t in player.generation(response_id).tools] == ["weather"]
    player.answers(response_id, "Sunny.")
    assert player.generation(player.respond()).tools == ()


def test_a_list_for_a_response_outside_leaves_no_trace(player: McpPlayer) -> None:
    asked = {"tools": [server()], "conversation": "none", "input": [user_text("Hi")]}
    events = player.send("response.create", response=asked)

    assert types(events) == ["response.created"]
    (listing,) = player.of(outputs.StartMcpListing)
    assert player.lists(listing.item_id, (WEATHER,)) == []
    assert [t.name for t in player.generation(response_id_of(events)).tools] == ["weather"]


def test_a_response_may_name_a_server_of_the_session_by_its_label(player: McpPlayer) -> None:
    player.offers(server(authorization="k"), found=(WEATHER,))
    response_id = player.respond(tools=[{"type": "mcp", "server_label": "meteo"}])

    assert [t.name for t in player.generation(response_id).tools] == ["weather"]


# --- settings ---------------------------------------------------------------------------


def test_secrets_are_not_shown(player: McpPlayer) -> None:
    secret = server(authorization="sesame", headers={"X-Key": "open", "B": "c"})
    (updated, *_) = player.update(tools=[secret])

    assert updated["session"]["tools"] == [
        secret | {"authorization": "***", "headers": {"X-Key": "***", "B": "***"}}
    ]
    assert "sesame" not in repr(player.dialogue.session)
    assert "sesame" not in repr(player.of(outputs.StartMcpListing))
    # A client that sends back what it was shown changes nothing.
    assert types(player.update(tools=updated["session"]["tools"])) == ["session.updated"]
    (listing,) = player.of(outputs.StartMcpListing)
    assert listing.server.request_headers() == {
        "X-Key": "open",
        "B": "c",
        "Authorization": "Bearer sesame",
    }


def test_nulls_are_taken_and_defaults_are_shown(player: McpPlayer) -> None:
    nulls: Event = dict.fromkeys(
        ("authorization", "headers", "allowed_tools", "server_description", "connector_id")
    )
    tool = server(require_approval=None, **nulls)
    (updated, *_) = player.update(tools=[tool])

    assert updated["session"]["tools"] == [server(require_approval="always")]


@pytest.mark.parametrize(
    ("tool", "code", "param"),
    [
        ({"server_url": None}, "missing_required_parameter", "server_url"),
        ({"server_url": "ftp://x"}, "invalid_value", "server_url"),
        ({"server_url": "http://"}, "invalid_value", "server_url"),
        ({"server_url": "http://[::1"}, "invalid_value", "server_url"),
        ({"server_url": 5}, "invalid_type", "server_url"),
        ({"connector_id": "connector_gmail"}, "invalid_value", "connector_id"),
        ({"tunnel_id": "t"}, "invalid_value", "tunnel_id"),
        ({"server_label": ""}, "invalid_value", "server_label"),
        ({"authorization": "a\nb"}, "invalid_value", "authorization"),
        ({"headers": {"a b": "c"}}, "invalid_value", "headers"),
        ({"headers": {"a": "\u00e9"}}, "invalid_value", "headers"),
        ({"headers": {"a": 5}}, "invalid_type", "headers"),
        ({"allowed_tools": "all"}, "invalid_type", "allowed_tools"),
        ({"allowed_tools": {"names": []}}, "unknown_parameter", "allowed_tools.names"),
        ({"require_approval": "maybe"}, "invalid_value", "require_approval"),
        ({"require_approval": {"never": []}}, "invalid_type", "require_approval.never"),
        ({"surprise": 1}, "unknown_parameter", "surprise"),
    ],
)
def test_a_server_that_is_not_acceptable_is_refused_by_field(
    player: McpPlayer, tool: Event, code: str, param: str
) -> None:
    for kind, name in (("session.update", "session"), ("response.create", "response")):
        body: Event = {"tools": [{"type": "function", "name": "f"}, server() | tool]}
        body |= {"type": "realtime"} if name == "session" else {}
        error = error_of(player.send(kind, **{name: body}, event_id="e"))
        assert (error["code"], error["event_id"]) == (code, "e")
        assert error["param"].startswith(f"{name}.tools[1].{param}")
    assert player.of(outputs.StartMcpListing) == []


def test_a_label_names_one_server(player: McpPlayer) -> None:
    error = error_of(player.update(tools=[server(), server()]))
    assert error["param"] == "session.tools[1].server_label"
    many = [server(f"s{n}") for n in range(17)]
    assert error_of(player.update(tools=many))["param"] == "session.tools[16]"


@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        (["weather"], ["weather"]),
        ([], []),
        ({"tool_names": ["search.docs"]}, ["search_docs"]),
        ({"read_only": True}, ["search_docs"]),
        ({"read_only": False}, ["weather"]),
        ({"read_only": True, "tool_names": ["weather"]}, []),
    ],
)
def test_only_allowed_tools_are_offered(
    player: McpPlayer, allowed: object, names: list[str]
) -> None:
    events = player.offers(server(allowed_tools=allowed), found=(WEATHER, SEARCH))

    assert len(events[-1]["item"]["tools"]) == len(names)
    assert [t.name for t in player.generation(player.respond()).tools] == names


@pytest.mark.parametrize(
    ("rule", "asks"),
    [
        ("never", set()),
        ("always", {"weather", "search.docs"}),
        ({"never": {"tool_names": ["weather"]}}, {"search.docs"}),
        ({"always": {"tool_names": ["weather"]}}, {"weather", "search.docs"}),
        ({"always": {"tool_names": ["weather"]}, "never": {"read_only": True}}, {"weather"}),
    ],
)
def test_approvals_are_asked_for_as_configured(
    player: McpPlayer, rule: object, asks: set[str]
) -> None:
    player.offers(server(require_approval=rule), found=(WEATHER, SEARCH))
    response_id = player.respond()
    events = player.calls(response_id, "c1", "weather", "{}")
    events += player.calls(response_id, "c2", "search_docs", "{}")
    events += player.ends(response_id)

    asked = {
        event["item"]["name"]
        for event in events
        if event["type"] == "conversation.item.added"
        and event["item"]["type"] == "mcp_approval_request"
    }
    assert asked == asks
    assert {call.name for call in player.of(outputs.StartMcpCall)} == {
        "weather",
        "search.docs",
    } - asks


def test_names_that_clash_get_the_label_in_front(player: McpPlayer) -> None:
    function = {"type": "function", "name": "weather"}
    tools = (function, server(), server("b", server_description="Other"))
    player.offers(*tools, found=(WEATHER,))
    response_id = player.respond()
    work = player.generation(response_id)

    assert [t.name for t in work.tools] == ["weather", "meteo__weather", "b__weather"]
    assert work.tools[2].description == "Other: The weather."
    player.calls(response_id, "c1", "b__weather", "{}")
    player.ends(response_id)
    assert (player.call.server.server_label, player.call.name) == ("b", "weather")


def test_a_choice_of_a_server_or_of_its_tool(player: McpPlayer) -> None:
    function = {"type": "function", "name": "f"}
    player.offers(function, server(), found=(WEATHER, SEARCH))
    choice = {"type": "mcp", "server_label": "meteo"}
    first = player.generation(player.respond(tool_choice=choice))
    player.send("response.cancel")
    second = player.generation(player.respond(tool_choice=choice | {"name": "search.docs"}))
    player.send("response.cancel")
    third = player.generation(player.respond(tool_choice=choice | {"name": "nosuch"}))
    player.send("response.cancel")
    error = error_of(
        player.send("response.create", response={"tool_choice": choice | {"server_label": "x"}})
    )

    assert ([t.name for t in first.tools], first.tool_choice) == (
        ["weather", "search_docs"],
        "required",
    )
    assert request_of(second).tool_choice == "function:search_docs"
    assert third.tool_choice == "auto"
    assert error["param"] == "response.tool_choice.server_label"


# --- calls ------------------------------------------------------------------------------


def test_a_call_has_the_documented_sequence(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    events = player.calls(response_id, "c1", "weather", '{"city":', '"Rome"}')
    events += player.ends(response_id)
    call = player.call
    events += player.returns(call.item_id, "sunny")

    assert types(events) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_call.in_progress",
        "response.mcp_call.completed",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
        "rate_limits.updated",
    ]
    assert events[0]["item"] == {
        "type": "mcp_call",
        "id": call.item_id,
        "server_label": "meteo",
        "name": "weather",
        "arguments": "",
        "output": None,
    }
    assert all(isinstance(event["obfuscation"], str) for event in events[2:4])
    final = events[0]["item"] | {"arguments": '{"city":"Rome"}', "output": "sunny"}
    assert events[-3]["item"] == events[-4]["item"] == final
    assert one(events, "response.done")["response"]["output"] == [final]
    assert call.arguments == {"city": "Rome"}
    assert call.response_id == response_id
    player.finish()


def test_a_call_that_fails_ends_with_its_error(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", "")
    player.ends(response_id)
    events = player.returns(player.call.item_id, McpHttpError(code=504, message="Late."))

    assert types(events)[0] == "response.mcp_call.failed"
    item = one(events, "response.output_item.done")["item"]
    assert item["output"] is None
    assert item["error"] == {"type": "http_error", "code": 504, "message": "Late."}
    assert one(events, "response.done")["response"]["status"] == "completed"
    assert player.call.arguments == {}
    player.finish()


@pytest.mark.parametrize("arguments", ["{", "[]", "5", '{"a":' * 200 + "1" + "}" * 200])
@pytest.mark.parametrize("rule", ["never", "always"])
def test_arguments_that_are_no_object_fail_the_call_at_once(
    player: McpPlayer, arguments: str, rule: str
) -> None:
    player.offers(server(require_approval=rule), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", arguments)
    events = player.ends(response_id)

    assert "response.mcp_call.failed" in types(events)
    error = one(events, "response.output_item.done")["item"]["error"]
    assert (error["type"], error["code"]) == ("protocol_error", -32602)
    assert player.of(outputs.StartMcpCall) == []
    player.finish()


def test_text_speech_and_calls_of_one_response_keep_their_places(player: McpPlayer) -> None:
    function = {"type": "function", "name": "look"}
    player.offers(function, server(), found=(WEATHER,))
    response_id = player.respond()
    player.writes(response_id, "Let me see. ")
    player.calls(response_id, "c1", "weather", "{}")
    player.calls(response_id, "c2", "look", "{}")
    first = player.call.item_id
    player.calls(response_id, "c3", "weather", "{}")
    player.writes(response_id, "Just a moment.")
    player.ends(response_id)
    second = player.call.item_id
    player.speaks_all()
    assert player.open_response == response_id
    player.returns(second, "rain")
    events = player.returns(first, "sun")

    output = one(events, "response.done")["response"]["output"]
    assert [item["type"] for item in output] == [
        "message",
        "mcp_call",
        "function_call",
        "mcp_call",
        "message",
    ]
    assert [item["output"] for item in output if item["type"] == "mcp_call"] == ["sun", "rain"]
    player.finish()


def test_a_cancelled_response_closes_a_call_that_runs(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", "{}")
    player.ends(response_id)
    call = player.call
    events = player.send("response.cancel")

    assert types(events)[:4] == [
        "response.mcp_call.failed",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert events[2]["item"]["error"]["type"] == "tool_execution_error"
    assert player.work.stopped == {response_id}
    assert player.returns(call.item_id, "late") == []
    player.finish()


def test_speech_interrupts_a_call_that_runs(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER,))
    response_id = player.respond()
    player.calls(response_id, "c1", "weather", "{}")
    player.ends(response_id)
    events = player.starts()

    done = one(events, "response.done")["response"]
    assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "turn_detected")


@pytest.mark.parametrize("cut", [True, False])
def test_a_call_that_was_not_written_to_its_end_does_not_run(player: McpPlayer, cut: bool) -> None:
    player.offers(server(), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", '{"ci')
    events = player.ends(response_id, cut=True) if cut else player.send("response.cancel")

    assert types(events)[:4] == [
        "response.mcp_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    item = events[2]["item"]
    assert (item["arguments"], item["error"]["type"]) == ('{"ci', "tool_execution_error")
    assert player.of(outputs.StartMcpCall) == []
    player.finish()


def test_a_call_that_was_deleted_ends_with_its_response(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", "{}")
    player.ends(response_id)
    player.send("conversation.item.delete", item_id=player.call.item_id)
    events = player.returns(player.call.item_id, "sunny")

    assert "conversation.item.done" not in types(events)
    assert one(events, "response.done")["response"]["output"][0]["output"] == "sunny"
    player.finish()


def test_a_call_outside_of_the_conversation_leaves_no_trace(player: McpPlayer) -> None:
    careful = server("b", require_approval="always")
    player.offers(server(), careful, found=(WEATHER,))
    response_id = player.respond(conversation="none", output_modalities=["text"])
    # Nobody could approve there, so what needs it is not on offer.
    assert [t.name for t in player.generation(response_id).tools] == ["weather"]
    player.calls(response_id, "c1", "weather", "{}")
    player.ends(response_id)
    events = player.returns(player.call.item_id, "sunny")

    assert "conversation.item.done" not in types(events)
    assert one(events, "response.done")["response"]["output"][0]["output"] == "sunny"
    player.finish()


def test_the_model_reads_calls_and_their_results(player: McpPlayer) -> None:
    player.offers(server(), found=(WEATHER, SEARCH))
    player.create_text("And in Rome?")
    response_id = player.respond(output_modalities=["text"])
    player.calls(response_id, "c1", "weather", '{"city":"Rome"}')
    player.calls(response_id, "c2", "search_docs", "{}")
    player.ends(response_id)
    first, second = (call.item_id for call in player.of(outputs.StartMcpCall))
    player.returns(first, "sunny")
    player.returns(second, McpToolError(message="No such page."))

    request = request_of(player.generation(player.respond()))
    asked, calls, *results = request.messages[1:]
    assert asked.text == "And in Rome?"
    assert [(c.call_id, c.name, c.arguments) for c in calls.tool_calls] == [
        (first, "weather", '{"city":"Rome"}'),
        (second, "search_docs", "{}"),
    ]
    assert [(r.role, r.call_id, r.text) for r in results] == [
        ("tool", first, "sunny"),
        ("tool", second, "Error: No such page."),
    ]


# --- approvals --------------------------------------------------------------------------


def test_an_approval_is_asked_for_and_the_response_ends(player: McpPlayer) -> None:
    player.offers(server(require_approval="always"), found=(WEATHER,))
    response_id = player.respond(output_modalities=["text"])
    events = player.calls(response_id, "c1", "weather", '{"city": "Rome"}')
    events += player.ends(response_id)

    assert types(events) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "conversation.item.added",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
        "rate_limits.updated",
    ]
    request = events[5]["item"]
    assert request == {
        "type": "mcp_approval_request",
        "id": request["id"],
        "server_label": "meteo",
        "name": "weather",
        "arguments": '{"city":"Rome"}',
    }
    assert events[6]["item"]["approval_request_id"] == request["id"]
    assert events[6]["item"]["output"] is None
    assert player.of(outputs.StartMcpCall) == []
    # A call without a result is none for the model yet.
    messages = request_of(player.generation(player.respond())).messages
    assert [message.role for message in messages] == ["system"]


@pytest.mark.parametrize("fields", [{}, {"id": "mine"}, {"reason": None}, {"reason": "Ok."}])
def test_an_approved_call_runs(player: McpPlayer, fields: Event) -> None:
    request_id, call_id = asked_to_approve(player)
    events = player.approve(request_id, **fields)

    assert types(events) == [
        "conversation.item.added",
        "conversation.item.done",
        "response.mcp_call.in_progress",
    ]
    assert events[1]["item"]["id"] == fields.get("id", events[1]["item"]["id"])
    assert (player.call.item_id, player.call.response_id) == (call_id, None)
    assert player.call.arguments == {"city": "Rome"}
    events = player.returns(call_id, "sunny")
    assert types(events) == ["response.mcp_call.completed", "conversation.item.done"]
    item = events[1]["item"]
    assert (item["id"], item["output"]) == (call_id, "sunny")
    assert item["approval_request_id"] == request_id
    messages = request_of(player.generation(player.respond())).messages
    assert messages[-1].text == "sunny"
    assert player.returns(call_id, "again") == []


def test_a_refused_call_does_not_run(player: McpPlayer) -> None:
    request_id, call_id = asked_to_approve(player)
    events = player.approve(request_id, False, reason="Too far")

    assert types(events) == ["conversation.item.added"] + 2 * ["conversation.item.done"]
    assert events[2]["item"]["id"] == call_id
    assert events[2]["item"]["error"] == {
        "type": "tool_execution_error",
        "message": "The user did not approve the call: Too far.",
    }
    assert player.of(outputs.StartMcpCall) == []


def test_a_decision_counts_once(player: McpPlayer) -> None:
    request_id, _ = asked_to_approve(player)
    player.approve(request_id)
    for answer in (request_id, "mcpr_other"):
        error = error_of(player.approve(answer))
        assert (error["code"], error["param"]) == ("invalid_value", "item.approval_request_id")


def test_a_decision_in_a_wrong_place_is_none(player: McpPlayer) -> None:
    request_id, _ = asked_to_approve(player)
    answer = {"type": "mcp_approval_response", "approval_request_id": request_id, "approve": True}
    error = error_of(
        player.send("conversation.item.create", item=answer, previous_item_id="nowhere")
    )

    assert error["param"] == "previous_item_id"
    assert player.of(outputs.StartMcpCall) == []
    events = player.send("conversation.item.create", item=answer, previous_item_id=request_id)
    assert types(events)[-1] == "response.mcp_call.in_progress"


def test_a_call_that_was_deleted_needs_no_decision(player: McpPlayer) -> None:
    request_id, call_id = asked_to_approve(player)
    player.send("conversation.item.delete", item_id=call_id)

    assert error_of(player.approve(request_id))["param"] == "item.approval_request_id"


def test_an_approved_call_that_is_deleted_is_not_told_to_be_done(player: McpPlayer) -> None:
    request_id, call_id = asked_to_approve(player)
    player.approve(request_id)
    player.send("conversation.item.delete", item_id=call_id)

    assert types(player.returns(call_id, "sunny")) == ["response.mcp_call.completed"]


def test_an_approved_call_does_not_stop_the_conversation(player: McpPlayer) -> None:
    request_id, call_id = asked_to_approve(player)
    player.approve(request_id)
    response_id = player.respond()
    player.send("response.cancel")

    assert player.work.stopped >= {response_id}
    assert types(player.returns(call_id, "sunny")) == [
        "response.mcp_call.completed",
        "conversation.item.done",
    ]


@pytest.mark.parametrize("kind", ["mcp_call", "mcp_list_tools", "mcp_approval_request"])
def test_what_only_the_server_says_can_not_be_created(player: McpPlayer, kind: str) -> None:
    error = error_of(player.send("conversation.item.create", item={"type": kind}))

    assert (error["code"], error["param"]) == ("invalid_value", "item.type")


def test_every_list_and_call_is_json_on_the_wire(player: McpPlayer) -> None:
    request_id, _ = asked_to_approve(player)
    request = next(item for item in player.items() if item["id"] == request_id)

    assert json.loads(request["arguments"]) == {"city": "Rome"}
