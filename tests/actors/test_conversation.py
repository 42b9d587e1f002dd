"""The head of a unit: carries out what the dialogue decides, and lets nothing stale in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.actors import messages as m
from s2s_actors.actors.board import Board
from s2s_actors.actors.conversation import ConversationActor, ConversationRules, StageOutlets
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.load import Load
from s2s_actors.actors.ports import SessionWish
from s2s_actors.actors.stage import Links
from s2s_actors.actors.surroundings import Surroundings
from s2s_actors.backends.base import Transcript
from s2s_actors.backends.chat import Finished, TextDelta, ToolCallDelta, ToolCallStarted
from s2s_actors.errors import StageError
from s2s_actors.protocol import client_events as ce
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.mailbox import Data
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.runtime.supervision import Crashed
from s2s_actors.runtime.urgency import Need, Urgency
from tests.support.stepped_plant import Client, append, loud, silent, text_item
from tests.support.stepping import Recorder, run_until_idle

if TYPE_CHECKING:
    from s2s_actors.backends.chat import LlmEvent
    from s2s_actors.protocol.client_events import ClientEvent

TRANSCRIBE: ce.SessionUpdate = ce.SessionUpdate(
    session={"type": "realtime", "audio": {"input": {"transcription": {"model": "x"}}}}
)
PUSH_TO_TALK = ce.SessionUpdate(
    session={"type": "realtime", "audio": {"input": {"turn_detection": None}}}
)
TEXT_ONLY = ce.SessionUpdate(session={"type": "realtime", "output_modalities": ["text"]})


class Lane(Recorder):
    """A recorder whose data lane can be full."""

    full = False

    def put(self, message: object) -> None:
        if self.full and isinstance(message, Data):
            raise LaneFullError
        super().put(message)


class Bench:
    """A conversation with recorders around it, and one open session."""

    def __init__(
        self,
        *,
        model: str | None = None,
        max_duration_s: float = 3600.0,
        load: Load | None = None,
        plain: bool = False,
    ) -> None:
        self.clock, self.board = ManualClock(), Board()
        self.unit, self.onward = Recorder(), Recorder()
        self.vad, self.stt, self.llm, self.tts = Lane(), Lane(), Lane(), Lane()
        self.actor = ConversationActor(
            "conversation-0",
            Links(self.unit, Recorder(), self.onward),
            StageOutlets(self.vad, self.stt, self.llm, self.tts),
            ConversationRules("the-model", "Be brief.", max_duration_s),
            Surroundings(self.board, self.clock, load=load or Load(2)),
        )
        self.client = Client("canary-a", self.actor)
        self.lease, self.scope = Lease.issue(0, "canary-a"), CancelToken()
        wish = SessionWish(model, plain=plain)
        self.put(m.OpenConversation(self.lease, self.scope, self.client, wish))

    def put(self, *messages: object) -> None:
        for message in messages:
            self.actor.outlet.put(message)
        run_until_idle(self.actor)

    def say(self, *events: ClientEvent) -> None:
        self.put(*(m.ClientFrame(self.lease, event, 0.0, 100) for event in events))

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        run_until_idle(self.actor)

    def ask(self) -> m.Generate:
        """Ask something in writing; returns the work that this makes."""
        self.say(text_item("Hi."), ce.ResponseCreate())
        return self.llm.of(m.Generate)[-1]

    def write(self, work: m.Generate, *words: str, end: bool = True) -> None:
        """Let the language model write."""
        events: list[LlmEvent] = [TextDelta(word) for word in words]
        if end:
            events.append(Finished("stop", 3, len(words)))
        for event in events:
            self.put(m.Generated(self.lease, work.response_id, event))

    @property
    def errors(self) -> list[tuple[str, str | None]]:
        errors = [event["error"] for event in self.client.events if event["type"] == "error"]
        return [(error["code"], error["event_id"]) for error in errors]


# --- opening and closing -------------------------------------------------------------------------


def test_the_client_is_greeted_and_voice_detection_is_set_up() -> None:
    bench = Bench()
    (event,) = bench.client.events
    assert event["type"] == "session.created"
    session = event["session"]
    assert (session["id"], session["model"]) == ("canary-a", "the-model")
    assert session["instructions"] == "Be brief."
    assert session["expires_at"] == 1_700_000_000 + 3600
    (configured,) = bench.vad.messages
    assert isinstance(configured, m.ConfigureVad)
    assert configured.turn_detection is not None


def test_the_model_that_the_client_asked_for_is_shown() -> None:
    assert Bench(model="gpt-x").client.events[0]["session"]["model"] == "gpt-x"


def test_the_first_event_tells_the_unit_that_the_client_is_there() -> None:
    bench = Bench()
    assert bench.unit.messages == []
    bench.say(ce.AudioClear())
    bench.say(ce.AudioClear())
    assert bench.unit.messages == [m.SessionStarted(bench.lease)]


def test_even_an_event_that_is_rejected_is_a_sign_of_life() -> None:
    bench = Bench()
    bench.say(ce.AudioCommit(event_id="e1"))
    assert bench.errors == [("input_audio_buffer_commit_empty", "e1")]
    assert bench.unit.of(m.SessionStarted) == [m.SessionStarted(bench.lease)]


def test_session_end_cancels_work_and_timers_and_passes_on() -> None:
    bench = Bench()
    work = bench.ask()
    bench.put(m.SessionEnd(bench.lease))
    assert work.cancel.cancelled
    assert bench.clock.pending == []
    assert bench.onward.messages == [m.SessionEnd(bench.lease)]
    sent = len(bench.client.frames)
    bench.write(work, "Late.")
    bench.say(ce.ResponseCreate())
    assert len(bench.client.frames) == sent
    assert bench.actor.dropped == 3


def test_a_session_starts_from_nothing_whatever_the_one_before_left() -> None:
    bench = Bench()
    bench.say(TEXT_ONLY, PUSH_TO_TALK, text_item("my secret"))
    work = bench.ask()
    bench.put(m.SessionEnd(bench.lease))
    next_client = Client("canary-b", bench.actor)
    lease = Lease.issue(0, "canary-b")
    bench.put(m.OpenConversation(lease, CancelToken(), next_client, SessionWish()))
    session = next_client.events[0]["session"]
    assert session["output_modalities"] == ["audio"]
    assert session["audio"]["input"]["turn_detection"] is not None
    bench.write(work, "Late.")
    bench.put(m.ClientFrame(lease, ce.ResponseCreate(), 0.0, 10))
    fresh = bench.llm.of(m.Generate)[-1]
    assert [message.role for message in fresh.request.messages] == ["system"]
    assert next_client.foreign_words() == []


def test_a_session_has_its_time_and_no_more() -> None:
    bench = Bench(max_duration_s=60)
    bench.advance(59)
    assert bench.unit.messages == []
    bench.advance(1)
    assert [code for code, _ in bench.errors] == ["session_expired"]
    (end,) = bench.unit.of(m.EndSession)
    assert (end.lease, end.close_code) == (bench.lease, 1001)


def test_a_conversation_that_crashes_lets_go_of_everything() -> None:
    bench = Bench()
    work = bench.ask()
    bench.put("nonsense")
    assert [report.name for report in bench.unit.of(Crashed)] == ["conversation-0"]
    assert work.cancel.cancelled
    assert bench.clock.pending == []


# --- voice -----------------------------------------------------------------------------------


def test_audio_goes_to_voice_detection_with_its_place_in_the_session() -> None:
    bench = Bench()
    bench.say(append(silent(100)), append(silent(50)))
    heard = bench.vad.of(m.AudioIn)
    assert [(message.at_sample, len(message.pcm)) for message in heard] == [(0, 4800), (2400, 2400)]


def test_a_sample_that_is_cut_in_two_is_heard_whole() -> None:
    bench = Bench()
    pcm = loud(1)
    bench.say(append(pcm[:7]), append(pcm[7:]))
    heard = bench.vad.of(m.AudioIn)
    assert b"".join(message.pcm for message in heard) == pcm
    assert [message.at_sample for message in heard] == [0, 3]


def test_in_push_to_talk_voice_detection_hears_nothing() -> None:
    bench = Bench()
    bench.say(PUSH_TO_TALK, append(loud(200)))
    assert bench.vad.of(m.AudioIn) == []
    bench.say(ce.AudioCommit())
    (work,) = bench.stt.of(m.Transcribe)
    assert work.pcm == loud(200)


def test_audio_that_voice_detection_has_no_room_for_is_rejected_and_nothing_is_kept() -> None:
    bench = Bench()
    bench.say(append(silent(100)))
    bench.vad.full = True
    bench.say(ce.AudioAppend(audio=append(loud(100)).audio, event_id="e1"))
    assert bench.errors == [("input_backpressure", "e1")]
    bench.vad.full = False
    bench.say(append(silent(100)))
    # Its clock goes on as if the rejected audio had never been sent.
    assert [message.at_sample for message in bench.vad.of(m.AudioIn)] == [0, 2400]
    bench.say(ce.AudioCommit())
    (work,) = bench.stt.of(m.Transcribe)
    assert work.pcm == silent(200)


def test_audio_that_is_not_acceptable_reaches_nobody() -> None:
    bench = Bench()
    bench.say(ce.AudioAppend(audio="!!!", event_id="e1"), ce.AudioAppend(audio="", event_id="e2"))
    assert bench.errors == [("invalid_value", "e1"), ("invalid_value", "e2")]
    assert bench.vad.of(m.AudioIn) == []


def test_a_turn_is_transcribed_and_answered() -> None:
    bench = Bench()
    bench.say(TRANSCRIBE, append(silent(500) + loud(500)))
    bench.put(m.SpeechStarted(bench.lease, 400, 0), m.SpeechStopped(bench.lease, 1000, 600, 0))
    (work,) = bench.stt.of(m.Transcribe)
    assert len(work.pcm) == 48 * 600
    assert bench.llm.messages == []
    bench.put(m.Transcribed(bench.lease, work.voice_id, Transcript("Hello?")))
    (generate,) = bench.llm.of(m.Generate)
    assert generate.request.messages[-1].text == "Hello?"
    assert bench.client.types.count("conversation.item.input_audio_transcription.completed") == 1


@pytest.mark.parametrize("full", [False, True])
def test_a_transcription_that_fails_says_so_and_the_session_goes_on(full: bool) -> None:
    bench = Bench()
    bench.say(TRANSCRIBE, append(loud(500)))
    bench.stt.full = full
    bench.say(ce.AudioCommit())
    for work in bench.stt.of(m.Transcribe):
        error = StageError("stt_timeout", "Too slow.")
        bench.put(m.TranscriptionFailed(bench.lease, work.voice_id, error))
    (failed,) = [e for e in bench.client.events if e["type"].endswith("transcription.failed")]
    assert failed["error"]["code"] == ("stt_backpressure" if full else "stt_timeout")
    assert bench.ask().response_id


@pytest.mark.parametrize("stale", ["generation", "item"])
def test_what_is_said_about_audio_that_was_cleared_changes_nothing(stale: str) -> None:
    bench = Bench()
    bench.say(append(loud(500)), ce.AudioClear())
    before = len(bench.client.frames)
    if stale == "generation":
        bench.put(m.SpeechStarted(bench.lease, 0, 0), m.SpeechStopped(bench.lease, 400, 100, 0))
    else:
        bench.put(m.Transcribed(bench.lease, "item_unknown", Transcript("Hello?")))
    assert len(bench.client.frames) == before
    assert bench.stt.messages == bench.llm.messages == []


# --- guesses -----------------------------------------------------------------------------------


def hesitate(bench: Bench) -> None:
    """The user says something and pauses."""
    bench.say(TRANSCRIBE, append(silent(500) + loud(500) + silent(100)))
    bench.put(
        m.SpeechStarted(bench.lease, 400, 0, 600),
        m.SpeechPaused(bench.lease, 1096, 1000, 0),
    )


def test_a_pause_is_transcribed_and_answered_on_a_guess_and_nobody_is_told() -> None:
    bench = Bench()
    hesitate(bench)
    told = len(bench.client.frames)
    (guess,) = bench.stt.of(m.Transcribe)
    assert guess.urgency.speculative
    assert len(guess.pcm) == 48 * 696
    bench.put(m.Transcribed(bench.lease, guess.voice_id, Transcript("Hello?")))
    (draft,) = bench.llm.of(m.Generate)
    assert draft.urgency.speculative
    assert draft.request.messages[-1].text == "Hello?"
    bench.write(draft, "This is what I would say. ", "And more", end=False)
    (speech,) = bench.tts.of(m.Speak)
    assert speech.urgency is draft.urgency
    bench.put(m.Spoken(bench.lease, draft.response_id, 0, loud(20), last=False))
    assert [kind for kind in bench.client.types[told:] if not kind.endswith(".delta")] == []
    assert "response.output_audio.delta" not in bench.client.types


def test_a_guess_that_proves_right_is_urgent_and_becomes_the_answer() -> None:
    bench = Bench()
    hesitate(bench)
    (guess,) = bench.stt.of(m.Transcribe)
    bench.put(m.Transcribed(bench.lease, guess.voice_id, Transcript("Hello?")))
    (draft,) = bench.llm.of(m.Generate)
    bench.write(draft, "This is what I would say.")
    bench.put(m.SpeechStopped(bench.lease, 1500, 1000, 0))
    assert not draft.urgency.speculative
    assert not draft.cancel.cancelled
    bench.put(m.Spoken(bench.lease, draft.response_id, 0, loud(20), last=True))
    assert bench.client.status == "completed"
    assert len(bench.llm.of(m.Generate)) == len(bench.stt.of(m.Transcribe)) == 1
    usage = bench.board.usage()
    assert (usage.output_tokens, usage.speculative_output_tokens) == (1, 0)


def test_a_transcript_that_is_still_on_its_way_at_the_end_is_urgent_from_then_on() -> None:
    bench = Bench()
    hesitate(bench)
    (guess,) = bench.stt.of(m.Transcribe)
    bench.put(m.SpeechStopped(bench.lease, 1500, 1000, 0))
    assert not guess.urgency.speculative
    bench.put(m.Transcribed(bench.lease, guess.voice_id, Transcript("Hello?")))
    (generate,) = bench.llm.of(m.Generate)
    assert not generate.urgency.speculative


@pytest.mark.parametrize("known", [False, True])
def test_when_the_user_goes_on_the_work_on_the_guess_is_stopped(known: bool) -> None:
    bench = Bench()
    hesitate(bench)
    (guess,) = bench.stt.of(m.Transcribe)
    if known:
        bench.put(m.Transcribed(bench.lease, guess.voice_id, Transcript("Hello?")))
        bench.write(bench.llm.of(m.Generate)[0], "Hello ", "yourself.")
    bench.put(m.SpeechResumed(bench.lease, 1200, 0))
    if known:
        assert all(work.cancel.cancelled for work in bench.llm.of(m.Generate))
        assert bench.board.usage().speculative_output_tokens == 2
    else:
        assert guess.cancel.cancelled
    sent = len(bench.client.frames)
    # What still comes of it is nobody's.
    bench.put(m.Transcribed(bench.lease, guess.voice_id, Transcript("Hello?")))
    assert len(bench.client.frames) == sent
    assert bench.board.usage().output_tokens == 0


def test_while_the_models_are_busy_with_what_is_wanted_no_guess_is_made() -> None:
    load = Load(1)
    bench = Bench(load=load)
    with load.working(Urgency(speculative=False)):
        hesitate(bench)
    assert bench.stt.messages == []
    bench.put(m.SpeechStopped(bench.lease, 1500, 1000, 0))
    (work,) = bench.stt.of(m.Transcribe)
    assert not work.urgency.speculative


def test_a_look_at_what_is_being_said_gives_way_to_guesses() -> None:
    bench = Bench()
    bench.say(TRANSCRIBE, append(silent(500) + loud(1000)))
    bench.put(
        m.SpeechStarted(bench.lease, 400, 0, 600),
        m.SpeechLasted(bench.lease, 1500, 1000, 0),
    )
    (look,) = bench.stt.of(m.Transcribe)
    assert look.urgency.need is Need.GLANCE


def test_in_the_plain_protocol_no_guess_is_made() -> None:
    bench = Bench(plain=True)
    hesitate(bench)
    assert bench.stt.messages == []


@pytest.mark.parametrize("known", [False, True])
def test_session_end_stops_the_work_on_a_guess_and_passes_on(known: bool) -> None:
    bench = Bench()
    hesitate(bench)
    (guess,) = bench.stt.of(m.Transcribe)
    cancel = guess.cancel
    if known:
        bench.put(m.Transcribed(bench.lease, guess.voice_id, Transcript("Hello?")))
        (draft,) = bench.llm.of(m.Generate)
        cancel = draft.cancel
    bench.put(m.SessionEnd(bench.lease))
    assert cancel.cancelled
    assert bench.onward.messages == [m.SessionEnd(bench.lease)]
    assert bench.clock.pending == []


def test_audio_that_stops_in_the_middle_of_speech_is_ended_by_the_clock() -> None:
    bench = Bench()
    bench.say(append(silent(500) + loud(500)))
    bench.put(m.SpeechStarted(bench.lease, 400, 0, 600))
    bench.advance(1.0)
    bench.say(append(loud(20)))
    bench.advance(1.4)
    assert bench.vad.of(m.AudioEnded) == []
    bench.advance(0.2)
    assert bench.vad.of(m.AudioEnded) == [m.AudioEnded(bench.lease, 0)]


def test_voice_detection_is_told_what_the_client_plays_and_that_it_stops() -> None:
    bench = Bench()
    bench.say(append(silent(500)))
    work = bench.ask()
    bench.write(work, "This is one sentence.")
    bench.put(m.Spoken(bench.lease, work.response_id, 0, loud(200), last=False))
    (played,) = bench.vad.of(m.AnswerPlayed)
    assert (played.pcm, played.at_sample) == (loud(200), 24 * 500)
    bench.say(ce.ResponseCancel())
    assert bench.vad.of(m.AnswerPlayed)[-1].pcm == b""


def test_in_the_plain_protocol_voice_detection_is_told_nothing_of_it() -> None:
    bench = Bench(plain=True)
    work = bench.ask()
    bench.write(work, "This is one sentence.")
    bench.put(m.Spoken(bench.lease, work.response_id, 0, loud(200), last=False))
    assert bench.vad.of(m.AnswerPlayed) == []


# --- answers -----------------------------------------------------------------------------------


def test_an_answer_is_written_spoken_and_done() -> None:
    bench = Bench()
    work = bench.ask()
    bench.write(work, "This is one sentence. ", "And here is another.")
    spoken = bench.tts.of(m.Speak)
    assert [(piece.segment, piece.request.text.strip()) for piece in spoken] == [
        (0, "This is one sentence."),
        (1, "And here is another."),
    ]
    assert "response.done" not in bench.client.types
    for piece in spoken:
        bench.put(m.Spoken(bench.lease, work.response_id, piece.segment, loud(20), last=True))
    assert bench.client.status == "completed"
    usage = bench.board.usage()
    assert (usage.responses, usage.input_tokens, usage.output_tokens) == (1, 3, 2)
    assert usage.audio_output_ms == 40


def test_a_tool_call_is_passed_on_as_it_is_written() -> None:
    bench = Bench()
    work = bench.ask()
    for event in (
        ToolCallStarted("call_1", "look_up"),
        ToolCallDelta("call_1", '{"a":'),
        ToolCallDelta("call_1", "1}"),
        Finished("stop", 3, 4),
    ):
        bench.put(m.Generated(bench.lease, work.response_id, event))
    (done,) = [e for e in bench.client.events if e["type"].endswith("arguments.done")]
    assert (done["call_id"], done["arguments"]) == ("call_1", '{"a":1}')
    assert bench.client.status == "completed"
    assert bench.tts.messages == []


def test_cancelling_stops_the_work_and_what_still_comes_is_ignored() -> None:
    bench = Bench()
    work = bench.ask()
    bench.write(work, "This is one sentence. ", "Ano", end=False)
    (speak,) = bench.tts.of(m.Speak)
    bench.say(ce.ResponseCancel())
    assert bench.client.status == "cancelled"
    assert work.cancel.cancelled
    assert speak.cancel.cancelled
    sent = len(bench.client.frames)
    bench.write(work, "ther.")
    bench.put(m.Spoken(bench.lease, work.response_id, 0, loud(20), last=True))
    bench.put(m.ResponseFailed(bench.lease, work.response_id, StageError("x", "y")))
    assert len(bench.client.frames) == sent
    assert not bench.ask().cancel.cancelled


@pytest.mark.parametrize("stage", ["llm", "tts"])
def test_a_stage_that_is_too_far_behind_fails_the_response_and_not_the_session(stage: str) -> None:
    bench = Bench()
    lane: Lane = getattr(bench, stage)
    lane.full = True
    bench.say(text_item("Hi."), ce.ResponseCreate())
    for work in bench.llm.of(m.Generate):
        bench.write(work, "One. ", "Two. ", "Three.")
    failed = next(e for e in bench.client.events if e["type"] == "response.done")
    assert failed["response"]["status"] == "failed"
    assert failed["response"]["status_details"]["error"]["code"] == "stage_backpressure"
    assert bench.client.types.count("response.done") == 1
    lane.full = False
    work = bench.ask()
    bench.write(work, "Fine.")
    assert bench.tts.of(m.Speak)[-1].response_id == work.response_id
    assert bench.unit.of(Crashed) == []


def test_a_model_that_fails_fails_the_response() -> None:
    bench = Bench()
    work = bench.ask()
    error = StageError("llm_http_500", "The language model failed.")
    bench.put(m.ResponseFailed(bench.lease, work.response_id, error))
    assert bench.client.status == "failed"
    assert work.cancel.cancelled


@pytest.mark.parametrize("stage", ["llm", "tts"])
def test_a_stage_that_was_replaced_fails_what_it_was_doing(stage: str) -> None:
    bench = Bench()
    work = bench.ask()
    bench.put(m.StageReplaced(bench.lease, stage))
    assert bench.client.status == "failed"
    assert work.cancel.cancelled
    bench.put(m.StageReplaced(bench.lease, stage))
    assert bench.client.types.count("response.done") == 1


def test_voice_detection_that_was_replaced_is_set_up_again() -> None:
    bench = Bench()
    bench.vad.take()
    bench.put(m.StageReplaced(bench.lease, "vad"))
    (configured,) = bench.vad.of(m.ConfigureVad)
    assert configured.generation > 0
    bench.say(PUSH_TO_TALK)
    bench.vad.take()
    bench.put(m.StageReplaced(bench.lease, "vad"))
    assert bench.vad.messages == []


# --- timers --------------------------------------------------------------------------------------


def idle_timeout(timeout_ms: int | None) -> ce.SessionUpdate:
    detection = {"type": "server_vad", "idle_timeout_ms": timeout_ms}
    return ce.SessionUpdate(
        session={"type": "realtime", "audio": {"input": {"turn_detection": detection}}}
    )


def answered(bench: Bench) -> None:
    work = bench.ask()
    bench.write(work, "Yes?")
    piece = bench.tts.of(m.Speak)[-1]
    bench.put(m.Spoken(bench.lease, work.response_id, piece.segment, b"", last=True))


def test_a_silent_user_is_asked_again() -> None:
    bench = Bench()
    bench.say(idle_timeout(5000))
    answered(bench)
    bench.advance(4.9)
    assert "input_audio_buffer.timeout_triggered" not in bench.client.types
    bench.advance(0.1)
    assert "input_audio_buffer.timeout_triggered" in bench.client.types
    assert len(bench.llm.of(m.Generate)) == 2


def test_a_user_who_speaks_is_not() -> None:
    bench = Bench()
    bench.say(idle_timeout(5000))
    answered(bench)
    bench.say(append(loud(200)))
    generation = bench.vad.of(m.ConfigureVad)[-1].generation
    bench.put(m.SpeechStarted(bench.lease, 0, generation))
    bench.advance(100)
    assert "input_audio_buffer.timeout_triggered" not in bench.client.types


def test_a_timer_that_was_moved_while_it_fired_does_not_count() -> None:
    bench = Bench()
    bench.say(idle_timeout(5000))
    answered(bench)
    bench.clock.advance(5)  # it has fired, but the news waits
    fired = bench.actor.actor_inbox.get().message
    assert isinstance(fired, m.TimerFired)
    bench.say(ce.ResponseCreate())
    bench.put(fired)
    assert "input_audio_buffer.timeout_triggered" not in bench.client.types
    bench.say(ce.ResponseCancel())  # and the silence is counted anew
    bench.put(fired)
    assert "input_audio_buffer.timeout_triggered" not in bench.client.types
    bench.advance(5)
    assert "input_audio_buffer.timeout_triggered" in bench.client.types


def test_a_timer_of_another_session_does_not_count() -> None:
    bench = Bench(max_duration_s=60)
    bench.put(m.TimerFired(Lease.issue(0, "canary-a"), "session", 1))
    assert bench.unit.messages == []
    assert bench.errors == []
