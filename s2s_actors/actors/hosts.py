"""Which threads the actors of a process run on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from s2s_actors.actors.listening_rounds import ListeningRounds
from s2s_actors.runtime.actor import start_actor_thread
from s2s_actors.runtime.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.backends.base import VoiceActivityDetector

    Aside: TypeAlias = Callable[[str, Callable[[], None]], None]
    """Does a piece of work, named after whom it is for, somewhere else."""


def here(name: str, work: Callable[[], None]) -> None:
    """Do a piece of work at once."""
    del name
    work()


@dataclass(frozen=True, slots=True)
class Hosts:
    """Who shares a thread with whom.

    Conversations and voice detection have little to do, fifty times a second and session: all
    conversations share a thread, and so does all voice detection. What may be busy in a model
    for long has a thread of its own, and so has the unit, which watches over them.

    Attributes:
        conversations: Serves the conversations; None for a thread each.
        hearing: Serves voice detection; None for a thread each.
        rounds: What voice detection does in rounds; None to listen at once.
        aside: Runs what voice detection must not wait for.
    """

    conversations: Dispatcher | None = None
    hearing: Dispatcher | None = None
    rounds: ListeningRounds | None = None
    aside: Aside = here

    @classmethod
    def shared(cls, vad: VoiceActivityDetector) -> Hosts:
        """The usual ones."""
        rounds = ListeningRounds(vad)
        return cls(
            conversations=Dispatcher("conversations", start_actor_thread),
            hearing=Dispatcher("hearing", start_actor_thread, rounds),
            rounds=rounds,
            # A thread for each weighing: they are seldom, and one that hangs costs nothing else.
            aside=start_actor_thread,
        )
