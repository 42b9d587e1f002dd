"""Five places in a row, each of them filled, whatever becomes of who filled it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pykka
import pytest

from s2s_actors.actors.lease import Lease
from s2s_actors.actors.messages import Bind, OpenConversation
from s2s_actors.actors.pipeline import ORDER, Pipeline
from s2s_actors.actors.ports import SessionWish
from s2s_actors.runtime.actor import Actor, ActorOutlet
from s2s_actors.runtime.cancel import CancelToken
from tests.support.stepping import Recorder, run_until_idle, step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from s2s_actors.runtime.outlet import Outlet, Slot


class Place(Actor):
    """Keeps what it is given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.handled: list[object] = []

    def handle(self, message: Any) -> None:
        self.handled.append(message)


class Row:
    """A pipeline whose actors were never started, and all actors that it ever had."""

    def __init__(self) -> None:
        self.built: list[Place] = []
        self.units: set[int] = set()
        self.error: RuntimeError | None = None
        self.pipeline = Pipeline(self._build)
        self.unit = Recorder()
        self.pipeline.start(self.unit)

    def _build(self, name: str, slots: Mapping[str, Slot], unit: Outlet) -> ActorOutlet:
        assert list(slots) == list(ORDER)
        self.units.add(id(unit))
        if self.error is not None:
            raise self.error
        place = Place(name)
        self.built.append(place)
        return place.outlet

    def place(self, name: str) -> Place:
        return [place for place in self.built if place.name == name][-1]

    def run(self) -> None:
        run_until_idle(*self.built)


class Nobody:
    def send(self, frame: bytes) -> None:
        raise AssertionError(frame)

    def close(self, code: int, reason: str) -> None:
        raise AssertionError(code, reason)


def test_every_place_is_filled_and_all_know_the_unit() -> None:
    row = Row()
    assert [place.name for place in row.built] == list(ORDER) == list(row.pipeline.stages)
    assert row.units == {id(row.unit)}


def test_all_stages_are_bound_before_the_conversation_is() -> None:
    row = Row()
    lease, scope = Lease.issue(0, "sess"), CancelToken()
    client = Nobody()
    row.pipeline.bind(lease, scope, client, SessionWish("model"))
    head = row.place("conversation")
    step(head)
    # Whatever the conversation sends them now is behind their Bind.
    assert all(not row.place(name).actor_inbox.empty() for name in ORDER[1:])
    row.run()
    assert head.handled == [OpenConversation(lease, scope, client, SessionWish("model"))]
    assert all(row.place(name).handled == [Bind(lease, scope)] for name in ORDER[1:])


def test_a_stage_that_is_replaced_takes_no_message_more() -> None:
    row = Row()
    old = row.place("conversation")
    row.pipeline.head.put(Bind(Lease.issue(0, "a"), CancelToken()))
    row.pipeline.replace("conversation")
    bind = Bind(Lease.issue(0, "b"), CancelToken())
    row.pipeline.head.put(bind)
    row.run()
    assert old.handled == []
    assert old.actor_stopped.is_set()
    assert row.place("conversation").handled == [bind]


def test_only_who_fills_a_place_is_known_by_its_name() -> None:
    row = Row()
    old = row.place("llm")
    assert row.pipeline.stage_of(old.actor_urn) == "llm"
    row.pipeline.replace("llm")
    assert row.pipeline.stage_of(old.actor_urn) is None
    assert row.pipeline.stage_of(row.place("llm").actor_urn) == "llm"


def test_a_replacement_that_cannot_be_had_leaves_the_old_stage_in_its_place() -> None:
    row = Row()
    old = row.place("conversation")
    row.error = RuntimeError("can't start new thread")
    with pytest.raises(RuntimeError):
        row.pipeline.replace("conversation")
    bind = Bind(Lease.issue(0, "a"), CancelToken())
    row.pipeline.head.put(bind)
    row.run()
    assert old.handled == [bind]
    row.error = None
    row.pipeline.replace("conversation")
    assert old.actor_stopped.is_set()


def test_stopping_gives_all_stages_up() -> None:
    row = Row()
    for place in row.built:
        pykka.ActorRegistry.register(place.actor_ref)
    row.pipeline.stop()
    assert all(place.actor_stopped.is_set() for place in row.built)
    assert pykka.ActorRegistry.get_all() == []


def test_a_row_that_was_never_filled_can_be_stopped() -> None:
    Pipeline(lambda *_: pytest.fail("nothing is built")).stop()
