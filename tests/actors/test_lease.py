"""Leases tell sessions apart, even those of one unit and one name."""

from __future__ import annotations

from s2s_actors.actors.lease import Lease


def test_no_two_leases_are_equal_whatever_they_are_for() -> None:
    first, second = Lease.issue(0, "sess"), Lease.issue(0, "sess")
    assert first != second
    assert first.epoch < second.epoch


def test_a_lease_says_who_holds_which_unit() -> None:
    lease = Lease.issue(3, "sess")
    assert (lease.unit, lease.session_id) == (3, "sess")
