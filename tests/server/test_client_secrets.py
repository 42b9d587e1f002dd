"""A client secret opens sessions for a while, and only as long as its key does."""

from __future__ import annotations

import pytest

from s2s_actors.server.client_secrets import PREFIX, ClientSecrets
from s2s_actors.server.keys import ApiKey, KeyRing, hash_of
from s2s_actors.server.limits import Denied

KITCHEN = ApiKey("kitchen", hash_of("sk-s2s-kitchen"), max_sessions=2)
HALL = ApiKey("hall", hash_of("sk-s2s-hall"))
RING = KeyRing([KITCHEN, HALL])
SETTINGS = b'{"type":"realtime","instructions":"canary"}'


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lender(clock: Clock) -> ClientSecrets:
    return ClientSecrets(clock, most=3)


def lend(lender: ClientSecrets, key: ApiKey | None = KITCHEN, lifetime_s: float = 60.0) -> str:
    made = lender.lend(key, lifetime_s, SETTINGS)
    assert isinstance(made, str)
    return made


def test_a_secret_stands_for_its_key_and_its_settings(lender: ClientSecrets) -> None:
    first, second = lend(lender), lend(lender)
    assert first != second
    assert first.startswith(PREFIX)
    lent = lender.find(first, RING)
    assert lent is not None
    assert lent.key == KITCHEN
    assert lent.settings() == {"type": "realtime", "instructions": "canary"}
    assert lent.settings() is not lent.settings(), "a session may change its own"


def test_neither_secret_nor_settings_are_kept_or_shown_in_clear(lender: ClientSecrets) -> None:
    value = lend(lender)
    held = repr(vars(lender)) + repr(lender.find(value, RING))
    assert value not in held
    assert value.removeprefix(PREFIX) not in held
    assert "canary" not in held


def test_what_was_never_lent_opens_nothing(lender: ClientSecrets) -> None:
    value = lend(lender)
    for wrong in ("", PREFIX, value[:-1], value + "x", value.upper(), hash_of(value), "x" * 10**6):
        assert lender.find(wrong, RING) is None


def test_a_secret_ends_with_its_time(lender: ClientSecrets, clock: Clock) -> None:
    value = lend(lender, lifetime_s=60.0)
    clock.now_s += 59.9
    assert lender.find(value, RING) is not None
    clock.now_s += 0.1
    assert lender.find(value, RING) is None


def test_a_secret_ends_with_its_key(lender: ClientSecrets) -> None:
    value = lend(lender)
    assert lender.find(value, KeyRing([HALL])) is None
    replaced = ApiKey("kitchen", hash_of("sk-s2s-new"))
    assert lender.find(value, KeyRing([replaced])) is None, "the name alone is not the key"
    assert lender.find(value, None) is None
    assert lender.find(value, RING) is not None, "the key is back"


def test_limits_are_those_that_the_key_has_by_now(lender: ClientSecrets) -> None:
    value = lend(lender)
    stricter = ApiKey("kitchen", KITCHEN.hash, max_sessions=1)
    lent = lender.find(value, KeyRing([stricter]))
    assert lent is not None
    assert lent.key == stricter


def test_where_nobody_needs_a_key_a_secret_has_none(lender: ClientSecrets) -> None:
    value = lend(lender, None)
    lent = lender.find(value, None)
    assert lent is not None
    assert lent.key is None
    assert lender.find(value, RING) is None, "since there are keys, it takes one"


def test_each_key_has_so_many_and_is_told_when_there_is_room(
    lender: ClientSecrets, clock: Clock
) -> None:
    for lifetime_s in (90.0, 30.0, 60.0):
        lend(lender, lifetime_s=lifetime_s)
    denied = lender.lend(KITCHEN, 60.0, SETTINGS)
    assert isinstance(denied, Denied)
    assert (denied.code, denied.retry_after_s) == ("rate_limit_exceeded", 30.0)
    lend(lender, HALL)
    clock.now_s += 30.0
    lend(lender)
    assert isinstance(lender.lend(KITCHEN, 60.0, SETTINGS), Denied)


def test_what_has_expired_is_not_kept_for_ever(lender: ClientSecrets, clock: Clock) -> None:
    for _ in range(10):
        lend(lender)
        clock.now_s += 60.0
    assert len(lender._loans) == 1
