"""The server that all stock clients meet, and the means to run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.script import (
    LlmAnswer,
    LlmRule,
    LlmScript,
    Script,
    ScriptedCall,
    SttScript,
    TtsScript,
)
from tests.stock_clients.wire import Wire, tap
from tests.support.running_server import RunningServer, scripted_models

if TYPE_CHECKING:
    from collections.abc import Iterator

STORY = " ".join(f"This is sentence {n} of a story that never ends." for n in range(1, 60))
SCRIPT = Script(
    stt=SttScript(answers=("What is the capital of France?", "Stop, please.")),
    llm=LlmScript(
        answers=("You said: {user}",),
        rules=(
            LlmRule(match="capital of France", answers=("The capital of France is Paris.",)),
            LlmRule(
                match="weather",
                answers=(
                    LlmAnswer(tool_calls=(ScriptedCall("get_weather", {"city": "Paris"}),)),
                    "It is {tool}.",
                ),
            ),
            LlmRule(match="story", answers=(LlmAnswer(text=STORY, token_ms=50),)),
        ),
    ),
    tts=TtsScript(ms_per_char=20.0),
)


@pytest.fixture
def wires(monkeypatch: pytest.MonkeyPatch) -> list[Wire]:
    """All sessions of the test."""
    return tap(monkeypatch)


@pytest.fixture
def server(wires: list[Wire]) -> Iterator[RunningServer]:  # noqa: ARG001 - it has to be first
    """One unit, and one script for all clients."""
    with RunningServer(scripted_models(SCRIPT), units=1) as running:
        yield running
