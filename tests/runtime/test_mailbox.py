"""The two-lane mailbox: order, bounds, and no lost wake-up."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pykka._envelope import Envelope

from s2s_actors.runtime.mailbox import Control, Data, Marker, TwoLaneMailbox
from s2s_actors.runtime.outlet import LaneFullError


@dataclass(frozen=True, slots=True)
class Work(Data):
    number: int


@dataclass(frozen=True, slots=True)
class Load(Data):
    number: int
    cost_bytes: int


@dataclass(frozen=True, slots=True)
class Flag(Marker):
    number: int


@dataclass(frozen=True, slots=True)
class Order(Control):
    number: int


def put(mailbox: TwoLaneMailbox, *messages: object) -> None:
    for message in messages:
        mailbox.put(Envelope(message))


def drain(mailbox: TwoLaneMailbox) -> list[object]:
    messages = []
    while not mailbox.empty():
        messages.append(mailbox.get().message)
    return messages


def test_control_comes_out_before_data_that_went_in_earlier() -> None:
    mailbox = TwoLaneMailbox(10, 100)
    put(mailbox, Work(1), Flag(2), Order(3), Work(4), Order(5))
    assert drain(mailbox) == [Order(3), Order(5), Work(1), Flag(2), Work(4)]


def test_a_message_of_no_known_kind_is_control() -> None:
    mailbox = TwoLaneMailbox(10, 100)
    put(mailbox, Work(1), "stop")
    assert drain(mailbox) == ["stop", Work(1)]


def test_too_many_messages_are_refused_and_nothing_is_queued() -> None:
    mailbox = TwoLaneMailbox(2, 100)
    put(mailbox, Work(1), Work(2))
    with pytest.raises(LaneFullError):
        put(mailbox, Work(3))
    assert drain(mailbox) == [Work(1), Work(2)]


def test_too_many_bytes_are_refused_until_some_have_been_taken() -> None:
    mailbox = TwoLaneMailbox(10, 100)
    put(mailbox, Load(1, 60), Load(2, 40))
    with pytest.raises(LaneFullError):
        put(mailbox, Load(3, 1))
    mailbox.get()
    put(mailbox, Load(4, 60))
    assert drain(mailbox) == [Load(2, 40), Load(4, 60)]
    assert (mailbox.waiting_messages, mailbox.waiting_bytes) == (0, 0)


def test_one_oversize_message_is_let_into_a_lane_without_data() -> None:
    mailbox = TwoLaneMailbox(10, 100)
    put(mailbox, Flag(0), Load(1, 1000))
    with pytest.raises(LaneFullError):
        put(mailbox, Load(2, 1))
    assert drain(mailbox) == [Flag(0), Load(1, 1000)]


def test_markers_and_control_enter_a_full_lane_and_do_not_fill_it() -> None:
    mailbox = TwoLaneMailbox(1, 10)
    put(mailbox, Flag(1), Order(2), Work(3), Flag(4), Order(5))
    assert mailbox.waiting_messages == 1
    assert drain(mailbox) == [Order(2), Order(5), Flag(1), Work(3), Flag(4)]


MESSAGES = st.one_of(
    st.builds(Work, st.integers()),
    st.builds(Load, st.integers(), st.integers(0, 30)),
    st.builds(Flag, st.integers()),
    st.builds(Order, st.integers()),
)


@given(st.lists(st.one_of(st.none(), MESSAGES), max_size=60))
def test_nothing_but_refused_data_is_lost_and_each_lane_keeps_its_order(
    script: list[object],
) -> None:
    mailbox = TwoLaneMailbox(4, 50)
    accepted: list[object] = []
    received: list[object] = []
    for message in script:
        if message is None:
            if not mailbox.empty():
                received.append(mailbox.get().message)
            continue
        try:
            put(mailbox, message)
        except LaneFullError:
            assert isinstance(message, Data)
            continue
        accepted.append(message)
        assert mailbox.waiting_messages <= 4
        assert mailbox.waiting_bytes <= 50
    received += drain(mailbox)
    for lane in (Control, (Data, Marker)):
        assert [m for m in received if isinstance(m, lane)] == [
            m for m in accepted if isinstance(m, lane)
        ]


def test_no_message_of_many_threads_is_lost_and_each_sender_keeps_its_order() -> None:
    mailbox = TwoLaneMailbox(100_000, 100_000)
    senders = [
        threading.Thread(target=put, args=(mailbox, *[Load(n, 1) for n in range(s, 4000, 4)]))
        for s in range(4)
    ]
    for sender in senders:
        sender.start()
    received = [mailbox.get().message for _ in range(4000)]
    for sender in senders:
        sender.join()
    for s in range(4):
        assert [m.number for m in received if m.number % 4 == s] == list(range(s, 4000, 4))
    assert mailbox.waiting_bytes == 0
