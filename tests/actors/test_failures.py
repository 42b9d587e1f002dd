"""A stage that fails is told of in the log, now and then, and in the figures."""

from __future__ import annotations

import pytest

from s2s_actors.actors.failures import Failures
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.messages import StageFailed
from s2s_actors.actors.tally import Tally
from s2s_actors.errors import StageError
from s2s_actors.runtime.clock import ManualClock
from tests.support.stepped_plant import SteppedPlant

CANARY = "xylophone"


def lines_of(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Level and text of what was told of failures."""
    name = "s2s_actors.actors.failures"
    return [(each.levelname, each.getMessage()) for each in caplog.records if each.name == name]


@pytest.mark.parametrize(
    ("blames_request", "text", "counted"),
    [
        (False, "session canary-a: the llm stage failed: llm_unavailable", {"llm": 1}),
        (True, "session canary-a: the llm stage can't do what it was asked: llm_unavailable", {}),
    ],
)
def test_a_failure_is_told_with_its_session_stage_and_code_and_without_content(
    caplog: pytest.LogCaptureFixture, blames_request: bool, text: str, counted: dict[str, int]
) -> None:
    def fail() -> None:
        raise StageError("llm_unavailable", CANARY, blames_request=blames_request)

    with SteppedPlant() as plant:
        client = plant.visit("a")
        plant.mischief.plan("llm", fail)
        client.ask(CANARY)
        plant.run()
        assert client.status == "failed"
        assert lines_of(caplog) == [("WARNING", text)]
        assert plant.board.tally.read().stages_failed == counted
    assert CANARY not in caplog.text


def test_a_crash_is_told_with_the_session_in_which_it_happened(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with SteppedPlant() as plant:
        plant.visit("a")
        plant.crash("tts-0")
        plant.run()
        assert lines_of(caplog) == [("WARNING", "session canary-a: the tts stage failed: crashed")]


def test_a_backend_that_is_dead_for_a_hundred_sessions_does_not_fill_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, tally = ManualClock(), Tally()
    failures = Failures(clock, tally)

    def fail_for_all(stage: str) -> None:
        for number in range(100):
            failures.note(StageFailed(Lease.issue(0, str(number)), stage, "llm_unreachable"))

    fail_for_all("llm")
    assert len(lines_of(caplog)) == 1
    clock.advance(10)
    fail_for_all("llm")
    assert [text for _, text in lines_of(caplog)] == [
        "session 0: the llm stage failed: llm_unreachable",
        "session 0: the llm stage failed: llm_unreachable (and 99 more before it)",
    ]
    assert tally.read().stages_failed == {"llm": 200}


def test_one_stage_that_fails_all_the_time_does_not_hide_another(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failures = Failures(ManualClock(), Tally())
    for stage in ("llm", "llm", "tts"):
        failures.note(StageFailed(Lease.issue(0, "a"), stage, "planned"))
    assert [text for _, text in lines_of(caplog)] == [
        "session a: the llm stage failed: planned",
        "session a: the tts stage failed: planned",
    ]
