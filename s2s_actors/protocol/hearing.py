"""The utterance that is being heard: from the first suspicion to its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.backchannels import is_backchannel, may_become_backchannel
from s2s_actors.protocol.dictating import PAUSE_OVERLAP_MS
from s2s_actors.protocol.end_of_turn import silence_needed_ms
from s2s_actors.protocol.session import SemanticVad
from s2s_actors.protocol.turn import Turn, spoken_message
from s2s_actors.protocol.turn_clock import TurnClock
from statecharts.turn import Announce, Draft, DropGuess, Guess

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.protocol.answering import Answering
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.dictating import Dictating
    from s2s_actors.protocol.dictation import Piece

LISTEN_AGAIN_MS = 256
"""When speech recognition is asked once more how speech over an answer begins."""
INTERRUPT_AFTER_MS = 384
"""Such speech stops the answer if speech recognition has not come up with anything by then."""
PATIENCE_MS = 640
"""What begins like a backchannel and goes on for so long is none."""


class Hearing:
    """Follows one utterance at a time.

    Promises: what is told to the client alternates, beginning and end; what only might be
    an utterance, and what is done ahead in a pause, leaves no trace if it comes to nothing.
    """

    def __init__(  # noqa: PLR0913 - its neighbours, each by its name
        self,
        desk: Desk,
        answering: Answering,
        dictating: Dictating,
        *,
        on_announced: Callable[[Turn], None],
        on_complete: Callable[[Turn, int], None],
        context_ready: Callable[[], bool],
    ) -> None:
        """Begin in silence.

        Args:
            desk: Takes what is to be done.
            answering: Knows whether the assistant speaks, and drafts answers.
            dictating: Asks for the words.
            on_announced: Told when it is sure that the user wants the floor.
            on_complete: Told when an utterance is over, and where.
            context_ready: Whether all that was said before is known as text.
        """
        self._desk = desk
        self._answering = answering
        self._dictating = dictating
        self._on_announced = on_announced
        self._on_complete = on_complete
        self._context_ready = context_ready
        self._turn: Turn | None = None
        self._over_ms: int | None = None
        self._speech_ms = 0
        self._quiet_ms = 0
        self._completeness: float | None = None

    @property
    def turn(self) -> Turn | None:
        """The utterance that the client has been told of."""
        turn = self._turn
        return None if turn is None or self._is_suspected(turn) else turn

    @property
    def candidate(self) -> Turn | None:
        """What may be an utterance, told or not."""
        return self._turn

    @staticmethod
    def _is_suspected(turn: Turn) -> bool:
        return turn.chart.suspected.is_active or turn.chart.judging.is_active

    # --- what voice detection says ------------------------------------------------------------

    def started(self, start_ms: int, at_ms: int) -> None:
        """Speech begins at ``start_ms``, and has gone on up to ``at_ms``."""
        self._turn = Turn.at(start_ms)
        self._over_ms = None
        self._dictating.begin(start_ms)
        if self._weighs:
            self._dictating.look_at_beginning(self._turn, at_ms)
        else:
            self._advance(self._turn, "confirm")

    def lasted(self, at_ms: int, for_ms: int) -> None:
        """Speech goes on."""
        turn = self._turn
        if turn is None:
            return
        if turn.chart.suspected.is_active:
            self._weigh(turn, at_ms, for_ms)
        elif turn.chart.hearing.is_active:
            self._dictating.follow(turn, at_ms)

    def paused(self, at_ms: int, quiet_ms: int) -> None:
        """There is a short pause."""
        turn = self._turn
        if turn is None:
            return
        self._completeness, self._quiet_ms = None, quiet_ms
        turn.clock = TurnClock(self._desk, turn.item_id, at_ms - quiet_ms)
        if turn.chart.suspected.is_active or (turn.chart.hearing.is_active and self._guesses):
            self._advance(turn, "pause", at_ms=at_ms)

    def weighed(self, completeness: float, speech_ms: int, quiet_ms: int) -> None:
        """How finished the utterance sounds at the pause, and how long it is.

        What is said of a pause before this one comes too late.
        """
        if quiet_ms == self._quiet_ms:
            self._completeness, self._speech_ms = completeness, speech_ms

    def is_finished(self, quiet_ms: int) -> bool:
        """Whether the silence is long enough for what was said, and for how it was said."""
        turn = self._turn
        detection = self._desk.session.audio.input.turn_detection
        if turn is None or not isinstance(detection, SemanticVad):
            return False
        guess = turn.dictation.guess
        known = guess is not None and guess.text is not None and turn.dictation.is_known
        words = turn.dictation.with_open(guess) if guess is not None and known else None
        needed_ms = silence_needed_ms(
            self._completeness, words, detection.eagerness, self._speech_ms
        )
        return quiet_ms >= needed_ms

    def resumed(self, at_ms: int) -> None:
        """Speech goes on after a pause."""
        turn = self._turn
        if turn is None:
            return
        turn.clock = None
        if not (turn.chart.suspected.is_active or turn.chart.hearing.is_active):
            self._over_ms = None
            self._advance(turn, "resume", at_ms=at_ms)

    def stopped(self, at_ms: int, quiet_ms: int) -> None:
        """The silence is long enough."""
        turn = self._turn
        if turn is None:
            return
        if turn.clock is None:
            turn.clock = TurnClock(self._desk, turn.item_id, at_ms - quiet_ms)
        if turn.chart.suspected.is_active:
            self._advance(turn, "pause", at_ms=at_ms)
        if turn.chart.judging.is_active:
            self._over_ms = at_ms  # its words decide whether it was anything
        else:
            self._complete(turn, at_ms)

    def take(self) -> Turn | None:
        """The client ends the utterance itself; nobody else will."""
        turn = self._turn
        if turn is None or self._is_suspected(turn):
            self.discard()
            return None
        self._dictating.drop_hypothesis(turn)
        if (guess := turn.dictation.guess) is not None:
            # There may be more words in what voice detection has not come to.
            self._advance(turn, "resume", at_ms=guess.end_ms + PAUSE_OVERLAP_MS)
        self._forget()
        return turn

    def discard(self) -> Turn | None:
        """It counts for nothing; returns it if the client has been told of it."""
        told, turn = self.turn, self._turn
        if turn is not None:
            self._dictating.drop_hypothesis(turn)
            self._dictating.drop_pieces(turn)
            self._advance(turn, "discard")
        self._forget()
        return told

    # --- speech over an answer ----------------------------------------------------------------

    @property
    def _weighs(self) -> bool:
        """Whether speech has to be more than a cough or an "mm-hmm" to count."""
        detection = self._desk.session.audio.input.turn_detection
        may_interrupt = detection is not None and detection.interrupt_response
        weighs = self._desk.conduct.weighs_interruptions and may_interrupt
        return weighs and self._answering.has_floor and not self._answering.is_nearly_over

    def _weigh(self, turn: Turn, at_ms: int, for_ms: int) -> None:
        begun = turn.dictation.hypothesis
        patience_ms = PATIENCE_MS if begun is not None and begun.text else INTERRUPT_AFTER_MS
        if not self._weighs or for_ms >= patience_ms:
            self._advance(turn, "confirm")
        elif for_ms >= LISTEN_AGAIN_MS and begun is not None and begun.text == "":
            self._dictating.look_at_beginning(turn, at_ms)

    # --- what speech recognition says -----------------------------------------------------------

    def known(self, turn: Turn, piece: Piece) -> None:
        """Words of an utterance are known that is not complete."""
        if turn is not self._turn:
            return
        dictation = turn.dictation
        if piece is dictation.hypothesis:
            self._known_so_far(turn, piece)
        elif dictation.guess is not None and dictation.guess.text is not None:
            self._known_guess(turn, dictation.guess)

    def _known_so_far(self, turn: Turn, piece: Piece) -> None:
        if turn.chart.suspected.is_active:
            if not may_become_backchannel(piece.text or ""):
                self._advance(turn, "confirm")
            return
        turn.dictation.hypothesis = None
        if turn.dictation.is_known:
            self._dictating.tell_part(turn, piece)

    def _known_guess(self, turn: Turn, guess: Piece) -> None:
        if not turn.dictation.is_known:
            return
        text = turn.dictation.with_open(guess)
        if turn.clock is not None:
            turn.clock.reached("heard")
        if turn.chart.guessing.is_active:
            self._dictating.tell_part(turn, guess)
            self._advance(turn, "known", wanted=True)
        elif turn.chart.judging.is_active:
            is_wanted = bool(text) and not (self._weighs and is_backchannel(text))
            self._advance(turn, "known", wanted=is_wanted)
            if turn.chart.discarded.is_active:
                self._forget()
            elif self._over_ms is not None:
                self._complete(turn, self._over_ms)

    def missed(self, turn: Turn, piece: Piece, code: str, message: str) -> None:
        """Speech recognition failed on an utterance that is not complete."""
        if turn is not self._turn:
            return
        if piece is turn.dictation.hypothesis:
            turn.dictation.hypothesis = None
        elif piece is turn.dictation.guess:
            turn.dictation.guess = None  # it is asked for once more when the turn is over
            self._advance(turn, "missed")
            if self._over_ms is not None:
                self._complete(turn, self._over_ms)
        else:
            turn.dictation.failure = code, message

    # --- guesses ----------------------------------------------------------------------------

    @property
    def _drafts(self) -> bool:
        return self._desk.conduct.drafts and self._desk.may_guess

    @property
    def _guesses(self) -> bool:
        """Whether the words are wanted at a pause: for a draft, or to see whether that was all."""
        detection = self._desk.session.audio.input.turn_detection
        return self._drafts or isinstance(detection, SemanticVad)

    # --- the chart ----------------------------------------------------------------------------

    def _advance(self, turn: Turn, event: str, *, at_ms: int = 0, **data: bool) -> None:
        for effect in turn.chart.fire(event, **data):
            match effect:
                case Announce():
                    self._announce(turn)
                case Guess():
                    # An answer goes on until the words of a short burst are known.
                    is_guess = turn.chart.guessing.is_active
                    self._dictating.guess(turn, at_ms, speculative=is_guess)
                case DropGuess():
                    self._answering.drop_draft()
                    goes_on = turn.chart.hearing.is_active
                    self._dictating.drop_guess(turn, at_ms, goes_on=goes_on)
                case Draft():
                    self._draft(turn)
                case _:
                    raise NotImplementedError(effect)

    def _announce(self, turn: Turn) -> None:
        if turn.dictation.hypothesis is not None and turn.dictation.hypothesis.text is not None:
            turn.dictation.hypothesis = None
        self._desk.conversation.announced = turn.item_id
        self._desk.send(ev.SpeechStarted(item_id=turn.item_id, audio_start_ms=turn.start_ms))
        self._on_announced(turn)

    def _draft(self, turn: Turn) -> None:
        guess = turn.dictation.guess
        assert guess is not None
        text = turn.dictation.with_open(guess)
        if text and self._drafts and self._desk.answers and self._context_ready():
            self._answering.draft(spoken_message(turn.item_id, text), turn.clock)

    def _complete(self, turn: Turn, at_ms: int) -> None:
        self._forget()
        end_ms = max(at_ms, turn.start_ms)
        self._desk.send(ev.SpeechStopped(item_id=turn.item_id, audio_end_ms=end_ms))
        self._on_complete(turn, end_ms)

    def _forget(self) -> None:
        self._turn = None
        self._over_ms = None
        self._desk.conversation.announced = None
