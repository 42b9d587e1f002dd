"""What speech recognition is asked for, and what clients are told of its results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from s2s_actors.protocol import server_events as ev
from s2s_actors.protocol.outputs import StartTranscription
from s2s_actors.protocol.response import ErrorDetail

if TYPE_CHECKING:
    from s2s_actors.protocol.desk import Desk

LOGPROBS = "item.input_audio_transcription.logprobs"
"""Name under which a session includes log probabilities."""


class Transcripts:
    """Transcripts as the session wants to have and to show them.

    Promises: while transcription is off, nothing is told; log probabilities are told only if
    the session includes them and speech recognition gives them.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def are_shown(self) -> bool:
        """Whether the client gets transcripts."""
        return self._desk.session.audio.input.transcription is not None

    @property
    def _with_logprobs(self) -> bool:
        return self.are_shown and LOGPROBS in (self._desk.session.include or ())

    def ask(self, voice_id: str, pcm: bytes) -> None:
        """Have an utterance transcribed, whether or not the client gets to see it."""
        settings = self._desk.session.audio.input.transcription
        language = settings.language if settings else None
        prompt = settings.prompt if settings else None
        self._desk.put(
            StartTranscription(
                voice_id,
                pcm,
                language=None if isinstance(language, UnsetType) else language,
                prompt=None if isinstance(prompt, UnsetType) else prompt,
                logprobs=self._with_logprobs,
            )
        )

    def tell(
        self,
        item_id: str,
        text: str,
        *,
        length_ms: int,
        content_index: int = 0,
        logprobs: tuple[ev.LogProb, ...] = (),
    ) -> None:
        """Tell the client what was heard."""
        if not self.are_shown:
            return
        shown = logprobs if logprobs and self._with_logprobs else UNSET
        if text:
            self._desk.send(
                ev.TranscriptionDelta(
                    item_id=item_id, content_index=content_index, delta=text, logprobs=shown
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
