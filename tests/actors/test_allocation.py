"""The pool's bookkeeping: every unit is in exactly one place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from s2s_actors.actors.allocation import Allocation

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease

UNITS = range(3)


class AllocationMachine(RuleBasedStateMachine):
    """Against a model: a list of idle units in order, and the leases that are out."""

    def __init__(self) -> None:
        super().__init__()
        self.allocation = Allocation(UNITS)
        self.idle = list(UNITS)
        self.held: list[Lease] = []
        self.over: list[Lease] = []

    @precondition(lambda self: self.idle)
    @rule()
    def claim(self) -> None:
        lease = self.allocation.claim("sess")
        assert lease.unit == self.idle.pop(0), "not the unit that was idle longest"
        self.held.append(lease)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from(self.held))
        assert self.allocation.give_back(lease)
        self.held.remove(lease)
        self.over.append(lease)
        self.idle.append(lease.unit)

    @precondition(lambda self: self.over)
    @rule(data=st.data())
    def give_back_late_or_twice(self, data: st.DataObject) -> None:
        assert not self.allocation.give_back(data.draw(st.sampled_from(self.over)))

    @rule(unit=st.sampled_from(UNITS))
    def withdraw(self, unit: int) -> None:
        held = [lease for lease in self.held if lease.unit == unit]
        lease = self.allocation.withdraw(unit)
        assert lease.unit == unit
        self.held = [other for other in self.held if other.unit != unit] + [lease]
        self.over += held
        self.idle = [other for other in self.idle if other != unit]

    @invariant()
    def no_unit_is_lost_or_doubled(self) -> None:
        assert sorted(self.allocation.leases, key=id) == sorted(self.held, key=id)
        assert self.allocation.has_idle == bool(self.idle)
        held = {lease.unit for lease in self.held}
        assert sorted([*held, *self.idle]) == list(UNITS)
        for unit in UNITS:
            assert (self.allocation.holder(unit) is not None) == (unit in held)


AllocationMachine.TestCase.settings = settings(max_examples=50, stateful_step_count=40)
TestAllocation = AllocationMachine.TestCase


def test_a_claim_without_an_idle_unit_is_an_error_of_the_caller() -> None:
    allocation = Allocation([])
    assert not allocation.has_idle
    with pytest.raises(IndexError):
        allocation.claim("sess")


def test_the_release_of_an_earlier_session_cannot_touch_the_next_one() -> None:
    allocation = Allocation([0])
    first = allocation.claim("sess")
    assert allocation.give_back(first)
    second = allocation.claim("sess")
    assert not allocation.give_back(first)
    assert allocation.holder(0) == second
