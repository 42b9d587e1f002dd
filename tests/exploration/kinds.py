"""What of all that a plant and its connections hold counts for a fingerprint, and how."""

from __future__ import annotations

import asyncio
import re
import threading
from queue import SimpleQueue

import pykka
from websockets.asyncio.server import Server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from s2s_actors.actors.board import Board
from s2s_actors.actors.health import Health
from s2s_actors.actors.load import Load
from s2s_actors.actors.tally import Tally
from s2s_actors.backends.base import Models
from s2s_actors.runtime.cancel import CancelToken
from s2s_actors.runtime.clock import ManualClock
from s2s_actors.runtime.outlet import Slot
from s2s_actors.runtime.reply import ReplyPort
from s2s_actors.runtime.sparse_log import SparseLog
from s2s_actors.runtime.urgency import Urgency
from s2s_actors.server.connection import Connection
from s2s_actors.server.endpoints import Endpoints
from s2s_actors.server.handshake import Gate
from s2s_actors.server.listener import Listener
from s2s_actors.server.options import ServerOptions
from s2s_actors.server.outbox import Outbox
from s2s_actors.server.peer import PeerConnection
from s2s_actors.server.wire_log import WireLog
from s2s_actors.simulation.client import Client
from s2s_actors.simulation.plant import SteppedPlant
from tests.exploration.front import Front
from tests.exploration.stepped_loop import SteppedLoop
from tests.exploration.wire import Wire

__all__ = ["FIGURES", "OF_NO_ACCOUNT", "OF_THE_LOOP", "PYKKA", "SHARED"]

OF_THE_LOOP = (
    *(asyncio.Future, asyncio.Event, asyncio.Timeout, Server, Listener),
    *(Connection, PeerConnection, Outbox, Wire),
)
SHARED = (CancelToken, Urgency, Slot, ReplyPort, Client, *OF_THE_LOOP)
OF_NO_ACCOUNT = (
    # What is published or counted, and what only tells the time.
    *(Board, Health, Load, Tally, ManualClock),
    # Locks are free between two steps; what waits in a queue is read from the lanes.
    *(type(threading.Lock()), type(threading.RLock()), SimpleQueue, re.Pattern),
    # What was said in a handshake, what never changes, and what only tells.
    *(Headers, Request, Response, ServerOptions, Gate, Endpoints, WireLog, SparseLog),
    # What holds all the others together.
    *(SteppedLoop, Front, SteppedPlant, Models),
)
FIGURES = frozenset({"dropped", "_dropped", "_shown", "frames"})
"""Attributes that no actor decides by."""
PYKKA = frozenset(vars(pykka.ThreadingActor)) | {
    "actor_inbox",
    "actor_ref",
    "actor_urn",
    "_outlet",
}
