"""The user's side of a dialogue: the input buffer, and where turns begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.errors import ClientError
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.input_audio import MIN_COMMIT_MS, InputAudioBuffer
from s2s_actors.protocol.outputs import ArmTimer, ConfigureVad, DisarmTimer
from s2s_actors.protocol.session import ServerVad
from s2s_actors.protocol.transcoding import WireDecoder
from s2s_actors.protocol.turns import Turn, Turns
from statecharts.turn import TurnChart

if TYPE_CHECKING:
    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.conversation import Entry
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.response_run import ResponseRun

MAX_UTTERANCE_MS = 5 * 60_000
"""Someone who talks that long without a pause is committed in pieces."""
MAX_PREFIX_MS = 6000
"""How far before its detection a turn may begin: the longest padding, and what detection takes."""
IDLE_TIMER = "idle"


class Listening:
    """What the user says, cut into turns.

    Promises: speech that is announced is committed or its end is announced, on one clock
    that never goes back. What becomes of a committed turn is up to :class:`Turns`.
    """

    def __init__(self, desk: Desk, answering: Answering) -> None:
        self._desk = desk
        self._answering = answering
        self.buffer = InputAudioBuffer()
        self.decoder = WireDecoder(desk.session.audio.input.format)
        self._turns = Turns(desk, answering, user_speaks=lambda: self._hearing is not None)
        self._hearing: Turn | None = None
        self._generation = 0
        # Where speech ended that was announced: a prefix must not reach back before it.
        self._stopped_ms = 0

    @property
    def detects(self) -> bool:
        """Whether turns are found by voice detection."""
        return self._desk.session.audio.input.turn_detection is not None

    # --- the buffer -----------------------------------------------------------------------

    def append(self, data: bytes) -> None:
        """Take in audio.

        Raises:
            ClientError: The buffer has no room for it; nothing has changed.
        """
        self.buffer.append(data)

    def listened(self, up_to_ms: int) -> None:
        """Voice detection has come so far: what lies well before can't begin a turn any more."""
        if self._hearing is None:
            if self.detects:
                self.buffer.trim_silence(before_ms=up_to_ms - MAX_PREFIX_MS)
        elif up_to_ms - self._hearing.start_ms > MAX_UTTERANCE_MS:
            self.speech_stopped(up_to_ms, self._generation)
            self.reset_detection()

    def change_format(self) -> None:
        """Audio comes in another format from now on; what is buffered stays."""
        self.buffer.take_rest(self.decoder.flush())
        self.buffer.end_format()
        self.decoder = WireDecoder(self._desk.session.audio.input.format)

    def clear(self) -> None:
        """Forget the buffered audio, and an utterance that has begun in it."""
        self._break_off()
        self.decoder.flush()
        self.buffer.clear()
        self.reset_detection()
        self._desk.send(ev.AudioCleared())
        self._turns.settle()

    def commit(self) -> None:
        """Make the buffered audio an item at the client's wish; that asks for no answer.

        Raises:
            ClientError: There is too little of it.
        """
        self.buffer.take_rest(self.decoder.flush())
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
            self._turns.debt.forgive()
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

    def _hear(self, turn: Turn | None) -> None:
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
        self._turns.overtake()
        if detection.interrupt_response and self._answering.interrupt():
            self._turns.debt.owe()

    def speech_stopped(self, at_ms: int, generation: int) -> None:
        """The turn is over at a position of the session's clock, silence included."""
        turn, detection = self._hearing, self._desk.session.audio.input.turn_detection
        if turn is None or detection is None or generation != self._generation:
            return
        self._hear(None)
        end_ms = max(at_ms, turn.start_ms)
        self._desk.send(ev.SpeechStopped(item_id=turn.item_id, audio_end_ms=end_ms))
        self._commit(turn, end_ms, answer=self._desk.answers)

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
        pcm = self.buffer.slice(start_ms, end_ms)
        self.buffer.drop_before(end_ms)
        self.reset_detection()
        self._turns.commit_silence(item_id, pcm)

    # --- turns ------------------------------------------------------------------------------

    def _new_turn(self, start_ms: int) -> Turn:
        return Turn(new_id("item"), TurnChart(), start_ms)

    def _commit(self, turn: Turn, end_ms: int, *, answer: bool) -> None:
        pcm = self.buffer.slice(turn.start_ms, end_ms)
        self.buffer.drop_before(end_ms)
        self._turns.commit(turn, pcm, answer=answer)

    # --- what was heard -------------------------------------------------------------------

    @property
    def context_ready(self) -> bool:
        """Whether everything that was said is known as text."""
        return self._turns.context_ready

    def hear(self, entry: Entry, *, response_id: str | None = None) -> None:
        """Have what is said in a created message transcribed, for a response or for all."""
        self._turns.hear(entry, response_id=response_id)

    def transcribed(self, item_id: str, text: str, logprobs: tuple[ev.LogProb, ...] = ()) -> None:
        """The words of an utterance are known; they may be none."""
        self._turns.heard(item_id, text, logprobs)

    def transcription_failed(self, item_id: str, code: str, message: str) -> None:
        """An utterance could not be transcribed."""
        self._turns.failed(item_id, code, message)

    def all_failed(self, code: str, message: str) -> None:
        """Speech recognition is gone, and with it everything that it was doing."""
        self._turns.all_failed(code, message)

    # --- responses --------------------------------------------------------------------------

    def response_asked_for(self) -> None:
        """The client has asked for a response that covers all that was said."""
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._turns.debt.forgive()

    def response_over(self, run: ResponseRun) -> None:
        """A response of the conversation has ended."""
        self._turns.debt.response_over(
            user_speaks=self._hearing is not None, context_ready=self.context_ready
        )
        detection = self._desk.session.audio.input.turn_detection
        quiet = self._hearing is None and self._answering.current is None
        if quiet and isinstance(detection, ServerVad) and detection.idle_timeout_ms:
            # The client plays what was sent: its silence begins when that is over.
            self._desk.put(ArmTimer(IDLE_TIMER, detection.idle_timeout_ms + run.writer.spoken_ms))
