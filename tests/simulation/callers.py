"""The callers of the campaigns: what they begin with, and what they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from s2s_actors.simulation import Caller

TOOL = {"type": "function", "name": "look_up", "description": "", "parameters": {"type": "object"}}
DETECTION: tuple[dict[str, Any] | None, ...] = (
    {"type": "server_vad"},
    {"type": "server_vad", "create_response": False},
    {"type": "server_vad", "interrupt_response": False, "silence_duration_ms": 200},
    {"type": "semantic_vad"},
    {"type": "semantic_vad", "eagerness": "high"},
    None,
)


Deed: TypeAlias = "Callable[[Caller, random.Random], None]"


@dataclass(frozen=True, slots=True)
class Campaign:
    """A kind of callers.

    Attributes:
        count: How many of them call, one after the other.
        session: What they begin with.
        deeds: What they may do, each as likely as the others.
    """

    count: int
    session: Callable[[random.Random], dict[str, Any]]
    deeds: tuple[Deed, ...]


def canary(caller: Caller) -> str:
    """A word that only this caller says."""
    return caller.name.replace("caller-", "canary") + "x"


def _to_talk(draw: random.Random) -> dict[str, Any]:
    listening = {"turn_detection": draw.choice(DETECTION), "transcription": {"model": "any"}}
    return {
        "type": "realtime",
        "tools": [TOOL],
        "output_modalities": [draw.choice(["audio", "audio", "text"])],
        "audio": {"input": listening},
    }


def _to_write(draw: random.Random) -> dict[str, Any]:
    del draw
    return {"type": "realtime", "tools": [TOOL], "output_modalities": ["text"]}


def _write(caller: Caller, draw: random.Random) -> None:
    del draw
    caller.say_text(f"hello {canary(caller)}")


def _look_up(caller: Caller, draw: random.Random) -> None:
    del draw
    caller.say_text(f"look for {canary(caller)}")


def _speak(caller: Caller, draw: random.Random) -> None:
    del draw
    caller.speaks(f"this is {canary(caller)} calling you again")


def _begin_to_speak(caller: Caller, draw: random.Random) -> None:
    caller.speaks(f"well {canary(caller)}", then_silent_ms=draw.randint(0, 400))


def _make_noise(caller: Caller, draw: random.Random) -> None:
    caller.speaks(draw.randint(40, 1500), then_silent_ms=draw.randint(0, 900))


def _cancel(caller: Caller, draw: random.Random) -> None:
    del draw
    caller.send_event({"type": "response.cancel"})


def _commit(caller: Caller, draw: random.Random) -> None:
    del draw
    caller.send_event({"type": "input_audio_buffer.commit"})
    caller.send_event({"type": "response.create"})


def _ask_again(caller: Caller, draw: random.Random) -> None:
    del draw
    caller.send_event({"type": "response.create"})


def _do_something_odd(caller: Caller, draw: random.Random) -> None:
    caller.send_event({"type": draw.choice(["input_audio_buffer.clear", "no such event"])})


TALKING = Campaign(
    6,
    _to_talk,
    (
        *(_write, _look_up, _speak, _speak, _begin_to_speak),
        *(_make_noise, _cancel, _commit, _do_something_odd),
    ),
)
WRITING = Campaign(
    12,
    _to_write,
    (_write, _write, _look_up, _cancel, _ask_again, _do_something_odd),
)
CAMPAIGNS = {"talking": TALKING, "writing": WRITING}
