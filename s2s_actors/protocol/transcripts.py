"""What speech recognition is asked for, and what clients are told of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.dictation import Piece
from s2s_actors.protocol.outputs import CommitWork, StartTranscription, StopWork
from s2s_actors.protocol.response import ErrorDetail

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk
    from s2s_actors.protocol.turn import Turn

LOGPROBS = "item.input_audio_transcription.logprobs"
"""Name under which a session includes log probabilities."""
_PARTIAL_EVERY_MS = {"minimal": 300, "low": 500, "medium": 800, "high": 1200, "xhigh": 2000}


class Transcripts:
    """Transcripts as the session wants to have and to show them.

    Promises: while transcription is off, nothing is told; log probabilities are told only if
    the session includes them and speech recognition gives them; a result that nobody waits
    for any more finds no turn.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._asked: dict[str, tuple[Turn, Piece]] = {}

    @property
    def are_shown(self) -> bool:
        """Whether the client gets transcripts."""
        return self._desk.session.audio.input.transcription is not None

    @property
    def partial_every_ms(self) -> int | None:
        """How often a transcript is looked at while it grows; None for not at all."""
        settings = self._desk.session.audio.input.transcription
        if settings is None or not self._desk.conduct.partials:
            return None
        delay = settings.delay
        return _PARTIAL_EVERY_MS["medium" if isinstance(delay, UnsetType) else delay]

    @property
    def _with_logprobs(self) -> bool:
        return self.are_shown and LOGPROBS in (self._desk.session.include or ())

    # --- speech recognition -----------------------------------------------------------------

    def ask(  # noqa: PLR0913 - each by its name
        self,
        turn: Turn,
        voice_id: str,
        pcm: bytes,
        *,
        end_ms: int = 0,
        beginning: bool = False,
        speculative: bool = False,
        glance: bool = False,
    ) -> Piece:
        """Have something transcribed that belongs to a turn, whether or not it will be shown.

        Args:
            turn: Gets the result.
            voice_id: Names it.
            pcm: What was said.
            end_ms: Where it ends on the session's clock.
            beginning: It is the first moment of something that goes on.
            speculative: It is a guess.
            glance: It only shows what is still being said.
        """
        settings = self._desk.session.audio.input.transcription
        language = settings.language if settings else None
        prompt = settings.prompt if settings else None
        piece = Piece(voice_id, end_ms)
        self._asked[voice_id] = turn, piece
        self._desk.put(
            StartTranscription(
                voice_id,
                pcm,
                language=None if isinstance(language, UnsetType) else language,
                prompt=None if isinstance(prompt, UnsetType) else prompt,
                logprobs=self._with_logprobs and not beginning,
                beginning=beginning,
                speculative=speculative,
                glance=glance,
            )
        )
        return piece

    def take(self, voice_id: str) -> tuple[Turn, Piece] | None:
        """A result has come: whose it is, None if nobody wants it any more."""
        return self._asked.pop(voice_id, None)

    def drop(self, piece: Piece) -> None:
        """Nobody wants a piece any more."""
        if self._asked.pop(piece.voice_id, None):
            self._desk.put(StopWork(piece.voice_id))

    def keep(self, piece: Piece) -> None:
        """A guess has become part of the transcript."""
        if piece.voice_id in self._asked:
            self._desk.put(CommitWork(piece.voice_id))

    @property
    def asked(self) -> list[str]:
        """What speech recognition works on."""
        return list(self._asked)

    # --- the client ---------------------------------------------------------------------------

    def tell_part(self, item_id: str, delta: str) -> None:
        """Tell the client more of what the user is saying."""
        if delta and self.are_shown:
            self._desk.send(ev.TranscriptionDelta(item_id=item_id, content_index=0, delta=delta))

    def tell(  # noqa: PLR0913 - each by its name
        self,
        item_id: str,
        text: str,
        *,
        delta: str,
        length_ms: int,
        content_index: int = 0,
        logprobs: tuple[ev.LogProb, ...] = (),
    ) -> None:
        """Tell the client what was heard.

        Args:
            item_id: The item that holds it.
            text: All of it.
            delta: What of it has not been told yet.
            length_ms: How long it took to say.
            content_index: The part of the item.
            logprobs: How sure speech recognition is of it.
        """
        if not self.are_shown:
            return
        shown = logprobs if logprobs and self._with_logprobs else UNSET
        if delta:
            self._desk.send(
                ev.TranscriptionDelta(
                    item_id=item_id, content_index=content_index, delta=delta, logprobs=shown
                )
            )
        self._desk.send(
            ev.TranscriptionCompleted(
                item_id=item_id,
                content_index=content_index,
                transcript=text,
                usage=ev.DurationUsage(seconds=length_ms / 1000),
                logprobs=shown,
            )
        )

    def tell_failure(self, item_id: str, content_index: int, code: str, message: str) -> None:
        """Tell the client that nothing could be heard."""
        error = ErrorDetail(type="server_error", code=code, message=message)
        self._desk.send(
            ev.TranscriptionFailed(item_id=item_id, content_index=content_index, error=error)
        )
