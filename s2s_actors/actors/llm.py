"""The LLM stage: writes answers."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from s2s_actors.actors.messages import Generate, Generated, ResponseFailed
from s2s_actors.actors.stage import Links, ModelStage
from s2s_actors.backends.abilities import forget_session, runs_here
from s2s_actors.backends.base import Call
from s2s_actors.backends.chat import Finished, LlmEvent, TextDelta, ToolCallDelta
from s2s_actors.errors import StageError

if TYPE_CHECKING:
    from s2s_actors.actors.load import Load
    from s2s_actors.actors.messages import Bind
    from s2s_actors.backends.base import LanguageModel

MAX_ANSWER_CHARS = 1024 * 1024
"""A model that writes more does not come to an end: it is a book of 200,000 words."""
_EVENT_CHARS = 16
"""What an event counts beside its text: there may be many that have none."""


class LlmActor(ModelStage):
    """Generates one response at a time; cancelling takes effect within one delta.

    When the session has ended, the model is told to forget it.
    """

    stage = "llm"

    limit_messages = 64

    def __init__(
        self, name: str, links: Links, backend: LanguageModel, load: Load | None = None
    ) -> None:
        super().__init__(name, links, load if runs_here(backend) else None)
        self._backend = backend
        self._session_id = ""

    def open_session(self, bind: Bind) -> None:
        """Note whose chat the model may keep."""
        self._session_id = bind.lease.session_id

    def reset(self) -> None:
        """Nothing of the session stays in the model."""
        forget_session(self._backend, self._session_id)

    def run_model(self, message: Generate) -> None:
        """Pass the deltas on as they come; a generation always has an end."""
        call = Call(message.lease.session_id, message.cancel, message.urgency)
        events = self._backend.generate(message.request, call)
        chars = 0
        try:
            for event in events:
                self.answered()
                if message.cancel.cancelled:
                    return
                chars += _chars(event)
                if chars > MAX_ANSWER_CHARS:
                    raise StageError("llm_endless", "The language model does not come to an end.")
                self.links.conversation.put(Generated(message.lease, message.response_id, event))
                if isinstance(event, Finished):
                    return
        finally:
            if isinstance(events, Generator):
                events.close()
        if not message.cancel.cancelled:
            raise StageError("llm_incomplete", "The language model ended without a result.")

    def failure(self, message: Generate, error: StageError) -> ResponseFailed:
        """The response ends here."""
        return ResponseFailed(message.lease, message.response_id, error)


def _chars(event: LlmEvent) -> int:
    match event:
        case TextDelta(text=text) | ToolCallDelta(arguments=text):
            return _EVENT_CHARS + len(text)
        case _:
            return _EVENT_CHARS
