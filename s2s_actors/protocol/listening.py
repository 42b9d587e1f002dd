"""The user's side of a dialogue: the input buffer, and where turns begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.errors import ClientError
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.detection import MUTE_MS, MUTE_TIMER, Detection
from s2s_actors.protocol.dictating import Dictating
from s2s_actors.protocol.hearing import Hearing
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.input_audio import MIN_COMMIT_MS
from s2s_actors.protocol.microphone import Microphone
from s2s_actors.protocol.outputs import ArmTimer, DisarmTimer
from s2s_actors.protocol.session import ServerVad
from s2s_actors.protocol.transcripts import Transcripts
from s2s_actors.protocol.turn import Turn
from s2s_actors.protocol.turns import Turns

if TYPE_CHECKING:
    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.entry import Entry
    from s2s_actors.protocol.input_audio import InputAudioBuffer

IDLE_TIMER = "idle"


class Listening:
    """What the user says, cut into turns.

    Promises: speech that is announced is committed or its end is announced, on one clock
    that never goes back. What becomes of a committed turn is up to :class:`Turns`.
    """

    def __init__(self, desk: Desk, answering: Answering, buffer: InputAudioBuffer) -> None:
        self._desk = desk
        self._answering = answering
        self.buffer = buffer
        self.microphone = Microphone(desk.session.audio.input)
        self._transcripts = Transcripts(desk)
        self._turns = Turns(
            desk, answering, self._transcripts, user_speaks=lambda: self._hearing.turn is not None
        )
        self._hearing = Hearing(
            desk,
            answering,
            Dictating(desk, self._transcripts, buffer),
            on_announced=self._announced,
            on_complete=self._completed,
            context_ready=lambda: self.context_ready,
        )
        self.detection = Detection(desk, buffer, self._hearing)

    # --- the buffer -----------------------------------------------------------------------

    def append(self, data: bytes) -> None:
        """Take in audio.

        Raises:
            ClientError: The buffer has no room for it; nothing has changed.
        """
        self.buffer.append(data)
        self.detection.appended()

    def change_microphone(self, microphone: Microphone, *, new_format: bool) -> None:
        """Audio comes in another way from now on; what is buffered stays."""
        self.buffer.take_rest(self.microphone.flush())
        odd = self.buffer.take_odd()
        self.microphone = microphone
        if not new_format:  # half a sample of another format finds no other half any more
            self.append(microphone.decode(odd))

    def clear(self) -> None:
        """Forget the buffered audio, and an utterance that has begun in it."""
        self.detection.break_off()
        self.microphone.flush()
        self.buffer.clear()
        self.detection.reset()
        self._desk.send(ev.AudioCleared())
        self._turns.settle()

    def commit(self) -> None:
        """Make the buffered audio an item at the client's wish; that asks for no answer.

        Raises:
            ClientError: There is too little of it.
        """
        self.buffer.take_rest(self.microphone.flush())
        if self.buffer.held_ms < MIN_COMMIT_MS:
            raise ClientError(
                "input_audio_buffer_commit_empty",
                "Error committing input audio buffer: buffer too small. Expected at least "
                f"{MIN_COMMIT_MS}ms of audio, but buffer only has {self.buffer.held_ms}.00ms "
                "of audio.",
            )
        turn = self._hearing.take() or Turn.at(self.buffer.start_ms)
        self.detection.reset()
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._commit(turn, self.buffer.end_ms, answer=False)

    def configure_detection(self) -> None:
        """Pass the session's settings on; without any, nothing is answered unasked."""
        if not self.detection.is_on:
            self._turns.debt.forgive()
            self._desk.put(DisarmTimer(IDLE_TIMER))
        self.detection.configure()

    # --- utterances -----------------------------------------------------------------------

    def _announced(self, turn: Turn) -> None:
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._turns.overtake()
        detection = self._desk.session.audio.input.turn_detection
        if detection is not None and detection.interrupt_response:
            turn.interruption = self._answering.interrupt()
            if turn.interruption is not None and turn.interruption.is_owed:
                self._turns.debt.owe()

    def _completed(self, turn: Turn, end_ms: int) -> None:
        self._desk.put(DisarmTimer(MUTE_TIMER))
        self._commit(turn, end_ms, answer=self._desk.answers)
        self._wait_on(turn)

    # --- the clock ----------------------------------------------------------------------------

    def idle_timeout(self) -> None:
        """The user has said nothing since the last answer: let the assistant go on."""
        detection = self._desk.session.audio.input.turn_detection
        if not isinstance(detection, ServerVad) or detection.idle_timeout_ms is None:
            return
        if self._hearing.candidate is not None:
            self._desk.put(ArmTimer(IDLE_TIMER, MUTE_MS))  # it may come to nothing
            return
        if self._answering.current is not None:
            return
        end_ms = self.buffer.end_ms
        earliest_ms = max(self.buffer.start_ms, self.detection.stopped_ms)
        start_ms = max(earliest_ms, end_ms - detection.idle_timeout_ms)
        item_id = new_id("item")
        self._desk.send(
            ev.TimeoutTriggered(item_id=item_id, audio_start_ms=start_ms, audio_end_ms=end_ms)
        )
        pcm = self.buffer.slice(start_ms, end_ms)
        self.buffer.drop_before(end_ms)
        self.detection.reset()
        self._turns.commit_silence(item_id, pcm)

    def _commit(self, turn: Turn, end_ms: int, *, answer: bool) -> None:
        pcm = self.buffer.slice(turn.start_ms, end_ms)
        self.buffer.drop_before(end_ms)
        self._turns.commit(turn, pcm, end_ms, answer=answer)

    # --- what was heard -------------------------------------------------------------------

    @property
    def context_ready(self) -> bool:
        """Whether everything that was said is known as text."""
        return self._turns.context_ready

    def hear(self, entry: Entry, *, response_id: str | None = None) -> None:
        """Have what is said in a created message transcribed, for a response or for all."""
        self._turns.hear(entry, response_id=response_id)

    def transcribed(self, voice_id: str, text: str, logprobs: tuple[ev.LogProb, ...] = ()) -> None:
        """The words of something that was said are known; they may be none."""
        if found := self._transcripts.take(voice_id):
            turn, piece = found
            piece.text, piece.logprobs = text.strip(), logprobs
            if turn.is_committed:
                self._turns.heard(turn)
                self._wait_on(turn)
            else:
                self._hearing.known(turn, piece)

    def transcription_failed(self, voice_id: str, code: str, message: str) -> None:
        """Something that was said could not be transcribed."""
        if found := self._transcripts.take(voice_id):
            turn, piece = found
            if turn.is_committed:
                self._turns.failed(turn, code, message)
                self._wait_on(turn)
            else:
                self._hearing.missed(turn, piece, code, message)

    def all_failed(self, code: str, message: str) -> None:
        """Speech recognition is gone, and with it everything that it was doing."""
        for voice_id in self._transcripts.asked:
            self.transcription_failed(voice_id, code, message)

    # --- responses --------------------------------------------------------------------------

    def response_asked_for(self) -> None:
        """The client has asked for a response that covers all that was said."""
        self._desk.put(DisarmTimer(IDLE_TIMER))
        self._turns.debt.forgive()

    def response_over(self) -> None:
        """A response of the conversation has ended."""
        self._turns.debt.response_over(
            user_speaks=self._hearing.turn is not None, context_ready=self.context_ready
        )
        self._arm_idle()

    def _wait_on(self, turn: Turn) -> None:
        """A turn that turns out to be noise is none: the user has still said nothing."""
        if turn.wanted and turn.chart.silent.is_active and self.context_ready:
            self._arm_idle()

    def _arm_idle(self) -> None:
        detection = self._desk.session.audio.input.turn_detection
        quiet = self._hearing.turn is None and self._answering.current is None
        if quiet and isinstance(detection, ServerVad) and detection.idle_timeout_ms:
            # The client plays what was sent: its silence begins when that is over.
            left_ms = round(self._answering.playback.ahead_ms)
            self._desk.put(ArmTimer(IDLE_TIMER, detection.idle_timeout_ms + left_ms))
