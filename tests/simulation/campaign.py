"""One seed of a campaign: callers of all kinds on a server where things go wrong."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import SessionWish
from s2s_actors.backends.scripted import tone_hz
from s2s_actors.simulation import Agent, Faults, Simulation
from tests.support.stream_checker import CrossSessionChecker, StreamChecker

if TYPE_CHECKING:
    from collections.abc import Callable

    from s2s_actors.simulation import Caller

CALLERS = 6
RULES = PoolRules(2, queue_limit=2, queue_timeout_s=20.0)
TTS_RATE_HZ = 24_000
TOOL = {"type": "function", "name": "look_up", "description": "", "parameters": {"type": "object"}}
SCRIPT: dict[str, Any] = {
    "stt": {"answers": [{"text": "utterance {n}", "delay_ms": 80}]},
    "llm": {
        "answers": [{"text": "You said: {user}", "first_token_ms": 60, "token_ms": 8}],
        "rules": [
            {
                "match": "look",
                "answers": [{"tool_calls": [{"name": "look_up", "arguments": {}}]}, "{tool}"],
            }
        ],
    },
    "tts": {"first_chunk_ms": 40, "chunk_delay_ms": 5},
    "turn": {"answers": [0.1, 0.95]},
}
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
        name: In reports.
        session: What they begin with.
        deeds: What they may do, each as likely as the others.
    """

    name: str
    session: Callable[[random.Random], dict[str, Any]]
    deeds: tuple[Deed, ...]


@dataclass(slots=True)
class Tally:
    """What was simulated so far.

    Attributes:
        sessions: Calls that got a unit.
        talk_s: Virtual time.
        took_s: Real time, on one core.
    """

    seeds: int = 0
    sessions: int = 0
    responses: int = 0
    talk_s: float = 0.0
    took_s: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.seeds} seeds, {self.sessions} sessions, {self.responses} responses and"
            f" {self.talk_s:.0f} s of talk in {self.took_s:.1f} s of one core:"
            f" {self.sessions / self.took_s:.0f} sessions a second,"
            f" {self.talk_s / self.took_s:.0f} times as fast as life"
        )

    def add(self, world: Simulation, took_s: float) -> None:
        """Count a world that has come to its end."""
        self.seeds += 1
        self.sessions += world.plant.board.usage().sessions
        self.responses += sum(caller.types.count("response.done") for caller in world.callers)
        self.talk_s += world.now_s
        self.took_s += took_s


def canary(caller: Caller) -> str:
    """A word that only this caller says."""
    return caller.name.replace("caller-", "canary") + "x"


def play(world: Simulation, seed: int, campaign: Campaign | None = None) -> None:
    """Let callers come, talk and go, as the seed has it; they talk unless they are to write."""
    campaign = campaign or TALKING
    draw = random.Random(f"{seed} callers")  # noqa: S311 - chance, no secret
    for number in range(CALLERS):
        call(world, campaign.session(draw), draw)
        for caller in world.callers:
            if draw.random() < 0.8:
                campaign.deeds[draw.randrange(len(campaign.deeds))](caller, draw)
        world.run(for_s=draw.uniform(0, 5))
        if number >= 2 and draw.random() < 0.7:
            world.callers[number - 2].hang_up()
    world.run()


def call(world: Simulation, session: dict[str, Any], draw: random.Random) -> Caller:
    """Someone calls."""
    caller = world.call(
        session=session,
        tools={"look_up": lambda: f"found by {canary(caller)}"},
        wish=SessionWish(plain=draw.random() < 0.3),
    )
    return caller


# --- what callers begin with, and what they do ----------------------------------------------


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
    "talking",
    _to_talk,
    (
        *(_write, _look_up, _speak, _speak, _begin_to_speak),
        *(_make_noise, _cancel, _commit, _do_something_odd),
    ),
)
WRITING = Campaign(
    "writing", _to_write, (_write, _write, _look_up, _cancel, _ask_again, _do_something_odd)
)
CAMPAIGNS = (TALKING, WRITING)
TALLIES = {campaign.name: Tally() for campaign in CAMPAIGNS}


# --- what has to hold -------------------------------------------------------------------------


def check(world: Simulation) -> None:
    """Hold the events of all callers against the invariants."""
    across = CrossSessionChecker()
    for caller in world.callers:
        across.canary(caller.name, canary(caller))
    for caller in world.callers:
        check_alone(caller)
        check_voice(caller)
        for each in caller.log:
            show = across.client if each.side == "client" else across.server
            show(caller.name, each.event)


def check_alone(caller: Caller) -> None:
    """The invariants of one session."""
    if "session.created" not in caller.types:
        # It was refused, or its unit failed before it had greeted: it hears that and nothing else.
        assert set(caller.types) <= {"error"}
        return
    checker = StreamChecker(caller.name)
    for each in caller.log:
        if each.side == "client":
            checker.client(each.event)
        else:
            checker.server(each.event)
    checker.finish(cut=caller.has_left)


def check_voice(caller: Caller) -> None:
    """Whatever sounds is the tone of the caller's own session."""
    audio = b"".join(
        base64.b64decode(event["delta"])
        for event in caller.events
        if event["type"] == "response.output_audio.delta"
    )
    sound = np.frombuffer(audio, "<i2").astype(float)
    if sound.size < 3:
        return
    # A pure tone is told by this from one sample to the next; rounding is worth 2, a seam between
    # two pieces a sample or two.
    turn = 2 * np.cos(2 * np.pi * tone_hz(caller.session_id) / TTS_RATE_HZ)
    off = np.abs(sound[2:] + sound[:-2] - turn * sound[1:-1]) > 4
    assert off.mean() < 0.02, f"{caller.name} heard another voice"


def simulation(seed: int) -> Simulation:
    """The server of a campaign."""
    return Simulation(seed, agent=AGENT, faults=Faults.usual(), rules=RULES)


AGENT = Agent(script=SCRIPT)
