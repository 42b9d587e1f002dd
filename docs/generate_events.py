"""Writes the reference page of events from the structs that the server reads and writes.

``python docs/generate_events.py`` renews ``docs/reference/events.md``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import NODEFAULT, UNSET, Struct, json
from msgspec import inspect as shapes

from s2s_actors.protocol.client_events import ClientEvent
from s2s_actors.protocol.server_events import ServerEvent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE: Final = Path(__file__).with_name("reference") / "events.md"

_HEAD: Final = """\
# Events

One JSON object a text frame, in both directions. This page is generated from the structs that
the server reads and writes. The names and meanings are those of OpenAI's Realtime API; where
that leaves something open, {doc}`/reference/choices` says what this server does.

In the tables, a field that is not *required* may be left out, and then has the default. *Left
out* as a default means that the field has no value: the server does not send it either. An
unknown field of a client event is refused with `unknown_parameter`, except inside a function
tool.

## Client events

What a client may send. Each may carry an `event_id` (a string of at most 512 characters), which
an `error` about the event repeats.
"""
_SERVER: Final = """\
## Server events

What the server sends. Each has an `event_id` of its own. All of its fields
are always there, unless their default is *left out*.
"""
_SHAPES: Final = """\
## Shapes

What the fields of events are made of.
"""
_SPECIAL: Final = {
    ("session.update", "session"): "part of [RealtimeSession](#realtimesession), with its `type`",
}
_PLAIN: Final = {
    shapes.StrType: "string",
    shapes.IntType: "whole number",
    shapes.FloatType: "number",
    shapes.BoolType: "true or false",
    shapes.NoneType: "null",
    shapes.AnyType: "any",
    shapes.DictType: "object",
}


def page() -> str:
    """The whole page."""
    return "\n".join(_lines()).rstrip("\n") + "\n"


def _lines() -> Iterator[str]:
    wanted: dict[str, shapes.StructType] = {}
    yield _HEAD
    for event in _members(ClientEvent):
        yield from _event(event, wanted, received=True)
    yield _SERVER
    for event in _members(ServerEvent):
        yield from _event(event, wanted, received=False)
    yield _SHAPES
    described: set[str] = set()
    while left := sorted(wanted.keys() - described):
        for name in left:
            described.add(name)
            _find_structs(wanted[name], wanted)
    for name in sorted(described):
        yield from _shape(wanted[name])


def _members(union: object) -> tuple[shapes.StructType, ...]:
    info = shapes.type_info(union)
    assert isinstance(info, shapes.UnionType)
    return tuple(each for each in info.types if isinstance(each, shapes.StructType))


def _event(
    event: shapes.StructType, wanted: dict[str, shapes.StructType], *, received: bool
) -> Iterator[str]:
    yield f"### `{event.tag}`\n"
    yield f"{_doc(event)}\n"
    _find_structs(event, wanted)
    fields = [field for field in event.fields if field.name != "event_id"]
    if not fields:
        yield "No fields of its own.\n"
        return
    yield from _table(fields, str(event.tag), required=received)


def _shape(struct: shapes.StructType) -> Iterator[str]:
    yield f"### {struct.cls.__name__}\n"
    yield f"{_doc(struct)}\n"
    if struct.tag_field is not None and struct.tag is not None:
        yield f'Its `{struct.tag_field}` is `"{struct.tag}"`.\n'
    if struct.fields:
        yield from _table(struct.fields, struct.cls.__name__, required=True)


def _table(fields: Sequence[shapes.Field], owner: str, *, required: bool) -> Iterator[str]:
    shows = required or any(not field.required for field in fields)
    yield "| field | type |" + (" default |" if shows else "")
    yield "| --- | --- |" + (" --- |" if shows else "")
    for field in fields:
        kind = _SPECIAL.get((owner, field.encode_name)) or _kind(field.type)
        cells = f"| `{field.encode_name}` | {kind} |"
        yield cells + (f" {_default(field)} |" if shows else "")
    yield ""


def _doc(struct: shapes.StructType) -> str:
    text = struct.cls.__doc__ or ""
    return "\n".join(line.strip() for line in text.strip().splitlines())


def _default(field: shapes.Field) -> str:
    if field.required:
        return "required"
    if field.default_factory is not NODEFAULT:
        return _shown(field.default_factory())
    # What may be absent has no default to show.
    absent = field.default is NODEFAULT or field.default is UNSET
    return "left out" if absent else _shown(field.default)


def _shown(value: object) -> str:
    if isinstance(value, Struct):
        return "its defaults"
    return f"`{json.encode(value).decode()}`"


def _kind(info: shapes.Type) -> str:
    match info:
        case shapes.Metadata(type=inner):
            kind = _kind(inner)
        case shapes.StructType():
            name = info.cls.__name__
            kind = f"[{name}](#{name.lower()})"
        case shapes.UnionType():
            kind = " or ".join(_kind(each) for each in info.types if not _is_unset(each))
        case shapes.LiteralType():
            kind = " or ".join(f"`{json.encode(value).decode()}`" for value in info.values)
        case shapes.ListType() | shapes.VarTupleType():
            kind = _kind(info.item_type)
            kind = f"list of ({kind})" if " or " in kind else f"list of {kind}"
        case shapes.IntType() | shapes.FloatType():
            kind = _PLAIN[type(info)] + _bounds(info.ge, info.le)
        case shapes.DictType():
            anything = isinstance(info.value_type, shapes.AnyType)
            kind = "object" if anything else "object of strings"
        case _:
            kind = _PLAIN[type(info)]
    return kind


def _is_unset(info: shapes.Type) -> bool:
    return isinstance(info, shapes.CustomType) or type(info).__name__ == "UnsetType"


def _bounds(least: float | None, most: float | None) -> str:
    if least is None:
        return ""
    return f" from {least:g}" + ("" if most is None else f" to {most:g}")


def _find_structs(info: shapes.Type, found: dict[str, shapes.StructType]) -> None:
    match info:
        case shapes.Metadata(type=inner):
            _find_structs(inner, found)
        case shapes.StructType():
            for field in info.fields:
                for inner in _structs(field.type):
                    found.setdefault(inner.cls.__name__, inner)
        case _:
            return


def _structs(info: shapes.Type) -> Iterator[shapes.StructType]:
    match info:
        case shapes.Metadata(type=inner):
            yield from _structs(inner)
        case shapes.StructType():
            yield info
        case shapes.UnionType():
            for each in info.types:
                yield from _structs(each)
        case shapes.ListType() | shapes.VarTupleType():
            yield from _structs(info.item_type)
        case _:
            return


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")


if __name__ == "__main__":
    main()
