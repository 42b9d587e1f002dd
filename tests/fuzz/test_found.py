"""What fuzzing has found, each in the smallest form."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run


async def shown_or_refused(session: dict[str, Any]) -> list[str]:
    """Types of what comes back for a session; each is checked as a stock client reads it."""
    with RunningServer(units=1) as server:
        async with RealtimeClient(server) as client:
            await client.event("session.created")
            before = client.mark()
            await client.send("session.update", session={"type": "realtime", **session})
            await client.sync()
            return client.types[before:-1]


@pytest.mark.parametrize("value", [None, 5, {"type": "input_text"}, {"type": "song"}, ["text"]])
def test_a_variable_of_a_prompt_that_no_client_could_read_back_is_refused(value: object) -> None:
    prompt = {"id": "pmpt_1", "variables": {"name": value}}
    assert run(shown_or_refused({"prompt": prompt})) == ["error"]


@pytest.mark.parametrize(
    "value", ["text", {"type": "input_text", "text": "text"}, {"type": "input_file"}]
)
def test_a_variable_of_a_prompt_is_shown_as_it_was_given(value: object) -> None:
    prompt = {"id": "pmpt_1", "variables": {"name": value}}
    assert run(shown_or_refused({"prompt": prompt})) == ["session.updated"]


def test_a_choice_among_the_tools_of_a_server_shows_no_null() -> None:
    choice = {"type": "mcp", "server_label": "somewhere", "name": None}
    assert run(shown_or_refused({"tool_choice": choice})) == ["session.updated"]
