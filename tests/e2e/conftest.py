"""Servers for the tests of this package; no actor may outlive a test, so each has its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.backends.script import Script, TtsRule, TtsScript
from tests.e2e.faults import Hang
from tests.support.running_server import RunningServer, scripted_models

if TYPE_CHECKING:
    from collections.abc import Iterator

VOICE_FAULTS = TtsScript(
    ms_per_char=20.0,
    rules=(
        TtsRule(match="HOARSE", error="tts_hoarse"),
        TtsRule(match="CHOKE", crash="the voice breaks"),
        TtsRule(match="WHEEZE", after=1, stall=True),
        TtsRule(match="SNORE", wedge_s=1.5),
    ),
)
"""The words that make the scripted voice fail: it has no script of its session's own."""


@pytest.fixture
def server() -> Iterator[RunningServer]:
    """Two units."""
    with RunningServer(scripted_models(Script(tts=VOICE_FAULTS))) as running:
        yield running


@pytest.fixture
def hang() -> Iterator[Hang]:
    """Lets go of whatever hangs, also when the test fails."""
    hang = Hang()
    yield hang
    hang.release()
