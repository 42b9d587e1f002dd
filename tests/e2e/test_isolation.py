"""Nothing of a session ever reaches another one."""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import random
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil
import pykka
import pytest

from s2s_actors.backends.script import Script, SttAnswer, SttScript, TtsScript
from s2s_actors.backends.scripted import tone_hz
from tests.e2e.conftest import VOICE_FAULTS
from tests.e2e.faults import RudeLlm, RudeStt, RudeTts
from tests.support.canaries import canary_words, check_voice, foreign_share, pitch_hz
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run, scripted_models
from tests.support.sound import tone
from tests.support.stream_checker import CrossSessionChecker

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SESSIONS = 200
UNITS = 3
AT_ONCE = 8
WARM_UP = 80
MAX_GROWTH_MIB = 24
ACTORS_OF_A_UNIT = 6

TOOL = {"type": "function", "name": "look", "parameters": {"type": "object"}}


@dataclass
class Crowd:
    """Who has been there, and what became of them."""

    server: RunningServer
    seeded: random.Random
    watcher: CrossSessionChecker = field(default_factory=CrossSessionChecker)
    finished: int = 0
    vanished: int = 0
    deltas_checked: int = 0


async def steps(client: RealtimeClient, word: str, kind: str) -> AsyncIterator[str]:
    """A session, step by step; it may be left after any of them."""
    yield "connected"
    await client.event("session.created")
    yield "greeted"
    ears = [{"text": word, "stall": True}] if kind == "stalled stt" else [f"hello {word}"]
    again = [f"Again {word}, {{user}}."] * 2
    await client.play(_first_answer(word, kind), *again, stt=ears, tools=[TOOL])
    yield "configured"
    await client.append(tone(200))
    yield "mid-append"
    await client.say(200)
    yield "spoken"
    await client.event("input_audio_buffer.committed")
    yield "committed"
    if kind == "stalled stt":
        return
    await client.event("response.created")
    yield "answering"
    await client.event("response.output_audio_transcript.delta")
    yield "writing"
    if kind == "stalled llm":
        return
    await client.event("response.output_audio.delta")
    yield "speaking"
    if kind == "stalled voice":
        return
    if kind == "interrupted":
        await client.say(300)
        assert (await client.done())["status"] == "cancelled"
        yield "interrupted"
    response = await client.done()
    assert response["status"] == "completed"
    assert word in json.dumps(response)
    yield "answered"
    response = await client.ask(f"and {word}?", output_modalities=["text"])
    assert word in json.dumps(response)


def _first_answer(word: str, kind: str) -> dict[str, Any]:
    text = f"{word} says one two three. And {word} says four five six."
    match kind:
        case "stalled llm":
            return {"text": text, "after": 2, "stall": True}
        case "stalled voice":
            return {"text": f"{word}. A long WHEEZE of a sentence."}
        case "interrupted":
            return {"text": text * 20, "token_ms": 20}
        case "tool":
            return {"text": text, "tool_calls": [{"name": "look", "arguments": {"w": word}}]}
        case _:
            return {"text": text, "token_ms": 5}


KINDS = ["plain", "plain", "interrupted", "tool", "stalled llm", "stalled stt", "stalled voice"]
MOMENTS = 10


def vanish(client: RealtimeClient, seeded: random.Random) -> None:
    match seeded.randrange(4):
        case 0:
            client.say_goodbye_only()
        case 1:
            client.ws.transport.write_eof()
        case _:
            client.reset()


async def visit(crowd: Crowd, word: str, *, leaves: bool) -> None:
    """Come, talk, and go, or vanish in the middle."""
    seeded = crowd.seeded
    kind = seeded.choice(KINDS if leaves else KINDS[:4])
    moment = seeded.randrange(MOMENTS) if leaves else MOMENTS + 1
    turns_of_the_loop = seeded.randrange(20)
    crowd.watcher.canary(word, word)
    async with RealtimeClient(crowd.server, name=word, watcher=crowd.watcher) as client:
        async for number, _ in _numbered(steps(client, word, kind)):
            if number == moment:
                break
        if leaves:
            for _ in range(turns_of_the_loop):
                await asyncio.sleep(0)
            vanish(client, seeded)
            crowd.vanished += 1
            client.reset()
            await client.closed()
        else:
            crowd.finished += 1
    if client.received:
        crowd.deltas_checked += check_voice(client)


async def _numbered(them: AsyncIterator[str]) -> AsyncIterator[tuple[int, str]]:
    number = 0
    async for each in them:
        yield number, each
        number += 1


async def all_visits(crowd: Crowd, words: list[tuple[str, bool]]) -> None:
    """As many at a time as there are places and more, so that units change hands at once."""
    waiting = iter(words)

    async def visitor() -> None:
        for word, leaves in waiting:
            await visit(crowd, word, leaves=leaves)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(visitor())


def test_of_200_sessions_over_3_units_nothing_reaches_another(caplog: Any) -> None:
    caplog.set_level("ERROR")
    seeded = random.Random(20)  # noqa: S311
    leaves = [True, False] * (SESSIONS // 2)
    seeded.shuffle(leaves)
    visits = list(zip(canary_words(seeded), leaves, strict=False))
    process = psutil.Process()
    models = scripted_models(Script(tts=VOICE_FAULTS))
    with RunningServer(models, units=UNITS, queue=AT_ONCE, queue_timeout_s=60) as server:
        crowd = Crowd(server, seeded)

        async def scenario() -> int:
            await all_visits(crowd, visits[:WARM_UP])
            await server.until_idle()
            threads = threading.active_count()
            assert len(pykka.ActorRegistry.get_all()) == 1 + UNITS * ACTORS_OF_A_UNIT
            gc.collect()
            warm_bytes = process.memory_info().rss
            await all_visits(crowd, visits[WARM_UP:])
            pool = await server.until_idle()
            assert [unit["restarts"] for unit in pool["units"]] == [0] * UNITS
            assert pool["queue"]["length"] == 0
            assert len(pykka.ActorRegistry.get_all()) == 1 + UNITS * ACTORS_OF_A_UNIT
            assert threading.active_count() <= threads
            gc.collect()
            return int(process.memory_info().rss - warm_bytes)

        growth_bytes = run(scenario())
    assert (crowd.finished, crowd.vanished) == (SESSIONS // 2, SESSIONS // 2)
    assert crowd.deltas_checked > SESSIONS
    assert growth_bytes < MAX_GROWTH_MIB * 2**20, f"grew by {growth_bytes / 2**20:.1f} MiB"
    assert not caplog.records


def test_late_output_of_models_that_ignore_their_cancellation_reaches_nobody() -> None:
    """Every drain is cut short, so stages are replaced while models still work for the old."""
    seeded = random.Random(21)  # noqa: S311
    words = canary_words(seeded)
    script = Script(
        stt=SttScript(answers=(SttAnswer(text="scripted", delay_ms=150),)),
        tts=TtsScript(ms_per_char=20, first_chunk_ms=150, chunk_delay_ms=20),
    )
    models = scripted_models(script, stt=RudeStt(script), llm=RudeLlm(script), tts=RudeTts(script))
    with RunningServer(models, units=UNITS, drain_timeout_s=0.05) as server:
        crowd = Crowd(server, seeded)

        async def leave_one_behind(word: str, kind: int) -> None:
            client = RealtimeClient(server, name=word, watcher=crowd.watcher)
            async with client:
                ears = [{"text": word, "delay_ms": 300 if kind == 0 else 0}]
                first_ms = 300 if kind == 1 else 0
                answer = {"text": f"{word}. {word}. {word}.", "first_token_ms": first_ms}
                await client.play(answer, stt=ears)
                await client.say(200)
                await client.event("input_audio_buffer.committed")
                if kind:
                    await client.event("response.created")
                if kind == 2:
                    await client.event("response.output_audio_transcript.delta")
                await client.vanish()

        async def follow(word: str) -> None:
            async with RealtimeClient(server, name=word, watcher=crowd.watcher) as client:
                answer = {"text": f"{word} is well.", "first_token_ms": 300}
                await client.play(answer, stt=[word])
                await client.say(200)
                assert word in json.dumps(await client.done())
                assert client.types.count("response.created") == 1
                assert check_voice(client)

        async def scenario() -> None:
            for _ in range(3):
                pairs = [(next(words), kind) for kind in range(UNITS)]
                followers = [next(words) for _ in range(UNITS)]
                for word in [word for word, _ in pairs] + followers:
                    crowd.watcher.canary(word, word)
                await asyncio.gather(*(leave_one_behind(*pair) for pair in pairs))
                await server.until_idle()
                await asyncio.gather(*(follow(word) for word in followers))
                await server.until_idle()
            assert sum(unit["restarts"] for unit in (await server.pool())["units"]) >= 9

        run(scenario())


def test_a_tone_of_another_session_would_be_noticed() -> None:
    own, foreign = tone_hz("sess_1"), tone_hz("sess_2")
    assert own != foreign
    assert pitch_hz(tone(100, hz=own)) == pytest.approx(own, abs=2)
    assert foreign_share(tone(100, hz=own), own) < 0.001
    assert foreign_share(tone(100, hz=own + 12), own) > 0.5
    mixed = tone(80, hz=own) + tone(20, hz=foreign)
    assert foreign_share(mixed, own) > 0.1


def test_the_next_session_on_a_unit_starts_as_the_first_one_did() -> None:
    """Whatever a client sets or says, the one after it finds nothing of it."""
    with RunningServer(scripted_models(), units=1) as server:

        async def turn(name: str) -> tuple[list[str], dict[str, Any]]:
            async with RealtimeClient(server, name=name) as client:
                created = (await client.event("session.created"))["session"]
                session = {k: v for k, v in created.items() if k not in ("id", "expires_at")}
                await client.say(300)
                await client.done()
                await client.sync()
                return client.types, session

        async def scenario() -> None:
            reference = await turn("first")
            for number in itertools.count():
                await server.until_idle()
                if number == len(SPOILERS):
                    break
                async with RealtimeClient(server, name=f"spoiler-{number}") as client:
                    await client.update(**SPOILERS[number])
                    await client.append(tone(150))
                    await client.write("leftover")
                    await client.sync()
                    await client.vanish()
                await server.until_idle()
                types, session = await turn(f"after-{number}")
                assert session == reference[1]
                assert _without_deltas(types) == _without_deltas(reference[0])

        run(scenario())


SPOILERS: list[dict[str, Any]] = [
    {"instructions": "leak"},
    {"output_modalities": ["text"]},
    {"tools": [TOOL], "tool_choice": "required"},
    {"max_output_tokens": 1},
    {"audio": {"output": {"voice": "tone-999", "speed": 1.5}}},
    {"audio": {"input": {"turn_detection": None}}},
    {"audio": {"input": {"turn_detection": {"type": "server_vad", "threshold": 1.0}}}},
    {"audio": {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "low"}}}},
    {"audio": {"input": {"transcription": {"model": "x", "language": "fr", "prompt": "leak"}}}},
    {"audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": False}}}},
]


def _without_deltas(types: list[str]) -> list[str]:
    return [kind for kind in types if not kind.endswith(".delta")]
