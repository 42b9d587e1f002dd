"""Turns msgspec's verdict on client data into an error that names the field.

msgspec says what is wrong in prose that ends in a path (``… - at `$.session.speed```).
This module is the only place that reads that prose; its tests pin every form of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from s2s_actors.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

T = TypeVar("T")

_PATH = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>(?:key in )?\$[^`]*)`)?$", re.DOTALL)
_UNKNOWN = re.compile(r"^Object contains unknown field `(?P<field>.*)`$", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(?P<field>[^`]*)`$")
_TOO_LONG = re.compile(r"^Expected `str` of length <= (?P<limit>\d+)$")
MAX_SHOWN_CHARS = 200
"""Names that a client made up are shown no longer than this."""
MAX_DEPTH = 100
"""Nesting that is taken: far more than any schema needs, far less than breaks a recursion."""
_TYPE = re.compile(r"^Expected `(?P<want>[^`]*)`, got `(?P<got>[^`]*)`$")


def convert(value: Any, into: type[T] | Any, *, root: str = "") -> T:
    """Convert decoded JSON into a struct.

    Args:
        value: Decoded JSON.
        into: Type to convert into.
        root: Path of ``value`` in the client event, such as ``session``.

    Raises:
        ClientError: With ``param`` as the path of the field at fault.
    """
    return guarded(lambda: msgspec.convert(value, into, strict=True), root=root)


def check_depth(value: Any, *, param: str) -> None:
    """Refuse JSON that is nested too deeply to be worked with.

    Raises:
        ClientError: It is nested deeper than :data:`MAX_DEPTH`.
    """
    if nested_too_deeply(value):
        raise ClientError(
            "invalid_value",
            f"Invalid '{param}': it is nested deeper than {MAX_DEPTH} levels.",
            param=param,
        )


def nested_too_deeply(value: Any) -> bool:
    """Whether JSON is nested deeper than :data:`MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def guarded(action: Callable[[], T], *, root: str = "") -> T:
    """Run a conversion and translate its failure."""
    try:
        return action()
    except msgspec.ValidationError as error:
        raise _translate(str(error), root) from None


def _translate(text: str, root: str) -> ClientError:
    match = _PATH.match(text)
    assert match is not None
    what = match["what"]
    path = _join(root, (match["path"] or "$").removeprefix("key in "))
    if found := _UNKNOWN.match(what):
        path = _join(path, "$." + found["field"][:MAX_SHOWN_CHARS])
        return ClientError("unknown_parameter", f"Unknown parameter: '{path}'.", param=path)
    if found := _MISSING.match(what):
        path = _join(path, "$." + found["field"])
        return ClientError(
            "missing_required_parameter", f"Missing required parameter: '{path}'.", param=path
        )
    if found := _TOO_LONG.match(what):
        return ClientError(
            "string_above_max_length",
            f"Invalid '{path}': string too long. Expected at most {found['limit']} characters.",
            param=path,
        )
    if found := _TYPE.match(what):
        return ClientError(
            "invalid_type",
            f"Invalid type for '{path}': expected {found['want']}, got {found['got']}.",
            param=path,
        )
    return ClientError("invalid_value", f"Invalid value for '{path}': {what}.", param=path)


def _join(root: str, path: str) -> str:
    inner = path.removeprefix("$").removeprefix(".")
    if not root or not inner:
        return root or inner
    return f"{root}{inner}" if inner.startswith("[") else f"{root}.{inner}"
