"""Life cycle of one response: what the assistant answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from statemachine import State

from statecharts.base import Effect, StrictChart

Status: TypeAlias = Literal["completed", "cancelled", "failed", "incomplete"]


@dataclass(frozen=True, slots=True)
class Generate(Effect):
    """Send the conversation to the language model."""


@dataclass(frozen=True, slots=True)
class CloseResponse(Effect):
    """Close every open part and item, then send the one ``response.done``."""

    status: Status


class ResponseChart(StrictChart):
    """Waiting for its context, generating, speaking, and one of four ends.

    A call of an MCP tool that still runs counts as speech that is left.

    Promises: exactly one end, whatever comes first; after it no event is legal, so nothing
    can be added to a response that is over.

    {statechart:rst}
    """

    waiting = State("waiting", initial=True)
    generating = State("generating")
    speaking = State("speaking")
    completed = State("completed", final=True)
    incomplete = State("incomplete", final=True)
    cancelled = State("cancelled", final=True)
    failed = State("failed", final=True)

    context_ready = waiting.to(generating)
    generated = (
        generating.to(speaking, cond="has_speech_left")
        | generating.to(incomplete, cond="is_cut")
        | generating.to(completed)
    )
    spoken = speaking.to(incomplete, cond="was_cut") | speaking.to(completed)
    cancel = waiting.to(cancelled) | generating.to(cancelled) | speaking.to(cancelled)
    fail = waiting.to(failed) | generating.to(failed) | speaking.to(failed)

    def __init__(self) -> None:
        self.cut = False
        super().__init__()

    def has_speech_left(self, *, speech_left: bool) -> bool:
        """Whether text has not been spoken yet, or a call of a tool still runs."""
        return speech_left

    def is_cut(self, *, cut: bool) -> bool:
        """Whether the token limit ended the text."""
        return cut

    def was_cut(self) -> bool:
        """Whether the token limit ended the text, as told by ``generated``."""
        return self.cut

    def on_generated(self, *, cut: bool) -> None:
        """Remember how the text ended until the speech has ended too."""
        self.cut = cut

    def on_enter_generating(self) -> None:
        """All that the answer depends on is known."""
        self.emit(Generate())

    def on_enter_completed(self) -> None:
        """All of it was written and spoken."""
        self.emit(CloseResponse("completed"))

    def on_enter_incomplete(self) -> None:
        """All that the token limit allowed was written and spoken."""
        self.emit(CloseResponse("incomplete"))

    def on_enter_cancelled(self) -> None:
        """The client or the user stopped it."""
        self.emit(CloseResponse("cancelled"))

    def on_enter_failed(self) -> None:
        """A model failed."""
        self.emit(CloseResponse("failed"))
