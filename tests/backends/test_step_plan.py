"""A step goes on with all who write; what is left of it is for newcomers, guesses last."""

from __future__ import annotations

import pytest

from s2s_actors.backends.step_plan import GUESS_TOKENS, STEP_TOKENS, Plan, in_turn, together
from tests.backends.answers import answer


def test_all_who_write_have_a_share_and_newcomers_divide_the_rest() -> None:
    first, second = answer(range(100)), answer(range(100))
    writers = [answer([7]) for _ in range(3)]
    shares = together([first, writers[0], second, *writers[1:]])
    assert shares == [*((writer, 1) for writer in writers), (first, 100), (second, 25)]


def test_a_long_prompt_holds_up_neither_writers_nor_short_ones() -> None:
    long, short, writer = answer(range(1000)), answer(range(20)), answer([7])
    assert together([long, short, writer]) == [(writer, 1), (short, 20), (long, STEP_TOKENS - 21)]


def test_guesses_are_read_in_small_pieces_beside_what_is_wanted() -> None:
    guess, other, writer = answer(range(99), guess=True), answer([7], guess=True), answer([7])
    assert together([guess, other, writer]) == [(writer, 1), (other, 1), (guess, GUESS_TOKENS - 1)]


def test_guesses_among_themselves_have_the_whole_step() -> None:
    guess = answer(range(500), guess=True)
    assert together([guess]) == [(guess, STEP_TOKENS)]


def test_what_is_wanted_may_take_the_whole_step_from_guesses() -> None:
    wanted, guess = answer(range(500)), answer([7], guess=True)
    assert together([guess, wanted]) == [(wanted, STEP_TOKENS)]


def test_a_guess_that_proves_right_goes_with_what_is_wanted() -> None:
    guess, writer = answer(range(100), guess=True), answer([7])
    guess.call.urgency.commit()
    assert together([guess, writer]) == [(writer, 1), (guess, 100)]


@pytest.mark.parametrize("plan", [together, in_turn])
def test_answers_that_are_over_have_no_share(plan: Plan) -> None:
    over = [answer([7]) for _ in range(4)]
    over[0].call.cancel.cancel()
    over[1].error = ValueError()
    over[2].has_stopped = True
    over[3].written = [1] * 4
    assert plan(over) == []
    going_on = answer([7])
    assert plan([*over, going_on]) == [(going_on, 1)]


def test_in_turn_whoever_waits_longest_is_next_and_guesses_are_last() -> None:
    guess, first, second = answer([7], guess=True), answer([7]), answer(range(500))
    assert in_turn([guess, first, second]) == [(first, 1)]
    first.last_step = 1
    assert in_turn([guess, first, second]) == [(second, STEP_TOKENS)]
    second.last_step = 2
    assert in_turn([guess, first, second]) == [(first, 1)]


@pytest.mark.parametrize("plan", [together, in_turn])
def test_an_answer_of_which_there_is_enough_goes_on_only_where_nobody_has_nothing_yet(
    plan: Plan,
) -> None:
    ahead, newcomer = answer([7]), answer([7], guess=True)
    ahead.call.urgency.text_can_wait = True
    assert plan([ahead, newcomer]) == [(newcomer, 1)]
    assert plan([ahead]) == [(ahead, 1)]
    ahead.call.urgency.text_can_wait = False
    assert (ahead, 1) in plan([ahead, newcomer])
