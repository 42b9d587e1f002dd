"""The conversation of a unit: runs the dialogue of its session and is its only writer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from s2s_actors.actors import messages as m
from s2s_actors.actors.open_session import OpenSession
from s2s_actors.actors.stage import Links, StageActor
from s2s_actors.protocol.conduct import NATURAL, PLAIN, Conduct
from s2s_actors.protocol.dialogue import Dialogue
from s2s_actors.protocol.history import USUAL, HistoryLimits
from s2s_actors.protocol.session_start import SessionStart

if TYPE_CHECKING:
    from s2s_actors.actors.ports import SessionWish
    from s2s_actors.actors.surroundings import Surroundings
    from s2s_actors.runtime.outlet import Outlet


@dataclass(frozen=True, slots=True)
class ConversationRules:
    """What sessions begin with.

    Attributes:
        model: Name that a session shows when the client asked for none.
        instructions: System prompt until the client sets another.
        max_duration_s: After that a session is ended.
        stt_model: Name that a transcription session shows.
        context_tokens: What the language model can take; None if that is not known.
        conduct: What sessions do beyond the plain protocol, unless their client wants that.
        history: How much of its conversation a session keeps.
    """

    model: str
    instructions: str
    max_duration_s: float
    stt_model: str = "stt"
    context_tokens: int | None = None
    conduct: Conduct = NATURAL
    history: HistoryLimits = USUAL

    def start(self, wish: SessionWish, session_id: str, now_s: float) -> SessionStart:
        """How a session begins.

        Args:
            wish: What its client asks for.
            session_id: Its id.
            now_s: The time, as Unix time.
        """
        return SessionStart(
            session_id=session_id,
            model=wish.model or self.model,
            stt_model=self.stt_model,
            transcription=wish.transcription,
            instructions=self.instructions,
            max_duration_s=self.max_duration_s,
            context_tokens=self.context_tokens,
            conduct=PLAIN if wish.plain else self.conduct,
            history=self.history,
            settings=wish.settings,
            expires_at=int(now_s + self.max_duration_s),
        )


@dataclass(frozen=True, slots=True)
class StageOutlets:
    """Where the conversation puts work."""

    vad: Outlet
    stt: Outlet
    llm: Outlet
    tts: Outlet


class ConversationActor(StageActor):
    """Head of the pipeline, and the hub of its data.

    Promises: what the session decides is decided in :class:`Dialogue`, and carried out here in
    the order in which it was decided; all events of a session leave through here; whatever a
    stage says after the end of its session or response changes nothing.
    """

    stage = "conversation"

    limit_messages = 16 * 1024
    limit_bytes = 32 * 1024 * 1024

    def __init__(
        self,
        name: str,
        links: Links,
        stages: StageOutlets,
        rules: ConversationRules,
        around: Surroundings,
    ) -> None:
        super().__init__(name, links, around.hosts.conversations)
        self.stages = stages
        self._rules = rules
        self.around = around
        self._open: OpenSession | None = None

    def open_session(self, bind: m.Bind) -> None:
        """Greet the client."""
        assert isinstance(bind, m.OpenConversation)
        start = self._rules.start(bind.wish, bind.lease.session_id, self.around.clock.wall_s())
        self._open = OpenSession(self, bind, Dialogue(start))
        self._open.dialogue.open()
        self._open.carry_out()

    def reset(self) -> None:
        """Forget the session."""
        assert self._open is not None
        self._open.close()
        self._open = None

    def crashed(self) -> None:
        """Let go of timers and work."""
        if self._open is not None:
            self._open.close()

    def work(self, message: Any) -> None:
        """Feed the dialogue, then do what it asks for."""
        assert self._open is not None
        self._open.feed(message)
        self._open.carry_out()
