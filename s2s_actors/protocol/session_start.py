"""What a session begins with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from s2s_actors.protocol.conduct import PLAIN, Conduct
from s2s_actors.protocol.history import USUAL, HistoryLimits
from s2s_actors.protocol.merge import apply_update
from s2s_actors.protocol.session import (
    AudioInput,
    RealtimeSession,
    Session,
    Transcription,
    TranscriptionAudio,
    TranscriptionSession,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SessionStart:
    """What is known when a session begins.

    Attributes:
        session_id: Its id, as clients see it.
        model: Name that the client asked for, or the server's own.
        stt_model: Name of the speech recognition model.
        transcription: Whether the session only transcribes.
        instructions: System prompt until the client sets another.
        max_duration_s: After that the session is ended.
        expires_at: The same as Unix time.
        context_tokens: What the language model can take; None if that is not known.
        conduct: What it does beyond the plain protocol.
        history: How much of the conversation is kept.
        settings: What someone has set beforehand, as in ``session.update``.
    """

    session_id: str
    model: str
    instructions: str
    max_duration_s: float
    expires_at: int
    stt_model: str = "stt"
    transcription: bool = False
    context_tokens: int | None = None
    conduct: Conduct = PLAIN
    history: HistoryLimits = USUAL
    settings: Mapping[str, Any] | None = field(default=None, repr=False)

    def session(self) -> Session:
        """The session with its defaults, and over them what was set beforehand.

        Raises:
            ClientError: That is not acceptable.
        """
        session = self._transcribing() if self.transcription else self._conversing()
        return session if self.settings is None else apply_update(session, self.settings)

    def _conversing(self) -> Session:
        return RealtimeSession(
            id=self.session_id,
            model=self.model,
            instructions=self.instructions,
            expires_at=self.expires_at,
        )

    def _transcribing(self) -> Session:
        heard = AudioInput(transcription=Transcription(model=self.stt_model))
        return TranscriptionSession(
            id=self.session_id,
            expires_at=self.expires_at,
            audio=TranscriptionAudio(input=heard),
        )
