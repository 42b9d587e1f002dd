"""One open response: text becomes speech sentence by sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.playing import Player, one, speech


@pytest.fixture
def player() -> Player:
    return Player()


def test_a_sentence_is_spoken_before_the_next_is_complete(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "This is ", "the first.")
    assert player.work.segments == []
    player.writes(response_id, " This")

    assert [work.text for work in player.work.segments] == ["This is the first."]


def test_what_is_left_is_spoken_at_the_end(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "no full stop")
    assert player.work.segments == []
    player.ends(response_id)

    assert [work.text for work in player.work.segments] == ["no full stop"]


def test_what_is_left_is_spoken_before_a_call(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "Let me look")
    player.calls(response_id, "call_1", "look", "{}")

    assert [work.text for work in player.work.segments] == ["Let me look"]


def test_text_responses_are_not_spoken(player: Player) -> None:
    response_id = player.respond(output_modalities=["text"])
    player.writes(response_id, "This is the first. This is the second.")
    player.ends(response_id)

    assert player.work.segments == []


def test_segments_may_be_spoken_while_the_model_writes_and_after(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "This is the first. This")
    player.speaks(player.work.segments[0], speech(100))
    assert player.open_response == response_id
    player.writes(response_id, " is the second.")
    player.ends(response_id)
    assert player.open_response == response_id
    player.speaks(player.work.segments[0], speech(50))
    player.speaks_all()

    player.finish()


def test_a_response_whose_speech_is_out_ends_with_the_text(player: Player) -> None:
    response_id = player.respond()
    player.writes(response_id, "This is the first. ")
    player.calls(response_id, "call_1", "look", "{}")
    player.speaks_all()
    assert player.open_response == response_id
    events = player.ends(response_id)

    assert one(events, "response.done")["response"]["status"] == "completed"


DELTAS = st.lists(
    st.text(alphabet=st.sampled_from("Ab .!?\n*日。“”éc"), max_size=8), min_size=1, max_size=8
)


@given(DELTAS)
def test_whatever_is_written_is_said_in_full_and_the_response_ends(deltas: list[str]) -> None:
    player = Player()
    response_id = player.respond()
    player.writes(response_id, *deltas)
    player.ends(response_id)
    spoken = "".join(work.text for work in player.work.segments)
    player.speaks_all(100)
    player.finish()

    def essence(text: str) -> str:
        return "".join(char for char in text if char.isalnum())

    assert essence(spoken) == essence("".join(deltas))
