"""Conversations: how long callers think, and that nobody falls silent while others count."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from s2s_actors.client.bench import conversation
from s2s_actors.client.bench.clips import Clip
from s2s_actors.client.bench.conversation import run_conversation, thinking_s
from s2s_actors.client.bench.figures import Ratio
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.rounds import Watch
from s2s_actors.client.bench.rows import Place, Row
from s2s_actors.client.bench.seats import Seat, Server
from s2s_actors.client.bench.summary import summarise
from tests.client.bench.heard import a_turn

if TYPE_CHECKING:
    import pytest

CLIP = Clip("question", b"", 0, 700)


def place(session: int, number: int, scenario: str = "conversation") -> Place:
    return Place(scenario=scenario, server="A", session=session, number=number)


def test_callers_think_for_one_to_four_seconds_each_at_their_own_time() -> None:
    times_s = [thinking_s(place(session, number)) for session in range(8) for number in range(8)]
    assert times_s == [thinking_s(place(s, number)) for s in range(8) for number in range(8)]
    assert 1.0 <= min(times_s) < 1.3
    assert 3.7 < max(times_s) <= 4.0
    assert len({round(time_s, 3) for time_s in times_s[::8]}) == 8


def test_a_session_that_has_taken_its_turns_talks_on_uncounted_until_all_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[Place] = []

    async def turn(_: object, seat: Seat, at: Place) -> Row:
        del seat
        taken.append(at)
        await asyncio.sleep(0.002 if at.session == 0 else 0.05)
        return replace(a_turn(500.0), place=at)

    async def no_session(_: object) -> None:
        return None

    monkeypatch.setattr(conversation, "_THINKING_S", (0.001, 0.001))
    monkeypatch.setattr(conversation._Gathering, "_turn", turn)
    monkeypatch.setattr(Seat, "session", no_session)
    monkeypatch.setattr(conversation, "probing", lambda *_: nullcontext())
    watch = Watch()
    server = Server(name="A", url="ws://127.0.0.1:9")
    asyncio.run(
        run_conversation([server], BenchOptions(sessions=2, turns=3, warm_up=1), [CLIP], watch)
    )
    counted = [row.place for row in watch.rows if row.place.scenario == "conversation"]
    assert sorted((at.session, at.number) for at in counted) == [
        (session, number) for session in range(2) for number in range(3)
    ]
    assert [at.warm_up for at in counted if at.session == 1] == [True, False, False]
    quick = [at for at in taken if (at.scenario, at.session) == ("conversation", 0)]
    assert len(quick) > 3


def test_latencies_are_set_against_those_of_one_alone() -> None:
    alone = [replace(a_turn(400.0 + n), place=place(0, n, "conversation, alone")) for n in (0, 0)]
    together = [replace(a_turn(600.0), place=place(session, 0)) for session in range(4)]
    base, summary = summarise([*alone, *together])
    assert summary.ratios == {"latency_to_alone": Ratio(1.5, 1.5)}
    assert base.ratios == {}


def test_without_an_answer_to_one_alone_there_is_nothing_to_set_against() -> None:
    failed = Row(place=place(0, 0, "conversation, alone"), stimulus="", at_s=0.0, problem="full")
    together = replace(a_turn(600.0), place=place(0, 0))
    _, summary = summarise([failed, together])
    assert summary.ratios == {}
