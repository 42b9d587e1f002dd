"""The user's audio on its way in: no sample is lost, whatever it goes through."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.playing import NATURAL_START, Player, error_of, one, speech, types

NEAR, FAR = {"type": "near_field"}, {"type": "far_field"}
BUFFER = "input_audio_buffer."


def session(reduction: object) -> Player:
    """One that commits by itself, with such noise reduction."""
    player = Player(NATURAL_START)
    player.update_input(turn_detection=None, noise_reduction=reduction)
    return player


def committed(player: Player) -> bytes:
    """What is transcribed of all that was appended."""
    events = player.send(BUFFER + "commit")
    return player.work.utterances[one(events, BUFFER + "committed")["item_id"]].pcm


@pytest.mark.parametrize("reduction", [None, NEAR, FAR])
@given(cuts=st.lists(st.integers(0, 48 * 250), max_size=5))
def test_as_much_is_transcribed_as_was_sent_however_it_is_cut(
    reduction: object, cuts: list[int]
) -> None:
    player = session(reduction)
    pcm = speech(250, 1000)
    for start, end in pairwise(sorted({0, *cuts, len(pcm)})):
        player.append(pcm[start:end])
    heard = committed(player)

    assert len(heard) == len(pcm)
    assert reduction is not None or heard == pcm


def test_the_clock_of_the_session_counts_what_was_sent() -> None:
    player = session(NEAR)
    for _ in range(10):
        player.append(speech(100))
    committed(player)

    assert player.now_ms == 1000


@pytest.mark.parametrize(("before", "after"), [(None, NEAR), (NEAR, None), (NEAR, FAR)])
def test_changing_the_reduction_in_the_middle_loses_no_sample(
    before: object, after: object
) -> None:
    player = session(before)
    pcm = speech(666, 1000)
    player.append(pcm[:9999])
    player.update_input(noise_reduction=after)
    player.append(pcm[9999:])

    assert len(committed(player)) == len(pcm)


def test_a_little_that_is_held_back_counts_for_a_commit() -> None:
    player = session(NEAR)
    player.append(speech(100))

    assert types(player.send(BUFFER + "commit"))[0] == BUFFER + "committed"


def test_what_is_held_back_is_cleared_as_well() -> None:
    player = session(NEAR)
    player.append(speech(500))
    player.send(BUFFER + "clear")

    assert error_of(player.send(BUFFER + "commit"))["code"] == "input_audio_buffer_commit_empty"
    player.append(speech(200))
    assert len(committed(player)) == len(speech(200))


def test_speech_over_an_answer_goes_the_same_way() -> None:
    player = Player(NATURAL_START)
    player.update_input(noise_reduction=NEAR)
    player.writes(player.respond(), "This is a whole sentence. And")
    player.append(speech(300))
    player.starts(0)
    player.append(speech(300))
    player.lasts(400)
    player.append(speech(500))
    player.pauses()
    (work,) = player.work.utterances.values()

    assert 1100 - 20 <= len(work.pcm) / 48 <= 1100
