"""Work on a guess, and work that is wanted."""

from __future__ import annotations

from s2s_actors.runtime.urgency import Need, Urgency


def test_work_is_wanted_unless_it_says_otherwise() -> None:
    assert not Urgency().speculative


def test_a_guess_that_proves_right_becomes_urgent_for_good() -> None:
    urgency = Urgency(speculative=True)
    assert urgency.speculative
    urgency.commit()
    urgency.commit()
    assert not urgency.speculative


def test_a_look_is_less_than_a_guess_and_no_more_wanted_than_one() -> None:
    wanted, guess, look = Urgency(), Urgency(speculative=True), Urgency(glance=True)
    assert wanted.need < guess.need < look.need
    assert look.speculative
    for urgency in (guess, look):
        urgency.commit()
        assert urgency.need is Need.WANTED
