"""A server that is talked to for a long time stays as it was: nothing grows, nothing slows down.

``SOAK_SECONDS`` and ``SOAK_SESSIONS`` make it longer and louder, ``SOAK_OUT`` keeps the pages
(``make soak SECONDS=3600 SESSIONS=50``).
"""

from __future__ import annotations

import asyncio
import os
import sys
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest

from s2s_actors.client.bench.rows import TurnRow  # noqa: TC001 - msgspec reads it
from tests.soak.flatness import Course, Limit
from tests.soak.serving import SoakedServer
from tests.soak.soak_page import Curve, page

SECONDS = float(os.environ.get("SOAK_SECONDS", "8"))
SESSIONS = int(os.environ.get("SOAK_SESSIONS", "8"))
SAMPLES = 60
PING_S = 20.0
LATENCY = Limit(1.5, 60.0)
"""Of the medians, in ms."""
WORK = Limit(2.0, 0.05)
IS_LONG = "SOAK_SECONDS" in os.environ
"""Whether someone has set a machine aside for it. On one that others use, latency would tell how
busy they are; what the server itself has to do for the same callers tells as much of it there."""
OVERHEAD_S = 60.0


class _Turns(msgspec.Struct):
    """What is read of the bench's result."""

    rows: list[TurnRow]


def bench_command(server: SoakedServer, out: Path) -> list[str]:
    """Callers who ask twice and go, one after the other, on as many lines at once."""
    question = files("s2s_actors.client") / "question.flac"
    return [
        *(sys.executable, "-m", "s2s_actors", "bench", "--scenario", "soak"),
        *("--url", f"ws://127.0.0.1:{server.port}"),
        *("--sessions", str(SESSIONS), "--duration", str(SECONDS)),
        *("--window", "200", "--answer-tokens", "6", "--audio", str(question)),
        *("--json", str(out / "bench.json"), "--html", str(out / "bench.html")),
    ]


async def soak(server: SoakedServer, out: Path) -> Course:
    """Run the bench, and look at the server until it is done."""
    course = Course(server.pid)
    bench = await asyncio.create_subprocess_exec(
        *bench_command(server, out),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    over = asyncio.create_task(bench.communicate())
    try:
        await server.until_pool(lambda pool: pool["in_use"] > SESSIONS, within_s=OVERHEAD_S)
        while bench.returncode is None and not over.done():
            course.sample()
            await asyncio.wait({over}, timeout=SECONDS / SAMPLES)
        said, _ = await over
        assert bench.returncode == 0, said.decode()[-3000:]
    finally:
        if bench.returncode is None:
            bench.kill()
        await asyncio.gather(over, return_exceptions=True)
    await server.until_idle()
    return course


def draw(course: Course, turns: list[TurnRow], out: Path) -> None:
    began_s = course.samples[0].at_s
    curves = [
        Curve(what, what, [(each.at_s - began_s, value(each)) for each in course.samples])
        for what, (value, _) in Course.LIMITS.items()
    ]
    latencies = [(each.at_s, each.latency_ms) for each in turns if each.latency_ms is not None]
    curves.append(Curve("voice to voice", "ms", latencies, dots=True))
    heading = f"{SESSIONS} sessions at once for {SECONDS:g} seconds"
    (out / "soak.html").write_text(page(heading, curves))


@pytest.mark.timeout(SECONDS * 1.5 + 2 * OVERHEAD_S)
def test_nothing_grows_while_callers_come_and_go(tmp_path: Path) -> None:
    out = Path(os.environ.get("SOAK_OUT", tmp_path))
    out.mkdir(parents=True, exist_ok=True)
    with SoakedServer(out / "server.log", units=SESSIONS + 2, ping_s=PING_S) as server:
        course = asyncio.run(soak(server, out))
        during = course.samples[: -max(1, len(course.samples) // 10)]  # callers finish, and go
        turns = msgspec.json.decode((out / "bench.json").read_bytes(), type=_Turns).rows
    draw(course, turns, out)
    assert [turn.problem for turn in turns if turn.problem] == []
    course.samples = during
    course.check(warm_up=0.4, caches=0.4)
    course.check_work(WORK)
    if IS_LONG:
        LATENCY.check("latency in ms", [each.latency_ms for each in turns if each.latency_ms])
    assert server.complaints() == []
    assert server.replacements() == []
    assert server.exit_code == 0
