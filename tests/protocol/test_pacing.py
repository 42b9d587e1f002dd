"""The wait for an answer is cut into steps that add up, whatever comes in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from s2s_actors.protocol.pacing import MILESTONES, TurnPace
from s2s_actors.protocol.waterfall import STAGES, NoAnswer, Wait

if TYPE_CHECKING:
    from s2s_actors.protocol.pacing import Milestone
    from s2s_actors.protocol.waterfall import Waterfall

Told: TypeAlias = "tuple[str, bool, float]"

ENDS: tuple[NoAnswer, ...] = get_args(NoAnswer)
TOLD = st.tuples(
    st.sampled_from([*MILESTONES, "retract", "give_up"]),
    st.booleans(),
    st.floats(-1e3, 1e6, allow_nan=False),
)
USUAL: dict[Milestone, float] = {
    "settled": 512.0,
    "heard": 700.0,
    "ready": 710.0,
    "word": 1020.0,
    "sentence": 1100.0,
    "sound": 1200.0,
}


def tell(pace: TurnPace, what: str, at_ms: float, *, flag: bool = True) -> None:
    if what == "retract":
        pace.retract(at_ms, transcript=flag)
    elif what == "give_up":
        pace.give_up("failed", at_ms)
    else:
        pace.reached(what, at_ms, spoken=flag)  # type: ignore[arg-type]


def paced(**times_ms: float) -> Waterfall:
    """What is reported if these milestones are reached at these times, the earliest first."""
    pace = TurnPace(0.0)
    for what, at_ms in sorted(times_ms.items(), key=lambda entry: entry[1]):
        tell(pace, what, at_ms)
    return pace.report()


def shown(waterfall: Waterfall) -> dict[str, int]:
    return {step.name: step.ms for step in waterfall.steps}


def ahead(waterfall: Waterfall) -> list[str]:
    return [step.name for step in waterfall.steps if step.ahead]


def test_each_milestone_ends_the_stage_that_waited_for_it() -> None:
    waterfall = paced(**USUAL)
    assert shown(waterfall) == {
        "settling": 512,
        "recognizing": 188,
        "preparing": 10,
        "thinking": 310,
        "writing": 80,
        "voicing": 100,
    }
    assert (waterfall.total_ms, waterfall.answered, ahead(waterfall)) == (1200, True, [])


def test_what_was_done_ahead_is_passed_in_no_time() -> None:
    waterfall = paced(heard=210, ready=210, word=300, sentence=340, sound=400, settled=512)
    assert shown(waterfall) == {"settling": 512, **dict.fromkeys(STAGES[1:], 0)}
    assert ahead(waterfall) == list(STAGES[1:])
    assert waterfall.answered


def test_a_sound_that_is_kept_back_answers_only_when_the_transcript_is_sure() -> None:
    pace = TurnPace(0.0)
    assert not pace.reached("sound", 300.0)
    assert not pace.reached("settled", 500.0)
    assert pace.reached("heard", 620.0)
    waterfall = pace.report()
    assert shown(waterfall) | {"settling": 500, "recognizing": 120} == shown(waterfall)
    assert waterfall.total_ms == 620
    assert ahead(waterfall) == list(STAGES[2:])


def test_a_sound_proves_the_words_before_it_but_they_were_not_there_ahead() -> None:
    waterfall = paced(settled=500, heard=600, sound=900)
    assert shown(waterfall)["preparing"] == 300
    assert waterfall.total_ms == 900
    assert ahead(waterfall) == []


def test_an_answer_that_is_read_begins_with_its_first_word() -> None:
    pace = TurnPace(0.0)
    for what in ("settled", "heard", "ready"):
        tell(pace, what, 100.0)
    assert pace.reached("word", 350.0, spoken=False)
    assert pace.is_over
    assert [step.name for step in pace.report().steps] == list(STAGES[:4])


def test_an_answer_to_read_that_was_written_ahead_answers_when_the_turn_settles() -> None:
    pace = TurnPace(0.0)
    pace.reached("heard", 200.0)
    pace.reached("word", 250.0, spoken=False)
    assert pace.reached("settled", 500.0)
    assert pace.report().total_ms == 500


def test_only_the_first_of_each_counts() -> None:
    pace = TurnPace(0.0)
    for what in MILESTONES:
        pace.reached(what, USUAL[what])
        pace.reached(what, 5000.0)
    assert pace.report() == paced(**USUAL)


def test_a_retracted_answer_is_waited_for_again_and_its_time_is_not_lost() -> None:
    pace = TurnPace(0.0)
    for what, at_ms in {"heard": 300, "settled": 500, "ready": 500, "word": 650}.items():
        tell(pace, what, at_ms)
    pace.retract(700.0)
    tell(pace, "ready", 720.0)
    tell(pace, "word", 900.0)
    tell(pace, "sound", 1000.0)
    waterfall = pace.report()
    # 150 ms of thinking were in vain, 180 were not.
    assert shown(waterfall) == {
        "settling": 500,
        "recognizing": 0,
        "preparing": 20,
        "thinking": 330,
        "writing": 150,
        "voicing": 0,
    }
    assert ahead(waterfall) == ["recognizing"]


def test_with_a_retracted_transcript_recognition_is_waited_for_again() -> None:
    pace = TurnPace(0.0)
    for what, at_ms in {"heard": 300, "settled": 500, "ready": 500}.items():
        tell(pace, what, at_ms)
    pace.retract(600.0, transcript=True)
    tell(pace, "heard", 650.0)
    waterfall = pace.report()
    assert shown(waterfall) == {
        "settling": 500,
        "recognizing": 50,
        "preparing": 0,
        "thinking": 100,
    }
    assert ahead(waterfall) == []


def test_what_was_waited_for_before_it_was_begun_again_was_not_there_ahead() -> None:
    pace = TurnPace(0.0)
    for what in ("settled", "heard", "ready"):
        tell(pace, what, 500.0)
    pace.retract(600.0)
    assert ahead(pace.report()) == []
    pace.retract(600.0, transcript=True)
    pace.reached("word", 650.0)
    pace.reached("heard", 700.0)
    waterfall = pace.report()
    assert shown(waterfall)["thinking"] == 100
    assert ahead(waterfall) == ["preparing"]


def test_what_was_retracted_before_the_turn_settled_does_not_answer_it() -> None:
    pace = TurnPace(0.0)
    pace.reached("heard", 200.0)
    pace.reached("sound", 300.0)
    pace.retract(400.0, transcript=True)
    assert not pace.reached("settled", 500.0)
    pace.reached("heard", 700.0)
    assert shown(pace.report()) == {"settling": 500, "recognizing": 200, "preparing": 0}


def test_the_end_is_told_once_and_nothing_changes_after_it() -> None:
    pace = TurnPace(0.0)
    pace.reached("settled", 500.0)
    assert pace.give_up("cancelled", 650.0)
    told = pace.report()
    assert not told.answered
    assert not pace.give_up("failed", 700.0)
    assert not pace.reached("heard", 700.0)
    pace.retract(800.0)
    assert pace.report() == told


def test_a_time_that_runs_backwards_stands_still() -> None:
    pace = TurnPace(1000.0)
    pace.reached("settled", 1500.0)
    pace.reached("heard", 400.0)
    assert shown(pace.report()) == {"settling": 500, "recognizing": 0, "preparing": 0}


def test_halves_of_milliseconds_do_not_add_up_to_more_than_the_whole() -> None:
    waterfall = paced(settled=0.5, heard=1.0, ready=1.5, word=2.0, sentence=2.5, sound=3.0)
    assert sum(shown(waterfall).values()) == waterfall.total_ms == 3


@given(st.floats(0, 1e6), st.lists(TOLD, max_size=20))
def test_steps_add_up_to_the_wait_whatever_happens(start_ms: float, story: list[Told]) -> None:
    pace = TurnPace(start_ms)
    latest_ms = start_ms
    for what, flag, at_ms in story:
        before = pace.report()
        over = pace.is_over
        tell(pace, what, at_ms, flag=flag)
        if over or pace.report() == before:
            continue
        latest_ms = max(latest_ms, at_ms)
    waterfall = pace.report()
    assert all(step.ms >= 0 for step in waterfall.steps)
    assert sum(step.ms for step in waterfall.steps) == waterfall.total_ms
    assert abs(waterfall.total_ms - (latest_ms - start_ms)) <= 1
    assert not any(step.ahead and step.ms for step in waterfall.steps)
    names = [step.name for step in waterfall.steps]
    assert names == list(STAGES[: len(names)]), "no stage is left out"
    assert "\n" not in waterfall.reason


@pytest.mark.parametrize(
    ("times_ms", "reason"),
    [
        (
            {"heard": 200, "sound": 400, "settled": 512},
            "the silence that ends a turn (512 of 512 ms); the answer was ready before",
        ),
        (
            {"heard": 200, "word": 300, "settled": 512, "sound": 548},
            "the silence that ends a turn (512 of 548 ms); the first word was ready before",
        ),
        (
            {"heard": 200, "settled": 512, "ready": 512, "sound": 800},
            "the silence that ends a turn (512 of 800 ms); the transcript was ready before",
        ),
        (
            {"settled": 100, "heard": 400, "sound": 500},
            "speech recognition (300 of 500 ms)",
        ),
        (
            {"sound": 50, "settled": 100, "heard": 400},
            "speech recognition (300 of 400 ms); the answer was ready before",
        ),
        (
            {"settled": 100, "heard": 150, "ready": 595, "word": 905, "sound": 906},
            "what else the answer depends on (445 of 906 ms)",
        ),
        (
            {"settled": 250, "heard": 345, "ready": 345, "word": 655, "sound": 905},
            "the language model's first word (310 of 905 ms)",
        ),
        (
            {"settled": 1, "heard": 1, "ready": 1, "word": 2, "sentence": 90, "sound": 99},
            "the language model's first sentence (88 of 99 ms)",
        ),
        (
            {"settled": 1, "heard": 1, "ready": 1, "word": 2, "sentence": 9, "sound": 99},
            "the voice's first sound (90 of 99 ms)",
        ),
        (
            # Was the sound there when the silence was over, or only with the transcript?
            {"sound": 50, "settled": 300, "heard": 400},
            "the silence that ends a turn (300 of 400 ms)",
        ),
        ({"heard": 0, "sound": 0, "settled": 0}, "nothing was waited for"),
    ],
)
def test_the_reason_names_the_longest_wait(times_ms: dict[str, float], reason: str) -> None:
    assert paced(**times_ms).reason == reason


@pytest.mark.parametrize("what", get_args(Wait))
def test_the_reason_says_what_the_answer_depended_on(what: Wait) -> None:
    pace = TurnPace(0.0)
    tell(pace, "settled", 1.0)
    tell(pace, "heard", 2.0)
    pace.waits_for(what)
    tell(pace, "ready", 500.0)
    tell(pace, "sound", 501.0)
    reason = pace.report().reason
    assert reason.endswith(" (498 of 501 ms)")
    assert not reason.startswith("what else")


@pytest.mark.parametrize("why", ENDS)
def test_the_reason_says_why_there_is_no_answer(why: NoAnswer) -> None:
    pace = TurnPace(0.0)
    tell(pace, "settled", 100.0)
    pace.give_up(why, 300.0)
    reason = pace.report().reason
    assert reason.startswith("no answer: ")
    waited = "; until then: speech recognition (200 of 300 ms)"
    assert reason.endswith(waited) == (why not in ("noise", "unwanted"))


def test_no_two_reasons_for_no_answer_read_alike() -> None:
    reasons = set()
    for why in ENDS:
        pace = TurnPace(0.0)
        pace.give_up(why, 300.0)
        reasons.add(pace.report().reason)
    assert len(reasons) == len(ENDS)


def test_how_long_work_took_in_itself_is_told_as_far_as_it_is_known() -> None:
    pace = TurnPace(0.0)
    pace.took(stt_ms=180.4)
    pace.took(first_token_ms=90.0)
    work = pace.report().work
    assert (work.stt_ms, work.first_token_ms, work.first_audio_ms) == (180, 90, UNSET)
