"""The words of an utterance while it grows: pieces, and where they are cut."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol.dictation import (
    LONGEST_PIECE_MS,
    PIECE_WORTH_KEEPING_MS,
    Dictation,
    Partials,
    Piece,
    joined,
    quietest_ms,
)
from s2s_actors.protocol.server_events import LogProb
from tests.protocol.playing import NATURAL_START, Event, Player, one, response_id_of, speech, types

BUFFER = "input_audio_buffer."
TRANSCRIPTION = "conversation.item.input_audio_transcription."
WORD = st.sampled_from(["one", "two", "three", "four", "One,", "two.", "TWO", "3"])
TEXT = st.lists(WORD, max_size=8).map(" ".join)


@pytest.fixture
def player() -> Player:
    """A session that does all it can, and transcribes."""
    player = Player(NATURAL_START)
    player.update_input(transcription={"model": "whisper-1"})
    return player


def counting(length_ms: int, first_ms: int = 0) -> bytes:
    """Audio in which each millisecond tells its number, so that it is known which is which."""
    numbers = np.arange(first_ms, first_ms + length_ms, dtype=np.int64) % 30_000
    return np.repeat(numbers, 24).astype("<i2").tobytes()


def log_prob(word: str) -> LogProb:
    """How sure speech recognition is of a word."""
    return LogProb.of(word, -1.0)


def numbers(pcm: bytes) -> list[int]:
    """Which milliseconds of :func:`counting` these are."""
    return [int(each) for each in np.frombuffer(pcm, "<i2")[::24]]


# --- the model of it ------------------------------------------------------------------------


@given(st.lists(st.text(max_size=8), max_size=5))
def test_texts_are_joined_by_one_space_and_without_any_around(texts: list[str]) -> None:
    text = joined(texts)

    assert text == text.strip()
    assert text.split() == " ".join(texts).split()


def test_the_words_of_the_pieces_are_in_the_order_in_which_they_were_said() -> None:
    dictation = Dictation(0)
    first, second = Piece("a", 1000), Piece("b", 2000)
    dictation.settle(first, next_ms=1000)
    dictation.settle(second, next_ms=2000)
    second.text, second.logprobs = "world.", (log_prob("world"),)
    known_before = dictation.is_known
    first.text, first.logprobs = "Hello", (log_prob("Hello"),)

    assert (known_before, dictation.is_known) == (False, True)
    assert dictation.text == "Hello world."
    assert [each.token for each in dictation.logprobs] == ["Hello", "world"]
    assert dictation.open_ms == 2000


@given(st.lists(TEXT, max_size=6), TEXT)
def test_what_was_told_of_a_transcript_is_never_taken_back(
    hypotheses: list[str], final: str
) -> None:
    partials = Partials()
    told = ""
    for hypothesis in hypotheses:
        told += partials.more(hypothesis)
    rest = partials.rest(final)

    assert told == told.strip()
    if not told:
        assert rest == final
    elif rest:
        assert plain(told + rest) == plain(final)


def plain(text: str) -> list[str]:
    """Words without case and marks."""
    return [word.strip(".,").lower() for word in text.split()]


def test_only_words_that_two_hypotheses_agree_on_are_told() -> None:
    partials = Partials()

    assert partials.more("I would like") == ""
    assert partials.more("I would hike to") == "I would"
    assert partials.more("I would hike to the") == " hike to"
    assert partials.rest("I would hike to the top.") == " the top."


def test_the_last_word_of_a_hypothesis_is_not_told_for_it_may_go_on() -> None:
    partials = Partials()
    partials.more("some thing")

    assert partials.more("some thing") == "some"


def test_a_final_text_that_begins_otherwise_adds_nothing() -> None:
    partials = Partials()
    partials.more("I would like")
    partials.more("I would like a")

    assert partials.rest("You would like a tea.") == ""


def test_a_text_of_which_nothing_was_told_is_told_as_it_is() -> None:
    partials = Partials()
    partials.more("One")

    assert partials.rest("One.\nAnd  two.") == "One.\nAnd  two."


def test_case_and_marks_are_no_disagreement() -> None:
    partials = Partials()
    partials.more("hello there my")

    assert partials.more("Hello, there my friend") == "Hello, there my"


@pytest.mark.parametrize("quiet_ms", [8000, 12_000, 13_900])
def test_speech_without_a_pause_is_cut_where_it_is_quietest(quiet_ms: int) -> None:
    rng = np.random.default_rng(1)
    loud = (rng.standard_normal(24 * 14_000) * 8000).astype("<i2")
    loud[24 * (quiet_ms - 60) : 24 * (quiet_ms + 60)] = 0

    cut_ms = quietest_ms(loud.tobytes())
    assert abs(cut_ms - quiet_ms) <= 30


def test_it_is_cut_in_its_last_seconds() -> None:
    loud = np.full(24 * 14_000, 8000, dtype="<i2")
    loud[: 24 * 1000] = 0

    assert quietest_ms(loud.tobytes()) >= 14_000 - 6000 - 100


# --- the transcript as it grows -------------------------------------------------------------


def looks(player: Player, text: str, for_ms: int = 1000) -> list[Event]:
    """The user speaks on, and is looked at."""
    player.append(speech(1000))
    player.lasts(for_ms)
    (voice_id,) = player.work.utterances
    return player.hears(voice_id, text)


def test_parts_are_told_while_the_user_speaks(player: Player) -> None:
    player.starts()
    assert looks(player, "I would") == []
    events = looks(player, "I would like a", 2000)
    item_id = events[0]["item_id"]

    assert [event["delta"] for event in events] == ["I would"]
    assert item_id == one(player.events, BUFFER + "speech_started")["item_id"]
    player.pauses()
    events = player.hears(next(iter(player.work.utterances)), "I would like a tea.")
    events += player.stops()
    kinds = [kind for kind in types(events) if kind.startswith(TRANSCRIPTION)]
    assert kinds == [TRANSCRIPTION + "delta"] * 2 + [TRANSCRIPTION + "completed"]
    deltas = [event["delta"] for event in player.events if event["type"] == kinds[0]]
    assert "".join(deltas) == one(events, kinds[-1])["transcript"] == "I would like a tea."


def test_the_final_text_counts_whatever_was_told(player: Player) -> None:
    player.starts()
    looks(player, "I wood like")
    looks(player, "I wood like a", 2000)
    events = player.stops()
    item_id = one(events, BUFFER + "committed")["item_id"]
    events = player.hears(item_id, "I would like a tea.")

    assert types(events)[0] == TRANSCRIPTION + "completed"
    assert events[0]["transcript"] == "I would like a tea."
    assert player.items()[0]["content"][0]["transcript"] == "I would like a tea."


def test_a_look_is_a_guess_and_is_made_once_at_a_time(player: Player) -> None:
    player.starts()
    player.append(speech(1000))
    player.lasts(1000)
    player.append(speech(1000))
    player.lasts(2000)

    (work,) = player.work.utterances.values()
    assert work.speculative
    assert work.glance
    assert work.pcm == speech(1000)


def test_a_failed_look_is_not_missed(player: Player) -> None:
    player.starts()
    player.append(speech(1000))
    player.lasts(1000)
    assert player.mishears(next(iter(player.work.utterances))) == []
    assert looks(player, "I would", 2000) == []


def test_a_look_that_comes_too_late_is_stopped(player: Player) -> None:
    player.starts()
    player.append(speech(1000))
    player.lasts(1000)
    (voice_id,) = player.work.utterances
    player.stops()

    assert voice_id in player.work.stopped
    assert player.hears(voice_id, "I would") == []


@pytest.mark.parametrize(("delay", "every_ms"), [("minimal", 300), ("high", 1200)])
def test_how_often_it_is_looked_at_is_up_to_the_session(
    player: Player, delay: str, every_ms: int
) -> None:
    player.update_input(transcription={"delay": delay})
    player.starts()
    player.append(speech(every_ms - 1))
    player.lasts(every_ms - 1)
    assert player.work.utterances == {}
    player.append(speech(1))
    player.lasts(every_ms)
    assert len(player.work.utterances) == 1


def test_nothing_is_looked_at_without_transcription(player: Player) -> None:
    player.update_input(transcription=None)
    player.starts()
    player.append(speech(5000))
    player.lasts(5000)

    assert player.work.utterances == {}


def test_nothing_is_looked_at_in_the_plain_protocol() -> None:
    player = Player()
    player.update_input(transcription={"model": "whisper-1"})
    player.starts()
    player.append(speech(5000))
    player.lasts(5000)

    assert player.work.utterances == {}


def test_a_busy_machine_does_not_look(player: Player) -> None:
    player.is_busy()
    player.starts()
    player.append(speech(5000))
    player.lasts(5000)

    assert player.work.utterances == {}


# --- long speech ----------------------------------------------------------------------------


def speaks_for(player: Player, *lengths_ms: int) -> list[str]:
    """The user speaks for so long each time, with pauses between; returns the pieces."""
    player.starts()
    pieces: list[str] = []
    for length_ms in lengths_ms:
        if pieces:
            player.resumes()
        player.append(counting(length_ms, player.now_ms))
        player.pauses()
        new = [each for each in player.work.utterances if each not in pieces]
        assert len(new) == 1
        pieces += new
        player.append(counting(300, player.now_ms))
    return pieces


def test_a_pause_behind_long_speech_parts_it(player: Player) -> None:
    first, second = speaks_for(player, PIECE_WORTH_KEEPING_MS, 2000)

    assert first in player.work.committed
    assert player.work.utterances[first].pcm == counting(PIECE_WORTH_KEEPING_MS)
    at_ms = PIECE_WORTH_KEEPING_MS + 300 - 64
    assert numbers(player.work.utterances[second].pcm)[0] == at_ms


def test_shorter_speech_is_transcribed_as_a_whole(player: Player) -> None:
    player.starts()
    player.append(counting(PIECE_WORTH_KEEPING_MS - 1))
    player.pauses()
    (first,) = player.work.utterances
    player.resumes()
    player.append(counting(1000, player.now_ms))
    player.pauses()

    assert first in player.work.stopped
    (work,) = player.work.utterances.values()
    assert numbers(work.pcm) == list(range(PIECE_WORTH_KEEPING_MS + 999))


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_in_whichever_order_pieces_are_known_their_words_are_in_place(
    player: Player, order: tuple[int, ...]
) -> None:
    pieces = speaks_for(player, 7000, 8000, 2000)
    events = player.stops()
    for index in order:
        events += player.hears(pieces[index], ["One,", "two,", "three."][index])

    assert one(events, TRANSCRIPTION + "completed")["transcript"] == "One, two, three."
    assert one(events, TRANSCRIPTION + "completed")["usage"]["seconds"] == 17.9
    player.answers(response_id_of(events), "Four.")
    player.finish()


def test_words_that_are_known_before_the_end_are_answered_ahead(player: Player) -> None:
    pieces = speaks_for(player, 7000, 2000)
    player.hears(pieces[1], "two.")
    assert player.work.generations == {}
    player.hears(pieces[0], "One,")
    (work_id,) = player.work.generations
    player.writes(work_id, "Three.")
    events = player.stops()

    assert one(events, "response.output_audio_transcript.delta")["delta"] == "Three."


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("failed", [0, 1])
def test_a_piece_that_fails_fails_the_turn_once(player: Player, failed: int, at_once: bool) -> None:
    pieces = speaks_for(player, 7000, 8000, 2000)
    events = player.mishears(pieces[failed]) if at_once else []
    events += player.stops()
    if not at_once:
        events += player.mishears(pieces[failed])

    one(events, TRANSCRIPTION + "failed")
    assert "response.created" not in types(events)
    assert player.work.utterances == {}
    player.finish()


def test_speech_without_a_pause_is_parted_while_it_goes_on(player: Player) -> None:
    player.update_input(transcription=None)
    player.starts()
    pieces: list[bytes] = []
    for _ in range(5):
        player.append(counting(12_000, player.now_ms))
        player.lasts(player.now_ms)
    pieces = [work.pcm for work in player.work.utterances.values()]
    assert not any(work.speculative for work in player.work.utterances.values())
    item_id = one(player.stops(), BUFFER + "committed")["item_id"]
    pieces.append(player.work.utterances[item_id].pcm)

    assert len(pieces) == 3
    assert all(len(each) <= len(speech(LONGEST_PIECE_MS)) for each in pieces)
    assert numbers(b"".join(pieces)) == [each % 30_000 for each in range(60_000)]


def test_pieces_of_what_is_thrown_away_are_not_transcribed(player: Player) -> None:
    speaks_for(player, 7000, 8000, 2000)
    player.send(BUFFER + "clear")

    assert player.work.utterances == {}
    player.finish()


def test_a_commit_behind_a_pause_in_long_speech_loses_nothing(player: Player) -> None:
    (first,) = speaks_for(player, 7000)
    events = player.send(BUFFER + "commit")
    item_id = one(events, BUFFER + "committed")["item_id"]

    assert player.work.utterances[first].pcm == counting(7000)
    assert numbers(player.work.utterances[item_id].pcm) == list(range(7000, 7300))
    player.hears(item_id, "two")
    player.hears(first, "one")
    assert player.items()[0]["content"][0]["transcript"] == "one two"
    player.finish()


def test_a_commit_right_at_a_pause_has_nothing_left_to_transcribe(player: Player) -> None:
    player.starts()
    player.append(counting(7000))
    player.pauses()
    player.send(BUFFER + "commit")

    assert all(work.pcm for work in player.work.utterances.values())


def test_voice_detection_that_is_lost_in_long_speech_loses_no_words(player: Player) -> None:
    first, second = speaks_for(player, 7000, 8000)
    player.loses("vad")
    events = player.hears(first, "one") + player.hears(second, "two")

    assert one(events, TRANSCRIPTION + "completed")["transcript"] == "one two"


def test_parts_of_long_speech_go_on_behind_what_was_told(player: Player) -> None:
    player.starts()
    player.append(speech(7000))
    player.pauses()
    (first,) = player.work.utterances
    player.hears(first, "One two three four.")
    player.resumes()
    looks(player, "five six")
    events = looks(player, "five six seven", 2000)

    deltas = [e["delta"] for e in player.events if e["type"] == TRANSCRIPTION + "delta"]
    assert "".join(deltas) == "One two three four. five six"
    assert len(events) == 1
