"""One seed of a campaign: callers of all kinds on a server where things go wrong."""

from __future__ import annotations

import base64
import operator
import random
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import SessionWish
from s2s_actors.backends.scripted import tone_hz
from s2s_actors.simulation import Agent, Faults, Simulation
from tests.simulation.callers import TALKING, canary
from tests.support.stream_checker import CrossSessionChecker, StreamChecker

if TYPE_CHECKING:
    from s2s_actors.simulation import Caller
    from tests.simulation.callers import Campaign

RULES = PoolRules(2, queue_limit=2, queue_timeout_s=20.0)
TTS_RATE_HZ = 24_000
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


@dataclass(frozen=True, slots=True)
class Tally:
    """How much was simulated.

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

    def __add__(self, other: Tally) -> Tally:
        return Tally(*map(operator.add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        return (
            f"{self.seeds} seeds, {self.sessions} sessions, {self.responses} responses and"
            f" {self.talk_s:.0f} s of talk in {self.took_s:.1f} s of one core:"
            f" {self.sessions / self.took_s:.0f} sessions a second,"
            f" {self.talk_s / self.took_s:.0f} times as fast as life"
        )

    @classmethod
    def of(cls, world: Simulation, took_s: float) -> Tally:
        """What there was in a world that has come to its end."""
        responses = sum(caller.types.count("response.done") for caller in world.callers)
        return cls(1, world.plant.board.usage().sessions, responses, world.now_s, took_s)


def play(world: Simulation, seed: int, campaign: Campaign = TALKING) -> None:
    """Let callers come, talk and go, as the seed has it."""
    draw = random.Random(f"{seed} callers")  # noqa: S311 - chance, no secret
    for number in range(campaign.count):
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
