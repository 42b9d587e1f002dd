"""Strategies for client events, made from the structs that the server decodes them with.

A field that is added to the protocol is fuzzed from then on, without a line here.
"""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from hypothesis import strategies as st
from msgspec import inspect as mi

from s2s_actors.protocol.client_events import ClientEvent, SessionUpdate
from s2s_actors.protocol.session import RealtimeSession
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["JSON", "Event", "client_events"]

Event: TypeAlias = dict[str, Any]
Values: TypeAlias = st.SearchStrategy[Any]

ITEM_IDS: Final = ("item_a", "item_b", "item_c", "root", "item_nosuch")
"""Few, so that events speak of the same items."""
_LONGEST_TEXT: Final = 40
_PIXEL: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
_SOUNDS: Final = tuple(
    base64.b64encode(pcm).decode()
    for pcm in (b"\x00\x00", silence(20), tone(40), tone(300), silence(700), silence(2000))
)

_texts = st.text(max_size=_LONGEST_TEXT)
_numbers = st.floats(allow_nan=False, allow_infinity=False)
JSON: Final[Values] = st.recursive(
    st.none() | st.booleans() | st.integers() | _numbers | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=6,
)
"""Any JSON, not large."""

_BY_NAME: Final[Mapping[str, Values]] = {
    "id": st.sampled_from(ITEM_IDS) | st.just(""),
    "item_id": st.sampled_from(ITEM_IDS),
    "previous_item_id": st.sampled_from(ITEM_IDS) | st.none(),
    "response_id": st.sampled_from(["resp_nosuch", ""]) | st.none(),
    "audio": st.sampled_from(_SOUNDS),
    "image_url": st.just(_PIXEL),
    "call_id": st.sampled_from(["call_a", "call_b"]),
    "audio_end_ms": st.integers(0, 2000),
    "idle_timeout_ms": st.just(30_000) | st.none(),
}
"""Where any value of the type would be refused at once, or would mean nothing."""

_READ_ONLY: Final = frozenset({"id", "object", "model", "expires_at"})


def client_events() -> Values:
    """Client events without ``event_id``, all of them of the right form."""
    return st.one_of([_of(mi.type_info(kind)) for kind in get_args(ClientEvent)])


def _of(kind: mi.Type) -> Values:
    assert isinstance(kind, mi.StructType)
    if kind.cls is SessionUpdate:
        session = mi.type_info(RealtimeSession)
        assert isinstance(session, mi.StructType)
        # The merge takes any part of a session: nothing of it is required.
        return st.fixed_dictionaries(
            {"type": st.just(kind.tag), "session": _struct(session, partial=True)}
        )
    return _struct(kind)


def _struct(kind: mi.StructType, *, partial: bool = False) -> Values:
    required: dict[str, Values] = {}
    optional: dict[str, Values] = {}
    if kind.tag_field:
        required[kind.tag_field] = st.just(kind.tag)
    for field in kind.fields:
        name = field.encode_name
        if name == "event_id" or (partial and name in _READ_ONLY):
            continue
        place = required if field.required and not partial else optional
        place[name] = _field(name, field.type)
    return st.fixed_dictionaries(required, optional=optional)


def _field(name: str, kind: mi.Type) -> Values:
    found = _BY_NAME.get(name)
    # A part of a session is called audio too.
    if found is not None and not isinstance(kind, mi.StructType):
        return found
    return _value(kind)


def _value(kind: mi.Type) -> Values:  # noqa: C901, PLR0911, PLR0912 - one line for each type
    match kind:
        case mi.UnionType(types=types):
            return st.one_of([_value(t) for t in types if not isinstance(t, mi.CustomType)])
        case mi.StructType():
            return st.deferred(lambda: _cached_struct(kind))
        case mi.LiteralType(values=values):
            return st.sampled_from(values)
        case mi.ListType(item_type=inner) | mi.VarTupleType(item_type=inner):
            most = 2 if kind.max_length is None else kind.max_length
            return st.lists(_value(inner), min_size=kind.min_length or 0, max_size=most)
        case mi.DictType(value_type=inner):
            return st.dictionaries(_texts, _value(inner), max_size=2)
        case mi.IntType(ge=least, le=most):
            return st.integers(least, most)
        case mi.FloatType(ge=least, le=most):
            return st.floats(least, most, allow_nan=False, allow_infinity=False)
        case mi.StrType(pattern=str(pattern)):
            return st.from_regex(pattern, fullmatch=True)
        case mi.StrType():
            return _texts
        case mi.BoolType():
            return st.booleans()
        case mi.NoneType():
            return st.none()
        case mi.AnyType():
            return JSON
        case _:
            raise NotImplementedError(kind)


@cache
def _struct_of(cls: type) -> Values:
    kind = mi.type_info(cls)
    assert isinstance(kind, mi.StructType)
    return _struct(kind)


def _cached_struct(kind: mi.StructType) -> Values:
    return _struct_of(kind.cls)
