"""Runs the bench: servers, scenarios, reports, exit code."""

from __future__ import annotations

import asyncio
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from s2s_actors.client.bench.backchannel import backchannel
from s2s_actors.client.bench.barge_in import barge_in
from s2s_actors.client.bench.burst import burst
from s2s_actors.client.bench.clips import load_clips, references
from s2s_actors.client.bench.conversation import run_conversation
from s2s_actors.client.bench.crowd import run_crowd
from s2s_actors.client.bench.noise_trials import noises
from s2s_actors.client.bench.page import as_html
from s2s_actors.client.bench.result import Result, as_json, machine, write_text
from s2s_actors.client.bench.rounds import Watch, run_rounds
from s2s_actors.client.bench.seats import ask_for, look_at
from s2s_actors.client.bench.soak import run_soak
from s2s_actors.client.bench.summary import summarise
from s2s_actors.client.bench.table import show_result
from s2s_actors.client.bench.turn_trials import pauses, turns
from s2s_actors.client.bench.visits import run_visits
from s2s_actors.client.console import INTERRUPTED, open_console, show_error
from s2s_actors.client.server_process import ServerProcess, serve_command, termination_unwinds
from s2s_actors.errors import S2SError, SetupError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from s2s_actors.client.bench.clips import Clip
    from s2s_actors.client.bench.options import BenchOptions, ScenarioName
    from s2s_actors.client.bench.scenario import Scenario
    from s2s_actors.client.bench.seats import Server

__all__ = ["run"]

_Runner: TypeAlias = (
    "Callable[[Sequence[Server], BenchOptions, Sequence[Clip], Watch], Awaitable[None]]"
)

_MAKERS: Final[Mapping[ScenarioName, Callable[[BenchOptions, Sequence[Clip]], Scenario]]] = {
    "turns": turns,
    "barge-in": barge_in,
    "pauses": pauses,
    "backchannel": backchannel,
    "noise": noises,
    "burst": burst,
}
"""Scenarios that are run in rounds."""

_RUNNERS: Final[Mapping[ScenarioName, _Runner]] = {
    "conversation": run_conversation,
    "visits": run_visits,
    "soak": run_soak,
    "crowd": run_crowd,
}
"""Those that know themselves what comes when."""


_BEFORE_CROWD: Final = 1
"""Before a crowd there was only the session that was alone."""


def run(options: BenchOptions) -> int:
    """Measure, report; return the exit code (0, 1 or 130).

    1 means that a scenario could not be measured on a server, or nothing at all; the reasons
    are in the report and on standard error. A server of our own never outlives this call.
    """
    watch, code = Watch(), 0
    result: Result | None = None
    try:
        texts = references(options.reference) if options.reference else {}
        clips = load_clips(options.audio, texts)
        for leg in _legs(options):
            try:
                result, code = _run_leg(options, leg, clips, watch)
            except S2SError as error:
                if result is None:
                    raise
                show_error(error)  # what the legs before have measured is worth showing
                code = 1
            if code:
                break
        assert result is not None  # there is a leg at least
        _report(options, result)
    except S2SError as error:
        show_error(error)
        return code or 1
    except KeyboardInterrupt:
        return INTERRUPTED
    return code or int(not all(summary.measured for summary in result.summaries))


def _run_leg(
    options: BenchOptions, leg: BenchOptions, clips: Sequence[Clip], watch: Watch
) -> tuple[Result, int]:
    """Measure on servers of its own; return all results so far, and 130 for Ctrl-C, else 0."""
    code = 0
    with _servers(leg) as servers:
        try:
            asyncio.run(_measure(leg, servers, clips, watch))
        except KeyboardInterrupt:
            code = INTERRUPTED  # what has been measured is worth showing
        return _result(options, servers, watch), code


def _legs(options: BenchOptions) -> list[BenchOptions]:
    """A sweep is run with a fresh server for each size, so that memory tells something."""
    return [replace(options, sessions=size) for size in options.sweep] or [options]


@contextmanager
def _servers(options: BenchOptions) -> Iterator[list[Server]]:
    """The servers under test; without an address the first one is our own."""
    others = [look_at("B", options.compare)] if options.compare else []
    if options.url is not None:
        yield [look_at("A", options.url), *others]
        return
    # Those who visit wait for each other; whoever set --queue themselves has the last word.
    queue = ["--queue", "1"] if "visits" in options.scenarios else []
    command = serve_command([*queue, *options.serve_args], units=_units(options))
    sys.stderr.write("starting a server ...\n")
    with termination_unwinds(), ServerProcess(command) as process:
        own = look_at("A", process.wait_until_ready())
        yield [replace(own, pid=process.pid), *others]


def _units(options: BenchOptions) -> int:
    """One for each session, one for the idle client, and as many that may still be draining."""
    draining = _BEFORE_CROWD if options.scenarios == ("crowd",) else options.sessions
    return options.sessions + 1 + draining


async def _measure(
    options: BenchOptions, servers: Sequence[Server], clips: Sequence[Clip], watch: Watch
) -> None:
    with _progress() as progress:
        for name in options.scenarios:
            task = progress.add_task(name, total=None)
            watch.on_row = partial(progress.advance, task)
            if runner := _RUNNERS.get(name):
                await runner(servers, options, clips, watch)
            else:
                scenario = _MAKERS[name](options, clips)
                progress.update(task, total=scenario.rounds * options.sessions * len(servers))
                await run_rounds(scenario, servers, options, watch)


def _result(options: BenchOptions, servers: Sequence[Server], watch: Watch) -> Result:
    return Result(
        options=options,
        servers=servers,
        summaries=summarise(watch.rows),
        rows=watch.rows,
        probes=watch.probes,
        crowds=watch.crowds,
        pools={server.name: ask_for(server.url, "/v1/pool") for server in servers},
        machine=machine(),
    )


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description:<12}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=open_console(sys.stderr),
    )


def _report(options: BenchOptions, result: Result) -> None:
    if not result.rows:
        raise SetupError("nothing was measured")
    show_result(open_console(), result)
    if options.json is not None:
        write_text(options.json, as_json(result))
    if options.html is not None:
        write_text(options.html, as_html(result))
