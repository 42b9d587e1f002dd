"""Which requests become a session, which are answered at once, and which are refused."""

from __future__ import annotations

from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, urlsplit

from websockets.typing import Subprotocol

from s2s_actors.actors.ports import SessionWish
from s2s_actors.server.answers import error_response
from s2s_actors.server.door import Door
from s2s_actors.server.insight import insight_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

    from s2s_actors.server.client_secrets import Lent
    from s2s_actors.server.endpoints import Endpoints
    from s2s_actors.server.peer import PeerConnection

REALTIME_PATH = "/v1/realtime"

_REALTIME = Subprotocol("realtime")
_BETA_SUBPROTOCOL = "openai-beta.realtime-v1"
_INTENTS = {None, "conversation", "transcription"}
_CONDUCTS = {None, "natural", "plain"}
_QUEUE_EVENTS = {None, "0", "1"}


@dataclass(frozen=True, slots=True)
class Target:
    """What the URL of a session asks for.

    Attributes:
        model: Any string; which model answers is the operator's choice, not the client's.
        intent: ``transcription`` asks for a session that only transcribes.
        call_id: A WebRTC or SIP call to attach to; there are none here.
        conduct: ``plain`` asks for nothing beyond the protocol.
        queue_events: ``1`` asks to be told where one stands while one waits for a unit.
    """

    model: str | None = None
    intent: str | None = None
    call_id: str | None = None
    conduct: str | None = None
    queue_events: str | None = None

    @classmethod
    def parse(cls, query: str) -> Target:
        """Read the query part of the URL; of repeated parameters the first one counts."""
        values = {name: given[0] for name, given in parse_qs(query).items()}
        return cls(**{name: values.get(name) for name in (field.name for field in fields(cls))})


class Gate:
    """Answers every request that does not become a session.

    Args:
        endpoints: Answers by path.
        door: Knows who may have a session.
    """

    def __init__(self, endpoints: Endpoints, door: Door | None = None) -> None:
        self._endpoints = endpoints
        self._door = door or Door()

    def process_request(self, connection: ServerConnection, request: Request) -> Response | None:
        """The HTTP answer, or None to open a session; then the connection knows its key.

        Nothing is claimed here: a client may still vanish during the handshake.
        """
        try:
            path = urlsplit(request.path).path
        except ValueError:
            return error_response(HTTPStatus.BAD_REQUEST, "invalid_url", "The URL is malformed.")
        if path == REALTIME_PATH:
            refused = _refuse_session(request)
            if refused is not None:
                self._endpoints.tally.refused("invalid_request")
                return refused
            return self._let_in(cast("PeerConnection", connection), request)
        if _wants_upgrade(request):
            return self._endpoints.not_found(path)
        return self._endpoints.answer(path, lambda: insight_of(self._door, request.headers))

    def process_response(
        self, connection: ServerConnection, _request: Request, response: Response
    ) -> Response | None:
        """The answer in place of the library's own refusals: those quote what was sent."""
        if connection.protocol.handshake_exc is None:
            return None
        self._endpoints.tally.refused("invalid_request")
        status = HTTPStatus(response.status_code)
        refused = error_response(status, "invalid_handshake", "That opens no websocket (RFC 6455).")
        for name in ("Allow", "Upgrade"):
            if name in response.headers:
                refused.headers[name] = response.headers[name]
        return refused

    def _let_in(self, connection: PeerConnection, request: Request) -> Response | None:
        # Looked up once: keys may change before the session begins.
        door, headers = self._door, request.headers
        key = door.key_of(headers)
        lent = door.lent_to(headers) if key is None else None
        refusal = door.refuse(headers, key, lent)
        if refusal is not None:
            self._endpoints.tally.refused(refusal.reason)
            return refusal.response
        connection.key = lent.key if lent else key
        connection.lent = lent
        return None


def target_of(request: Request) -> Target:
    """What a request that passed the gate asks for."""
    return Target.parse(urlsplit(request.path).query)


def wish_of(target: Target, lent: Lent | None) -> SessionWish:
    """What a client asks for, by its URL and by the client secret that it was given."""
    settings = None if lent is None else lent.settings()
    transcription = target.intent == "transcription"
    if settings is not None:
        transcription = settings["type"] == "transcription"
    return SessionWish(
        target.model or (settings or {}).get("model"),
        transcription=transcription,
        plain=target.conduct == "plain",
        settings=settings,
    )


def select_subprotocol(
    _connection: ServerConnection, offered: Sequence[Subprotocol]
) -> Subprotocol | None:
    """``realtime`` if it was offered: never the one that carries a key, never an error."""
    return _REALTIME if _REALTIME in offered else None


def _refuse_session(request: Request) -> Response | None:
    if not _wants_upgrade(request):
        response = error_response(
            HTTPStatus.UPGRADE_REQUIRED,
            "upgrade_required",
            f"{REALTIME_PATH} speaks the Realtime protocol over a websocket: "
            "connect to it with a websocket client.",
        )
        response.headers["Upgrade"] = "websocket"
        return response
    if _wants_beta(request):
        return error_response(
            HTTPStatus.BAD_REQUEST,
            "beta_api_shape_disabled",
            "The beta shape of the Realtime API is not served: "
            "leave out the header 'OpenAI-Beta: realtime=v1' and use the GA events.",
        )
    return _refuse_target(target_of(request))


def _refuse_target(target: Target) -> Response | None:
    if target.call_id is not None:
        return error_response(
            HTTPStatus.NOT_FOUND, "call_not_found", "There is no such call.", param="call_id"
        )
    if target.intent not in _INTENTS:
        return error_response(
            HTTPStatus.BAD_REQUEST,
            "invalid_value",
            "The intent must be 'conversation' or 'transcription'.",
            param="intent",
        )
    if target.conduct not in _CONDUCTS:
        return error_response(
            HTTPStatus.BAD_REQUEST,
            "invalid_value",
            "The conduct must be 'natural' or 'plain'.",
            param="conduct",
        )
    if target.queue_events not in _QUEUE_EVENTS:
        return error_response(
            HTTPStatus.BAD_REQUEST,
            "invalid_value",
            "queue_events must be '0' or '1'.",
            param="queue_events",
        )
    return None


def _wants_upgrade(request: Request) -> bool:
    return any("websocket" in value.lower() for value in request.headers.get_all("Upgrade"))


def _wants_beta(request: Request) -> bool:
    headers = request.headers
    return any("realtime=v1" in value for value in headers.get_all("OpenAI-Beta")) or any(
        _BETA_SUBPROTOCOL in value for value in headers.get_all("Sec-WebSocket-Protocol")
    )
