"""Work is stopped, committed and forgotten by its id."""

from __future__ import annotations

from s2s_actors.actors.works import Works
from s2s_actors.runtime.cancel import CancelToken


def works() -> tuple[Works, CancelToken]:
    scope = CancelToken()
    return Works(scope), scope


def test_all_the_work_for_one_answer_has_one_token_and_one_urgency() -> None:
    made, _ = works()
    writing = made.of("draft_1", speculative=True)
    speaking = made.of("draft_1")
    assert speaking is writing
    assert speaking.urgency.speculative


def test_work_is_wanted_unless_it_is_a_guess() -> None:
    made, _ = works()
    assert not made.of("resp_1").urgency.speculative
    assert made.of("voice_1", speculative=True).urgency.speculative


def test_a_look_at_what_is_being_said_is_less_than_a_guess() -> None:
    made, _ = works()
    guess = made.of("voice_1", speculative=True).urgency
    look = made.of("voice_2", speculative=True, glance=True).urgency
    assert guess.need < look.need


def test_a_guess_that_proves_right_makes_all_of_its_work_urgent() -> None:
    made, _ = works()
    right, other = made.of("a", speculative=True), made.of("b", speculative=True)
    made.commit("a")
    made.commit("a")
    assert not right.urgency.speculative
    assert other.urgency.speculative
    assert not made.of("a").urgency.speculative


def test_stopping_cancels_that_work_and_no_other() -> None:
    made, scope = works()
    one, other = made.of("a"), made.of("b")
    made.stop("a")
    assert one.cancel.cancelled
    assert not other.cancel.cancelled
    assert not scope.cancelled


def test_after_a_stop_the_same_id_is_new_work() -> None:
    made, _ = works()
    one = made.of("a", speculative=True)
    made.stop("a")
    again = made.of("a")
    assert not again.cancel.cancelled
    assert not again.urgency.speculative
    assert one.urgency.speculative, "what was a guess stays one"


def test_what_is_not_known_is_neither_stopped_nor_committed() -> None:
    made, _ = works()
    made.stop("nobody")
    made.commit("nobody")
    assert not made.of("nobody").cancel.cancelled


def test_no_work_outlives_the_session() -> None:
    made, scope = works()
    begun = [made.of("a"), made.of("b", speculative=True)]
    scope.cancel()
    assert all(work.cancel.cancelled for work in begun)
    assert made.of("c").cancel.cancelled


def test_that_there_is_enough_of_an_answer_is_known_to_who_writes_it() -> None:
    made, _ = works()
    work = made.of("resp_1")
    told = []
    for enough in (True, False):
        made.have_enough("resp_1", enough=enough)
        made.have_enough("gone", enough=enough)
        told.append(work.urgency.text_can_wait)
    assert told == [True, False]
