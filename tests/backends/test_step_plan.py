"""A step goes on with all who write; what is left of it is for newcomers, guesses last."""

from __future__ import annotations

import pytest

from s2s_actors.backends.step_plan import (
    FREE_ROWS,
    GUESS_TOKENS,
    STEP_TOKENS,
    Plan,
    in_turn,
    together,
)
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


def test_answers_of_which_there_is_enough_go_on_beside_others_only_where_that_costs_nothing() -> (
    None
):
    ahead = [answer([7]) for _ in range(6)]
    for each in ahead:
        each.call.urgency.text_can_wait = True
    ahead[0].last_step = 1
    newcomer = answer([7])
    assert together(ahead) == [(each, 1) for each in ahead]
    beside = [each for each, _ in together([*ahead, newcomer])]
    assert beside == [newcomer, *ahead[1:FREE_ROWS]]
    others = [answer([7]) for _ in range(FREE_ROWS)]
    assert [each for each, _ in together([*ahead, *others])] == others


def test_in_turn_answers_of_which_there_is_enough_are_last() -> None:
    ahead, newcomer = answer([7]), answer([7], guess=True)
    ahead.call.urgency.text_can_wait = True
    assert in_turn([ahead, newcomer]) == [(newcomer, 1)]
    assert in_turn([ahead]) == [(ahead, 1)]
