"""A call that has to be made is made, and its arguments fit the tool's schema."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from s2s_actors.backends.base import Call
from s2s_actors.backends.chat import (
    ChatMessage,
    Finished,
    LlmEvent,
    LlmRequest,
    TextDelta,
    ToolCallDelta,
    ToolCallStarted,
    ToolSpec,
)
from s2s_actors.backends.forced_call import forced_tools
from s2s_actors.runtime.cancel import CancelToken

if TYPE_CHECKING:
    from s2s_actors.backends.base import LanguageModel

WEATHER = ToolSpec(
    "get_weather",
    "Tells the weather of a city.",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
LIGHT = ToolSpec(
    "switch_light",
    "Switches a light.",
    {
        "type": "object",
        "properties": {"room": {"enum": ["kitchen", "hall"]}, "on": {"type": "boolean"}},
        "required": ["room", "on"],
        "additionalProperties": False,
    },
)


def asking(text: str, *tools: ToolSpec, choice: str, limit: int | None = None) -> LlmRequest:
    chat = (ChatMessage("system", "You are helpful."), ChatMessage("user", text))
    return LlmRequest(chat, tools=tools, tool_choice=choice, max_output_tokens=limit)


def generated(model: LanguageModel, request: LlmRequest) -> list[LlmEvent]:
    return list(model.generate(request, Call("s", CancelToken())))


def the_call(events: list[LlmEvent]) -> tuple[str, dict[str, Any]]:
    """The one call of an answer that is nothing else."""
    started, arguments, done = events
    assert isinstance(started, ToolCallStarted)
    assert isinstance(arguments, ToolCallDelta)
    assert isinstance(done, Finished)
    assert arguments.call_id == started.call_id
    assert done.reason == "stop"
    value = json.loads(arguments.arguments)
    assert isinstance(value, dict)
    return started.name, value


@pytest.mark.parametrize(
    ("choice", "forced"),
    [
        ("auto", []),
        ("none", []),
        ("required", [WEATHER, LIGHT]),
        ("function:switch_light", [LIGHT]),
        ("function:unknown", []),
    ],
)
def test_the_choice_says_which_tools_have_to_be_called(choice: str, forced: list[ToolSpec]) -> None:
    assert forced_tools(asking("Hello", WEATHER, LIGHT, choice=choice)) == forced


@pytest.mark.models
def test_a_required_call_takes_its_arguments_from_the_question(smollm: LanguageModel) -> None:
    request = asking("What is the weather in Paris?", WEATHER, choice="required")
    assert the_call(generated(smollm, request)) == ("get_weather", {"city": "Paris"})


@pytest.mark.models
def test_of_several_tools_the_named_one_is_called(smollm: LanguageModel) -> None:
    request = asking("Light, please!", WEATHER, LIGHT, choice="function:switch_light")
    name, arguments = the_call(generated(smollm, request))
    assert name == "switch_light"
    assert arguments["room"] in ("kitchen", "hall")
    assert isinstance(arguments["on"], bool)
    assert arguments.keys() == {"room", "on"}


@pytest.mark.models
@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {}},
        {},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=x)y"}}},
    ],
    ids=["no-arguments", "no-schema", "no-grammar"],
)
def test_a_schema_that_says_little_still_makes_a_call(
    smollm: LanguageModel, parameters: dict[str, Any]
) -> None:
    tool = ToolSpec("ring", "Rings a bell.", parameters)
    name, _ = the_call(generated(smollm, asking("Ring!", tool, choice="required")))
    assert name == "ring"


@pytest.mark.models
def test_a_call_that_the_token_limit_cuts_is_no_call(smollm: LanguageModel) -> None:
    request = asking("What is the weather in Paris?", WEATHER, choice="required", limit=4)
    (done,) = generated(smollm, request)
    assert isinstance(done, Finished)
    assert (done.reason, done.output_tokens) == ("length", 4)


@pytest.mark.models
def test_who_may_choose_is_not_forced(smollm: LanguageModel) -> None:
    events = generated(smollm, asking("What is the capital of France?", WEATHER, choice="auto"))
    assert "Paris" in "".join(each.text for each in events if isinstance(each, TextDelta))
