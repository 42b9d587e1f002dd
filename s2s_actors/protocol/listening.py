"""The user's side of a dialogue: the input buffer, turns, and what was heard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UnsetType
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.conversation import Entry
from s2s_actors.protocol.debt import AnswerDebt
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.input_audio import MIN_COMMIT_MS, InputAudioBuffer
from s2s_actors.protocol.items import InputAudio, Message
from s2s_actors.protocol.outputs import (
    ArmTimer,
    ConfigureVad,
    Count,
    DisarmTimer,
    StartTranscription,
)
from s2s_actors.protocol.response import ErrorDetail
from s2s_actors.protocol.session import ServerVad
from statecharts.turn import Answer, Transcribe, TurnChart

if TYPE_CHECKING:
    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.response_run import ResponseRun

MAX_UTTERANCE_MS = 5 * 60_000
"""Someone who talks that long without a pause is committed in pieces."""
IDLE_TIMER = "idle"


@dataclass(slots=True)
class _Turn:
    """One utterance on its way to its transcript."""

    item_id: str
    chart: TurnChart
    start_ms: int
    length_ms: int = 0
    wanted: bool = False
    entry: Entry | None = None


class Listening:
    """What the user says, cut into turns.

    Promises: speech that is announced is committed or its end is announced; a committed
    turn gets one transcript or one failure; a turn is answered at most once, and words that
    were talked over are answered together with what followed.
    """

    def __init__(self, desk: Desk, answering: Answering) -> None:
        self._desk = desk
        self._answering = answering
        self.buffer = InputAudioBuffer()
        self._hearing: _Turn | None = None
        self._pending: dict[str, _Turn] = {}
        self._generation = 0
        self._debt = AnswerDebt(answering)
        # Where speech ended that was announced: a prefix must not reach back before it.
        self._stopped_ms = 0

    @property
    def detects(self) -> bool:
        """Whether turns are found by voice detection."""
        return self._desk.session.audio.input.turn_detection is not None

    @property
    def context_ready(self) -> bool:
        """Whether everything that was said is known as text."""
        return not self._pending

    # --- the buffer -----------------------------------------------------------------------

    def append(self, data: bytes) -> None:
        """Take in audio that the buffer has room for."""
        self.buffer.append(data)
        if self._hearing is not None:
            if self.buffer.end_ms - self._hearing.start_ms > MAX_UTTERANCE_MS:
                self.speech_stopped(self.buffer.end_ms, self._generation)
                self.reset_detection()
        elif self.detects:
            self.buffer.trim_silence(keep_ms=audio.duration_ms(len(data)))

    def clear(self) -> None:
        """Forget the buffered audio, and an utterance that has begun in it."""
        self._break_off()
        self.buffer.clear()
        self.reset_detection()
        self._desk.send(ev.AudioCleared())
        self._settle()

    def commit(self) -> None:
        """Make the buffered audio an item at the client's wish; that asks for no answer.

        Raises:
            ClientError: There is too little of it.
        """
        if self.buffer.held_ms < MIN_COMMIT_MS:
            raise ClientError(
                "input_audio_buffer_commit_empty",
                "Error committing input audio buffer: buffer too small. Expected at least "
                f"{MIN_COMMIT_MS}ms of audio, but buffer only has {self.buffer.held_ms}.00ms "
                "of audio.",
            )
        turn = self._hearing or self._new_turn(self.buffer.start_ms)
        self._hear(None)
        self.reset_detection()
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._commit(turn, self.buffer.end_ms, answer=False)

    def reset_detection(self) -> None:
        """What voice detection says about the audio so far counts no longer."""
        if self.detects:
            self._generation += 1
            self.configure_detection()

    def detection_lost(self) -> None:
        """Voice detection has lost track: nobody else would end what is being said."""
        if self._hearing is not None:
            self.speech_stopped(self.buffer.end_ms, self._generation)
        self.reset_detection()

    def configure_detection(self) -> None:
        """Pass the session's settings on; an utterance that can't end any more is broken off."""
        if not self.detects:
            self._break_off()
            self._debt.forgive()
            self._generation += 1
            self._desk.put(DisarmTimer(IDLE_TIMER))
        detection = self._desk.session.audio.input.turn_detection
        self._desk.put(ConfigureVad(detection, self._generation))

    def _break_off(self) -> None:
        turn = self._hearing
        if turn is not None:
            self._hear(None)
            turn.chart.send("discard")
            self._stopped_ms = self.buffer.end_ms
            self._desk.send(ev.SpeechStopped(item_id=turn.item_id, audio_end_ms=self._stopped_ms))

    def _hear(self, turn: _Turn | None) -> None:
        self._hearing = turn
        # Clients know the id from now on, but the item comes only with the commit.
        self._desk.conversation.announced = turn.item_id if turn else None

    # --- what voice detection says ------------------------------------------------------------

    def speech_started(self, at_ms: int, generation: int) -> None:
        """Speech begins at a position of the session's clock, prefix included."""
        detection = self._desk.session.audio.input.turn_detection
        if detection is None or generation != self._generation or self._hearing is not None:
            return
        turn = self._new_turn(max(at_ms, self.buffer.start_ms, self._stopped_ms))
        self._hear(turn)
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._desk.send(ev.SpeechStarted(item_id=turn.item_id, audio_start_ms=turn.start_ms))
        for earlier in self._pending.values():
            earlier.chart.send("overtake")
        if detection.interrupt_response and self._answering.interrupt():
            self._debt.owe()

    def speech_stopped(self, at_ms: int, generation: int) -> None:
        """The turn is over at a position of the session's clock, silence included."""
        turn, detection = self._hearing, self._desk.session.audio.input.turn_detection
        if turn is None or detection is None or generation != self._generation:
            return
        self._hear(None)
        end_ms = max(at_ms, turn.start_ms)
        self._desk.send(ev.SpeechStopped(item_id=turn.item_id, audio_end_ms=end_ms))
        self._commit(turn, end_ms, answer=detection.create_response)

    def idle_timeout(self) -> None:
        """The user has said nothing since the last answer: let the assistant go on."""
        detection = self._desk.session.audio.input.turn_detection
        if not isinstance(detection, ServerVad) or detection.idle_timeout_ms is None:
            return
        if self._hearing is not None or self._answering.current is not None:
            return
        end_ms = self.buffer.end_ms
        earliest_ms = max(self.buffer.start_ms, self._stopped_ms)
        start_ms = max(earliest_ms, end_ms - detection.idle_timeout_ms)
        item_id = new_id("item")
        self._desk.send(
            ev.TimeoutTriggered(item_id=item_id, audio_start_ms=start_ms, audio_end_ms=end_ms)
        )
        self._add_item(item_id, self.buffer.slice(start_ms, end_ms), transcript="")
        self.buffer.drop_before(end_ms)
        self.reset_detection()
        if self._desk.session.audio.input.transcription is not None:
            self._announce(item_id, "", end_ms - start_ms)
        self._debt.answer(context_ready=self.context_ready)

    # --- turns ------------------------------------------------------------------------------

    def _new_turn(self, start_ms: int) -> _Turn:
        return _Turn(new_id("item"), TurnChart(), start_ms)

    def _commit(self, turn: _Turn, end_ms: int, *, answer: bool) -> None:
        pcm = self.buffer.slice(turn.start_ms, end_ms)
        self.buffer.drop_before(end_ms)
        turn.length_ms = audio.duration_ms(len(pcm))
        turn.wanted = answer
        turn.entry = self._add_item(turn.item_id, pcm, transcript=None)
        self._pending[turn.item_id] = turn
        self._advance(turn, "commit", pcm=pcm, answer=answer)

    def _add_item(self, item_id: str, pcm: bytes, *, transcript: str | None) -> Entry:
        item = Message(id=item_id, role="user", content=(InputAudio(transcript=transcript),))
        entry = Entry(item, pcm=bytearray(pcm))
        previous = self._desk.conversation.add(entry)
        self._desk.send(ev.AudioCommitted(item_id=item_id, previous_item_id=previous))
        self._desk.send(ev.ItemAdded(item=item, previous_item_id=previous))
        self._desk.send(ev.ItemDone(item=item, previous_item_id=previous))
        self._desk.put(Count(audio_input_ms=audio.duration_ms(len(pcm))))
        return entry

    def _advance(self, turn: _Turn, event: str, *, pcm: bytes = b"", **data: bool | str) -> None:
        for effect in turn.chart.fire(event, **data):
            match effect:
                case Transcribe():
                    self._transcribe(turn, pcm)
                case Answer():
                    self._debt.answer(context_ready=self.context_ready)
                case _:
                    raise NotImplementedError(effect)

    def _transcribe(self, turn: _Turn, pcm: bytes) -> None:
        settings = self._desk.session.audio.input.transcription
        language = settings.language if settings else None
        prompt = settings.prompt if settings else None
        self._desk.put(
            StartTranscription(
                turn.item_id,
                pcm,
                language=None if isinstance(language, UnsetType) else language,
                prompt=None if isinstance(prompt, UnsetType) else prompt,
            )
        )

    # --- what was heard ------------------------------------------------------------------------

    def transcribed(self, item_id: str, text: str) -> None:
        """The words of an utterance are known; they may be none."""
        turn = self._pending.pop(item_id, None)
        if turn is None:
            return
        text = text.strip()
        self._write_down(turn, text)
        if self._desk.session.audio.input.transcription is not None:
            self._announce(item_id, text, turn.length_ms)
        self._advance(turn, "heard", text=text)
        if turn.chart.silent.is_active and turn.wanted and text:
            self._debt.owe()  # the user has talked past these words
        self._settle(turn)

    def transcription_failed(self, item_id: str, code: str, message: str) -> None:
        """An utterance could not be transcribed."""
        turn = self._pending.pop(item_id, None)
        if turn is None:
            return
        alone = turn.wanted and not turn.chart.overtaken.is_active and not self._debt.owed
        self._advance(turn, "failed")
        if self._desk.session.audio.input.transcription is not None:
            error = ErrorDetail(type="server_error", code=code, message=message)
            self._desk.send(ev.TranscriptionFailed(item_id=item_id, content_index=0, error=error))
        elif alone and self._answering.current is None:
            # Without transcription events the failure would be dead air: fail the answer.
            self._answering.fail_at_once(code, message)
        self._settle(turn)

    def all_failed(self, code: str, message: str) -> None:
        """Speech recognition is gone, and with it everything that it was doing."""
        for item_id in list(self._pending):
            self.transcription_failed(item_id, code, message)

    def _write_down(self, turn: _Turn, text: str) -> None:
        entry = turn.entry
        assert entry is not None
        assert isinstance(entry.item, Message)
        entry.item = replace(entry.item, content=(InputAudio(transcript=text),))

    def _announce(self, item_id: str, text: str, length_ms: int) -> None:
        if text:
            self._desk.send(ev.TranscriptionDelta(item_id=item_id, content_index=0, delta=text))
        self._desk.send(
            ev.TranscriptionCompleted(
                item_id=item_id,
                content_index=0,
                transcript=text,
                usage=ev.DurationUsage(seconds=length_ms / 1000),
            )
        )

    def _settle(self, turn: _Turn | None = None) -> None:
        """All is known that was said, or nothing more will come of it: answer what waited."""
        if not self.context_ready:
            return
        self._answering.context_ready()
        detection = self._desk.session.audio.input.turn_detection
        answers = detection is not None and detection.create_response
        if self._debt.owed and answers and self._hearing is None and (not turn or turn.wanted):
            self._debt.answer(context_ready=True)

    # --- responses --------------------------------------------------------------------------

    def response_asked_for(self) -> None:
        """The client has asked for a response that covers all that was said."""
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._debt.forgive()

    def response_over(self, run: ResponseRun) -> None:
        """A response of the conversation has ended."""
        self._debt.response_over(
            user_speaks=self._hearing is not None, context_ready=self.context_ready
        )
        detection = self._desk.session.audio.input.turn_detection
        quiet = self._hearing is None and self._answering.current is None
        if quiet and isinstance(detection, ServerVad) and detection.idle_timeout_ms:
            # The client plays what was sent: its silence begins when that is over.
            self._desk.put(ArmTimer(IDLE_TIMER, detection.idle_timeout_ms + run.writer.spoken_ms))
