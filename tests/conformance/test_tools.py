"""Functions that the model calls, and tools on MCP servers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .realtime_conformance.checks import CORE, FULL, check
from .realtime_conformance.target import not_applicable

if TYPE_CHECKING:
    from .realtime_conformance.client import Client, Event
    from .realtime_conformance.target import Target

WEATHER: Event = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}
TIME: Event = WEATHER | {"name": "get_time", "description": "The time in a city."}
QUESTION = "What is the weather in Paris?"


def called(client: Client, **session: object) -> Event:
    """Ask; the response, which is a call."""
    client.update(tools=[WEATHER, TIME], **{"tool_choice": "required", **session})
    response = client.ask(QUESTION)
    assert response["status"] == "completed"
    return response


def put_output(client: Client, call: Event, output: str = "sunny") -> None:
    client.item({"type": "function_call_output", "call_id": call["call_id"], "output": output})


@check("tools/83", CORE)
def test_a_call_is_streamed_and_closed(client: Client) -> None:
    response = called(client)
    call = response["output"][0]
    added = client.of("response.output_item.added")[0]["item"]
    assert (added["type"], added["status"], added["arguments"]) == (
        "function_call",
        "in_progress",
        "",
    )
    deltas = client.of("response.function_call_arguments.delta")
    done = client.of("response.function_call_arguments.done")[0]
    assert "".join(event["delta"] for event in deltas) == done["arguments"] == call["arguments"]
    assert done["name"] == call["name"] == added["name"]
    assert done["call_id"] == call["call_id"] == added["call_id"]
    assert call["status"] == "completed"
    assert isinstance(json.loads(call["arguments"]), dict)


@check("tools/silent", CORE)
def test_a_response_that_only_calls_says_nothing(client: Client) -> None:
    called(client)
    assert not [kind for kind in client.types if "output_audio" in kind or "content_part" in kind]


@check("tools/84", CORE)
def test_an_output_is_used_by_the_next_response_and_starts_none(client: Client) -> None:
    call = called(client, output_modalities=["text"])["output"][0]
    client.update(tool_choice="auto")
    since = client.mark()
    put_output(client, call, "purple rain")
    client.nothing("response.created", since=since)
    client.create()
    response = client.done()
    assert response["output"][0]["type"] == "message"
    assert "purple" in response["output"][0]["content"][0]["text"].lower()


@check("tools/85-none", FULL)
def test_the_choice_of_none_makes_no_call(client: Client) -> None:
    client.update(tools=[WEATHER], tool_choice="none")
    assert [item["type"] for item in client.ask(QUESTION)["output"]] == ["message"]


@check("tools/85-named", FULL)
def test_the_choice_of_a_function_calls_it(client: Client) -> None:
    response = called(client, tool_choice={"type": "function", "name": "get_time"})
    assert [item["name"] for item in response["output"]] == ["get_time"]


@check("tools/85-auto", FULL)
def test_a_function_is_called_when_the_question_needs_it(client: Client) -> None:
    response = called(client, tool_choice="auto")
    assert response["output"][-1]["type"] == "function_call"


@check("tools/76", FULL)
def test_tools_of_one_response_are_its_own(client: Client) -> None:
    response = client.ask(QUESTION, tools=[WEATHER], tool_choice="required")
    assert response["output"][0]["name"] == "get_weather"
    put_output(client, response["output"][0])
    assert client.update()["tools"] == []
    assert client.ask(QUESTION)["output"][0]["type"] == "message"


@pytest.mark.needs_script
@check("tools/two", FULL)
def test_two_calls_in_one_response_are_answered_in_any_order(client: Client) -> None:
    client.update(tools=[WEATHER, TIME], output_modalities=["text"])
    calls = client.ask("Use both tools for Paris.")["output"]
    assert [call["name"] for call in calls] == ["get_weather", "get_time"]
    assert len({call["call_id"] for call in calls}) == 2
    for call in reversed(calls):
        put_output(client, call)
    client.create()
    assert client.done()["output"][0]["type"] == "message"


@check("tools/unanswered", FULL)
def test_a_call_without_its_output_does_not_wedge_the_session(client: Client) -> None:
    called(client)
    client.update(tool_choice="none")
    assert client.ask("Say exactly: Hello.")["status"] == "completed"


@check("tools/at-once", CORE)
def test_an_output_may_follow_the_arguments_at_once(client: Client) -> None:
    client.update(tools=[WEATHER], tool_choice="required")
    client.write(QUESTION)
    client.create()
    done = client.event("response.function_call_arguments.done")
    put_output(client, done)
    client.no_error()
    client.sync()


def imported(client: Client, url: str | None, **more: object) -> Event:
    """Name an MCP server; the item that lists its tools, once it is done."""
    if url is None:
        not_applicable("no --mcp-url")
    tool = {"type": "mcp", "server_label": "weather", "server_url": url, **more}
    client.update(tools=[{"require_approval": "never", **tool}])
    client.event("mcp_list_tools.in_progress")
    ends = ("mcp_list_tools.completed", "mcp_list_tools.failed")
    return client.event_that(lambda e: e["type"] in ends, "the end of the list")


@check("tools/87-list", FULL)
def test_tools_of_an_mcp_server_are_listed(client: Client, target: Target) -> None:
    done = imported(client, target.mcp_url)
    assert done["type"] == "mcp_list_tools.completed"
    item = client.event("conversation.item.done")["item"]
    assert (item["type"], item["id"]) == ("mcp_list_tools", done["item_id"])
    assert [tool["name"] for tool in item["tools"]] == ["get_weather"]
    assert all(isinstance(tool["description"], str) for tool in item["tools"])
    assert client.retrieve(item["id"]) == item


@check("tools/87-call", FULL)
def test_a_tool_of_an_mcp_server_is_called(client: Client, target: Target) -> None:
    imported(client, target.mcp_url)
    client.write(QUESTION)
    client.create(output_modalities=["text"], tool_choice="required")
    client.event("response.mcp_call_arguments.done")
    client.event("response.mcp_call.in_progress")
    client.event("response.mcp_call.completed")
    item = client.event("response.output_item.done")["item"]
    assert (item["type"], item["name"]) == ("mcp_call", "get_weather")
    assert "sunny in Paris" in item["output"]
    assert client.done()["status"] == "completed"


@check("tools/88", FULL)
def test_a_dead_mcp_server_fails_its_list_and_not_the_session(client: Client) -> None:
    done = imported(client, "http://127.0.0.1:9/mcp")
    assert done["type"] == "mcp_list_tools.failed"
    assert client.ask("Say exactly: Hello.")["status"] == "completed"


def asked(client: Client, target: Target) -> Event:
    """Ask for a call that needs approval; the item that asks for it."""
    imported(client, target.mcp_url, require_approval="always")
    client.write(QUESTION)
    client.create(output_modalities=["text"], tool_choice="required")
    found = client.event_that(
        lambda e: (
            e["type"] == "conversation.item.done" and e["item"]["type"] == "mcp_approval_request"
        ),
        "a request for approval",
    )
    json.loads(found["item"]["arguments"])
    client.done()
    return dict(found["item"])


def respond(client: Client, request: Event, *, approve: bool) -> None:
    response = {"type": "mcp_approval_response", "approval_request_id": request["id"]}
    client.item(response | {"approve": approve})


@check("tools/89-approve", FULL)
def test_an_approved_call_is_made(client: Client, target: Target) -> None:
    respond(client, asked(client, target), approve=True)
    client.event("response.mcp_call.completed")


@check("tools/89-refuse", FULL)
def test_a_refused_call_is_not_made(client: Client, target: Target) -> None:
    request = asked(client, target)
    since = client.mark()
    respond(client, request, approve=False)
    client.nothing("response.mcp_call.in_progress", since=since)


@check("tools/mcp-bad", FULL)
def test_an_mcp_tool_without_a_label_is_refused(client: Client) -> None:
    session = {"type": "realtime", "tools": [{"type": "mcp", "server_url": "http://127.0.0.1:9"}]}
    error = client.error(client.send("session.update", session=session))
    assert error["param"] == "session.tools[0].server_label"
