"""Run actors by hand: one message at a time, in the order a test chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from s2s_actors.runtime.actor import Actor

T = TypeVar("T")


def begin(actor: Actor) -> None:
    """Do what a started actor does before its first message."""
    actor.on_start()


def step(actor: Actor) -> None:
    """Let an actor that was never started handle the next message in its mailbox."""
    assert not is_idle(actor), f"{actor.name} has nothing to handle"
    envelope = actor.actor_inbox.get()
    actor._handle_receive(envelope.message)


def run_until_idle(*actors: Actor) -> None:
    """Step all of them, in turn, until none has anything left to handle."""
    while busy := [actor for actor in actors if not is_idle(actor)]:
        for actor in busy:
            step(actor)


def is_idle(actor: Actor) -> bool:
    """Whether the actor has nothing to handle, or has stopped."""
    return actor.actor_stopped.is_set() or actor.actor_inbox.empty()


class Recorder:
    """An outlet that keeps what it is given."""

    def __init__(self) -> None:
        self.messages: list[object] = []

    def put(self, message: object) -> None:
        """Keep a message."""
        self.messages.append(message)

    def of(self, kind: type[T]) -> list[T]:
        """The messages of one type, oldest first."""
        return [message for message in self.messages if isinstance(message, kind)]

    def take(self) -> list[object]:
        """Hand over all messages since the last call."""
        messages, self.messages = self.messages, []
        return messages
