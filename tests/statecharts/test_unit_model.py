"""The unit chart against a table that was written without looking at it."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from statecharts.unit import UnitChart

EVENTS = [
    "claim",
    "start",
    "end_session",
    "drained",
    "drain_timeout",
    "replaced",
    "retry_replace",
    "stage_crashed",
]
MODEL: dict[tuple[str, str], str] = {
    ("idle", "claim"): "claimed",
    ("claimed", "start"): "active",
    ("claimed", "end_session"): "draining",
    ("claimed", "stage_crashed"): "claimed",
    ("active", "end_session"): "draining",
    ("active", "stage_crashed"): "active",
    ("draining", "drained"): "idle",
    ("draining", "drain_timeout"): "quarantined",
    ("draining", "stage_crashed"): "draining",
    ("quarantined", "drained"): "idle",
    ("quarantined", "replaced"): "idle",
    ("quarantined", "retry_replace"): "quarantined",
}
ASKED: dict[str, list[str]] = {
    "claim": ["BindStages", "ArmClaimDeadline"],
    "start": ["DisarmDeadline"],
    "end_session": ["Fence", "SendSessionEnd", "ArmDrainDeadline"],
    "drained": ["DisarmDeadline", "ReturnToPool"],
    "drain_timeout": ["ReplaceStages"],
    "replaced": ["DisarmDeadline", "ReturnToPool"],
    "retry_replace": ["ReplaceStages"],
    "stage_crashed": ["ReplaceStage"],
}


class UnitLifeCycle(RuleBasedStateMachine):
    """Any event with any lease, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.chart = UnitChart()
        self.state = "idle"
        self.owner: str | None = None
        self.claims = self.returns = 0

    @rule(event=st.sampled_from(EVENTS), lease=st.sampled_from(["A", "B", "C"]))
    def send(self, event: str, lease: str) -> None:
        target = MODEL.get((self.state, event))
        if target is None or self.owner not in (None, lease):
            with pytest.raises(UnitChart.TransitionNotAllowed):
                self.chart.send(event, lease=lease, stage="tts")
            assert self.chart.take_effects() == []
            return
        self.chart.send(event, lease=lease, stage="tts")
        asked = [type(effect).__name__ for effect in self.chart.take_effects()]
        again = ["SendSessionEnd"] if (self.state, event) == ("draining", "stage_crashed") else []
        assert asked == ASKED[event] + again
        self.claims += event == "claim"
        self.returns += "ReturnToPool" in asked
        self.state = target
        self.owner = None if target == "idle" else lease

    @invariant()
    def agrees_with_the_model(self) -> None:
        assert (self.chart.state_name, self.chart.lease) == (self.state, self.owner)

    @invariant()
    def every_claim_is_returned_once(self) -> None:
        assert self.claims - self.returns == (self.state != "idle")


UnitLifeCycle.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestUnitLifeCycle = UnitLifeCycle.TestCase
