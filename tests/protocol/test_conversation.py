"""Items in their order, and what was heard of them."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from s2s_actors.errors import ClientError
from s2s_actors.protocol.conversation import Conversation
from s2s_actors.protocol.entry import Entry, SpokenPiece, heard_words
from s2s_actors.protocol.items import (
    FunctionCall,
    InputText,
    Message,
)
from tests.protocol.playing import Player, error_of, response_id_of, speech, types, user_text

ITEM = "conversation.item."


@pytest.fixture
def player() -> Player:
    return Player()


def text_entry(item_id: str) -> Entry:
    return Entry(Message(id=item_id, role="user", content=(InputText(text=item_id),)))


def spoken_answer(player: Player, *deltas: str, ms_a_segment: int = 1000) -> str:
    """An answer that has been spoken; returns its item."""
    response_id = player.respond()
    player.writes(response_id, *deltas)
    player.ends(response_id)
    player.speaks_all(ms_a_segment)
    item_id: str = player.items()[-1]["id"]
    return item_id


def truncate(player: Player, item_id: str, ms: int, index: int = 0) -> list[dict[str, Any]]:
    return player.send(
        ITEM + "truncate", item_id=item_id, content_index=index, audio_end_ms=ms, event_id="t1"
    )


# --- order --------------------------------------------------------------------------------


def test_items_go_to_the_end_to_the_front_or_behind_another() -> None:
    conversation = Conversation("conv_1")
    assert conversation.items() == ()
    assert conversation.add(text_entry("a")) is None
    assert conversation.add(text_entry("b")) == "a"
    assert conversation.add(text_entry("c"), after="root") is None
    assert conversation.add(text_entry("d"), after="a") == "a"

    assert [item.id for item in conversation.items()] == ["c", "a", "d", "b"]
    assert conversation.previous_of("d") == "a"
    assert conversation.previous_of("c") is None
    assert conversation.previous_of("nowhere") is None
    assert conversation.items()[-1].id == "b"


def test_the_client_is_told_the_true_predecessor(player: Player) -> None:
    first = player.create_text("One")
    second = player.create_text("Two")
    events = player.send(ITEM + "create", item=user_text("Zero"), previous_item_id="root")
    assert [event["previous_item_id"] for event in events] == [None, None]
    events = player.send(ITEM + "create", item=user_text("Between"), previous_item_id=first)
    assert [event["previous_item_id"] for event in events] == [first, first]
    events = player.send(ITEM + "create", item=user_text("Last"), previous_item_id=None)
    assert [event["previous_item_id"] for event in events] == [second, second]


def test_an_unknown_predecessor_is_refused_and_nothing_is_added(player: Player) -> None:
    error = error_of(
        player.send(ITEM + "create", item=user_text("x"), previous_item_id="nowhere", event_id="e1")
    )
    assert (error["code"], error["param"]) == ("invalid_value", "previous_item_id")
    assert error["event_id"] == "e1"
    assert player.items() == []


# --- deletion and retrieval ---------------------------------------------------------------


def test_what_is_deleted_is_gone_and_its_neighbours_close_up(player: Player) -> None:
    first, middle, last = (player.create_text(text) for text in ("One", "Two", "Three"))
    assert types(player.send(ITEM + "delete", item_id=middle)) == [ITEM + "deleted"]

    assert player.checker.items == [first, last]
    error = error_of(player.send(ITEM + "retrieve", item_id=middle))
    assert error["code"] == "item_retrieve_invalid_item_id"
    events = player.send(ITEM + "create", item=user_text("x"), previous_item_id=middle)
    assert error_of(events)["param"] == "previous_item_id"
    response_id = player.respond()
    assert [item.id for item in player.work.generations[response_id].items] == [first, last]


@pytest.mark.parametrize(
    ("kind", "fields", "doing"),
    [
        ("delete", {}, "deleting"),
        ("retrieve", {}, "retrieving"),
        ("truncate", {"content_index": 0, "audio_end_ms": 0}, "truncating"),
    ],
)
def test_an_unknown_item_is_named(
    player: Player, kind: str, fields: dict[str, Any], doing: str
) -> None:
    error = error_of(player.send(ITEM + kind, item_id="yo", event_id="e1", **fields))

    assert error["code"] == f"item_{kind}_invalid_item_id"
    assert error["message"] == f"Error {doing} item: the item with id 'yo' does not exist."
    assert error["event_id"] == "e1"


def test_a_deleted_id_may_be_used_again(player: Player) -> None:
    player.send(ITEM + "create", item=user_text("One", id="mine"))
    player.send(ITEM + "delete", item_id="mine")
    events = player.send(ITEM + "create", item=user_text("Two", id="mine"))

    assert types(events) == [ITEM + "added", ITEM + "done"]


def test_a_users_voice_is_retrieved_with_words_and_audio(player: Player) -> None:
    player.starts()
    player.append(speech(500, 5))
    player.stops()
    (item_id,) = player.work.utterances
    player.hears(item_id, "Hello.")

    (retrieved,) = player.send(ITEM + "retrieve", item_id=item_id)
    (part,) = retrieved["item"]["content"]
    assert part["transcript"] == "Hello."
    assert base64.b64decode(part["audio"]) == speech(500, 5)


def test_an_answer_is_retrieved_with_words_and_audio(player: Player) -> None:
    item_id = spoken_answer(player, "Hi there.")

    (retrieved,) = player.send(ITEM + "retrieve", item_id=item_id)
    (part,) = retrieved["item"]["content"]
    assert part["type"] == "output_audio"
    assert part["transcript"] == "Hi there."
    assert base64.b64decode(part["audio"]) == speech(1000, 1)


def test_text_and_calls_are_retrieved_as_they_are(player: Player) -> None:
    text = player.create_text("Hello.")
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", "{}")
    player.ends(response_id)
    call = player.checker.items[-1]

    assert player.send(ITEM + "retrieve", item_id=text)[0]["item"]["content"] == [
        {"type": "input_text", "text": "Hello."}
    ]
    item = player.send(ITEM + "retrieve", item_id=call)[0]["item"]
    assert (item["type"], item["arguments"]) == ("function_call", "{}")


def test_an_answer_can_be_retrieved_while_it_is_written(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Hi there, all of you. And ")
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    (item_id,) = player.checker.items

    item = player.send(ITEM + "retrieve", item_id=item_id)[0]["item"]
    assert (item["id"], item["status"]) == (item_id, "in_progress")


# --- what was heard -----------------------------------------------------------------------


def test_truncation_keeps_the_audio_and_the_words_that_were_heard(player: Player) -> None:
    item_id = spoken_answer(player, "One two three four. Five six seven eight.")
    (truncated,) = truncate(player, item_id, 1500)

    assert truncated["type"] == ITEM + "truncated"
    assert (truncated["item_id"], truncated["content_index"]) == (item_id, 0)
    assert truncated["audio_end_ms"] == 1500
    (part,) = player.send(ITEM + "retrieve", item_id=item_id)[0]["item"]["content"]
    assert part["transcript"] == "One two three four. Five six"
    assert len(base64.b64decode(part["audio"])) == len(speech(1500))
    generation = player.work.generations[player.respond()]
    assert "seven" not in str(generation.items)


def test_an_answer_cut_off_at_once_was_not_heard_at_all(player: Player) -> None:
    item_id = spoken_answer(player, "One two three four.")
    truncate(player, item_id, 0)

    (part,) = player.send(ITEM + "retrieve", item_id=item_id)[0]["item"]["content"]
    assert part == {"type": "output_audio", "transcript": ""}


def test_truncation_at_the_end_keeps_all(player: Player) -> None:
    item_id = spoken_answer(player, "One two three four five. Six seven.")
    truncate(player, item_id, 2000)

    assert player.items()[-1]["content"][0]["transcript"] == "One two three four five. Six seven."


def test_truncation_beyond_the_end_is_refused_and_changes_nothing(player: Player) -> None:
    item_id = spoken_answer(player, "One two three four five. Six seven.")
    error = error_of(truncate(player, item_id, 2001))

    assert (error["code"], error["param"]) == ("invalid_value", "audio_end_ms")
    assert error["message"] == "Audio content of 2000ms is already shorter than 2001ms."
    assert error["event_id"] == "t1"
    assert player.items()[-1]["content"][0]["transcript"] == "One two three four five. Six seven."


def test_truncation_goes_further_but_never_back(player: Player) -> None:
    item_id = spoken_answer(player, "One two three four.")
    truncate(player, item_id, 500)
    assert error_of(truncate(player, item_id, 600))["param"] == "audio_end_ms"
    truncate(player, item_id, 250)

    assert player.items()[-1]["content"][0]["transcript"] == "One"


def test_only_the_first_part_has_audio(player: Player) -> None:
    item_id = spoken_answer(player, "One two three four.")

    assert error_of(truncate(player, item_id, 0, index=1))["param"] == "content_index"


@pytest.mark.parametrize("what", ["user", "voice", "written", "call"])
def test_only_the_assistants_voice_can_be_truncated(player: Player, what: str) -> None:
    if what == "user":
        player.create_text("Hello.")
    elif what == "voice":
        player.says()
    elif what == "written":
        player.answers(player.respond(output_modalities=["text"]), "Hi.")
    else:
        response_id = player.respond()
        player.calls(response_id, "call_1", "look", "{}")
        player.ends(response_id)
    error = error_of(truncate(player, player.checker.items[-1], 0))

    assert error["code"] == "unsupported_content_type"
    assert error["message"] == "Only model output audio messages can be truncated."


def test_an_interrupted_answer_keeps_only_what_was_sent_as_audio(player: Player) -> None:
    player.update_input(transcription=None)
    response_id = response_id_of(player.hears(player.says(), "Hello."))
    player.writes(response_id, "One two three four. Five six seven eight. Nine ")
    player.speaks(player.work.segments[0], speech(1000, 1))
    player.starts()

    assert player.items()[-1]["content"][0]["transcript"] == "One two three four."


def test_an_answer_interrupted_in_its_first_sentence_is_not_taken_as_heard_whole(
    player: Player,
) -> None:
    response_id = player.respond()
    words = " ".join(f"word{number}" for number in range(20))
    player.writes(response_id, words + ". And ")
    player.speaks(player.work.segments[0], speech(1000, 1), last=False)
    player.send("response.cancel")

    kept = player.items()[-1]["content"][0]["transcript"].split()
    assert 0 < len(kept) < 10
    assert kept == words.split()[: len(kept)]


def test_an_answer_interrupted_before_its_first_sound_was_not_heard(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "One two three four. Five ")
    player.send("response.cancel")

    assert player.items()[-1]["content"][0]["transcript"] == ""


def test_a_cancelled_text_answer_keeps_what_was_written(player: Player) -> None:
    response_id = player.respond(output_modalities=["text"])
    player.writes(response_id, "One two ")
    player.send("response.cancel")

    assert player.items()[-1]["content"] == [{"type": "output_text", "text": "One two "}]


@pytest.mark.parametrize(
    ("heard_ms", "words"),
    [(0, ""), (249, ""), (250, "a"), (999, "a b c"), (1000, "a b c d"), (1100, "a b c d e")],
)
def test_words_are_spread_evenly_over_their_piece(heard_ms: int, words: str) -> None:
    pieces = [SpokenPiece("a b c d", 1000), SpokenPiece("e f", 200)]

    assert heard_words(pieces, heard_ms) == words


def test_a_piece_without_sound_is_heard_with_what_is_before_it() -> None:
    assert heard_words([SpokenPiece("a", 100), SpokenPiece("(b)", 0)], 100) == "a (b)"


# --- small questions ----------------------------------------------------------------------


def test_calls_are_known_by_their_id() -> None:
    conversation = Conversation("conv_1")
    conversation.add(Entry(FunctionCall(id="f", name="look", arguments="{}", call_id="call_1")))

    assert conversation.has_call("call_1")
    assert not conversation.has_call("call_2")


def test_an_id_that_is_taken_or_announced_is_not_free() -> None:
    conversation = Conversation("conv_1")
    conversation.add(text_entry("a"))
    conversation.announced = "b"
    conversation.check_free("c")
    conversation.check_free("")

    for item_id in ("a", "b"):
        with pytest.raises(ClientError, match="exists already"):
            conversation.check_free(item_id)


def test_an_answer_that_has_no_sound_yet_can_be_cut_off_at_its_start(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "One two three four.")
    (item_id,) = player.checker.items
    assert error_of(truncate(player, item_id, 1))["param"] == "audio_end_ms"
    truncate(player, item_id, 0)
    player.ends(response_id)
    player.speaks_all()

    assert player.items()[0]["content"] == [{"type": "output_audio", "transcript": ""}]
    player.finish()
