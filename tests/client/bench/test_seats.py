"""Sessions of the bench: how they are set up, and what becomes of lost ones."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from s2s_actors.client.bench import seats
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.probing import probing
from s2s_actors.client.bench.result import Probe
from s2s_actors.client.bench.seats import Seat, Server, look_at, settings_for, take_all
from s2s_actors.client.bench.session import SessionLost
from s2s_actors.errors import CapacityError
from tests.support.fake_realtime import (
    Close,
    Expect,
    FakeRealtime,
    Hear,
    Send,
    SendText,
    error,
    opening,
)
from tests.support.running_server import RunningServer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.fake_realtime import Step

SCRIPTED = Server(name="A", url="ws://x", models={"data": [{"kind": "llm", "backend": "scripted"}]})
OTHER = Server(name="B", url="ws://y", models={"data": [{"kind": "llm", "backend": "openai"}]})
SETTINGS = {"type": "session.update", "session": {"type": "realtime"}}


def session_of(server: Server, options: BenchOptions | None = None) -> dict[str, object]:
    options = options or BenchOptions()
    session = settings_for(server, options, "Be brief.", {"answers": ["One."]})["session"]
    assert isinstance(session, dict)
    return session


def test_only_a_scripted_model_is_told_what_to_say() -> None:
    assert session_of(OTHER)["instructions"] == "Be brief."
    assert session_of(SCRIPTED)["instructions"] == 'Be brief.\n#script {"answers": ["One."]}'


def test_answers_are_as_long_as_the_model_likes_unless_there_is_a_limit() -> None:
    assert "max_output_tokens" not in session_of(OTHER)
    assert session_of(OTHER, BenchOptions(answer_tokens=32))["max_output_tokens"] == 32


def test_as_is_says_nothing_about_how_turns_end() -> None:
    as_is = session_of(OTHER, BenchOptions(turn_detection="as-is"))["audio"]
    windowed = session_of(OTHER, BenchOptions(window_ms=200))["audio"]
    assert isinstance(as_is, dict)
    assert isinstance(windowed, dict)
    assert "turn_detection" not in as_is["input"]
    assert windowed["input"]["turn_detection"]["silence_duration_ms"] == 200


def test_a_server_that_does_not_say_what_it_runs_is_taken_as_it_is() -> None:
    with FakeRealtime() as fake:
        server = look_at("A", fake.url)
    assert (server.models, server.is_scripted) == ({}, False)
    with RunningServer() as running:
        assert look_at("A", f"ws://127.0.0.1:{running.port}").is_scripted


async def _event_after_event(url: str) -> list[str]:
    seen: list[str] = []
    async with Seat(Server(name="A", url=url), SETTINGS, 5.0) as seat:
        for _ in range(2):
            session = await seat.session()
            try:
                while (event := await session.event(session.now_ms + 5000)) is not None:
                    seen.append(event.type)
            except SessionLost as lost:
                seen.append(str(lost))
    return seen


def test_a_session_that_was_lost_is_opened_anew() -> None:
    with FakeRealtime([*opening(), Hear(40), Close(1011, "sorry")]) as fake:
        seen = asyncio.run(_event_after_event(fake.url))
    assert seen == ["the server closed the connection: 1011 sorry"] * 2
    assert len(fake.received) == 2


def test_a_server_that_talks_nonsense_loses_the_session() -> None:
    with FakeRealtime([*opening(), SendText("nonsense")]) as fake:
        (first, _) = asyncio.run(_event_after_event(fake.url))
    assert "this is no Realtime server" in first


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([opening()[0], Expect("session.update"), error("bad", "No such key.")], "No such key."),
        ([opening()[0], Expect("session.update"), Close(1011, "sorry")], "1011 sorry"),
        ([opening()[0]], "took no settings within 0.3 s"),
    ],
)
def test_settings_that_are_not_taken_give_no_session(script: Sequence[Step], reason: str) -> None:
    async def take_seat(url: str) -> None:
        async with Seat(Server(name="A", url=url), SETTINGS, 0.3) as seat:
            await seat.session()

    with FakeRealtime(script) as fake, pytest.raises(SessionLost, match=reason):
        asyncio.run(take_seat(fake.url))


def test_a_seat_waits_for_the_unit_of_who_has_just_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats, "_PAUSES_S", [0.05] * 200)

    async def follow(running: RunningServer) -> int:
        server = Server(name="A", url=f"ws://127.0.0.1:{running.port}/v1/realtime")
        async with Seat(server, SETTINGS, 5.0) as first, Seat(server, SETTINGS, 5.0) as second:
            await take_all([first])
            taking = asyncio.create_task(take_all([second]))
            await running.until_pool(lambda pool: pool["totals"]["refused"] > 0)
            await first.leave()
            await taking
            return int((await running.pool())["totals"]["sessions"])

    with RunningServer(units=1) as running:
        assert asyncio.run(follow(running)) == 2


def test_a_seat_on_a_full_server_is_left_to_the_first_trial() -> None:
    async def sit(running: RunningServer) -> None:
        server = Server(name="A", url=f"ws://127.0.0.1:{running.port}/v1/realtime")
        async with Seat(server, SETTINGS, 5.0) as first, Seat(server, SETTINGS, 5.0) as second:
            await take_all([first, second])
            with pytest.raises(CapacityError, match="session_limit_reached"):
                await second.session()

    with RunningServer(units=1) as running:
        asyncio.run(sit(running))


def test_the_idle_client_says_why_it_could_not_probe() -> None:
    async def probe(url: str) -> list[str]:
        server = Server(name="A", url=url)
        options, found = BenchOptions(sessions=2, timeout_s=5.0), list[Probe]()
        async with probing("turns", [server], options, found):
            await asyncio.wait_for(_until_closed(fake), 5.0)
        return [each.problem for each in found]

    with FakeRealtime([Send({"type": "session.created"}), error("full", "Later.")]) as fake:
        assert asyncio.run(probe(fake.url)) == ["the server refused: Later."]


async def _until_closed(fake: FakeRealtime) -> None:
    while not fake.close_codes:  # noqa: ASYNC110 - the fake lives in another thread
        await asyncio.sleep(0.01)


def test_a_single_session_is_not_probed() -> None:
    async def probe() -> int:
        found: list[Probe] = []
        async with probing("turns", [SCRIPTED], BenchOptions(sessions=1), found):
            pass
        return len(found)

    assert asyncio.run(probe()) == 0
