"""Identifiers."""

from __future__ import annotations

from s2s_actors.protocol.ids import MAX_ITEM_ID_CHARS, event_id, new_id


def test_ids_say_what_they_name_and_fit() -> None:
    assert new_id("item").startswith("item_")
    assert len(new_id("item")) <= MAX_ITEM_ID_CHARS
    assert event_id().startswith("event_")


def test_ids_do_not_repeat() -> None:
    assert len({new_id("item") for _ in range(10_000)}) == 10_000
