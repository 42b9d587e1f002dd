"""The scripted end of turn answers by the pauses of an utterance, and remembers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.script import Script, TurnScript
from s2s_actors.backends.scripted import ScriptedTurn
from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def _utterance(*lengths_ms: int) -> NDArray[np.float32]:
    """Speech and silence by turns, speech first."""
    parts = [
        np.full(length_ms * 16, 0.0 if index % 2 else 0.1, dtype=np.float32)
        for index, length_ms in enumerate(lengths_ms)
    ]
    return np.concatenate(parts)


def _turn(*answers: float) -> ScriptedTurn:
    return ScriptedTurn(Script(turn=TurnScript(answers=answers)))


def test_without_a_script_every_pause_is_the_end_of_the_turn() -> None:
    assert ScriptedTurn().completeness(_utterance(500, 200)) == 1.0
    assert ScriptedTurn().completeness(np.zeros(0, dtype=np.float32)) == 1.0


def test_each_pause_of_an_utterance_takes_the_next_answer() -> None:
    turn = _turn(0.1, 0.9)
    heard = [
        turn.completeness(_utterance(*lengths_ms))
        for lengths_ms in ((500, 200), (500, 300, 500, 200), (500, 300, 500, 300, 500, 200))
    ]
    assert heard == [0.1, 0.9, 0.1]


def test_the_answer_stays_the_same_for_as_long_as_the_pause_lasts() -> None:
    turn = _turn(0.1, 0.9)
    heard = {turn.completeness(_utterance(700, pause_ms)) for pause_ms in (0, 33, 200, 2000)}
    assert heard == {0.1}


@pytest.mark.parametrize(("gap_ms", "answer"), [(80, 0.1), (140, 0.9)])
def test_a_gap_counts_as_a_pause_from_100_ms_on(gap_ms: int, answer: float) -> None:
    assert _turn(0.1, 0.9).completeness(_utterance(400, gap_ms, 400, 200)) == answer


def test_what_lies_further_back_than_the_window_does_not_count() -> None:
    turn = _turn(0.1, 0.9)
    audio = _utterance(400, 500, 400, turn.window_samples // 16 - 300)
    assert turn.completeness(audio) == 0.1


def test_its_table_of_a_script_is_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "script.toml"
    path.write_text("[turn]\nanswers = [0.25]\n")
    options = BackendOptions(script=str(path))
    assert ScriptedTurn.load(options, print).completeness(_utterance(500, 200)) == 0.25
    path.write_text("[turn]\nanswers = [1.5]\n")
    with pytest.raises(SetupError, match=r"turn\.answers"):
        ScriptedTurn.load(options, print)
