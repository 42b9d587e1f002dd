"""What the model reads when a conversation grows too long."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.errors import StageError
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
    text_of,
)
from s2s_actors.protocol.mcp_items import McpApprovalResponse, McpCall, McpListTools
from s2s_actors.protocol.session import FunctionTool, RetentionRatio, TokenLimits
from s2s_actors.protocol.truncation import (
    ANSWER_TOKENS,
    IMAGE_TOKENS,
    LOW_IMAGE_TOKENS,
    Room,
    fixed_tokens,
    item_tokens,
    visible,
)
from tests.protocol.playing import START, Player, one, user_text

if TYPE_CHECKING:
    from collections.abc import Sequence


def user(name: str, tokens: int = 10) -> Message:
    return Message(id=name, role="user", content=(InputText(text="x" * 4 * tokens),))


def assistant(name: str, tokens: int = 10) -> Message:
    return Message(id=name, role="assistant", content=(OutputText(text="x" * 4 * tokens),))


def system(name: str, tokens: int = 10) -> Message:
    return Message(id=name, role="system", content=(InputText(text="x" * 4 * tokens),))


def call(number: int, tokens: int = 10) -> FunctionCall:
    arguments = "x" * 4 * tokens
    return FunctionCall(id=f"f{number}", name="f", arguments=arguments, call_id=f"c{number}")


def output(number: int, tokens: int = 10) -> FunctionCallOutput:
    return FunctionCallOutput(id=f"o{number}", call_id=f"c{number}", output="x" * 4 * tokens)


def ratio(share: float, limit: int | None = None) -> RetentionRatio:
    if limit is None:
        return RetentionRatio(retention_ratio=share)
    return RetentionRatio(retention_ratio=share, token_limits=TokenLimits(post_instructions=limit))


def names(items: Sequence[Item]) -> list[str]:
    return [item.id for item in items]


def kept(items: Sequence[Item], limit: int, share: float = 1.0) -> list[str]:
    return names(visible(items, ratio(share, limit), Room()))


# --- estimates ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "tokens"),
    [
        (user("u", 0), 0),
        (Message(role="user", content=(InputText(text="12345"),)), 2),
        (Message(role="user", content=(InputAudio(transcript="12345678"),)), 2),
        (Message(role="user", content=(InputAudio(),)), 0),
        (Message(role="assistant", content=(OutputAudio(transcript="1234"),)), 1),
        (call(1, 5), 5),
        (output(1, 6), 6),
        (Message(role="user", content=(InputImage(image_url="data:"),)), IMAGE_TOKENS),
        (
            Message(role="user", content=(InputImage(image_url="data:", detail="low"),)),
            LOW_IMAGE_TOKENS,
        ),
    ],
)
def test_tokens_are_estimated_from_what_the_model_reads(item: Item, tokens: int) -> None:
    assert item_tokens(item) == tokens


def test_instructions_and_tools_take_room() -> None:
    tool = FunctionTool(name="look", description="x" * 400)

    assert fixed_tokens("12345", ()) == 2
    assert fixed_tokens("", (tool, tool)) > 200


# --- limits -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("truncation", "room", "limit"),
    [
        ("auto", Room(), None),
        ("disabled", Room(), None),
        (ratio(0.5), Room(), None),
        ("auto", Room(1000), 1000 - ANSWER_TOKENS),
        ("auto", Room(1000, fixed_tokens=300), 700 - ANSWER_TOKENS),
        ("auto", Room(1000, answer_tokens=100), 900),
        ("auto", Room(1000, answer_tokens=4096), 500),
        (ratio(0.5, 50), Room(), 50),
        (ratio(0.5, 50), Room(fixed_tokens=300), 50),
        (ratio(0.5, 50), Room(1000), 50),
        (ratio(0.5, 5000), Room(1000), 1000 - ANSWER_TOKENS),
    ],
)
def test_the_limit_leaves_room_for_what_else_there_is(
    truncation: Any, room: Room, limit: int | None
) -> None:
    assert room.limit_tokens(truncation) == limit


def test_without_a_limit_nothing_is_cut() -> None:
    items = [user(str(n), 100_000) for n in range(5)]

    for truncation in ("auto", "disabled", ratio(0.0)):
        assert visible(items, truncation, Room()) == tuple(items)


# --- cuts ---------------------------------------------------------------------------------


def test_what_fits_stays_whole() -> None:
    assert kept([user("a"), assistant("b"), user("c")], 30) == ["a", "b", "c"]


def test_the_oldest_turns_go_first() -> None:
    items = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]

    assert kept(items, 49) == ["c", "d", "e"]
    assert kept(items, 29) == ["e"]


def test_an_answer_goes_with_its_question() -> None:
    assert kept([user("a"), assistant("b"), assistant("c"), user("d")], 39) == ["d"]


def test_the_latest_stays_however_long_it_is() -> None:
    assert kept([user("a"), user("b", 500)], 20) == ["b"]
    assert kept([user("a"), user("b", 500), user("c")], 20) == ["c"]


def test_system_messages_stay() -> None:
    assert kept([system("s"), user("a"), user("b"), system("t"), user("c")], 30) == ["s", "t", "c"]
    assert kept([user("a"), system("s", 500)], 20) == ["a", "s"]


def test_calls_and_their_outputs_go_together() -> None:
    turn: list[Item] = [user("a"), call(1), call(2), output(2), output(1), assistant("b")]

    assert kept([*turn, user("c")], 69) == ["c"]
    assert kept([user("z"), *turn, user("c")], 70) == [*names(turn), "c"]


def test_an_output_that_comes_late_goes_with_its_call() -> None:
    items: list[Item] = [call(1), user("a"), user("b"), output(1)]

    assert kept(items, 20) == ["a", "b"]
    assert kept(items, 39) == ["f1", "b", "o1"]  # the call has just been answered


def test_a_call_of_an_mcp_tool_goes_with_its_question() -> None:
    mcp = McpCall(id="m", server_label="s", name="f", arguments="x" * 40, output="y" * 40)
    items: list[Item] = [user("a"), mcp, assistant("b"), user("c")]

    assert kept(items, 60) == ["a", "m", "b", "c"]
    assert kept(items, 45) == ["c"]


def test_what_no_model_reads_does_not_count() -> None:
    tools = McpListTools(id="t", server_label="s")
    refused = McpApprovalResponse(id="r", approval_request_id="q", approve=False)

    assert kept([user("a"), user("b"), tools, refused], 10) == ["b", "t", "r"]
    assert kept([user("a", 500), tools], 10) == ["a", "t"]


def test_an_output_without_its_call_stands_for_itself() -> None:
    assert kept([output(1), user("a")], 20) == ["o1", "a"]
    assert kept([output(1), user("a")], 19) == ["a"]


# --- how much -----------------------------------------------------------------------------


def test_a_ratio_cuts_more_than_is_needed() -> None:
    items = [user(str(n)) for n in range(11)]

    assert kept(items, 100) == [str(n) for n in range(1, 11)]
    assert kept(items, 100, 0.5) == [str(n) for n in range(6, 11)]
    assert kept(items, 100, 0.0) == ["10"]


def test_a_ratio_cuts_rarely_so_that_what_was_read_stays_a_prefix() -> None:
    items = [user(str(n)) for n in range(60)]
    starts = [kept(items[: n + 1], 100, 0.5)[0] for n in range(60)]

    assert starts == ["0"] * 10 + [str(n) for n in range(6, 56, 6) for _ in range(6)][:50]


def test_disabled_fails_instead_of_cutting() -> None:
    items = [user("a", 500), user("b", 301)]
    with pytest.raises(StageError) as caught:
        visible(items, "disabled", Room(1000))
    assert caught.value.code == "context_length_exceeded"
    assert visible(items[:1], "disabled", Room(1000)) == (items[0],)


# --- anything -----------------------------------------------------------------------------

KINDS = {"u": user, "a": assistant, "s": system, "call": call, "output": output}
STEPS = st.lists(st.tuples(st.sampled_from(list(KINDS)), st.integers(0, 30)), max_size=20)


def conversation(steps: list[tuple[str, int]]) -> list[Item]:
    """A conversation in which each output answers the call before it, as soon as there is one."""
    items: list[Item] = []
    calls = 0
    for kind, tokens in steps:
        match kind:
            case "call":
                calls += 1
                items.append(call(calls, tokens))
            case "output" if calls:
                items.append(output(calls, tokens))
            case "u" | "a" | "s":
                items.append(KINDS[kind](f"{kind}{len(items)}", tokens))  # type: ignore[operator]
    return items


def is_system(item: Item) -> bool:
    return isinstance(item, Message) and item.role == "system"


@given(STEPS, st.integers(0, 120), st.floats(0, 1))
def test_whatever_was_said_a_cut_keeps_its_promises(
    steps: list[tuple[str, int]], limit: int, share: float
) -> None:
    items = conversation(steps)
    left = list(visible(items, ratio(share, limit), Room()))
    units = {getattr(item, "call_id", item.id) for item in left if not is_system(item)}

    assert left == [item for item in items if item in left]  # in order, nothing made up
    assert [item for item in items if is_system(item)] == [i for i in left if is_system(i)]
    assert bool(units) == any(not is_system(item) for item in items)
    assert sum(map(item_tokens, left)) <= limit or len(units) <= 1
    if sum(map(item_tokens, items)) <= limit:
        assert left == items
    for item in items:
        if isinstance(item, FunctionCall | FunctionCallOutput):
            assert (item in left) == (item.call_id in units)


# --- in a session -------------------------------------------------------------------------


def read_by_model(player: Player, **response: Any) -> list[str]:
    response_id = player.respond(**response)
    read = [text_of(item) for item in player.work.generations[response_id].items]
    player.answers(response_id, "Yes.")
    return read


def test_the_sessions_truncation_holds_for_its_responses() -> None:
    player = Player()
    limits = {"post_instructions": 4}
    player.update(
        truncation={"type": "retention_ratio", "retention_ratio": 1, "token_limits": limits}
    )
    for text in ("One two", "Two two", "Three two"):
        player.create_text(text)
    assert read_by_model(player) == ["Three two"]
    assert len(player.items()) == 4

    assert read_by_model(player, input=[user_text("x" * 12), user_text("y")]) == ["x" * 12, "y"]
    assert read_by_model(player, input=[user_text("x" * 14), user_text("y")]) == ["y"]


def context_of(context_tokens: int, **session: Any) -> Player:
    player = Player(replace(START, instructions="", context_tokens=context_tokens))
    player.update(**session)
    for number in range(3):
        player.create_text(str(number) * 200)
    return player


def test_the_models_context_bounds_what_it_gets() -> None:
    assert len(read_by_model(context_of(299))) == 3
    player = context_of(298)
    assert len(read_by_model(player)) == 2
    assert len(read_by_model(player, max_output_tokens=20)) == 4
    assert len(read_by_model(context_of(298, instructions="x" * 300))) == 1


def test_disabled_truncation_fails_a_response_that_is_too_long() -> None:
    player = context_of(298, truncation="disabled")
    events = player.send("response.create")
    response = one(events, "response.done")["response"]

    assert response["status"] == "failed"
    assert response["status_details"]["error"]["type"] == "invalid_request_error"
    assert response["status_details"]["error"]["code"] == "context_length_exceeded"
    assert player.open_response is None
    player.update(truncation="auto")
    assert len(read_by_model(player)) == 2
    player.finish()


@pytest.mark.parametrize(("truncation", "may_cut"), [("auto", True), ("disabled", False)])
def test_the_backend_is_told_whether_it_may_cut(truncation: str, may_cut: bool) -> None:
    player = Player()
    player.update(truncation=truncation)

    assert player.work.generations[player.respond()].may_cut is may_cut
