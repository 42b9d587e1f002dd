"""Plays a dialogue in memory: events go in and out as JSON, work is done by hand.

Stands where the conversation actor stands, so what holds here holds there: every event is
checked strictly and against the stream invariants, and the work that a dialogue asks for
is kept until the test does it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio, codec, outputs
from s2s_actors.protocol.client_events import AudioAppend
from s2s_actors.protocol.conduct import NATURAL
from s2s_actors.protocol.dialogue import Dialogue
from s2s_actors.protocol.server_events import LogProb, client_error
from s2s_actors.protocol.session import RealtimeSession
from s2s_actors.protocol.session_start import SessionStart
from tests.support import strict_events
from tests.support.stream_checker import StreamChecker

if TYPE_CHECKING:
    from s2s_actors.protocol.waterfall import Waterfall

Event: TypeAlias = "dict[str, Any]"
T = TypeVar("T")

START = SessionStart("sess_1", "local-cascade", "Be kind.", 3600.0, 1_999_999_999)
"""A session that keeps to the plain protocol."""
NATURAL_START = replace(START, conduct=NATURAL)
"""One that does all that goes beyond it."""
BYTES_PER_MS = 48


def speech(length_ms: int, sample: int = 0) -> bytes:
    """So much audio in the wire's format."""
    return sample.to_bytes(2, "little", signed=True) * (24 * length_ms)


def user_text(text: str, **fields: Any) -> Event:
    """A message of the user."""
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content} | fields


@dataclass(slots=True)
class Work:
    """What the stages have been asked for and have not done."""

    utterances: dict[str, outputs.StartTranscription] = field(default_factory=dict)
    generations: dict[str, outputs.StartGeneration] = field(default_factory=dict)
    segments: list[outputs.StartSpeech] = field(default_factory=list)
    timers: dict[str, int] = field(default_factory=dict)
    generation: int = 0
    detection: object = None
    hung_up: outputs.HangUp | None = None
    stopped: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)
    text_enough: set[str] = field(default_factory=set)
    audio_ended: bool = False
    waterfalls: list[Waterfall] = field(default_factory=list)
    echoes: list[outputs.ExpectEcho] = field(default_factory=list)


class Player:
    """One session.

    Attributes:
        events: All events to the client so far.
        asked: Everything else that the dialogue has asked for so far.
        work: What is still to be done.
    """

    def __init__(self, start: SessionStart = START) -> None:
        self.checker = StreamChecker()
        self.events: list[Event] = []
        self.asked: list[outputs.Output] = []
        self.work = Work()
        self._clock_ms = 0.0
        self._may_guess = True
        self.quiet_ms = 0
        """Where the last pause began."""
        self.dialogue = Dialogue(start)
        self.dialogue.open()
        self.settle()

    # --- the client -----------------------------------------------------------------------

    def send(self, kind: str, **fields: Any) -> list[Event]:
        """Send a client event and return what it is answered with at once."""
        return self.send_raw(json.dumps({"type": kind, **fields}))

    def send_raw(self, raw: str) -> list[Event]:
        """Send a text frame."""
        try:
            sent: object = json.loads(raw)
        except (ValueError, RecursionError):
            sent = raw
        self.checker.client(sent)
        before = len(self.events)
        try:
            event = codec.decode(raw)
        except ClientError as error:
            self._receive(codec.encode(client_error(error)))
            return self.events[before:]
        if isinstance(event, AudioAppend) and self.dialogue.listening.detection.is_on:
            # As the conversation does: voice detection gets the audio before the buffer.
            try:
                self.dialogue.listening.append(self.dialogue.audio_of(event))
            except ClientError as error:
                self.dialogue.reject(error, event)
        else:
            self.dialogue.client(event)
        self.settle()
        return self.events[before:]

    def append(self, pcm: bytes) -> list[Event]:
        """Append audio."""
        return self.send("input_audio_buffer.append", audio=base64.b64encode(pcm).decode())

    def update(self, **session: Any) -> list[Event]:
        """Change settings of the session."""
        return self.send("session.update", session={"type": "realtime", **session})

    def update_input(self, **settings: Any) -> list[Event]:
        """Change how the user's audio is taken in."""
        return self.update(audio={"input": settings})

    def create_text(self, text: str, **fields: Any) -> str:
        """Add a message of the user and return its id."""
        events = self.send("conversation.item.create", item=user_text(text), **fields)
        item_id: str = events[-1]["item"]["id"]
        return item_id

    def respond(self, **response: Any) -> str:
        """Ask for a response and return its id."""
        events = self.send("response.create", response=response)
        return response_id_of(events)

    # --- voice detection ------------------------------------------------------------------

    @property
    def talk(self) -> RealtimeSession:
        """The session, which is one that answers."""
        session = self.dialogue.session
        assert isinstance(session, RealtimeSession)
        return session

    @property
    def now_ms(self) -> int:
        """The session's audio clock."""
        return self.dialogue.listening.buffer.end_ms

    def starts(self, at_ms: int | None = None, *, generation: int | None = None) -> list[Event]:
        """Speech starts, by default now."""
        return self._do(
            lambda: self.dialogue.listening.detection.speech_started(
                self.now_ms if at_ms is None else at_ms,
                self.work.generation if generation is None else generation,
            )
        )

    def stops(self, at_ms: int | None = None, *, generation: int | None = None) -> list[Event]:
        """Speech stops, by default now."""
        return self._do(
            lambda: self.dialogue.listening.detection.speech_stopped(
                self.now_ms if at_ms is None else at_ms,
                self.work.generation if generation is None else generation,
            )
        )

    def lasts(self, for_ms: int) -> list[Event]:
        """Speech has gone on for so long by now."""
        return self._do(
            lambda: self.dialogue.listening.detection.speech_lasted(
                self.now_ms, for_ms, self.work.generation
            )
        )

    def pauses(self, silence_ms: int = 96) -> list[Event]:
        """There has been a short silence by now."""
        self.quiet_ms = self.now_ms - silence_ms
        return self._do(
            lambda: self.dialogue.listening.detection.speech_paused(
                self.now_ms, self.quiet_ms, self.work.generation
            )
        )

    def resumes(self, at_ms: int | None = None) -> list[Event]:
        """Speech goes on after a pause, by default from now."""
        at = self.now_ms if at_ms is None else at_ms
        return self._do(
            lambda: self.dialogue.listening.detection.speech_resumed(at, self.work.generation)
        )

    def sounds(
        self, completeness: float, speech_ms: int = 2000, *, quiet_ms: int | None = None
    ) -> list[Event]:
        """So finished does it sound, by default at the last pause."""
        pause_ms = self.quiet_ms if quiet_ms is None else quiet_ms
        return self._do(
            lambda: self.dialogue.listening.detection.speech_weighed(
                completeness, speech_ms, pause_ms, self.work.generation
            )
        )

    def keeps_quiet(self, for_ms: int) -> list[Event]:
        """The pause has lasted for so long by now."""
        return self._do(
            lambda: self.dialogue.listening.detection.speech_quiet(
                self.now_ms, for_ms, self.work.generation
            )
        )

    def dismisses(self) -> list[Event]:
        """What was taken for speech was an echo."""
        return self._do(
            lambda: self.dialogue.listening.detection.speech_dismissed(self.work.generation)
        )

    def waits(self, ms: float) -> None:
        """Time passes; the timers are up to the test."""
        self._clock_ms += ms
        self._tell_time()

    def is_busy(self, busy: bool = True) -> None:
        """The machine has no time for guesses, or has it again."""
        self._may_guess = not busy
        self._tell_time()

    def _tell_time(self) -> None:
        self.dialogue.at(self._clock_ms, may_guess=self._may_guess)

    def listens(self, up_to_ms: int | None = None) -> list[Event]:
        """Voice detection has come so far, by default to the end of what was appended."""
        at = self.now_ms if up_to_ms is None else up_to_ms
        return self._do(lambda: self.dialogue.listening.detection.listened(at))

    def says(self, length_ms: int = 1000) -> str:
        """The user speaks and stops; returns the item that is to be transcribed."""
        self.starts()
        self.append(speech(length_ms))
        events = self.stops()
        item_id: str = next(
            event["item_id"] for event in events if event["type"].endswith("committed")
        )
        return item_id

    # --- stages ---------------------------------------------------------------------------

    def hears(self, item_id: str, text: str, *logprobs: LogProb) -> list[Event]:
        """Speech recognition is done."""
        self.work.utterances.pop(item_id, None)
        return self._do(lambda: self.dialogue.listening.transcribed(item_id, text, logprobs))

    def mishears(self, item_id: str) -> list[Event]:
        """Speech recognition fails."""
        self.work.utterances.pop(item_id, None)
        return self._do(
            lambda: self.dialogue.listening.transcription_failed(item_id, "stt_failed", "No.")
        )

    def writes(self, response_id: str, *deltas: str) -> list[Event]:
        """The model writes."""

        def act() -> None:
            for delta in deltas:
                self.dialogue.answering.results.text(response_id, delta)

        return self._do_for(response_id, act)

    def calls(self, response_id: str, call_id: str, name: str, *arguments: str) -> list[Event]:
        """The model calls a function."""

        def act() -> None:
            self.dialogue.answering.results.call_started(response_id, call_id, name)
            for delta in arguments:
                self.dialogue.answering.results.call_arguments(response_id, delta)

        return self._do_for(response_id, act)

    def ends(
        self, response_id: str, *, cut: bool = False, read: int = 10, written: int = 5
    ) -> list[Event]:
        """The model is done."""
        self.work.generations.pop(response_id, None)
        return self._do_for(
            response_id,
            lambda: self.dialogue.answering.results.generated(
                response_id, cut=cut, read=read, written=written
            ),
        )

    def fails(self, response_id: str) -> list[Event]:
        """A model fails."""
        return self._do_for(
            response_id,
            lambda: self.dialogue.answering.results.failed(response_id, "llm_failed", "No answer."),
        )

    def speaks(
        self, work: outputs.StartSpeech, pcm: bytes = b"", *, last: bool = True
    ) -> list[Event]:
        """The voice says a piece, by default the last one of its segment."""
        if last and work in self.work.segments:
            self.work.segments.remove(work)
        return self._do_for(
            work.response_id,
            lambda: self.dialogue.answering.results.spoken(
                work.response_id, work.segment, pcm, last=last
            ),
        )

    def speaks_all(self, ms_a_segment: int = 500) -> list[Event]:
        """The voice says all that it was asked for."""
        before = len(self.events)
        while self.work.segments:
            self.speaks(self.work.segments[0], speech(ms_a_segment, 1))
        return self.events[before:]

    def answers(self, response_id: str, *deltas: str) -> list[Event]:
        """The whole of an answer: written and, if asked for, spoken."""
        before = len(self.events)
        self.writes(response_id, *deltas)
        self.ends(response_id)
        self.speaks_all()
        return self.events[before:]

    def loses(self, stage: str) -> list[Event]:
        """A stage crashes and is replaced; its work is gone with it."""
        if stage == "stt":
            self.work.utterances.clear()
        return self._do(lambda: self.dialogue.stage_lost(stage))

    def timer(self, name: str) -> list[Event]:
        """A timer comes."""
        self.work.timers.pop(name, None)
        return self._do(lambda: self.dialogue.timer(name))

    # --- what came of it ------------------------------------------------------------------

    def of(self, kind: type[T]) -> list[T]:
        """What was asked for, of one kind."""
        return [output for output in self.asked if isinstance(output, kind)]

    @property
    def open_response(self) -> str | None:
        """Id of the open response of the conversation."""
        run = self.dialogue.answering.current
        return run.id if run else None

    def is_at_work(self, work_id: str) -> bool:
        """Whether a response or a draft takes in what the stages say for this."""
        answers = self.dialogue.answering._open
        return (answers.run(work_id) or answers.draft(work_id)) is not None

    def items(self) -> list[Event]:
        """The conversation as its owner would pass it on."""
        return [
            json.loads(msgspec.json.encode(item))
            for item in self.dialogue._desk.conversation.items()
        ]

    def settle(self) -> None:
        """Carry out what the dialogue asks for, until it asks for nothing more."""
        while work := self.dialogue.take_outputs():
            for output in work:
                self._carry_out(output)

    def finish(self, *, cut: bool = False) -> None:
        """The session is over; check what must hold then."""
        self.checker.finish(cut=cut)
        if not cut:
            assert not self.dialogue.answering._open.runs
            assert self.dialogue.listening.context_ready
            assert self.dialogue.listening._hearing.candidate is None
            assert not self.work.generations
            assert not self.work.segments

    def _do(self, act: Any) -> list[Event]:
        before = len(self.events)
        act()
        self.settle()
        self._check_lead()
        return self.events[before:]

    def _do_for(self, work_id: str, act: Any) -> list[Event]:
        items = self.items()
        events = self._do(act)
        if work_id.startswith("draft") and work_id not in self.work.committed:
            assert events == [], "a draft was seen"
            assert self.items() == items, "a draft was remembered"
        return events

    def _check_lead(self) -> None:
        lead_ms = self.dialogue._desk.conduct.lead_ms
        if lead_ms is not None:
            ahead_ms = self.dialogue.answering.playback.ahead_ms
            assert ahead_ms <= max(lead_ms, audio.DELTA_MS), "sent too far ahead"

    def _carry_out(self, output: outputs.Output) -> None:  # noqa: C901, PLR0912 - a case each
        if isinstance(output, outputs.Send):
            self._receive(codec.encode(output.event))
            return
        self.asked.append(output)
        work = self.work
        match output:
            case outputs.ConfigureVad():
                work.generation, work.detection = output.generation, output.turn_detection
            case outputs.StartTranscription():
                assert output.voice_id not in work.utterances
                work.utterances[output.voice_id] = output
            case outputs.StartGeneration():
                assert output.response_id not in work.stopped
                work.generations[output.response_id] = output
            case outputs.StartSpeech():
                assert output.response_id not in work.stopped
                assert output.text.strip()
                work.segments.append(output)
            case outputs.StopWork(work_id=work_id):
                assert work_id not in work.stopped
                work.stopped.add(work_id)
                work.utterances.pop(work_id, None)
                work.generations.pop(work_id, None)
                work.segments = [s for s in work.segments if s.response_id != work_id]
            case outputs.CommitWork(work_id=work_id):
                assert work_id not in work.stopped
                work.committed.add(work_id)
            case outputs.HaveEnoughText(work_id=work_id, enough=enough):
                assert work_id not in work.stopped
                assert enough is not (work_id in work.text_enough)
                work.text_enough ^= {work_id}
            case outputs.EndAudio():
                work.audio_ended = True
            case outputs.ExpectEcho():
                work.echoes.append(output)
            case outputs.ArmTimer(name=name, delay_ms=delay_ms):
                work.timers[name] = delay_ms
            case outputs.DisarmTimer(name=name):
                work.timers.pop(name, None)
            case outputs.HangUp():
                work.hung_up = output
            case outputs.TurnMeasured(waterfall=waterfall):
                work.waterfalls.append(waterfall)
            case outputs.Count():
                pass

    def _receive(self, raw: bytes) -> None:
        event = json.loads(raw)
        self.events.append(event)
        strict_events.validate(event)
        self.checker.server(event)


def types(events: list[Event]) -> list[str]:
    """The types of events, in their order."""
    return [event["type"] for event in events]


def response_id_of(events: list[Event]) -> str:
    """Id of the response that was created."""
    created = [event for event in events if event["type"] == "response.created"]
    assert created, f"no response was created: {events}"
    response_id: str = created[0]["response"]["id"]
    return response_id


def error_of(events: list[Event]) -> Event:
    """The one error that answers an event, alone."""
    assert types(events) == ["error"], events
    error: Event = events[0]["error"]
    return error


def one(events: list[Event], kind: str) -> Event:
    """The only event of a type."""
    found = [event for event in events if event["type"] == kind]
    assert len(found) == 1, f"{len(found)} of {kind} in {types(events)}"
    return found[0]
