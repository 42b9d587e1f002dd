"""What voice detection is told, and what it says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.outputs import ArmTimer, ConfigureVad, EndAudio

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.hearing import Hearing
    from s2s_actors.protocol.input_audio import InputAudioBuffer

MAX_UTTERANCE_MS = 5 * 60_000
"""Someone who talks that long without a pause is committed in pieces."""
MAX_PREFIX_MS = 6000
"""How far before its detection a turn may begin: the longest padding, and what detection takes."""
MUTE_TIMER = "mute"
MUTE_MS = 1500
"""Who speaks and then sends nothing for so long has stopped: a muted microphone sends none."""


class Detection:
    """Voice detection as a dialogue sees it.

    Promises: what is said about audio that counts no longer changes nothing; an utterance ends
    even if the audio does not go on.
    """

    def __init__(self, desk: Desk, buffer: InputAudioBuffer, hearing: Hearing) -> None:
        """Begin without settings.

        Args:
            desk: Takes what is to be done.
            buffer: Holds the audio.
            hearing: Follows the utterances.
        """
        self._desk = desk
        self._buffer = buffer
        self._hearing = hearing
        self._generation = 0
        self._last_audio_ms = 0.0
        self.stopped_ms = 0
        """Where speech ended that was announced: a prefix must not reach back before it."""

    @property
    def is_on(self) -> bool:
        """Whether turns are found by voice detection."""
        return self._desk.session.audio.input.turn_detection is not None

    def configure(self) -> None:
        """Pass the session's settings on; without any, no utterance can go on."""
        if not self.is_on:
            self.break_off()
            self._generation += 1
        detection = self._desk.session.audio.input.turn_detection
        self._desk.put(ConfigureVad(detection, self._generation))

    def reset(self) -> None:
        """What voice detection says about the audio so far counts no longer."""
        if self.is_on:
            self._generation += 1
            self.configure()

    def lost(self) -> None:
        """Voice detection has lost track: nobody else would end what is being said."""
        if self._hearing.turn is not None:
            self.speech_stopped(self._buffer.end_ms, self._generation)
        self._hearing.discard()
        self.reset()

    def break_off(self) -> None:
        """Forget the utterance; the client is told that its speech is over."""
        turn = self._hearing.discard()
        if turn is not None:
            self.stopped_ms = self._buffer.end_ms
            self._desk.send(ev.SpeechStopped(item_id=turn.item_id, audio_end_ms=self.stopped_ms))

    def appended(self) -> None:
        """There is more audio."""
        self._last_audio_ms = self._desk.now_ms

    def listened(self, up_to_ms: int) -> None:
        """Voice detection has come so far: what lies well before can't begin a turn any more."""
        turn = self._hearing.candidate
        if turn is None:
            if self.is_on:
                self._buffer.trim_silence(before_ms=up_to_ms - MAX_PREFIX_MS)
        elif up_to_ms - turn.start_ms > MAX_UTTERANCE_MS:
            self.speech_stopped(up_to_ms, self._generation)
            self.reset()

    # --- what voice detection says ------------------------------------------------------------

    def speech_started(self, at_ms: int, generation: int, heard_ms: int | None = None) -> None:
        """Speech begins at a position of the session's clock, prefix included.

        Args:
            at_ms: That position.
            generation: Of the settings that voice detection has.
            heard_ms: How far it has gone on by now; None for all that has been appended.
        """
        if not self._counts(generation):
            return
        if self._hearing.candidate is None:
            self._hearing.started(
                max(at_ms, self._buffer.start_ms, self.stopped_ms),
                self._buffer.end_ms if heard_ms is None else heard_ms,
            )
        else:  # the words of what came before are not known yet: it is all one utterance
            self._hearing.resumed(at_ms)
        self._desk.put(ArmTimer(MUTE_TIMER, MUTE_MS))

    def speech_lasted(self, at_ms: int, for_ms: int, generation: int) -> None:
        """Speech goes on."""
        if self._counts(generation):
            self._hearing.lasted(at_ms, for_ms)

    def speech_paused(self, at_ms: int, quiet_ms: int, generation: int) -> None:
        """There is a short pause since ``quiet_ms``."""
        if self._counts(generation):
            self._hearing.paused(at_ms, quiet_ms)

    def speech_weighed(
        self, completeness: float, speech_ms: int, quiet_ms: int, generation: int
    ) -> None:
        """How finished what was said before the pause at ``quiet_ms`` sounds, from 0 to 1."""
        if self._counts(generation):
            self._hearing.weighed(completeness, speech_ms, quiet_ms)

    def speech_dismissed(self, generation: int) -> None:
        """What was taken for speech was the assistant's own voice."""
        if self._counts(generation):
            turn = self._hearing.turn
            if turn is None:
                self._hearing.discard()
            else:  # too late: the client has been told, and the answer has been stopped
                turn.is_echo = True
                self._hearing.stopped(self._buffer.end_ms, self._buffer.end_ms)

    def speech_quiet(self, at_ms: int, for_ms: int, generation: int) -> None:
        """The pause has lasted for some time: that may be enough."""
        if self._counts(generation) and self._hearing.is_finished(for_ms):
            self.speech_stopped(at_ms, generation, at_ms - for_ms)
            self.reset()

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
        return self.is_on and generation == self._generation

    def mute_timeout(self) -> None:
        """Audio may have stopped in the middle of speech, and silence with it."""
        if self._hearing.candidate is None:
            return
        missing_ms = self._desk.now_ms - self._last_audio_ms
        if missing_ms >= MUTE_MS:
            self._desk.put(EndAudio(self._generation))
        else:
            self._desk.put(ArmTimer(MUTE_TIMER, max(1, round(MUTE_MS - missing_ms))))
