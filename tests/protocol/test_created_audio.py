"""Audio in messages that a client creates: kept, shown on request, and transcribed."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from s2s_actors.protocol import audio
from s2s_actors.protocol.created_audio import MAX_VOICE_MS
from s2s_actors.protocol.items import text_of
from s2s_actors.protocol.outputs import Count, StartTranscription
from tests.protocol.playing import Player, error_of, one, response_id_of, speech, types

CREATE = "conversation.item.create"
TRANSCRIPTION = "conversation.item.input_audio_transcription."
SHORT, LONG = speech(100, 5), speech(700, 9)


def voice(pcm: bytes = SHORT, **fields: Any) -> dict[str, Any]:
    return {"type": "input_audio", "audio": base64.b64encode(pcm).decode(), **fields}


def text(words: str) -> dict[str, Any]:
    return {"type": "input_text", "text": words}


def message(*parts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": list(parts), **fields}


@pytest.fixture
def player() -> Player:
    """A session that transcribes and answers when it is asked to."""
    player = Player()
    player.update_input(transcription={"model": "whisper-1"}, turn_detection=None)
    return player


def utterances(player: Player) -> list[StartTranscription]:
    return list(player.work.utterances.values())


def words(player: Player, response_id: str) -> list[str]:
    return [text_of(item) for item in player.work.generations[response_id].items]


def test_it_is_added_done_and_transcribed_like_a_committed_turn(player: Player) -> None:
    events = player.send(CREATE, item=message(voice(LONG)))
    item_id = events[0]["item"]["id"]
    assert types(events) == ["conversation.item.added", "conversation.item.done"]
    assert events[0]["item"]["content"] == [{"type": "input_audio", "transcript": None}]

    [work] = utterances(player)
    assert work.pcm == LONG
    heard = player.hears(work.voice_id, " Hello. ")
    assert types(heard) == [TRANSCRIPTION + "delta", TRANSCRIPTION + "completed"]
    assert {(event["item_id"], event["content_index"]) for event in heard} == {(item_id, 0)}
    assert heard[1]["transcript"] == "Hello."
    assert heard[1]["usage"] == {"type": "duration", "seconds": 0.7}
    assert player.items()[0]["content"] == [{"type": "input_audio", "transcript": "Hello."}]
    player.finish()


def test_parts_are_told_apart(player: Player) -> None:
    item = message(voice(SHORT), text("and"), voice(LONG), id="mine")
    player.send(CREATE, item=item)
    first, second = utterances(player)
    assert (first.pcm, second.pcm) == (SHORT, LONG)

    assert one(player.hears(second.voice_id, "you?"), TRANSCRIPTION + "completed") | {
        "event_id": ""
    } == {
        "event_id": "",
        "type": TRANSCRIPTION + "completed",
        "item_id": "mine",
        "content_index": 2,
        "transcript": "you?",
        "usage": {"type": "duration", "seconds": 0.7},
    }
    player.hears(first.voice_id, "Me")
    content = player.send("conversation.item.retrieve", item_id="mine")[0]["item"]["content"]
    assert content == [
        voice(SHORT, transcript="Me"),
        text("and"),
        voice(LONG, transcript="you?"),
    ]
    player.finish()


def test_a_response_waits_until_all_of_it_is_heard(player: Player) -> None:
    player.send(CREATE, item=message(voice(SHORT), voice(LONG)))
    response_id = player.respond()
    first, second = utterances(player)
    player.hears(first.voice_id, "One")
    assert response_id not in player.work.generations

    player.hears(second.voice_id, "two.")
    assert words(player, response_id) == ["One two."]
    player.answers(response_id, "Three.")
    player.finish()


def test_it_asks_for_no_answer() -> None:
    player = Player()
    player.send(CREATE, item=message(voice()))
    [work] = utterances(player)

    assert player.hears(work.voice_id, "Hello.") == []
    assert player.open_response is None


def test_without_transcription_it_is_heard_all_the_same() -> None:
    player = Player()
    player.send(CREATE, item=message(voice()))
    response_id = player.respond()
    [work] = utterances(player)

    assert player.hears(work.voice_id, "Hello.") == []
    assert words(player, response_id) == ["Hello."]


def test_words_that_the_client_knows_are_not_heard_again(player: Player) -> None:
    events = player.send(CREATE, item=message(voice(LONG, transcript="Known."), id="mine"))

    assert events[0]["item"]["content"] == [{"type": "input_audio", "transcript": "Known."}]
    assert utterances(player) == []
    assert words(player, player.respond()) == ["Known."]
    retrieved = player.send("conversation.item.retrieve", item_id="mine")[0]
    assert retrieved["item"]["content"] == [voice(LONG, transcript="Known.")]


@pytest.mark.parametrize("part", [{}, {"audio": None}])
def test_words_are_enough_for_what_was_said_elsewhere(player: Player, part: dict[str, Any]) -> None:
    said = {"type": "input_audio", "transcript": "Said.", **part}
    events = player.send(CREATE, item=message(said))

    assert events[0]["item"]["content"] == [{"type": "input_audio", "transcript": "Said."}]
    assert utterances(player) == []
    assert words(player, player.respond()) == ["Said."]


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (voice(SHORT + b"x"), "invalid_value"),
        (voice(b""), "invalid_value"),
        ({"type": "input_audio", "audio": "!!!"}, "invalid_value"),
        ({"type": "input_audio", "audio": 5}, "invalid_type"),
        ({"type": "input_audio"}, "missing_required_parameter"),
        ({"type": "input_audio", "audio": None}, "missing_required_parameter"),
        (voice(speech(MAX_VOICE_MS + 1)), "string_above_max_length"),
    ],
)
def test_audio_that_can_not_be_heard_is_named(
    player: Player, part: dict[str, Any], code: str
) -> None:
    content = [text("x"), voice(), part]
    error = error_of(player.send(CREATE, item=message(*content), event_id="e1"))
    assert (error["code"], error["param"]) == (code, "item.content[2].audio")
    assert error["event_id"] == "e1"
    assert player.items() == []
    assert utterances(player) == []

    given = [message(text("x")), message(*content)]
    error = error_of(player.send("response.create", response={"input": given}))
    assert (error["code"], error["param"]) == (code, "response.input[1].content[2].audio")
    assert utterances(player) == []
    player.finish()


def test_the_longest_utterance_fits_into_a_part(player: Player) -> None:
    player.send(CREATE, item=message(voice(speech(MAX_VOICE_MS))))

    assert len(utterances(player)[0].pcm) == audio.size_bytes(MAX_VOICE_MS)


def test_it_comes_in_the_sessions_format(player: Player) -> None:
    player.update_input(format={"type": "audio/pcmu"})
    part = voice(b"\xff" * 8 * 500)
    player.send(CREATE, item=message(part, id="mine"))

    [work] = utterances(player)
    assert audio.duration_ms(len(work.pcm)) == 500
    player.hears(work.voice_id, "")
    retrieved = player.send("conversation.item.retrieve", item_id="mine")[0]
    assert len(retrieved["item"]["content"][0]["audio"]) == len(part["audio"])


def test_a_part_that_can_not_be_transcribed_is_told(player: Player) -> None:
    player.send(CREATE, item=message(text("x"), voice(), id="mine"))
    response_id = player.respond()
    [work] = utterances(player)
    [failed] = player.mishears(work.voice_id)

    assert (failed["type"], failed["item_id"]) == (TRANSCRIPTION + "failed", "mine")
    assert (failed["content_index"], failed["error"]["code"]) == (1, "stt_failed")
    assert words(player, response_id) == ["x"]


def test_what_is_heard_of_an_item_that_is_gone_is_not_told(player: Player) -> None:
    player.send(CREATE, item=message(voice(), id="mine"))
    player.send(CREATE, item=message(voice(), id="yours"))
    for item_id in ("mine", "yours"):
        player.send("conversation.item.delete", item_id=item_id)
    player.send(CREATE, item=message(voice(LONG), id="mine"))
    old, lost, new = utterances(player)

    assert player.hears(old.voice_id, "Old.") == []
    assert player.mishears(lost.voice_id) == []
    heard = player.hears(new.voice_id, "New.")
    assert one(heard, TRANSCRIPTION + "completed")["transcript"] == "New."
    player.finish()


def test_what_the_user_said_meanwhile_is_answered_when_all_is_heard() -> None:
    player = Player()
    first = player.says()
    player.append(speech(500))
    player.starts()  # talks past the first words, which are owed an answer from now on
    player.hears(first, "Well,")
    player.send(CREATE, item=message(voice()))
    [created] = utterances(player)
    player.append(speech(500))
    [second] = [e["item_id"] for e in player.stops() if e["type"].endswith("committed")]
    assert player.hears(second, "") == []

    events = player.hears(created.voice_id, "hello.")
    assert types(events) == ["response.created"]
    player.answers(response_id_of(events), "Hi.")
    player.finish()


def test_its_length_is_counted_once_it_is_transcribed(player: Player) -> None:
    player.send(CREATE, item=message(voice(SHORT), voice(LONG), voice(LONG, transcript="x")))

    assert sum(count.audio_input_ms for count in player.of(Count)) == 800


# --- in the input of a response -----------------------------------------------------------


@pytest.mark.parametrize("conversation", ["auto", "none"])
def test_a_response_hears_what_comes_with_it(player: Player, conversation: str) -> None:
    given = [message(voice(SHORT), text("or")), message(voice(LONG))]
    response_id = player.respond(conversation=conversation, input=given)
    first, second = utterances(player)
    assert (first.pcm, second.pcm) == (SHORT, LONG)
    assert player.hears(first.voice_id, "Tea") == []
    assert response_id not in player.work.generations

    assert player.hears(second.voice_id, "coffee?") == []
    assert words(player, response_id) == ["Tea or", "coffee?"]
    player.answers(response_id, "Tea.")
    assert len(player.items()) == (1 if conversation == "auto" else 0)
    player.finish()


def test_a_response_fails_if_what_comes_with_it_can_not_be_heard(player: Player) -> None:
    running = player.respond()
    beside = player.respond(conversation="none", input=[message(voice())])
    [work] = utterances(player)
    events = player.mishears(work.voice_id)

    done = one(events, "response.done")["response"]
    assert (done["id"], done["status"]) == (beside, "failed")
    assert done["status_details"]["error"]["code"] == "stt_failed"
    assert player.checker.open_responses == [running]
    player.answers(running, "Hi.")
    player.finish()


def test_a_response_that_was_cancelled_does_not_mind_what_is_heard(player: Player) -> None:
    player.respond(input=[message(voice())])
    player.send("response.cancel")
    [work] = utterances(player)

    assert player.hears(work.voice_id, "Late.") == []
    player.finish()


def test_an_input_of_text_alone_waits_for_nothing(player: Player) -> None:
    player.send(CREATE, item=message(voice()))
    response_id = player.respond(conversation="none", input=[message(text("Hi."))])

    assert words(player, response_id) == ["Hi."]
