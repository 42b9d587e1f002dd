"""An append costs the same whatever has been appended before."""

from __future__ import annotations

import time

from s2s_actors.protocol.client_events import AudioAppend
from s2s_actors.protocol.dialogue import Dialogue
from tests.protocol.playing import START, speech

APPEND = AudioAppend(audio="A" * 1280)
"""20 ms of silence."""
APPENDS = 500
ROUNDS = 7
GENEROUS = 5.0
"""A cost in proportion to what is held would make a hundred times as much."""


def held(seconds: int) -> Dialogue:
    """A session whose buffer holds so much; detection is on, and listens to nothing."""
    dialogue = Dialogue(START)
    dialogue.open()
    minute = speech(60_000)
    for _ in range(seconds // 60):
        dialogue.listening.append(minute)
    dialogue.listening.append(speech(seconds % 60 * 1000))
    dialogue.take_outputs()
    return dialogue


def append_some_s(dialogue: Dialogue) -> float:
    began_s = time.perf_counter()
    for _ in range(APPENDS):
        dialogue.client(APPEND)
        dialogue.take_outputs()
    return time.perf_counter() - began_s


def test_appending_to_ten_minutes_costs_what_it_costs_with_six_seconds() -> None:
    little, much = held(6), held(600)
    # In turns, and the best of each: whatever else the machine does befalls both.
    rounds = [(append_some_s(little), append_some_s(much)) for _ in range(ROUNDS)]
    little_s, much_s = (min(times) for times in zip(*rounds, strict=True))
    assert much_s < GENEROUS * little_s, f"{much_s / little_s:.1f} times as much"


def test_appending_while_silence_is_forgotten_costs_the_same_after_ten_minutes() -> None:
    def listens(dialogue: Dialogue) -> float:
        began_s = time.perf_counter()
        for _ in range(APPENDS):
            dialogue.client(APPEND)
            dialogue.listening.detection.listened(dialogue.listening.buffer.end_ms)
            dialogue.take_outputs()
        return time.perf_counter() - began_s

    fresh = [listens(held(0)) for _ in range(ROUNDS)]
    later = held(600)
    listens(later)
    assert later.listening.buffer.held_ms < 60_000
    assert min(listens(later) for _ in range(ROUNDS)) < GENEROUS * min(fresh)
