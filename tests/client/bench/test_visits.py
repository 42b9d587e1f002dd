"""Visits: what is a failure of theirs, and how they are summed up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from s2s_actors.client.bench.names import FIGURES
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.rounds import Watch
from s2s_actors.client.bench.seats import Server
from s2s_actors.client.bench.session_memory import measure_memory
from s2s_actors.client.bench.summary import summarise
from s2s_actors.client.bench.visit_rows import VisitRow, visit_figures
from s2s_actors.client.bench.visits import _Visits, run_visits
from s2s_actors.errors import S2SError
from tests.client.bench.heard import CLIP, place
from tests.support.fake_realtime import Close, Expect, FakeRealtime, Send, error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.fake_realtime import Step

OPTIONS = BenchOptions(turns=1, timeout_s=0.5)
CREATED = Send({"type": "session.created"})
ASKED = [CREATED, Expect("session.update"), Expect("conversation.item.create")]


async def _leave_busy(url: str) -> float:
    visits = _Visits(Server(name="A", url=url), OPTIONS, Watch())
    return (await visits.leave_busy())["leave_busy_ms"]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([*ASKED, Expect("response.create")], "no answer with audio to leave"),
        ([*ASKED, Send({"type": "response.done"})], "over before it was heard"),
        ([*ASKED, error("overloaded", "Not now.")], "Not now."),
        ([*ASKED, Close(1011, "sorry")], "1011 sorry"),
    ],
)
def test_who_hears_no_answer_can_not_leave_in_the_middle_of_it(
    script: Sequence[Step], reason: str
) -> None:
    with FakeRealtime(script) as fake, pytest.raises(S2SError, match=reason):
        asyncio.run(_leave_busy(fake.url))


def test_a_server_that_tells_nothing_of_its_units_is_visited_but_not_filled() -> None:
    async def visit(url: str) -> Watch:
        watch = Watch()
        await run_visits([Server(name="A", url=url)], OPTIONS, [CLIP], watch)
        return watch

    with FakeRealtime([CREATED]) as fake:
        came, held = asyncio.run(visit(fake.url)).rows
    assert (came.stimulus, came.problem) == ("coming", "")
    assert (held.stimulus, held.problem) == (
        "holding all other units",
        "the server does not say how many units it has",
    )


def test_the_memory_of_a_strange_server_is_nobodys_business() -> None:
    server = Server(name="A", url="ws://127.0.0.1:9")
    assert asyncio.run(measure_memory(server, BenchOptions(sessions=2), [CLIP])) == {}


def test_each_kind_of_visit_has_a_figure_of_its_own() -> None:
    nothing = VisitRow(place=place("visits"), stimulus="", at_s=0.0)
    rows = [
        replace(nothing, claim_ms=4.0, claim_connected_ms=3.0),
        replace(nothing, leave_idle_ms=5.0),
    ]
    (summary,) = summarise(rows)
    assert {key: figure.p50 for key, figure in summary.figures.items()} == {
        "claim_ms": 4.0,
        "claim_connected_ms": 3.0,
        "leave_idle_ms": 5.0,
    }
    assert set(visit_figures(rows)) <= set(FIGURES)
