"""The write loop: from the outbox to the socket."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal, TypeAlias

from websockets.exceptions import ConnectionClosed

from s2s_actors.server.outbox import Farewell

if TYPE_CHECKING:
    from s2s_actors.server.outbox import Outbox
    from s2s_actors.server.peer import PeerConnection
    from s2s_actors.server.wire_log import WireLog

Lost: TypeAlias = Literal["client_left", "unresponsive"]
"""Why nothing more can be sent; events of the connection's chart."""

Written: TypeAlias = Farewell | Lost
"""How the write loop ended."""


async def write_events(
    ws: PeerConnection, outbox: Outbox, timeout_s: float, wire_log: WireLog
) -> Written:
    """Send what comes out of the outbox until the farewell, which is left to the caller.

    A peer that stops reading blocks ``send()``, and ``close()`` and keepalive as well: all
    three wait for the same buffer. Only a deadline and ``abort()`` get out.
    """
    try:
        while not isinstance(item := await outbox.next(), Farewell):
            async with asyncio.timeout(timeout_s):
                await ws.send(item, text=True)
            wire_log.sent(item)
    except TimeoutError:
        return "unresponsive"
    except ConnectionClosed:
        return "client_left"
    return item
