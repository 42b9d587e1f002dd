"""Client secrets as stock clients use them, and what the figures say of it: a real process."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

import pytest
from openai import AsyncOpenAI, AuthenticationError, BadRequestError, OpenAI
from prometheus_client.parser import text_string_to_metric_families
from websockets.exceptions import InvalidStatus

from s2s_actors.server.keys import hash_of
from tests.support.realtime_client import script
from tests.support.running_server import PATIENCE_S, ServeCommand, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KEY = "sk-s2s-of-the-backend"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reach the loopback device directly, whatever the machine is set up for."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServeCommand]:
    """Two ports, and one key."""
    keys = tmp_path / "keys.toml"
    keys.write_text(f'[[key]]\nname = "backend"\nhash = "{hash_of(KEY)}"\n')
    keys.chmod(0o600)
    with ServeCommand("--http-port", "0", "--api-key-file", str(keys)) as running:
        yield running


def http_url(server: ServeCommand) -> str:
    """Where it says that plain HTTP is served."""
    found = re.search(r"plain HTTP on (http://\S+)", server.log())
    assert found is not None, server.log()
    return found[1]


def figures(server: ServeCommand) -> dict[str, float]:
    """What ``/metrics`` says, by name and labels."""
    with OpenAI(api_key=KEY, base_url=http_url(server).removesuffix("/v1")) as client:
        text = client.get("/metrics", cast_to=str)
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def written_turn(server: ServeCommand, key: str) -> str:
    """What a stock client is answered, which changes nothing of its session."""
    async with (
        asyncio.timeout(PATIENCE_S),
        AsyncOpenAI(api_key=key, base_url=f"http://127.0.0.1:{server.port}/v1") as client,
        client.realtime.connect(model="gpt-realtime-2.1") as connection,
    ):
        await connection.send(
            {
                "type": "conversation.item.create",
                "item": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "hello"}],
                },
            }
        )
        await connection.send({"type": "response.create"})
        event = await connection.recv()
        while event.type != "response.output_text.done":
            event = await connection.recv()
    return event.text


def test_the_stock_client_makes_a_secret_and_talks_with_it(server: ServeCommand) -> None:
    with OpenAI(api_key=KEY, base_url=http_url(server)) as client:
        made = client.realtime.client_secrets.create(
            expires_after={"anchor": "created_at", "seconds": 60},
            session={
                "type": "realtime",
                "instructions": script("As it was set beforehand."),
                "output_modalities": ["text"],
            },
        )
    assert made.value.startswith("ek_")
    assert run(written_turn(server, made.value)) == "As it was set beforehand."
    assert made.value not in server.log()


def test_what_is_no_secret_opens_nothing(server: ServeCommand) -> None:
    async def scenario() -> None:
        with pytest.raises(InvalidStatus) as refused:
            await written_turn(server, "ek_nosuch")
        assert refused.value.response.status_code == 401

    run(scenario())


def test_the_stock_client_tells_what_is_wrong_with_a_request_for_a_secret(
    server: ServeCommand,
) -> None:
    with (
        OpenAI(api_key="sk-wrong", base_url=http_url(server)) as client,
        pytest.raises(AuthenticationError) as locked,
    ):
        client.realtime.client_secrets.create()
    assert locked.value.code == "invalid_api_key"
    with OpenAI(api_key=KEY, base_url=http_url(server)) as client:
        session = {"type": "realtime", "output_modalities": ["smell"]}
        with pytest.raises(BadRequestError) as refused:
            client.realtime.client_secrets.create(session=session)  # type: ignore[arg-type]
    assert refused.value.param == "session.output_modalities[0]"


def test_the_figures_agree_with_the_view_of_the_pool(server: ServeCommand) -> None:
    with OpenAI(api_key=KEY, base_url=http_url(server)) as client:
        session = {"type": "realtime", "output_modalities": ["text"]}
        value = client.realtime.client_secrets.create(session=session).value  # type: ignore[arg-type]
    before = figures(server)
    for _ in range(3):
        run(written_turn(server, value))
    after = figures(server)
    assert after["s2s_sessions_total"] - before["s2s_sessions_total"] == 3
    assert after["s2s_responses_total completed"] == 3
    assert after["s2s_tokens_total output"] > 0
    assert set(before) == set(after)
    units = {name: value for name, value in after.items() if name.startswith("s2s_units ")}
    assert sum(units.values()) == 4
