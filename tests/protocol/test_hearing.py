"""Speech over an answer: what interrupts it, and what leaves no trace."""

from __future__ import annotations

from typing import Any

import pytest

from s2s_actors.protocol.hearing import INTERRUPT_AFTER_MS, PATIENCE_MS
from tests.protocol.playing import (
    NATURAL_START,
    START,
    Event,
    Player,
    one,
    response_id_of,
    speech,
    types,
)

BUFFER = "input_audio_buffer."
TRANSCRIPTION = "conversation.item.input_audio_transcription."
ANSWER = "This is a whole sentence. And here is another one."


def server_vad(**settings: Any) -> dict[str, Any]:
    return {"turn_detection": {"type": "server_vad", **settings}}


@pytest.fixture
def player() -> Player:
    """A session that weighs speech over its answers, in the middle of one."""
    player = Player(NATURAL_START)
    player.update_input(transcription={"model": "whisper-1"})
    answers_at_length(player)
    return player


def answers_at_length(player: Player) -> str:
    """The assistant speaks; returns the response."""
    response_id = player.respond()
    player.writes(response_id, ANSWER)
    player.speaks(player.work.segments[0], speech(3000, 1), last=False)
    return response_id


def begins(player: Player, length_ms: int = 200) -> str:
    """Somebody speaks over it; returns what speech recognition is asked about the beginning."""
    player.append(speech(400))
    assert player.starts(player.now_ms) == []
    before = set(player.work.utterances)
    player.append(speech(length_ms))
    assert player.lasts(length_ms) == []
    (voice_id,) = before
    return voice_id


def is_cut(events: list[Event]) -> bool:
    """Whether the answer was interrupted."""
    done = [event["response"] for event in events if event["type"] == "response.done"]
    return [each["status"] for each in done] == ["cancelled"]


# --- what interrupts ------------------------------------------------------------------------


def test_the_beginning_of_speech_over_an_answer_is_looked_at_urgently(player: Player) -> None:
    work = player.work.utterances[begins(player)]

    assert work.beginning
    assert not work.speculative
    assert not work.logprobs


def test_no_more_than_the_last_moment_is_looked_at(player: Player) -> None:
    player.append(speech(2000))
    player.starts(1000)
    (work,) = player.work.utterances.values()

    assert len(work.pcm) == len(speech(384))


@pytest.mark.parametrize("words", ["Stop", "Can", "Wait a", "No, no."])
def test_other_words_interrupt_at_once(player: Player, words: str) -> None:
    events = player.hears(begins(player), words)

    assert types(events)[0] == BUFFER + "speech_started"
    assert is_cut(events)


@pytest.mark.parametrize("words", ["Yeah", "ye", "mm", "I see", ""])
def test_what_may_become_a_backchannel_does_not_interrupt_yet(player: Player, words: str) -> None:
    assert player.hears(begins(player), words) == []
    assert player.open_response


def test_who_speaks_on_after_yeah_interrupts(player: Player) -> None:
    player.hears(begins(player), "Yeah")

    assert player.lasts(PATIENCE_MS - 1) == []
    assert is_cut(player.lasts(PATIENCE_MS))


def test_speech_whose_beginning_is_not_understood_is_looked_at_again(player: Player) -> None:
    player.hears(begins(player), "")
    player.append(speech(100))
    assert player.lasts(300) == []

    (again,) = player.work.utterances
    assert player.work.utterances[again].beginning
    assert is_cut(player.hears(again, "Stop it"))


def test_it_is_not_looked_at_twice_at_the_same_time(player: Player) -> None:
    player.hears(begins(player), "")
    player.lasts(256)
    player.lasts(288)

    assert len(player.work.utterances) == 1


def test_speech_that_nobody_has_understood_soon_interrupts(player: Player) -> None:
    begins(player)

    assert player.lasts(INTERRUPT_AFTER_MS - 1) == []
    assert is_cut(player.lasts(INTERRUPT_AFTER_MS))


def test_speech_that_recognition_fails_on_interrupts_as_soon(player: Player) -> None:
    assert player.mishears(begins(player)) == []

    assert is_cut(player.lasts(INTERRUPT_AFTER_MS))


def test_the_whole_interruption_is_transcribed_and_answered(player: Player) -> None:
    started = player.hears(begins(player), "Stop")
    player.append(speech(700))
    player.pauses()
    (voice_id,) = player.work.utterances
    assert player.work.utterances[voice_id].pcm == speech(900)
    player.hears(voice_id, "Stop that, please.")
    events = player.stops()

    assert one(started, BUFFER + "speech_started")["audio_start_ms"] == 400
    assert one(events, TRANSCRIPTION + "completed")["transcript"] == "Stop that, please."
    (work_id,) = player.work.generations
    player.answers(work_id, "Sorry.")
    player.finish()


# --- what does not --------------------------------------------------------------------------


def burst(player: Player, *, over: bool) -> str:
    """A short burst of speech; returns what is asked about all of it."""
    begins(player)
    player.append(speech(150))
    assert player.pauses() == []
    if over:
        player.append(speech(400))
        assert player.stops() == []
    (voice_id,) = player.work.utterances
    return voice_id


@pytest.mark.parametrize("words", ["Yeah.", "Mm-hmm.", "Okay, right.", ""])
@pytest.mark.parametrize("over", [False, True])
def test_a_backchannel_or_a_noise_leaves_no_trace(player: Player, words: str, over: bool) -> None:
    before = len(player.events)
    items = player.items()
    player.hears(burst(player, over=over), words)
    player.append(speech(400))
    player.stops()

    assert player.events[before:] == []
    assert player.items() == items
    assert player.work.waterfalls == []
    player.ends(player.open_response or "")
    player.waits(10_000)
    player.speaks_all()
    player.finish()


def test_an_echo_leaves_no_trace(player: Player) -> None:
    begins(player)
    assert player.dismisses() == []

    assert player.lasts(2000) == []
    assert player.open_response


def test_an_echo_that_was_told_as_speech_is_ended_and_the_answer_goes_on(player: Player) -> None:
    player.hears(begins(player), "Stop")
    events = player.dismisses()

    assert types(events)[:2] == [BUFFER + "speech_stopped", BUFFER + "committed"]
    heard = player.hears(events[0]["item_id"], "and here is another one")
    assert one(heard, TRANSCRIPTION + "completed")["transcript"] == ""
    assert player.work.generations == {}  # nobody has asked anything: the answer goes on
    assert one(heard, "response.output_audio_transcript.delta")


def test_speech_after_a_backchannel_begins_anew(player: Player) -> None:
    player.hears(burst(player, over=False), "Yeah.")
    player.append(speech(100))
    at_ms = player.now_ms
    assert player.resumes(at_ms) == []
    player.append(speech(300))
    (voice_id,) = player.work.utterances
    events = player.hears(voice_id, "but I")

    assert is_cut(events)
    assert one(events, BUFFER + "speech_started")["audio_start_ms"] == at_ms


def test_speech_that_goes_on_before_the_burst_is_understood_is_one_utterance(
    player: Player,
) -> None:
    voice_id = burst(player, over=False)
    assert player.resumes() == []
    assert voice_id in player.work.stopped
    player.append(speech(400))
    events = player.lasts(400)

    assert is_cut(events)
    assert one(events, BUFFER + "speech_started")["audio_start_ms"] == 400


def test_speech_that_starts_before_a_burst_is_understood_is_not_lost(player: Player) -> None:
    burst(player, over=True)
    player.append(speech(100))
    assert player.starts() == []
    player.append(speech(400))
    events = player.lasts(400)

    assert is_cut(events)
    player.append(speech(600))
    events = player.stops()
    one(events, BUFFER + "committed")


def test_speech_that_starts_before_a_burst_is_understood_ends_where_it_ends(
    player: Player,
) -> None:
    burst(player, over=True)
    player.append(speech(100))
    player.starts()
    player.append(speech(200))
    player.pauses()
    (voice_id,) = player.work.utterances
    assert player.work.utterances[voice_id].pcm == speech(1050)
    events = player.hears(voice_id, "Yeah, stop.")
    assert BUFFER + "speech_stopped" not in types(events)
    player.append(speech(400))

    assert one(player.stops(), BUFFER + "speech_stopped")["audio_end_ms"] == player.now_ms


# --- a short "Stop." ------------------------------------------------------------------------


def test_a_short_word_is_heard_transcribed_and_answered_in_order(player: Player) -> None:
    events = player.hears(burst(player, over=True), "Stop.")

    own = [
        kind
        for kind in types(events)
        if kind.startswith((BUFFER, TRANSCRIPTION)) or kind in ("response.done", "response.created")
    ]
    assert own == [
        BUFFER + "speech_started",
        "response.done",
        BUFFER + "speech_stopped",
        BUFFER + "committed",
        TRANSCRIPTION + "delta",
        TRANSCRIPTION + "completed",
        "response.created",
    ]
    started, stopped = (one(events, BUFFER + f"speech_{each}") for each in ("started", "stopped"))
    assert (started["audio_start_ms"], stopped["audio_end_ms"]) == (400, 1150)
    assert started["item_id"] == stopped["item_id"]
    player.answers(next(iter(player.work.generations)), "All right.")
    player.finish()


def test_a_short_word_that_is_understood_in_its_pause_is_answered_ahead(player: Player) -> None:
    events = player.hears(burst(player, over=False), "Stop.")
    assert is_cut(events)
    (work_id,) = player.work.generations
    player.writes(work_id, "All right.")
    player.append(speech(400))
    events = player.stops()

    assert one(events, "response.output_audio_transcript.delta")["delta"] == "All right."


def test_a_burst_that_recognition_fails_on_counts_as_speech(player: Player) -> None:
    events = player.mishears(burst(player, over=True))

    assert is_cut(events)
    item_id = one(events, BUFFER + "committed")["item_id"]
    player.answers(response_id_of(player.hears(item_id, "Stop.")), "All right.")
    player.finish()


def test_yeah_is_an_answer_when_the_assistant_has_finished_meanwhile(player: Player) -> None:
    voice_id = burst(player, over=True)
    player.ends(player.open_response or "")
    player.speaks_all()
    player.waits(20_000)
    events = player.hears(voice_id, "Yeah.")

    one(events, BUFFER + "committed")
    player.answers(next(iter(player.work.generations)), "Good.")
    player.finish()


def test_speech_over_what_is_still_played_is_weighed_as_well(player: Player) -> None:
    response_id = player.open_response or ""
    player.ends(response_id)
    player.speaks_all()
    assert player.open_response is None

    assert player.hears(begins(player), "Yeah") == []
    assert types(player.lasts(PATIENCE_MS)) == [BUFFER + "speech_started"]


def test_speech_after_the_answer_is_heard_at_once(player: Player) -> None:
    player.ends(player.open_response or "")
    player.speaks_all()
    player.waits(20_000)

    assert types(player.starts()) == [BUFFER + "speech_started"]


@pytest.mark.parametrize(
    ("text", "left_ms", "is_weighed"),
    [
        ("It is all yours.", 1001, True),
        ("It is all yours.", 1000, False),
        ("Is it all yours?", 4001, True),
        ("Is it all yours?", 4000, False),
    ],
)
def test_a_user_may_answer_the_last_words_at_once(
    text: str, left_ms: int, is_weighed: bool
) -> None:
    player = Player(NATURAL_START)
    response_id = player.respond()
    player.writes(response_id, text)
    player.ends(response_id)
    player.speaks(player.work.segments[0], speech(4500, 1))
    player.waits(4500 - left_ms)

    assert types(player.starts()) == ([] if is_weighed else [BUFFER + "speech_started"])


def test_what_the_model_still_writes_is_not_nearly_over(player: Player) -> None:
    player.waits(2900)

    assert player.starts() == []


def test_what_the_voice_has_not_said_yet_is_not_nearly_over(player: Player) -> None:
    player.ends(player.open_response or "")
    player.waits(2900)

    assert player.starts() == []


# --- settings and the client ----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["clear", "commit"])
def test_the_client_ends_what_was_only_suspected_without_a_word(player: Player, kind: str) -> None:
    voice_id = begins(player)
    generation = player.work.generation
    events = player.send(f"input_audio_buffer.{kind}")

    assert not {BUFFER + "speech_started", BUFFER + "speech_stopped"} & set(types(events))
    assert voice_id in player.work.stopped
    assert player.work.generation > generation
    assert player.lasts(2000) == []  # of the generation after: nobody speaks
    assert player.open_response


def test_a_commit_takes_in_what_was_only_suspected(player: Player) -> None:
    begins(player)
    events = player.send("input_audio_buffer.commit")

    item_id = one(events, BUFFER + "committed")["item_id"]
    assert player.work.utterances[item_id].pcm == speech(600)


def test_switching_detection_off_forgets_what_was_only_suspected(player: Player) -> None:
    begins(player)
    events = player.update_input(turn_detection=None)

    assert types(events) == ["session.updated"]
    assert player.work.utterances == {}


def test_losing_voice_detection_forgets_what_was_only_suspected(player: Player) -> None:
    begins(player)
    assert player.loses("vad") == []

    assert player.work.utterances == {}
    assert player.open_response


def test_what_may_not_interrupt_is_heard_at_once() -> None:
    player = Player(NATURAL_START)
    player.update_input(**server_vad(interrupt_response=False))
    answers_at_length(player)
    player.append(speech(400))
    events = player.starts()

    assert types(events) == [BUFFER + "speech_started"]
    assert player.open_response


def test_forbidding_interruptions_in_the_middle_of_a_suspicion_hears_it(player: Player) -> None:
    begins(player)
    player.update_input(**server_vad(interrupt_response=False))

    assert types(player.lasts(300)) == [BUFFER + "speech_started"]
    assert player.open_response


def test_in_the_plain_protocol_all_speech_interrupts_at_once() -> None:
    player = Player(START)
    answers_at_length(player)

    assert is_cut(player.starts())


def test_a_click_beside_the_answer_out_of_band_is_heard_at_once() -> None:
    player = Player(NATURAL_START)
    player.writes(player.respond(conversation="none"), ANSWER)

    assert types(player.starts()) == [BUFFER + "speech_started"]


@pytest.mark.parametrize("guessed", [True, False])
@pytest.mark.parametrize("words", ["", None])
def test_an_idle_session_is_noticed_after_a_noise(
    player: Player, words: str | None, guessed: bool
) -> None:
    player.update_input(**server_vad(idle_timeout_ms=5000))
    player.ends(player.open_response or "")
    player.speaks_all()
    player.waits(20_000)
    player.is_busy(not guessed)
    player.starts()
    player.append(speech(300))
    player.pauses()
    if guessed:
        hears(player, words)
    assert "idle" not in player.work.timers
    player.stops()
    if player.work.utterances:
        hears(player, words)

    assert player.work.timers["idle"] == 5000


def hears(player: Player, words: str | None) -> None:
    """Speech recognition finds such words, or fails."""
    (voice_id,) = player.work.utterances
    if words is None:
        player.mishears(voice_id)
    else:
        player.hears(voice_id, words)


def test_an_idle_session_is_noticed_after_a_backchannel_at_the_end_of_the_answer(
    player: Player,
) -> None:
    player.update_input(**server_vad(idle_timeout_ms=5000))
    voice_id = burst(player, over=True)
    player.ends(player.open_response or "")
    player.speaks_all()
    player.hears(voice_id, "")

    player.waits(player.work.timers["idle"])
    assert "input_audio_buffer.timeout_triggered" in types(player.timer("idle"))
