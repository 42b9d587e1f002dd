"""Where to cut an answer that is still being written, so that it can be spoken meanwhile."""

from __future__ import annotations

from s2s_actors.protocol.open_piece import OpenPiece, Patience, letters

FIRST_PIECE = Patience(sentence=14, clause=14, short=14, word=20, any_word=26)
"""When to begin: 11 letters are most of a second of speech, time to write and to speak some more.

Shorter beginnings ("Well,") would be over before the next piece can be heard.
"""

_SENTENCE_LETTERS, _SHORT_LETTERS = 20, 7
_SECOND_LETTERS = 40
_GROWTH = 2
_LONGEST_LETTERS = 160


class SpeechPieces:
    """Cuts the streamed text of one message into pieces to speak.

    Promises: the pieces in order hold every character but white space once; no piece is blank;
    where it is cut depends on the text alone, not on how the text is cut into deltas. Words
    are not cut unless there is no end to them, but scripts without spaces between words are.

    The first piece ends with the first clause that takes long enough to say. What follows may
    be twice as long as all that was said before it, for it has to be written and spoken while
    that is heard: at 12 tokens a second a letter takes 25 ms to write and 15 ms to speak,
    against 80 ms to hear. So pieces soon are whole sentences. A block of code is a piece of
    its own.
    """

    def __init__(self) -> None:
        self._said_letters = 0
        self._open = OpenPiece(FIRST_PIECE)

    def add(self, delta: str) -> list[str]:
        """Read more text and return the pieces that it completes, in order."""
        pieces: list[str] = []
        unread = delta
        while unread:
            for index, char in enumerate(unread, start=1):
                cut = self._open.read(char)
                if cut:
                    # What was read beyond the cut is read again as the beginning of the next.
                    unread = self._close(cut, pieces) + unread[index:]
                    break
            else:
                break
        return pieces

    def finish(self) -> list[str]:
        """The text is complete: return what is left of it, and be ready for another text."""
        pieces: list[str] = []
        self._close(len(self._open.text), pieces)
        self._said_letters = 0
        self._open = OpenPiece(FIRST_PIECE)
        return pieces

    def _close(self, cut: int, pieces: list[str]) -> str:
        piece, rest = self._open.text[:cut].strip(), self._open.text[cut:]
        if piece:
            pieces.append(piece)
            # Code is not read out.
            self._said_letters += 0 if self._open.is_code else letters(piece)
        self._open = OpenPiece(self._patience())
        return rest

    def _patience(self) -> Patience:
        said = self._said_letters
        if not said:
            return FIRST_PIECE
        limit = max(_SECOND_LETTERS, min(_LONGEST_LETTERS, _GROWTH * said))
        if limit == _SECOND_LETTERS:
            # It has only the first one's time; later ones may wait for a better place.
            word = limit * 3 // 4
            return Patience(_SENTENCE_LETTERS, limit, _SHORT_LETTERS, word, limit * 3 // 2)
        return Patience(_SENTENCE_LETTERS, limit, _SHORT_LETTERS, limit * 3 // 2)
