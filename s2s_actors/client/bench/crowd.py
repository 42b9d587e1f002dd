"""The scenario ``crowd``: many sessions that are listened to, few of which speak at a time.

First a session that is alone says each clip once; then all stream at once, in a process of
their own. Nobody comes or goes while it is measured. In a sweep only the first server is asked
what a session alone shows.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from s2s_actors.client.audio_file import duration_ms
from s2s_actors.client.bench.crowd_plan import (
    Outcome,
    Plan,
    Report,
    Steady,
    in_turn,
    one_by_one,
    sound_of,
)
from s2s_actors.client.bench.crowd_point import CrowdPoint, judged, with_rows
from s2s_actors.client.bench.crowd_rows import CrowdRow, crowd_row
from s2s_actors.client.bench.names import ALONE
from s2s_actors.client.bench.precedence import precedence
from s2s_actors.client.bench.probing import probing
from s2s_actors.client.bench.process_usage import Meter
from s2s_actors.client.bench.rows import Place
from s2s_actors.client.bench.seats import settings_for
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions
    from s2s_actors.client.bench.process_usage import Usage
    from s2s_actors.client.bench.result import Probe
    from s2s_actors.client.bench.rounds import Watch
    from s2s_actors.client.bench.seats import Server

__all__ = ["run_crowd"]

_ALONE: Final = "crowd" + ALONE
_CLIPS_ALONE: Final = 6
"""At most so many clips are said alone."""

_SCRIPT: Final = {"answers": ["Yes."]}
_LONGEST_REPORT_BYTES: Final = 1 << 28
_STREAMER: Final = (sys.executable, "-m", "s2s_actors.client.bench.crowd_streamer")


@dataclass(frozen=True, slots=True)
class _Streamed:
    """What came of a plan, and what the server used while all were there."""

    outcome: Outcome
    usage: Usage | None
    probes: list[Probe]
    at_s: float


async def run_crowd(
    servers: Sequence[Server], options: BenchOptions, clips: Sequence[Clip], watch: Watch
) -> None:
    """Measure a crowd of ``options.sessions`` on each server, one after the other.

    Raises:
        SetupError: The streamer ended without a word.
    """
    for server in servers:
        await _Crowd(server, options, clips, watch).measure()


class _Crowd:
    """A crowd on one server."""

    def __init__(
        self, server: Server, options: BenchOptions, clips: Sequence[Clip], watch: Watch
    ) -> None:
        self._server = server
        self._options = options
        self._clips = clips
        self._watch = watch
        self._scenario = f"crowd of {options.sessions}"

    async def measure(self) -> None:
        """Keep what a session alone shows, and then all of them."""
        server, options = self._server, self._options
        alone = await self._alone_rows()
        streamed = await self._stream(self._together(), watched=True)
        rows = self._rows(streamed, self._scenario)
        outcome, probes = streamed.outcome, streamed.probes
        point = CrowdPoint(
            scenario=self._scenario,
            server=server.name,
            sessions=options.sessions,
            piece_ms=options.piece_ms,
            talking_percent=options.talking_percent,
            updated_ms=probes[0].updated_ms if probes else None,
            late_ms=outcome.late_ms,
            client_cores=outcome.cpu_s / outcome.seconds if outcome.seconds else 0.0,
            usage=streamed.usage,
        )
        for row in rows:
            self._watch.add(row)
        self._watch.probes += probes
        self._watch.crowds.append(judged(with_rows(point, rows, alone)))

    async def _alone_rows(self) -> list[CrowdRow]:
        """What a session shows that is alone; in a sweep it is not asked again."""
        known = [
            row
            for row in self._watch.rows
            if isinstance(row, CrowdRow) and _place(row) == (_ALONE, self._server.name)
        ]
        if not known:
            known = self._rows(await self._stream(self._alone(), watched=False), _ALONE)
            for row in known:
                self._watch.add(row)
        return known

    def _rows(self, streamed: _Streamed, scenario: str) -> list[CrowdRow]:
        names = [clip.name for clip in self._clips]
        return [
            crowd_row(
                log,
                names,
                Place(scenario=scenario, server=self._server.name, session=number, number=0),
                streamed.at_s,
            )
            for number, log in enumerate(streamed.outcome.logs)
        ]

    def _alone(self) -> Plan:
        clips = self._clips[:_CLIPS_ALONE]
        utterances = one_by_one(clips)
        return msgspec.structs.replace(
            self._together(),
            sessions=1,
            utterances=utterances,
            duration_s=utterances[-1].at_s + duration_ms(clips[-1].pcm) / 1000.0,
        )

    def _together(self) -> Plan:
        options = self._options
        return Plan(
            url=self._server.url,
            settings=settings_for(self._server, options, options.prompt, _SCRIPT),
            sessions=options.sessions,
            piece_ms=options.piece_ms,
            clips=tuple(sound_of(clip) for clip in self._clips),
            utterances=in_turn(
                self._clips,
                sessions=options.sessions,
                talking=options.talking_percent / 100.0,
                duration_s=options.duration_s,
            ),
            duration_s=options.duration_s,
            timeout_s=options.timeout_s,
        )

    async def _stream(self, plan: Plan, *, watched: bool) -> _Streamed:
        """Let it stream; ``watched`` looks at the server while all are there."""
        at_s = self._watch.now_s
        probes: list[Probe] = []
        meter, usage = None, None
        with precedence():
            async with _streamer(plan) as streamer, AsyncExitStack() as steady:
                while not isinstance(report := await streamer.report(), Outcome):
                    if isinstance(report, Steady) and watched:
                        meter = Meter.of(self._server.pid)
                        await steady.enter_async_context(self._probing(probes))
                    elif watched:
                        usage = meter.usage() if meter else None
                        await steady.aclose()
        return _Streamed(report, usage, probes, at_s)

    def _probing(self, found: list[Probe]) -> AbstractAsyncContextManager[None]:
        return probing(self._scenario, [self._server], self._options, found)


def _place(row: CrowdRow) -> tuple[str, str]:
    return row.place.scenario, row.place.server


class _Streamer:
    """The process in which the sessions live, as far as the bench knows it."""

    def __init__(self, stdout: asyncio.StreamReader) -> None:
        self._stdout = stdout

    async def report(self) -> Report:
        """What it tells next.

        Raises:
            SetupError: It has ended.
        """
        line = await self._stdout.readline()
        if not line:
            raise SetupError("the streamer of the crowd ended without a word")
        report: Report = msgspec.json.decode(line, type=Report)
        return report


@asynccontextmanager
async def _streamer(plan: Plan) -> AsyncIterator[_Streamer]:
    """Start a streamer; it never outlives the block."""
    process = await asyncio.create_subprocess_exec(
        *_STREAMER,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LONGEST_REPORT_BYTES,
        start_new_session=True,  # Ctrl-C is ours to handle
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(msgspec.json.encode(plan) + b"\n")
        yield _Streamer(process.stdout)
        await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
