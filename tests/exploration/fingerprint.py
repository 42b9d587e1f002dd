"""Tells configurations of a whole plant apart: everything that the actors hold, made canonical.

Whatever an actor keeps counts, declared or not: a forgotten attribute would make two different
configurations look alike. Names that are only ever compared (ids, epochs, addresses of actors)
are replaced by the order in which they are met, so that they need not be the same.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum
from functools import partial
from hashlib import blake2b
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import TYPE_CHECKING, Any, Final

import msgspec
import numpy as np
import pykka
from websockets.client import ClientProtocol

from s2s_actors.actors.lease import Lease
from s2s_actors.runtime.actor import Actor, ActorOutlet
from s2s_actors.runtime.clock import _Entry
from s2s_actors.runtime.mailbox import TwoLaneMailbox
from statecharts.base import StrictChart
from statecharts.walk import observe
from tests.exploration.awaiting import order_of, write_future, write_handle
from tests.exploration.kinds import FIGURES, OF_NO_ACCOUNT, PYKKA, SHARED
from tests.exploration.wire import Packet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_ID = re.compile(r"[a-z]+_[0-9a-f]{24}|urn:uuid:[0-9a-f-]{36}")
_ID_CHARS: Final = 25
_LONG_BYTES: Final = 64


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a configuration.

    Attributes:
        text: All of it that has one meaning everywhere.
        names: What stands for it only by being the same elsewhere, in order: an id, or an
            object that several actors share.
    """

    text: bytes
    names: tuple[object, ...]


class _Writer:
    """Writes one piece down."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.names: list[object] = []
        self._met: dict[int, int] = {}

    def piece(self) -> Piece:
        return Piece("\x1f".join(self.words).encode(), tuple(self.names))

    def write(self, thing: object) -> None:
        """Write anything down."""
        kind = type(thing)
        how = _HOW.get(kind)
        if how is None:
            how = _HOW[kind] = _way_of(kind)
        how(self, thing)

    def name(self, kind: str, thing: object) -> None:
        self.words.append(kind)
        self.names.append(thing)

    def plain(self, thing: object) -> None:
        self.words.append(repr(thing))

    def string(self, text: str) -> None:
        if len(text) >= _ID_CHARS and (found := _ID.findall(text)):
            self.names.extend(found)
            text = _ID.sub("@", text)
        self.words.append(repr(text))

    def octets(self, data: bytes) -> None:
        if data.startswith(b"{"):  # an event: the ids in it are names
            self.string(data.decode(errors="replace"))
            return
        long = len(data) > _LONG_BYTES
        self.words.append(blake2b(data, digest_size=12).hexdigest() if long else repr(data))

    def array(self, array: np.ndarray[Any, Any]) -> None:
        self.words.append(f"{array.dtype}{array.shape}")
        self.octets(array.tobytes())

    def sequence(self, things: Iterable[object]) -> None:
        things = list(things)
        self.words.append(f"[{len(things)}")
        for each in things:
            self.write(each)

    def mapping(self, things: dict[object, object]) -> None:
        self.words.append(f"{{{len(things)}")
        for key, value in things.items():
            self.write(key)
            self.write(value)

    def unordered(self, things: set[object] | frozenset[object]) -> None:
        self.words.append(f"<{len(things)}")
        for each in sorted(things, key=order_of):
            self.write(each)

    def lease(self, lease: Lease) -> None:
        self.words.append(f"lease {lease.unit}")
        self.string(lease.session_id)
        self.names.append(("epoch", lease.epoch))

    def chart(self, chart: StrictChart) -> None:
        seen = observe(chart)
        self.words.append(seen.name)
        self.sequence(seen.data)

    def entry(self, entry: _Entry) -> None:
        # Where it leads and what it says stands in the list of the clock.
        self.words.append(f"due {entry.due_s}")

    def method(self, method: MethodType) -> None:
        self.words.append(method.__qualname__)
        if isinstance(method.__self__, SHARED):
            self.names.append(method.__self__)

    def function(self, function: FunctionType) -> None:
        self.words.append(function.__qualname__)

    def struct(self, struct: msgspec.Struct) -> None:
        self.words.append(type(struct).__name__)
        for each in struct.__struct_fields__:
            self.write(getattr(struct, each))

    def instance(self, thing: object) -> None:
        """Write down an object of Python's own making, once."""
        self.words.append(type(thing).__qualname__)
        if id(thing) in self._met:
            self.words.append(f"as {self._met[id(thing)]}")
            return
        self._met[id(thing)] = len(self._met)
        for name, value in _attributes(thing):
            self.words.append(name)
            self.write(value)


_HOW: dict[type, Callable[[_Writer, Any], None]] = {
    **dict.fromkeys((type(None), bool, int, float), _Writer.plain),
    str: _Writer.string,
    **dict.fromkeys((bytes, bytearray), _Writer.octets),
    **dict.fromkeys((tuple, list, deque), _Writer.sequence),
    dict: _Writer.mapping,
    **dict.fromkeys((set, frozenset), _Writer.unordered),
    Lease: _Writer.lease,
    _Entry: _Writer.entry,
    np.ndarray: _Writer.array,
    MethodType: _Writer.method,
    **dict.fromkeys((FunctionType, BuiltinFunctionType), _Writer.function),
    ActorOutlet: lambda writer, outlet: writer.name("actor", outlet.ref.actor_urn),
    pykka.ActorRef: lambda writer, ref: writer.name("actor", ref.actor_urn),
    threading.Event: lambda writer, event: writer.plain(event.is_set()),
    Future: lambda writer, future: writer.sequence(
        (future.done(), future.cancelled(), future._result)
    ),
    partial: lambda writer, part: writer.sequence((part.func, part.args, part.keywords)),
}
_BY_BASE: tuple[tuple[type | tuple[type, ...], Callable[[_Writer, Any], None]], ...] = (
    (SHARED, lambda writer, thing: writer.name(type(thing).__name__, thing)),
    (OF_NO_ACCOUNT, lambda writer, thing: writer.words.append(type(thing).__name__)),
    (Actor, lambda writer, actor: writer.name("actor", actor.actor_urn)),
    (StrictChart, _Writer.chart),
    (msgspec.Struct, _Writer.struct),
    ((Enum, type, np.generic), _Writer.plain),
    (dict, _Writer.mapping),
    (BaseException, lambda writer, error: writer.plain(type(error))),
    (asyncio.Handle, write_handle),
    # Bytes are masked by chance; what of a protocol matters here is how far it has come.
    (Packet, lambda writer, packet: writer.plain(packet.what)),
    (
        ClientProtocol,
        lambda writer, end: writer.sequence((end.state, end.close_sent, end.eof_sent)),
    ),
    (GeneratorType, lambda writer, work: writer.plain(work.gi_frame and work.gi_frame.f_lasti)),
)
_WRITTEN = ("s2s_actors", "statecharts", "tests", "websockets")
"""Packages whose objects are written down with all that they hold."""


def _way_of(kind: type) -> Callable[[_Writer, Any], None]:
    for base, how in _BY_BASE:
        if issubclass(kind, base):
            return how
    if kind.__module__.split(".")[0] in _WRITTEN:
        return _Writer.instance
    # Made elsewhere, such as a resampler: what it holds follows from what it was fed, which
    # the actors count.
    return lambda writer, thing: writer.words.append(type(thing).__qualname__)


def _attributes(thing: object) -> Iterable[tuple[str, object]]:
    kind = type(thing)
    found = dict(getattr(thing, "__dict__", ()))
    for name in _slots_of(kind):
        if hasattr(thing, name):
            found[name] = getattr(thing, name)
    key = (kind, *found)
    counting = _COUNTING.get(key)
    if counting is None:
        figures = () if kind.__module__.startswith("websockets") else FIGURES
        counting = _COUNTING[key] = [name for name in sorted(found) if name not in figures]
    return [(name, found[name]) for name in counting]


_COUNTING: dict[tuple[object, ...], list[str]] = {}
"""Of the attributes that a type has been met with, those that make a difference, in order."""
_SLOTS: dict[type, tuple[str, ...]] = {}


def _slots_of(kind: type) -> tuple[str, ...]:
    known = _SLOTS.get(kind)
    if known is None:
        names = (name for base in kind.__mro__ for name in getattr(base, "__slots__", ()))
        known = _SLOTS[kind] = tuple(names)
    return known


def piece_of(thing: object) -> Piece:
    """A value or a message, made canonical."""
    writer = _Writer()
    writer.write(thing)
    return writer.piece()


def actor_piece(actor: Actor) -> Piece:
    """What an actor keeps, but for its mailbox."""
    writer = _Writer()
    for name, value in _attributes(actor):
        if name not in PYKKA:
            writer.words.append(name)
            writer.write(value)
    return writer.piece()


def waiting_in(actor: Actor) -> list[object]:
    """The messages that an actor has not handled, in the order in which it will."""
    inbox = actor.actor_inbox
    assert isinstance(inbox, TwoLaneMailbox)
    return [envelope.message for envelope in (*inbox._control, *inbox._data)]


class Digest:
    """Puts pieces together; names count by where they are met first."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)
        self._places: dict[object, int] = {}
        self._met: deque[object] = deque()

    def add(self, piece: Piece) -> None:
        """Go on with a piece."""
        self._hash.update(piece.text)
        for name in piece.names:
            key = id(name) if isinstance(name, SHARED) else name
            if key not in self._places:
                self._places[key] = len(self._places)
                if isinstance(name, SHARED):
                    self._met.append(name)
            self._hash.update(b" %d" % self._places[key])
        self._hash.update(b"\n")

    def value(self, inside: Callable[[object], Piece]) -> bytes:
        """The digest of all of it.

        Args:
            inside: What is in an object that several share.
        """
        while self._met:
            self.add(inside(self._met.popleft()))
        return self._hash.digest()


def shared_piece(thing: object) -> Piece:
    """What is in an object that several actors share."""
    writer = _Writer()
    if isinstance(thing, asyncio.Future):
        write_future(writer, thing)
    else:
        writer.instance(thing)
    return writer.piece()
