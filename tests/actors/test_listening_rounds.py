"""Many sessions give a frame each, and one call of the model hears them all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.actors import messages as m
from s2s_actors.actors.board import Board
from s2s_actors.actors.hosts import Hosts
from s2s_actors.actors.lease import Lease
from s2s_actors.actors.listening_rounds import ListeningRounds
from s2s_actors.actors.stage import Links
from s2s_actors.actors.surroundings import Surroundings
from s2s_actors.actors.vad import VadActor
from s2s_actors.protocol.session import ServerVad
from s2s_actors.runtime.actor import ActorOutlet, join_actors
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.supervision import Crashed
from tests.support.stepped_plant import FakeTurn, FakeVad, loud, silent
from tests.support.stepping import Recorder, begin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

DETECTION = ServerVad(prefix_padding_ms=0, silence_duration_ms=200)
PATIENCE_S = 5.0


class BatchVad(FakeVad):
    """Hears any number of frames in one go, and remembers how many they were."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []
        self.broken = False

    def probabilities(
        self, streams: Sequence[FakeVad], frames: Sequence[NDArray[np.float32]]
    ) -> list[float]:
        self.batches.append(len(frames))
        if self.broken:
            raise RuntimeError("the model failed")
        return [stream.probability(frame) for stream, frame in zip(streams, frames, strict=True)]


class SquealVad(BatchVad):
    """Fails with a frame that is too loud, whoever else is heard with it."""

    def probability(self, frame: NDArray[np.float32]) -> float:
        if float(np.abs(frame).max()) > 0.9:
            raise RuntimeError("too loud")
        return super().probability(frame)


class Room:
    """Several sessions' voice detection, served by hand."""

    def __init__(self, vad: FakeVad, sessions: int) -> None:
        self.rounds = ListeningRounds(vad)
        around = Surroundings(Board(), ManualClock(), hosts=Hosts(rounds=self.rounds))
        self.conversations = [Recorder() for _ in range(sessions)]
        self.units = [Recorder() for _ in range(sessions)]
        self.actors = [
            VadActor(f"vad-{index}", Links(unit, told, Recorder()), vad, FakeTurn(), around)
            for index, (unit, told) in enumerate(zip(self.units, self.conversations, strict=True))
        ]
        self.leases = [Lease.issue(index, f"sess_{index}") for index in range(sessions)]
        self.scopes = [CancelToken() for _ in range(sessions)]
        self.waiting = [0] * sessions
        self._at_sample = [0] * sessions
        for index, actor in enumerate(self.actors):
            begin(actor)
            actor._has_begun = True
            self.tell(index, m.Bind(self.leases[index], self.scopes[index]))
            self.tell(index, m.ConfigureVad(self.leases[index], DETECTION, 0))

    def tell(self, index: int, message: object) -> None:
        self.actors[index].outlet.put(message)
        self.actors[index].serve()

    def hear(self, index: int, pcm: bytes) -> None:
        self.tell(index, m.AudioIn(self.leases[index], pcm, self._at_sample[index], 0.0))
        self._at_sample[index] += len(pcm) // 2

    def round(self) -> None:
        self.rounds.take()
        self.rounds.run(lambda: True)

    def settle(self) -> None:
        while self.rounds.is_due:
            self.round()

    def told(self, index: int) -> list[str]:
        return [
            type(message).__name__
            for message in self.conversations[index].messages
            if not isinstance(message, m.Listened | m.SpeechLasted)
        ]


def test_a_round_hears_one_frame_of_each_session_in_one_call() -> None:
    vad = BatchVad()
    room = Room(vad, 3)
    for index in range(3):
        room.hear(index, silent(96))
    room.settle()
    assert set(vad.batches) == {3}


def test_each_session_hears_what_it_would_hear_alone() -> None:
    sounds = [loud(640) + silent(640), silent(1280), silent(320) + loud(320) + silent(640)]
    together = Room(BatchVad(), 3)
    for start in range(0, len(sounds[0]), 960):
        for index, sound in enumerate(sounds):
            together.hear(index, sound[start : start + 960])
        together.settle()
    for index, sound in enumerate(sounds):
        alone = Room(BatchVad(), 1)
        alone.hear(0, sound)
        alone.settle()
        assert together.told(index) == alone.told(0)
    assert together.told(0) == ["SpeechStarted", "SpeechPaused", "SpeechStopped"]


def test_who_has_much_to_listen_to_does_not_keep_the_others_waiting() -> None:
    vad = BatchVad()
    room = Room(vad, 2)
    room.hear(0, silent(60_000))
    room.round()
    room.hear(1, loud(500))
    for _ in range(15):
        room.round()
    assert "SpeechStarted" in room.told(1)
    assert room.rounds.is_due


def test_what_comes_while_there_is_much_to_listen_to_waits_in_its_place() -> None:
    room = Room(BatchVad(), 1)
    room.hear(0, loud(3000))
    room.tell(0, m.ConfigureVad(room.leases[0], None, 1))
    room.hear(0, loud(500))
    assert room.told(0) == []
    room.settle()
    assert room.told(0) == ["SpeechStarted"]
    assert room.actors[0].actor_inbox.empty()


def test_settings_take_effect_behind_the_audio_that_came_before_them() -> None:
    room = Room(BatchVad(), 1)
    room.hear(0, loud(500))
    room.tell(0, m.ConfigureVad(room.leases[0], None, 1))
    assert room.told(0) == ["SpeechStarted"]


def test_the_end_of_a_session_does_not_wait_for_what_it_has_sent() -> None:
    vad = BatchVad()
    room = Room(vad, 1)
    room.hear(0, silent(60_000))
    room.scopes[0].cancel()
    room.tell(0, m.SessionEnd(room.leases[0]))
    room.settle()
    assert vad.batches == []
    assert room.units[0].of(m.StagePassed)


def test_only_the_session_is_lost_whose_sound_the_model_fails_with() -> None:
    room = Room(SquealVad(), 2)
    room.hear(0, np.full(4800, 32_000, "<i2").tobytes())
    room.hear(1, loud(500))
    room.settle()
    assert [type(message) for message in room.units[0].messages] == [Crashed]
    assert not room.units[1].of(Crashed)
    assert "SpeechStarted" in room.told(1)


def test_a_model_that_can_hear_one_frame_only_hears_them_one_by_one() -> None:
    room = Room(FakeVad(), 2)
    room.hear(0, loud(500))
    room.hear(1, loud(500))
    room.settle()
    assert room.told(0) == room.told(1) == ["SpeechStarted"]


def test_what_is_not_wanted_any_more_is_not_told() -> None:
    room = Room(BatchVad(), 1)
    room.hear(0, loud(500))
    for _ in range(20):
        room.rounds.take()
        room.rounds.run(lambda: False)
    assert room.told(0) == []


# --- with real threads ---------------------------------------------------------------------------


class StuckVad(BatchVad):
    """Never comes back from its third batch before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.stuck, self.let_go = threading.Event(), threading.Event()

    def probabilities(
        self, streams: Sequence[FakeVad], frames: Sequence[NDArray[np.float32]]
    ) -> list[float]:
        if len(self.batches) == 3:
            self.batches.append(0)
            self.stuck.set()
            assert self.let_go.wait(2 * PATIENCE_S)
        return super().probabilities(streams, frames)


class Waitable(Recorder):
    """A recorder that can be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self._came = threading.Condition()

    def put(self, message: object) -> None:
        with self._came:
            super().put(message)
            self._came.notify_all()

    def wait_for(self, kind: type) -> None:
        with self._came:
            assert self._came.wait_for(lambda: bool(self.of(kind)), PATIENCE_S)


@pytest.fixture
def threads() -> Iterator[list[ActorOutlet]]:
    started: list[ActorOutlet] = []
    yield started
    for outlet in started:
        outlet.stop()
    assert join_actors(PATIENCE_S) == []


def start(
    vad: FakeVad, hosts: Hosts, name: str, threads: list[ActorOutlet]
) -> tuple[ActorOutlet, Lease, Waitable, Waitable]:
    unit, told = Waitable(), Waitable()
    around = Surroundings(Board(), ManualClock(), hosts=hosts)
    ref = VadActor.start(name, Links(unit, told, Recorder()), vad, FakeTurn(), around)
    outlet, lease = ActorOutlet(ref), Lease.issue(0, name)
    threads.append(outlet)
    outlet.put(m.Bind(lease, CancelToken()))
    outlet.put(m.ConfigureVad(lease, DETECTION, 0))
    return outlet, lease, unit, told


def test_all_sessions_are_heard_on_one_thread(threads: list[ActorOutlet]) -> None:
    vad = BatchVad()
    hosts = Hosts.shared(vad)
    sessions = [start(vad, hosts, f"vad-{index}", threads) for index in range(4)]
    for outlet, lease, _, _ in sessions:
        outlet.put(m.AudioIn(lease, loud(500), 0, 0.0))
    for _, _, _, told in sessions:
        told.wait_for(m.SpeechStarted)
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("hearing") == 1
    assert not [name for name in names if name.startswith("vad-")]


def test_a_model_that_never_comes_back_costs_a_thread_and_no_session_its_ears(
    threads: list[ActorOutlet], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("s2s_actors.runtime.dispatcher.time", _HurriedTime())
    vad = StuckVad()
    hosts = Hosts.shared(vad)
    outlet, lease, unit, _ = start(vad, hosts, "vad-0", threads)
    outlet.put(m.AudioIn(lease, loud(500), 0, 0.0))
    assert vad.stuck.wait(PATIENCE_S)
    other, other_lease, _, told = start(vad, hosts, "vad-1", threads)
    other.put(m.AudioIn(other_lease, loud(500), 0, 0.0))
    told.wait_for(m.SpeechStarted)
    unit.wait_for(Crashed)
    vad.let_go.set()


class _HurriedTime:
    """Every look at the clock is a second later than the one before."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def monotonic(self) -> float:
        self._now_s += 1.0
        return self._now_s


def test_the_end_of_a_session_does_not_wait_for_a_round() -> None:
    room = Room(BatchVad(), 1)
    room.hear(0, silent(3000))
    room.hear(0, silent(100))  # put off: there is much to listen to
    room.scopes[0].cancel()
    end = m.SessionEnd(room.leases[0])
    room.tell(0, end)
    while room.actors[0].waiting:
        room.actors[0].serve()
    assert end in room.actors[0].links.onward.messages  # type: ignore[attr-defined]
    room.settle()
