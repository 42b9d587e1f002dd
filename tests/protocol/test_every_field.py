"""Every field of every client event, missing and of every wrong JSON type."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import msgspec
import pytest
from msgspec import inspect as mi

from s2s_actors.protocol.client_events import ClientEvent
from s2s_actors.protocol.session import RealtimeSession
from tests.protocol.playing import Player, error_of

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON_TYPES: dict[str, Any] = {
    "null": None,
    "bool": True,
    "int": 7,
    "float": 7.5,
    "str": "some text",
    "array": [[]],
    "object": {"surprise": 1},
}


@dataclass(frozen=True, slots=True)
class Field:
    """A field somewhere in an event.

    Attributes:
        path: Where it is.
        event: An event that is acceptable and has the field.
        required: Whether the event must have it.
        takes: JSON types that it may have.
    """

    path: tuple[str | int, ...]
    event: Any
    required: bool
    takes: frozenset[str]

    @property
    def is_merged(self) -> bool:
        """Whether it is taken over from the session when it is missing."""
        return self.path[:2] == ("session", "audio")

    @property
    def param(self) -> str:
        """The path as errors name it."""
        text = ""
        for step in self.path:
            text += f"[{step}]" if isinstance(step, int) else f".{step}"
        return text.removeprefix(".")


SIMPLE: dict[type[mi.Type], frozenset[str]] = {
    mi.NoneType: frozenset({"null"}),
    mi.BoolType: frozenset({"bool"}),
    mi.IntType: frozenset({"int"}),
    mi.FloatType: frozenset({"int", "float"}),
    mi.StrType: frozenset({"str"}),
    mi.ListType: frozenset({"array"}),
    mi.VarTupleType: frozenset({"array"}),
    mi.StructType: frozenset({"object"}),
    mi.DictType: frozenset({"object"}),
    mi.CustomType: frozenset(),  # UNSET is no JSON
    mi.AnyType: frozenset(JSON_TYPES),
}


def takes(kind: mi.Type) -> frozenset[str]:
    """The JSON types of a type."""
    if isinstance(kind, mi.UnionType):
        return frozenset[str]().union(*map(takes, kind.types))
    if isinstance(kind, mi.LiteralType):
        return frozenset({"str" if isinstance(v, str) else "int" for v in kind.values})
    return SIMPLE[type(kind)]


def alternatives(kind: mi.Type) -> list[mi.Type]:
    """The members of a union that have fields of their own."""
    members = kind.types if isinstance(kind, mi.UnionType) else (kind,)
    return [m for m in members if isinstance(m, mi.StructType | mi.ListType | mi.VarTupleType)]


PLAIN: dict[type[mi.Type], Any] = {
    mi.VarTupleType: [],
    mi.DictType: {},
    mi.StrType: "x",
    mi.FloatType: 0.5,
    mi.BoolType: True,
}


def sample(kind: mi.Type) -> Any:
    """A value of a type, with what it needs and no more."""
    match kind:
        case mi.UnionType(types=types):
            return sample(next(t for t in types if not isinstance(t, mi.CustomType | mi.NoneType)))
        case mi.StructType():
            value = {f.encode_name: sample(f.type) for f in kind.fields if f.required}
            return value | ({kind.tag_field: kind.tag} if kind.tag_field else {})
        case mi.LiteralType(values=values):
            return values[0]
        case mi.ListType(item_type=item_type):
            return [sample(item_type)] * (kind.min_length or 0)
        case mi.IntType(ge=ge):
            return ge or 0
        case _:
            return copy.copy(PLAIN[type(kind)])


def fields(kind: mi.Type, event: Any, path: tuple[str | int, ...]) -> Iterator[Field]:
    """All fields below a place in an event."""
    members = alternatives(kind)
    for member in members:
        if isinstance(member, mi.StructType):
            tag_needed = sum(isinstance(m, mi.StructType) for m in members) > 1 or not path
            yield from struct_fields(member, event, path, tag_needed=tag_needed)
        elif isinstance(member, mi.ListType | mi.VarTupleType):
            for inner in alternatives(member.item_type):
                with_one = changed(event, path, [sample(inner)])
                yield from fields(inner, with_one, (*path, 0))


def struct_fields(
    kind: mi.StructType, event: Any, path: tuple[str | int, ...], *, tag_needed: bool
) -> Iterator[Field]:
    here = changed(event, path, sample(kind)) if path else event
    if kind.tag_field:
        # Where there is but one type, nobody has to name it.
        place = (*path, kind.tag_field)
        yield Field(place, here, required=tag_needed, takes=frozenset({"str"}))
    for field in kind.fields:
        place = (*path, field.encode_name)
        present = here
        if field.encode_name not in value_at(here, path):
            present = changed(here, place, sample(field.type))
        yield Field(place, present, field.required, takes(field.type))
        yield from fields(field.type, present, place)


def value_at(event: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        event = event[step]
    return event


def changed(event: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    event = copy.deepcopy(event)
    value_at(event, path[:-1])[path[-1]] = value
    return event


def without(event: Any, path: tuple[str | int, ...]) -> Any:
    event = copy.deepcopy(event)
    del value_at(event, path[:-1])[path[-1]]
    return event


def all_fields() -> list[Field]:
    found: dict[tuple[str, str], Field] = {}
    for event_type in get_args(ClientEvent):
        kind = mi.type_info(event_type)
        for field in fields(kind, sample(kind), ()):
            found[str(field.event["type"]), f"{field.param} {json.dumps(field.event)}"] = field
    kind = mi.type_info(RealtimeSession)
    base = {"type": "session.update", "session": {"type": "realtime"}}
    assert isinstance(kind, mi.StructType)
    for part in kind.fields:
        if part.encode_name in ("type", "object", "id", "model", "expires_at"):
            continue  # read-only or ignored; the tests of merging see to them
        place = ("session", part.encode_name)
        event = changed(base, place, sample(part.type))
        field = Field(place, event, required=False, takes=takes(part.type))
        for each in (field, *fields(part.type, event, place)):
            found["session", f"{each.param} {json.dumps(each.event)}"] = each
    # An event_id of the wrong type can't be echoed; the tests of the codec see to it.
    return [field for field in found.values() if field.param != "event_id"]


FIELDS = all_fields()


def state(player: Player) -> object:
    """All that an event may change."""
    buffer = player.dialogue.listening.buffer
    return (player.dialogue.session, player.items(), buffer.held_ms, player.open_response)


def refused(event: Any) -> dict[str, Any]:
    """The error for an event; fails if anything else comes of it."""
    player = Player()
    player.update(
        audio={
            "input": {"transcription": {"model": "x"}, "noise_reduction": {"type": "near_field"}}
        },
    )
    before = state(player)
    asked = len(player.asked)
    error = error_of(player.send_raw(json.dumps(event | {"event_id": "e1"})))
    assert error["event_id"] == "e1"
    assert state(player) == before
    assert len(player.asked) == asked
    player.finish()
    return error


def test_there_are_fields_at_every_depth() -> None:
    params = {field.param for field in FIELDS}

    assert len(FIELDS) > 100
    assert {
        "audio",
        "item.content[0].text",
        "response.input[0].content[0].text",
        "response.audio.output.speed",
        "session.audio.input.turn_detection.threshold",
        "session.audio.input.turn_detection.eagerness",
        "session.tools[0].name",
    } <= params


@pytest.mark.parametrize(
    "field",
    [field for field in FIELDS if field.required and not field.is_merged],
    ids=lambda field: f"{field.event['type']}:{field.param}",
)
def test_a_required_field_that_is_missing_is_named(field: Field) -> None:
    event = without(field.event, field.path)
    error = refused(event)

    assert error["code"] == "missing_required_parameter"
    assert error["param"] == field.param


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: f"{field.event['type']}:{field.param}")
def test_a_field_of_a_wrong_type_is_named(field: Field) -> None:
    codes = {name: {"invalid_type", "invalid_value"} for name in JSON_TYPES}
    if field.param == "type":
        codes["null"] = {"missing_required_parameter"}
    for name, value in JSON_TYPES.items():
        if name in field.takes:
            continue
        error = refused(changed(field.event, field.path, value))

        assert error["code"] in codes[name], (name, error)
        assert (error["param"] or "").startswith(field.param), (name, error)


@pytest.mark.parametrize("event_type", get_args(ClientEvent))
def test_an_unknown_field_is_named(event_type: type[msgspec.Struct]) -> None:
    event = sample(mi.type_info(event_type)) | {"surprise": 1}
    error = refused(event)

    assert (error["code"], error["param"]) == ("unknown_parameter", "surprise")
