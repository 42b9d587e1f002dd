"""Has speech recognition follow an utterance while it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.protocol.dictation import LONGEST_PIECE_MS, PIECE_WORTH_KEEPING_MS, quietest_ms
from s2s_actors.protocol.ids import new_id

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.dictation import Piece
    from s2s_actors.protocol.input_audio import InputAudioBuffer
    from s2s_actors.protocol.transcripts import Transcripts
    from s2s_actors.protocol.turn import Turn

PAUSE_OVERLAP_MS = 64
"""Speech that goes on may have begun so long before voice detection says so."""
_BEGINNING_MS = 384
"""What voice detection has heard of a beginning, and may have missed: what lies before is
silence."""


class Dictating:
    """Asks for the words of the utterance that is being heard.

    Promises: nothing is transcribed twice that is part of the transcript; one guess and one
    hypothesis at most are on their way, and those that are dropped are stopped.
    """

    def __init__(self, desk: Desk, transcripts: Transcripts, buffer: InputAudioBuffer) -> None:
        """Begin with nothing.

        Args:
            desk: Knows whether there is time for guesses.
            transcripts: Asks speech recognition, and tells the client.
            buffer: Holds the audio.
        """
        self._desk = desk
        self._transcripts = transcripts
        self._buffer = buffer
        self._looked_ms = 0

    def begin(self, start_ms: int) -> None:
        """An utterance begins."""
        self._looked_ms = start_ms

    def follow(self, turn: Turn, at_ms: int) -> None:
        """Have long speech transcribed piece by piece, and look at it from time to time."""
        if at_ms - turn.dictation.open_ms >= LONGEST_PIECE_MS:
            self._part(turn, at_ms)
        every_ms = self._transcripts.partial_every_ms
        due = every_ms is not None and at_ms - self._looked_ms >= every_ms
        if due and self._desk.may_guess and turn.dictation.hypothesis is None:
            self._looked_ms = at_ms
            turn.dictation.hypothesis = self._ask(turn, at_ms, speculative=True, glance=True)

    def look_at_beginning(self, turn: Turn, at_ms: int) -> None:
        """See how something begins that may be an interruption: somebody waits for that."""
        begin_ms = max(turn.dictation.open_ms, at_ms - _BEGINNING_MS)
        turn.dictation.hypothesis = self._transcripts.ask(
            turn,
            new_id("voice"),
            self._buffer.slice(begin_ms, at_ms),
            end_ms=at_ms,
            beginning=True,
        )

    def tell_part(self, turn: Turn, piece: Piece) -> None:
        """Tell the client what is certain, now that one more version is known."""
        if self._transcripts.partial_every_ms is not None:
            more = turn.partials.more(turn.dictation.with_open(piece))
            self._transcripts.tell_part(turn.item_id, more)

    def drop_hypothesis(self, turn: Turn) -> None:
        """What was looked at is known better, or not wanted."""
        if turn.dictation.hypothesis is not None:
            self._transcripts.drop(turn.dictation.hypothesis)
            turn.dictation.hypothesis = None

    def drop_pieces(self, turn: Turn) -> None:
        """Nobody wants the words of the pieces that an utterance was parted into."""
        for piece in turn.dictation.settled:
            self._transcripts.drop(piece)

    def guess(self, turn: Turn, at_ms: int, *, speculative: bool) -> None:
        """Have all of it transcribed up to a pause."""
        self.drop_hypothesis(turn)
        turn.dictation.guess = self._ask(turn, at_ms, speculative=speculative)

    def drop_guess(self, turn: Turn, at_ms: int, *, goes_on: bool) -> None:
        """The utterance did not end at the pause.

        Args:
            turn: The utterance.
            at_ms: Where it goes on.
            goes_on: Whether it does: then what was transcribed of a long one is a piece of it.
        """
        guess, turn.dictation.guess = turn.dictation.guess, None
        if guess is None:
            return
        if goes_on and guess.end_ms - turn.dictation.open_ms >= PIECE_WORTH_KEEPING_MS:
            self._transcripts.keep(guess)
            next_ms = max(turn.dictation.open_ms, at_ms - PAUSE_OVERLAP_MS)
            turn.dictation.settle(guess, next_ms=next_ms)
        else:
            self._transcripts.drop(guess)

    def _part(self, turn: Turn, at_ms: int) -> None:
        open_ms = turn.dictation.open_ms
        self.drop_hypothesis(turn)
        cut_ms = open_ms + quietest_ms(self._buffer.slice(open_ms, at_ms))
        turn.dictation.settle(self._ask(turn, cut_ms, speculative=False), next_ms=cut_ms)

    def _ask(self, turn: Turn, end_ms: int, *, speculative: bool, glance: bool = False) -> Piece:
        pcm = self._buffer.slice(turn.dictation.open_ms, end_ms)
        return self._transcripts.ask(
            turn,
            new_id("voice"),
            pcm,
            end_ms=end_ms,
            speculative=speculative,
            glance=glance,
        )
