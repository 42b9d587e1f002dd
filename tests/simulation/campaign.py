"""One seed of a campaign: callers of all kinds on a server where things go wrong."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from s2s_actors.actors.pool import PoolRules
from s2s_actors.actors.ports import SessionWish
from s2s_actors.backends.scripted import tone_hz
from s2s_actors.simulation import Agent, Faults, Simulation
from tests.support.stream_checker import CrossSessionChecker, StreamChecker

if TYPE_CHECKING:
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


@dataclass(slots=True)
class Tally:
    """What was simulated so far.

    Attributes:
        sessions: Calls that got a unit.
        talk_s: Virtual time.
    """

    seeds: int = 0
    sessions: int = 0
    responses: int = 0
    talk_s: float = 0.0
    took_s: float = 0.0


TALLY = Tally()


def canary(caller: Caller) -> str:
    """A word that only this caller says."""
    return caller.name.replace("caller-", "canary") + "x"


def play(world: Simulation, seed: int) -> None:
    """Let callers come, talk and go, as the seed has it."""
    draw = random.Random(f"{seed} callers")  # noqa: S311 - chance, no secret
    for number in range(CALLERS):
        call(world, draw)
        for caller in world.callers:
            if draw.random() < 0.8:
                do_something(caller, draw)
        world.run(for_s=draw.uniform(0, 5))
        if number >= 2 and draw.random() < 0.7:
            world.callers[number - 2].hang_up()
    world.run()


def call(world: Simulation, draw: random.Random) -> Caller:
    """Someone calls, with settings of their own."""
    listening = {"turn_detection": draw.choice(DETECTION), "transcription": {"model": "any"}}
    session = {
        "type": "realtime",
        "tools": [TOOL],
        "output_modalities": [draw.choice(["audio", "audio", "text"])],
        "audio": {"input": listening},
    }
    caller = world.call(
        session=session,
        tools={"look_up": lambda: f"found by {canary(caller)}"},
        wish=SessionWish(plain=draw.random() < 0.3),
    )
    return caller


def do_something(caller: Caller, draw: random.Random) -> None:
    """Talk, write, break off, or use the protocol in another way."""
    word = canary(caller)
    match draw.randrange(9):
        case 0:
            caller.say_text(f"hello {word}")
        case 1:
            caller.say_text(f"look for {word}")
        case 2 | 3:
            caller.speaks(f"this is {word} calling you again")
        case 4:
            caller.speaks(f"well {word}", then_silent_ms=draw.randint(0, 400))
        case 5:
            caller.speaks(draw.randint(40, 1500), then_silent_ms=draw.randint(0, 900))
        case 6:
            caller.send_event({"type": "response.cancel"})
        case 7:
            caller.send_event({"type": "input_audio_buffer.commit"})
            caller.send_event({"type": "response.create"})
        case _:
            caller.send_event({"type": draw.choice(["input_audio_buffer.clear", "no such event"])})


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
