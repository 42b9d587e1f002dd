"""One response on the wire: what is opened is closed, in order and once."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from s2s_actors.protocol.outputs import Count
from tests.protocol.playing import Player, one, speech, types

R = "response."
DONE_ITEM = ["conversation.item.done", R + "output_item.done"]
END = [R + "done", "rate_limits.updated"]


@pytest.fixture
def player() -> Player:
    return Player()


def text_response(player: Player, **options: Any) -> str:
    return player.respond(output_modalities=["text"], **options)


def response_done(events: list[dict[str, Any]]) -> dict[str, Any]:
    done: dict[str, Any] = one(events, R + "done")["response"]
    return done


# --- the documented orders ----------------------------------------------------------------


def test_a_text_response_comes_in_the_documented_order(player: Player) -> None:
    player.create_text("Hello.")
    before = len(player.events)
    response_id = text_response(player)
    player.writes(response_id, "Hi ", "there.")
    player.ends(response_id)

    assert types(player.events[before:]) == [
        R + "created",
        R + "output_item.added",
        "conversation.item.added",
        R + "content_part.added",
        R + "output_text.delta",
        R + "output_text.delta",
        R + "output_text.done",
        R + "content_part.done",
        *DONE_ITEM,
        *END,
    ]
    player.finish()


def test_an_audio_response_comes_in_the_documented_order(player: Player) -> None:
    before = len(player.events)
    response_id = player.respond()
    player.writes(response_id, "Hi there.")
    player.ends(response_id)
    player.speaks_all(400)

    assert types(player.events[before:]) == [
        R + "created",
        R + "output_item.added",
        "conversation.item.added",
        R + "content_part.added",
        R + "output_audio_transcript.delta",
        R + "output_audio.delta",
        R + "output_audio.delta",
        R + "output_audio.done",
        R + "output_audio_transcript.done",
        R + "content_part.done",
        *DONE_ITEM,
        *END,
    ]
    player.finish()


def test_a_function_call_comes_in_the_documented_order(player: Player) -> None:
    before = len(player.events)
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", '{"at"', ': "me"}')
    player.ends(response_id)

    events = player.events[before:]
    assert types(events) == [
        R + "created",
        R + "output_item.added",
        "conversation.item.added",
        R + "function_call_arguments.delta",
        R + "function_call_arguments.delta",
        R + "function_call_arguments.done",
        *DONE_ITEM,
        *END,
    ]
    item = one(events, R + "output_item.done")["item"]
    assert item["status"] == "completed"
    assert (item["name"], item["call_id"]) == ("look", "call_1")
    assert item["arguments"] == '{"at": "me"}'
    assert one(events, R + "function_call_arguments.done")["name"] == "look"
    player.finish()


def test_an_out_of_band_response_leaves_the_conversation_alone(player: Player) -> None:
    before = len(player.events)
    response_id = player.respond(conversation="none", metadata={"topic": "x"})
    player.answers(response_id, "Beside. ", "The point.")

    events = player.events[before:]
    assert not [kind for kind in types(events) if kind.startswith("conversation.")]
    assert one(events, R + "created")["response"]["conversation_id"] is None
    done = response_done(events)
    assert (done["conversation_id"], done["metadata"]) == (None, {"topic": "x"})
    assert player.items() == []
    player.finish()


def test_text_and_calls_take_turns_in_one_response(player: Player) -> None:
    response_id = text_response(player)
    player.writes(response_id, "One")
    player.calls(response_id, "call_1", "look", "{}")
    player.writes(response_id, "Two")
    player.calls(response_id, "call_2", "look", "{}")
    player.writes(response_id, "Three")
    events = player.ends(response_id)

    added = [event for event in player.events if event["type"] == R + "output_item.added"]
    assert [event["output_index"] for event in added] == [0, 1, 2, 3, 4]
    output = response_done(events)["output"]
    assert [item["id"] for item in output] == [event["item"]["id"] for event in added]
    assert [item["type"] for item in output] == [
        "message",
        "function_call",
        "message",
        "function_call",
        "message",
    ]
    assert [item["status"] for item in output] == ["completed"] * 5
    player.finish()


def test_spoken_text_around_a_call_closes_when_it_has_been_spoken(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Let me see.")
    events = player.calls(response_id, "call_1", "look", "{}")
    assert R + "output_item.done" not in types(events)
    player.writes(response_id, "There it is.")
    events = player.ends(response_id)
    assert [e["item"]["type"] for e in events if e["type"] == R + "output_item.done"] == []
    events = player.speaks_all()

    done = [e["output_index"] for e in player.events if e["type"] == R + "output_item.done"]
    assert sorted(done) == [0, 1, 2]
    assert [item["type"] for item in response_done(events)["output"]] == [
        "message",
        "function_call",
        "message",
    ]
    player.finish()


def test_parallel_calls_are_items_of_their_own(player: Player) -> None:
    response_id = player.respond()
    for number in range(3):
        player.calls(response_id, f"call_{number}", "look", *"{}")
    output = response_done(player.ends(response_id))["output"]

    assert [item["call_id"] for item in output] == ["call_0", "call_1", "call_2"]
    player.finish()


def test_a_call_without_arguments_closes_with_none(player: Player) -> None:
    response_id = player.respond()
    player.calls(response_id, "call_1", "look")
    events = player.ends(response_id)

    assert one(events, R + "function_call_arguments.done")["arguments"] == ""
    player.finish()


# --- nothing to say -----------------------------------------------------------------------


@pytest.mark.parametrize("deltas", [[], [""], [" \n"], [" ", "\n\n", "\t"]])
@pytest.mark.parametrize("modality", ["text", "audio"])
def test_white_space_alone_is_no_item(player: Player, deltas: list[str], modality: str) -> None:
    response_id = player.respond(output_modalities=[modality])
    assert player.writes(response_id, *deltas) == []
    events = player.ends(response_id)

    assert types(events) == END
    done = response_done(events)
    assert (done["status"], done["output"]) == ("completed", [])
    player.finish()


def test_white_space_after_a_call_is_no_item(player: Player) -> None:
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", "{}")
    player.writes(response_id, "\n")
    events = player.ends(response_id)

    assert [item["type"] for item in response_done(events)["output"]] == ["function_call"]
    player.finish()


def test_text_that_nobody_can_say_has_no_audio_events(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "**")
    events = player.ends(response_id)
    if player.work.segments:
        events += player.speaks(player.work.segments[0])

    assert R + "output_audio.done" not in types(events)
    assert one(events, R + "output_audio_transcript.done")["transcript"] == "**"
    player.finish()


def test_leading_white_space_is_dropped_and_the_rest_kept(player: Player) -> None:
    response_id = text_response(player)
    player.writes(response_id, " \n", " Hi  ", "\n", "there ")
    events = player.ends(response_id)

    assert one(events, R + "output_text.done")["text"] == "Hi  \nthere "
    player.finish()


# --- cancelled ----------------------------------------------------------------------------


def test_cancelled_before_the_first_word_nothing_was_opened(player: Player) -> None:
    player.respond()
    events = player.send(R + "cancel")

    assert types(events) == END
    done = response_done(events)
    assert done["status"] == "cancelled"
    assert done["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert done["output"] == []
    player.finish()


def test_cancelled_after_the_first_text_everything_is_closed(player: Player) -> None:
    response_id = text_response(player)
    player.writes(response_id, "Well, ")
    events = player.send(R + "cancel")

    assert types(events) == [R + "output_text.done", R + "content_part.done", *DONE_ITEM, *END]
    assert one(events, R + "output_text.done")["text"] == "Well, "
    assert response_done(events)["output"][0]["status"] == "incomplete"
    player.finish()


def test_cancelled_before_the_first_audio_there_is_no_audio_done(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Well, then.")
    events = player.send(R + "cancel")

    assert types(events) == [
        R + "output_audio_transcript.done",
        R + "content_part.done",
        *DONE_ITEM,
        *END,
    ]
    player.finish()


def test_cancelled_after_the_first_audio_the_audio_is_closed_first(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Well, then, so be it. And ")
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    events = player.send(R + "cancel", response_id=response_id)

    assert types(events) == [
        R + "output_audio.done",
        R + "output_audio_transcript.done",
        R + "content_part.done",
        *DONE_ITEM,
        *END,
    ]
    player.finish()


def test_cancelled_in_a_call_the_arguments_so_far_are_closed(player: Player) -> None:
    response_id = player.respond()
    player.calls(response_id, "call_1", "look", '{"at"')
    events = player.send(R + "cancel")

    assert types(events) == [R + "function_call_arguments.done", *DONE_ITEM, *END]
    assert one(events, R + "output_item.done")["item"]["status"] == "incomplete"
    player.finish()


def test_a_call_that_was_complete_stays_complete_when_the_rest_is_cancelled(
    player: Player,
) -> None:
    response_id = player.respond()
    player.writes(response_id, "Let me see.")
    player.calls(response_id, "call_1", "look", "{}")
    player.ends(response_id)
    events = player.send(R + "cancel")

    statuses = [item["status"] for item in response_done(events)["output"]]
    assert statuses == ["incomplete", "completed"]
    player.finish()


# --- cut and failed -----------------------------------------------------------------------


@pytest.mark.parametrize("modality", ["text", "audio"])
def test_the_token_limit_makes_it_incomplete(player: Player, modality: str) -> None:
    response_id = player.respond(output_modalities=[modality])
    player.writes(response_id, "To be or ")
    events = player.ends(response_id, cut=True) + player.speaks_all()

    done = response_done(events)
    assert done["status"] == "incomplete"
    assert done["status_details"] == {"type": "incomplete", "reason": "max_output_tokens"}
    assert done["output"][0]["status"] == "incomplete"
    player.finish()


def test_only_the_item_that_was_cut_is_incomplete(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Let me see.")
    player.calls(response_id, "call_1", "look", "{}")
    player.writes(response_id, "I can see that ")
    player.ends(response_id, cut=True)
    events = player.speaks_all()

    statuses = [item["status"] for item in response_done(events)["output"]]
    assert statuses == ["completed", "completed", "incomplete"]
    player.finish()


def test_a_cut_response_that_is_cancelled_while_it_speaks_is_cancelled(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "To be or ")
    player.ends(response_id, cut=True)
    done = response_done(player.send(R + "cancel"))

    assert (done["status"], done["status_details"]["reason"]) == ("cancelled", "client_cancelled")


def test_a_failure_closes_what_is_open_and_says_why(player: Player) -> None:
    response_id = text_response(player)
    player.writes(response_id, "Well")
    events = player.fails(response_id)

    assert types(events) == [R + "output_text.done", R + "content_part.done", *DONE_ITEM, *END]
    done = response_done(events)
    assert done["status"] == "failed"
    assert done["status_details"] == {
        "type": "failed",
        "error": {"type": "server_error", "code": "llm_failed", "message": "No answer."},
    }
    player.answers(player.respond(), "Better.")
    player.finish()


# --- figures ------------------------------------------------------------------------------


def test_usage_adds_up(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Hi there.")
    player.ends(response_id, read=37, written=4)
    usage = response_done(player.speaks_all(1020))["usage"]

    assert usage["input_tokens"] == usage["input_token_details"]["text_tokens"] == 37
    assert usage["output_token_details"] == {"text_tokens": 4, "audio_tokens": 21}
    assert usage["output_tokens"] == 25
    assert usage["total_tokens"] == 62
    assert player.of(Count)[-1] == Count(
        responses=1,
        input_tokens=37,
        output_tokens=4,
        audio_output_ms=1020,
        status="completed",
    )


def test_usage_of_a_cancelled_response_counts_what_was_written_and_sent(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "The first. ", "The second. ", "Three")
    player.speaks(player.work.segments[0], speech(400, 1), last=False)
    usage = response_done(player.send(R + "cancel"))["usage"]

    assert usage["output_token_details"] == {"text_tokens": 3, "audio_tokens": 8}


def test_usage_of_one_response_does_not_reach_into_the_next(player: Player) -> None:
    first = player.respond()
    player.writes(first, "One. ", "Two. ")
    player.send(R + "cancel")
    player.ends(first, read=99, written=99)
    second = text_response(player)
    player.writes(second, "Two.")
    usage = response_done(player.ends(second, read=5, written=1))["usage"]

    assert (usage["input_tokens"], usage["output_tokens"]) == (5, 1)


def test_audio_is_sent_in_pieces_of_whole_samples_and_loses_nothing(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Hi there.")
    player.ends(response_id)
    pcm = bytes(range(250)) * 200
    events = player.speaks(player.work.segments[0], pcm)

    sent = [base64.b64decode(e["delta"]) for e in events if e["type"] == R + "output_audio.delta"]
    assert b"".join(sent) == pcm
    assert all(len(piece) <= 12_000 and len(piece) % 2 == 0 for piece in sent)


def test_sentences_are_spoken_in_their_order(player: Player) -> None:
    response_id = player.respond()
    player.writes(
        response_id, "The first one is here. The second", " one is there at last. And the third one"
    )
    player.ends(response_id)

    assert [work.text for work in player.work.segments] == [
        "The first one is here.",
        "The second one is there at last.",
        "And the third one",
    ]
    assert [work.segment for work in player.work.segments] == [0, 1, 2]


# --- the client reaches into it -----------------------------------------------------------


def test_an_item_deleted_while_it_is_written_is_closed_in_the_response_only(
    player: Player,
) -> None:
    response_id = text_response(player)
    player.writes(response_id, "Well")
    (item_id,) = player.checker.items
    player.send("conversation.item.delete", item_id=item_id)
    events = player.ends(response_id)

    assert "conversation.item.done" not in types(events)
    assert response_done(events)["output"][0]["id"] == item_id
    assert player.items() == []
    player.finish()


def test_an_id_taken_over_while_its_item_is_written_belongs_to_the_client(
    player: Player,
) -> None:
    response_id = text_response(player)
    player.writes(response_id, "Well")
    (item_id,) = player.checker.items
    player.send("conversation.item.delete", item_id=item_id)
    content = [{"type": "input_text", "text": "Mine."}]
    item = {"type": "message", "role": "user", "id": item_id, "content": content}
    player.send("conversation.item.create", item=item)
    events = player.ends(response_id)

    assert "conversation.item.done" not in types(events)
    assert player.items()[0]["content"] == content
    player.finish()


def test_truncation_to_nothing_in_the_middle_still_closes_the_audio(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Well, then, so be it. And ")
    player.speaks(player.work.segments[0], speech(100, 1), last=False)
    (item_id,) = player.checker.items
    player.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=0)
    events = player.send(R + "cancel")

    assert R + "output_audio.done" in types(events)
    player.finish()


def test_audio_after_a_truncation_does_not_count_as_heard(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "One two three four. And ")
    player.speaks(player.work.segments[0], speech(1000, 1), last=False)
    (item_id,) = player.checker.items
    player.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=500)
    player.speaks(player.work.segments[0], speech(1000, 1))
    player.ends(response_id)
    player.speaks_all()

    (retrieved,) = player.send("conversation.item.retrieve", item_id=item_id)
    (part,) = retrieved["item"]["content"]
    assert len(base64.b64decode(part["audio"])) == len(speech(500))
    assert part["transcript"] == "One"
    player.finish()


def test_a_cancel_after_a_truncation_does_not_bring_words_back(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "One two three four. And ")
    player.speaks(player.work.segments[0], speech(2000, 1))
    (item_id,) = player.checker.items
    player.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=500)
    player.send(R + "cancel")

    assert player.items()[0]["content"] == [{"type": "output_audio", "transcript": "One"}]
    player.finish()
