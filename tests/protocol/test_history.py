"""What a session keeps of its conversation is bounded; the oldest goes first."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from s2s_actors.protocol.answering import MAX_ASIDE
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.history import HistoryLimits
from s2s_actors.protocol.items import text_of
from tests.protocol.playing import NATURAL_START, START, Player, error_of, speech, user_text
from tests.protocol.test_any_sequence import AnySequence
from tests.protocol.test_conduct_any_sequence import AnyNaturalSequence
from tests.protocol.test_mcp import McpPlayer, asked_to_approve

if TYPE_CHECKING:
    from s2s_actors.protocol.conversation import Conversation

ITEM = "conversation.item."
SECOND_BYTES = len(speech(1000))
AMPLE = HistoryLimits(audio_bytes=10**9, items=10**6, text_bytes=10**9)


def playing(**limits: int) -> Player:
    player = Player(replace(START, history=replace(AMPLE, **limits)))
    player.update_input(turn_detection=None)
    return player


def conversation_of(player: Player) -> Conversation:
    return player.dialogue._desk.conversation


def says(player: Player, length_ms: int = 1000, text: str = "Hello.") -> str:
    """The user says something; returns its item."""
    player.append(speech(length_ms, 3))
    (item_id,) = [
        event["item_id"]
        for event in player.send("input_audio_buffer.commit")
        if event["type"].endswith("committed")
    ]
    player.hears(item_id, text)
    return str(item_id)


def wrote(player: Player, text: str) -> str:
    """The user writes something; returns its item, which may be gone again."""
    events = player.send(ITEM + "create", item=user_text(text))
    return str(events[0]["item"]["id"])


def retrieved(player: Player, item_id: str) -> dict[str, Any]:
    (event,) = player.send(ITEM + "retrieve", item_id=item_id)
    part: dict[str, Any] = event["item"]["content"][0]
    return part


def ids(player: Player) -> list[str]:
    return [item["id"] for item in player.items()]


def gone(player: Player) -> list[str]:
    return [e["item_id"] for e in player.events if e["type"] == ITEM + "deleted"]


# --- audio --------------------------------------------------------------------------------


def test_the_oldest_audio_goes_first_and_its_words_stay() -> None:
    player = playing(audio_bytes=4 * SECOND_BYTES)
    first, *others = [says(player, text=f"Words {n}.") for n in range(4)]
    assert "audio" in retrieved(player, first)
    latest = says(player)
    assert retrieved(player, first) == {"type": "input_audio", "transcript": "Words 0."}
    assert [item_id for item_id in (*others, latest) if "audio" in retrieved(player, item_id)] == [
        *others[1:],
        latest,
    ]
    assert gone(player) == []


def test_an_answer_without_its_audio_is_still_truncated() -> None:
    player = playing(audio_bytes=SECOND_BYTES)
    player.answers(player.respond(), "One two three four.")
    answer = player.items()[-1]["id"]
    says(player)
    assert "audio" not in retrieved(player, answer)
    fields = {"item_id": answer, "content_index": 0}
    refused = player.send(ITEM + "truncate", audio_end_ms=501, **fields)
    assert "500ms is already shorter than 501ms" in error_of(refused)["message"]
    player.send(ITEM + "truncate", audio_end_ms=250, **fields)
    assert retrieved(player, answer) == {"type": "output_audio", "transcript": "One two"}


def test_an_answer_longer_than_all_that_is_kept_is_heard_to_its_end() -> None:
    player = playing(audio_bytes=SECOND_BYTES)
    response_id = player.respond()
    player.writes(response_id, "A long answer.")
    player.ends(response_id)
    (segment,) = player.work.segments
    for number in range(10):
        player.speaks(segment, speech(500, number), last=number == 9)
        assert conversation_of(player).stored.audio_bytes <= SECOND_BYTES
    sent = [e["delta"] for e in player.events if e["type"] == "response.output_audio.delta"]
    assert sum(len(base64.b64decode(delta)) for delta in sent) == 5 * SECOND_BYTES
    assert player.events[-2]["response"]["status"] == "completed"


def test_audio_out_of_band_is_not_kept() -> None:
    player = playing()
    response_id = player.respond(conversation="none")
    player.writes(response_id, "Aside.")
    run = player.dialogue.answering._open.run(response_id)
    assert run is not None
    player.ends(response_id)
    player.speaks(player.work.segments[0], speech(1000), last=False)
    entry = run.writer.entry_at(0)
    assert (entry.length_ms, entry.audio_bytes) == (1000, 0)


def test_audio_in_the_request_of_a_response_is_passed_on_and_not_kept() -> None:
    player = playing()
    voice = {"type": "input_audio", "audio": base64.b64encode(speech(1000, 5)).decode()}
    content = [voice, voice | {"transcript": "Known."}]
    response_id = player.respond(conversation="none", input=[user_text("", content=content)])
    (work,) = player.work.utterances.values()
    assert work.pcm == speech(1000, 5)
    run = player.dialogue.answering._open.run(response_id)
    assert run is not None
    assert [e.audio_bytes for e in run.plan.items or () if isinstance(e, Entry)] == [0]
    player.hears(next(iter(player.work.utterances)), "Unknown.")
    (item,) = player.work.generations[response_id].items
    assert text_of(item) == "Unknown. Known."


def test_what_a_deleted_item_still_gets_is_not_kept() -> None:
    player = playing()
    response_id = player.respond()
    player.writes(response_id, "Well.")
    player.ends(response_id)
    (segment,) = player.work.segments
    player.speaks(segment, speech(500), last=False)
    item_id = player.items()[-1]["id"]
    entry = conversation_of(player).find(item_id)
    assert entry is not None
    player.send(ITEM + "delete", item_id=item_id)
    player.speaks(segment, speech(500))
    assert entry.audio_bytes == conversation_of(player).stored.audio_bytes == 0


def test_responses_out_of_band_are_bounded_and_others_are_not_in_their_way() -> None:
    player = playing()
    aside = [player.respond(conversation="none") for _ in range(MAX_ASIDE)]
    refused = player.send("response.create", response={"conversation": "none"}, event_id="e1")
    assert error_of(refused)["code"] == "too_many_responses"
    player.answers(player.respond(), "In the conversation.")
    player.answers(aside[0], "Aside.")
    player.respond(conversation="none")


# --- items and words ------------------------------------------------------------------------


def test_too_many_items_push_out_the_oldest_and_clients_are_told() -> None:
    player = playing(items=8)
    made = [wrote(player, f"Number {n}.") for n in range(9)]
    assert gone(player) == made[:3], "some at a time: what a model has read can be used again"
    assert ids(player) == made[3:]
    assert "does not exist" in error_of(player.send(ITEM + "retrieve", item_id=made[0]))["message"]


def test_too_much_text_pushes_out_the_oldest() -> None:
    player = playing(text_bytes=10_000)
    made = [wrote(player, "x" * 3000) for _ in range(4)]
    assert gone(player) == made[:2]


def test_system_messages_stay_longest() -> None:
    player = playing(items=4)
    system = user_text("Be brief.", role="system", id="rules")
    player.send(ITEM + "create", item=system)
    for number in range(20):
        wrote(player, f"Number {number}.")
    assert ids(player)[0] == "rules"
    for number in range(20):
        player.send(ITEM + "create", item=system | {"id": f"rule_{number}"})
    assert len(ids(player)) <= 4


def test_a_call_goes_with_its_output() -> None:
    player = playing(items=4)
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", "{}")
    player.ends(response_id)
    call = player.items()[-1]["id"]
    wrote(player, "Between.")
    output = {"type": "function_call_output", "call_id": "call_1", "output": "{}", "id": "out"}
    player.send(ITEM + "create", item=output)
    wrote(player, "One.")
    wrote(player, "Two.")
    assert gone(player)[:2] == [call, "out"]


def test_what_is_larger_than_everything_that_is_kept_is_refused_by_name() -> None:
    player = playing(text_bytes=10_000)
    before = wrote(player, "Hello.")
    refused = player.send(ITEM + "create", item=user_text("x" * 10_000), event_id="e1")
    error = error_of(refused)
    assert (error["code"], error["param"]) == ("string_above_max_length", "item")
    assert ids(player) == [before]


def test_when_a_session_is_over_its_audio_is_let_go_of_at_once() -> None:
    player = playing()
    entries: list[Entry] = []
    for _ in range(3):
        says(player)
    entries.extend(conversation_of(player).entries())
    player.append(speech(1000))
    player.dialogue.close()
    assert [entry.audio_bytes for entry in entries] == [0, 0, 0]
    assert player.dialogue.listening.buffer.held_ms == 0
    assert len(conversation_of(player)) == 0


def test_calls_that_wait_for_an_approval_go_with_their_items() -> None:
    player = McpPlayer(replace(START, history=replace(AMPLE, items=8)))
    for _ in range(20):
        asked_to_approve(player)
    waiting = player.dialogue.answering.mcp_calls._asked.values()
    assert {asked.call.id for asked in waiting} <= set(ids(player))


# --- whatever happens -----------------------------------------------------------------------

TIGHT = HistoryLimits(audio_bytes=2 * SECOND_BYTES, items=5, text_bytes=1500)


class Bounded(AnySequence):
    """Checks after each step that nothing is over its limit, and that the account is right."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Player(replace(START, history=TIGHT))

    @invariant()
    def limits_hold(self) -> None:
        check_account(self.player)


class BoundedNatural(AnyNaturalSequence):
    """The same for a session that does all that goes beyond the plain protocol."""

    def __init__(self) -> None:
        super().__init__()
        self.player = Player(replace(NATURAL_START, history=TIGHT))

    @invariant()
    def limits_hold(self) -> None:
        check_account(self.player)


def check_account(player: Player) -> None:
    conversation = conversation_of(player)
    entries = list(conversation.entries())
    assert conversation.stored.audio_bytes == sum(held_bytes(entry) for entry in entries)
    assert conversation.stored.text_bytes == sum(
        len(msgspec.json.encode(entry.item)) for entry in entries
    )
    assert conversation.stored.audio_bytes <= TIGHT.audio_bytes
    assert conversation.stored.text_bytes <= TIGHT.text_bytes
    assert len(entries) == len(conversation) <= TIGHT.items
    assert player.checker.items == ids(player)


def held_bytes(entry: Entry) -> int:
    return len(entry._pcm) + sum(map(len, entry.voices.values()))


for case in (Bounded, BoundedNatural):
    case.TestCase.settings = settings(
        max_examples=40,
        stateful_step_count=50,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
TestBounded = Bounded.TestCase
TestBoundedNatural = BoundedNatural.TestCase
