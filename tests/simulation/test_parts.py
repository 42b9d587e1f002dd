"""The parts of a simulation: time, ids, hosts, calls in virtual time, and words in sound."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import soxr

from s2s_actors.protocol.ids import ids_from, new_id
from s2s_actors.runtime.actor import Actor
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.hosting import current_host, hosted_by
from s2s_actors.simulation.calls import Burden, VirtualCalls
from s2s_actors.simulation.speech import LEVELS, SpokenWords
from tests.support.stepping import Recorder

# --- time, ids, hosts ---------------------------------------------------------------------


def test_a_manual_clock_goes_on_to_what_comes_next_and_no_farther() -> None:
    clock, told = ManualClock(), Recorder()
    clock.tell_later(2, told, "second")
    clock.tell_later(1, told, "first")
    assert clock.next_s == 1
    clock.advance_to_next()
    assert clock.monotonic_s() == 1
    assert told.take() == ["first"]
    clock.advance_to_next()
    clock.advance_to_next()
    assert clock.monotonic_s() == 2
    assert clock.pending == []


def test_ids_come_from_the_simulation_within_it_and_from_nowhere_known_after_it() -> None:
    with ids_from(lambda: "7"):
        assert new_id("item") == "item_7"
    assert len({new_id("item") for _ in range(100)}) == 100


def test_ids_of_other_threads_stay_as_they_are() -> None:
    found: list[str] = []
    with ids_from(lambda: "7"):
        thread = threading.Thread(target=lambda: found.append(new_id("item")))
        thread.start()
        thread.join()
    assert found != ["item_7"]


class Idle(Actor):
    def handle(self, message: object) -> None:
        """Nothing."""


class NoRoom:
    def take_in(self, actor: Actor) -> None:
        del actor
        raise RuntimeError("full")


def test_a_host_without_room_leaves_no_actor_behind() -> None:
    with hosted_by(NoRoom()), pytest.raises(RuntimeError, match="full"):
        Idle.start("idle")
    assert current_host() is None


# --- calls --------------------------------------------------------------------------------


class Bench:
    """Calls that note when they get somewhere."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.calls = VirtualCalls(self.clock)
        self.notes: list[tuple[float, str]] = []

    def note(self, what: str) -> None:
        self.notes.append((self.clock.monotonic_s(), what))

    def begin(
        self, name: str, waits_ms: list[float | None], burden: Burden | None = None
    ) -> CancelToken:
        token = CancelToken()

        def work() -> None:
            for wait_ms in waits_ms:
                cancelled = self.calls.pause(token, wait_ms)
                self.note(f"{name} is cancelled" if cancelled else name)

        self.calls.begin(name, work, burden or Burden())
        return token

    def run(self) -> None:
        while self.calls.due or self.clock.next_s is not None:
            for call in self.calls.due:
                self.calls.resume(call)
            self.clock.advance_to_next()


def test_two_calls_wait_at_the_same_time() -> None:
    bench = Bench()
    bench.begin("a", [300, 300])
    bench.begin("b", [400])
    bench.run()
    assert bench.notes == [(0.3, "a"), (0.4, "b"), (0.6, "a")]
    bench.calls.close()


def test_a_wait_ends_with_its_cancellation_and_not_by_itself_if_it_is_for_ever() -> None:
    bench = Bench()
    token = bench.begin("a", [None])
    bench.run()
    assert bench.notes == []
    token.cancel()
    bench.run()
    assert bench.notes == [(0, "a is cancelled")]
    bench.calls.close()


def test_a_call_that_hangs_heeds_no_cancellation() -> None:
    bench = Bench()
    bench.begin("a", [1], Burden(hang_s=5)).cancel()
    bench.run()
    assert bench.notes == [(5, "a is cancelled")]
    bench.calls.close()


def test_a_slow_call_takes_longer_at_its_first_wait() -> None:
    bench = Bench()
    bench.begin("a", [100, 100], Burden(slow_ms=900))
    bench.run()
    assert [round(at_s, 6) for at_s, _ in bench.notes] == [1.0, 1.1]
    bench.calls.close()


def test_closing_ends_what_waits_without_any_wait() -> None:
    bench = Bench()
    bench.begin("a", [None])
    bench.begin("b", [1e9], Burden(hang_s=1e6))
    bench.calls.close()
    assert {what for _, what in bench.notes} == {"a is cancelled", "b is cancelled"}


def test_what_a_call_lets_out_reaches_its_driver() -> None:
    calls = VirtualCalls(ManualClock())

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        calls.begin("a", fail)
    calls.close()


# --- words --------------------------------------------------------------------------------


def at_16_khz(pcm: bytes) -> bytes:
    heard: bytes = soxr.resample(np.frombuffer(pcm, "<i2"), 24_000, 16_000).tobytes()
    return heard


def test_words_are_known_again_at_every_level() -> None:
    spoken = SpokenWords()
    for number in range(LEVELS + 3):
        pcm = spoken.sound_of("sess", f"these are words {number}")
        assert spoken.words_in("sess", at_16_khz(pcm)) == f"these are words {number}"


def test_of_half_an_utterance_about_half_the_words_are_known() -> None:
    spoken = SpokenWords()
    pcm = spoken.sound_of("sess", "one two three four five six")
    heard = spoken.words_in("sess", at_16_khz(pcm[: len(pcm) // 4 * 2]))
    assert heard in ("one two three", "one two three four")


def test_two_utterances_in_one_sound_are_both_known() -> None:
    spoken = SpokenWords()
    pcm = spoken.sound_of("sess", "first words") + bytes(9600) + spoken.sound_of("sess", "and then")
    assert spoken.words_in("sess", at_16_khz(pcm)) == "first words and then"


def test_other_sound_and_the_words_of_others_are_not_known() -> None:
    spoken = SpokenWords()
    pcm = at_16_khz(spoken.sound_of("mine", "my words"))
    assert spoken.words_in("yours", pcm) is None
    assert spoken.words_in("mine", bytes(3200)) is None
