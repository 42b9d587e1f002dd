"""The chat that a language model reads, made from a conversation's items."""

from __future__ import annotations

from typing import Any

from s2s_actors.actors.chat import SILENCE, request_of
from s2s_actors.backends.chat import ChatMessage, LlmRequest, ToolCall, ToolSpec
from s2s_actors.backends.images import ImageInput
from s2s_actors.protocol.items import (
    FunctionCall,
    FunctionCallOutput,
    InputAudio,
    InputImage,
    InputText,
    Item,
    Message,
    OutputAudio,
    OutputText,
)
from s2s_actors.protocol.outputs import StartGeneration
from s2s_actors.protocol.session import FunctionChoice, FunctionTool


def request(*items: Item, **overrides: Any) -> LlmRequest:
    settings: dict[str, Any] = {
        "instructions": "",
        "tools": (),
        "tool_choice": "auto",
        "max_output_tokens": None,
        **overrides,
    }
    return request_of(StartGeneration(response_id="resp", items=items, **settings))


def user(text: str) -> Message:
    return Message(role="user", content=(InputText(text=text),))


def spoken(transcript: str | None) -> Message:
    return Message(role="user", content=(InputAudio(transcript=transcript),))


def call(number: int) -> FunctionCall:
    return FunctionCall(name=f"f{number}", arguments="{}", call_id=f"call_{number}")


def output(number: int) -> FunctionCallOutput:
    return FunctionCallOutput(call_id=f"call_{number}", output=f"result {number}")


def test_instructions_come_first() -> None:
    assert request(user("Hi."), instructions="Be kind.").messages == (
        ChatMessage("system", "Be kind."),
        ChatMessage("user", "Hi."),
    )


def test_no_instructions_make_no_system_message() -> None:
    assert request(user("Hi.")).messages == (ChatMessage("user", "Hi."),)


def test_what_was_said_and_what_was_written_read_alike() -> None:
    answer = Message(role="assistant", content=(OutputAudio(transcript="Yes."),))
    note = Message(role="assistant", content=(OutputText(text="No."),))
    assert request(spoken("Hi."), answer, user("Sure?"), note).messages == (
        ChatMessage("user", "Hi."),
        ChatMessage("assistant", "Yes."),
        ChatMessage("user", "Sure?"),
        ChatMessage("assistant", "No."),
    )


def test_parts_of_one_message_are_one_text() -> None:
    item = Message(role="user", content=(InputText(text="Look:"), InputAudio(transcript="a dog")))
    assert request(item).messages == (ChatMessage("user", "Look: a dog"),)


def test_calls_of_one_answer_are_in_one_message_before_their_outputs() -> None:
    messages = request(user("Go."), call(1), call(2), output(1), output(2)).messages
    assert messages == (
        ChatMessage("user", "Go."),
        ChatMessage(
            "assistant",
            "",
            tool_calls=(ToolCall("call_1", "f1", "{}"), ToolCall("call_2", "f2", "{}")),
        ),
        ChatMessage("tool", "result 1", call_id="call_1"),
        ChatMessage("tool", "result 2", call_id="call_2"),
    )


def test_calls_of_two_answers_stay_apart() -> None:
    messages = request(call(1), output(1), call(2), output(2)).messages
    assert [message.role for message in messages] == ["assistant", "tool", "assistant", "tool"]


def test_calls_without_outputs_are_not_lost_at_the_end() -> None:
    (message,) = request(call(1)).messages
    assert message.tool_calls == (ToolCall("call_1", "f1", "{}"),)


def test_an_empty_output_still_answers_its_call() -> None:
    empty = FunctionCallOutput(call_id="call_1", output="")
    assert request(call(1), empty).messages[-1] == ChatMessage("tool", "", call_id="call_1")


def test_a_turn_without_words_gives_the_model_something_to_answer() -> None:
    hello = Message(role="assistant", content=(OutputText(text="Hello."),))
    heard = request(user("Hi."), hello, spoken("")).messages
    assert heard[-2:] == (ChatMessage("assistant", "Hello."), ChatMessage("user", SILENCE))
    assert request(spoken(None)).messages == (ChatMessage("user", SILENCE),)


def test_noise_after_a_question_does_not_hide_the_question() -> None:
    assert request(user("Hi."), spoken("")).messages == (ChatMessage("user", "Hi."),)


def test_an_earlier_turn_without_words_is_left_out() -> None:
    assert request(spoken(" "), user("Hi.")).messages == (ChatMessage("user", "Hi."),)


def test_an_empty_conversation_is_not_silence() -> None:
    assert request(instructions="Greet.").messages == (ChatMessage("system", "Greet."),)


def test_tools_have_a_schema_even_if_the_client_gave_none() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = (
        FunctionTool(name="plain"),
        FunctionTool(name="full", description="Weather.", parameters=schema),
    )
    assert request(user("Hi."), tools=tools).tools == (
        ToolSpec("plain", "", {"type": "object", "properties": {}}),
        ToolSpec("full", "Weather.", schema),
    )


def test_the_choice_of_a_tool_and_the_limit_are_passed_on() -> None:
    assert request(tool_choice="required").tool_choice == "required"
    assert request(tool_choice=FunctionChoice(name="f1")).tool_choice == "function:f1"
    assert request(max_output_tokens=7).max_output_tokens == 7
    assert [request(may_cut=may_cut).may_cut for may_cut in (True, False)] == [True, False]


def test_images_go_to_the_model_with_the_words_around_them() -> None:
    near = InputImage(image_url="data:1", detail="high")
    message = Message(
        role="user", content=(near, InputText(text="or"), InputImage(image_url="data:2"))
    )
    assert request(message).messages == (
        ChatMessage("user", "or", images=(ImageInput("data:1", "high"), ImageInput("data:2"))),
    )


def test_an_image_without_words_is_no_silence() -> None:
    part = InputImage(image_url="data:1")
    shown = ChatMessage("user", "", images=(ImageInput("data:1"),))
    assert request(Message(role="user", content=(part,))).messages == (shown,)
    mute = Message(role="user", content=(InputAudio(transcript=""), part))
    assert request(mute).messages == (shown,)
