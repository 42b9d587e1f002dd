"""Work on a guess, and work that is wanted."""

from __future__ import annotations

from s2s_actors.runtime.urgency import Urgency


def test_work_is_wanted_unless_it_says_otherwise() -> None:
    assert not Urgency().speculative


def test_a_guess_that_proves_right_becomes_urgent_for_good() -> None:
    urgency = Urgency(speculative=True)
    assert urgency.speculative
    urgency.commit()
    urgency.commit()
    assert not urgency.speculative
