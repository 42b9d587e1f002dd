"""The user's side of a dialogue: the input buffer, and where turns begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.errors import ClientError
from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.dictating import Dictating
from s2s_actors.protocol.hearing import Hearing
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.input_audio import MIN_COMMIT_MS
from s2s_actors.protocol.microphone import Microphone
from s2s_actors.protocol.outputs import ArmTimer, ConfigureVad, DisarmTimer, EndAudio
from s2s_actors.protocol.session import ServerVad
from s2s_actors.protocol.transcripts import Transcripts
from s2s_actors.protocol.turns import Turn, Turns

if TYPE_CHECKING:
    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.conversation import Entry
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.input_audio import InputAudioBuffer

MAX_UTTERANCE_MS = 5 * 60_000
"""Someone who talks that long without a pause is committed in pieces."""
MAX_PREFIX_MS = 6000
"""How far before its detection a turn may begin: the longest padding, and what detection takes."""
IDLE_TIMER = "idle"
MUTE_TIMER = "mute"
MUTE_MS = 1500
"""Who speaks and then sends nothing for so long has stopped: a muted microphone sends none."""


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
        self._generation = 0
        self._last_audio_ms = 0.0
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
        self._last_audio_ms = self._desk.now_ms

    def listened(self, up_to_ms: int) -> None:
        """Voice detection has come so far: what lies well before can't begin a turn any more."""
        turn = self._hearing.candidate
        if turn is None:
            if self.detects:
                self.buffer.trim_silence(before_ms=up_to_ms - MAX_PREFIX_MS)
        elif up_to_ms - turn.start_ms > MAX_UTTERANCE_MS:
            self.speech_stopped(up_to_ms, self._generation)
            self.reset_detection()

    def change_microphone(self, microphone: Microphone, *, new_format: bool) -> None:
        """Audio comes in another way from now on; what is buffered stays."""
        self.buffer.take_rest(self.microphone.flush())
        odd = self.buffer.take_odd()
        self.microphone = microphone
        if not new_format:  # half a sample of another format finds no other half any more
            self.append(microphone.decode(odd))

    def clear(self) -> None:
        """Forget the buffered audio, and an utterance that has begun in it."""
        self._break_off()
        self.microphone.flush()
        self.buffer.clear()
        self.reset_detection()
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
        if self._hearing.turn is not None:
            self.speech_stopped(self.buffer.end_ms, self._generation)
        self._hearing.discard()
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
        turn = self._hearing.discard()
        if turn is not None:
            self._stopped_ms = self.buffer.end_ms
            self._desk.send(ev.SpeechStopped(item_id=turn.item_id, audio_end_ms=self._stopped_ms))

    # --- what voice detection says ------------------------------------------------------------

    def speech_started(self, at_ms: int, generation: int, heard_ms: int | None = None) -> None:
        """Speech begins at a position of the session's clock, prefix included.

        Args:
            at_ms: That position.
            generation: Of the settings that voice detection has.
            heard_ms: How far it has gone on by now; None for all that has been appended.
        """
        if self._counts(generation) and self._hearing.candidate is None:
            self._hearing.started(
                max(at_ms, self.buffer.start_ms, self._stopped_ms),
                self.buffer.end_ms if heard_ms is None else heard_ms,
            )
            self._desk.put(ArmTimer(MUTE_TIMER, MUTE_MS))

    def speech_lasted(self, at_ms: int, for_ms: int, generation: int) -> None:
        """Speech goes on."""
        if self._counts(generation):
            self._hearing.lasted(at_ms, for_ms)

    def speech_paused(self, at_ms: int, quiet_ms: int, generation: int) -> None:
        """There is a short pause since ``quiet_ms``."""
        if self._counts(generation):
            self._hearing.paused(at_ms, quiet_ms)

    def speech_weighed(self, completeness: float, speech_ms: int, generation: int) -> None:
        """How finished what was said before the pause sounds, from 0 to 1."""
        if self._counts(generation):
            self._hearing.weighed(completeness, speech_ms)

    def speech_dismissed(self, generation: int) -> None:
        """What was taken for speech was the assistant's own voice."""
        if self._counts(generation):
            if self._hearing.turn is None:
                self._hearing.discard()
            else:  # too late: the client has been told
                self._hearing.stopped(self.buffer.end_ms, self.buffer.end_ms)

    def speech_quiet(self, at_ms: int, for_ms: int, generation: int) -> None:
        """The pause has lasted for some time: that may be enough."""
        if self._counts(generation) and self._hearing.is_finished(for_ms):
            self.speech_stopped(at_ms, generation, at_ms - for_ms)
            self.reset_detection()

    def speech_resumed(self, at_ms: int, generation: int) -> None:
        """Speech goes on after a pause."""
        if self._counts(generation):
            if self._hearing.candidate is None:  # what came before the pause was nothing
                self.speech_started(at_ms, generation)
            else:
                self._hearing.resumed(at_ms)

    def speech_stopped(self, at_ms: int, generation: int, quiet_ms: int | None = None) -> None:
        """The turn is over at a position of the session's clock, silence included.

        Args:
            at_ms: That position.
            generation: Of the settings that voice detection has.
            quiet_ms: Where the silence begins, if it is silence that ends the turn.
        """
        if self._counts(generation):
            self._hearing.stopped(at_ms, at_ms if quiet_ms is None else quiet_ms)

    def _counts(self, generation: int) -> bool:
        return self.detects and generation == self._generation

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
        # An answer that was drafted is begun by now, or is not wanted.
        self._answering.drop_draft()

    # --- the clock ----------------------------------------------------------------------------

    def mute_timeout(self) -> None:
        """Audio may have stopped in the middle of speech, and silence with it."""
        if self._hearing.candidate is None:
            return
        missing_ms = self._desk.now_ms - self._last_audio_ms
        if missing_ms >= MUTE_MS:
            self._desk.put(EndAudio(self._generation))
        else:
            self._desk.put(ArmTimer(MUTE_TIMER, max(1, round(MUTE_MS - missing_ms))))

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
            else:
                self._hearing.known(turn, piece)

    def transcription_failed(self, voice_id: str, code: str, message: str) -> None:
        """Something that was said could not be transcribed."""
        if found := self._transcripts.take(voice_id):
            turn, piece = found
            if turn.is_committed:
                self._turns.failed(turn, code, message)
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
        detection = self._desk.session.audio.input.turn_detection
        quiet = self._hearing.candidate is None and self._answering.current is None
        if quiet and isinstance(detection, ServerVad) and detection.idle_timeout_ms:
            # The client plays what was sent: its silence begins when that is over.
            left_ms = round(self._answering.playback.ahead_ms)
            self._desk.put(ArmTimer(IDLE_TIMER, detection.idle_timeout_ms + left_ms))
