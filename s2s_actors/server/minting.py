"""``POST /v1/realtime/client_secrets``: a key comes in, a secret for a browser goes out."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol.dialogue import Dialogue
from s2s_actors.protocol.ids import new_id
from s2s_actors.protocol.merge import without_secrets
from s2s_actors.protocol.validation import check_depth, convert
from s2s_actors.server.answers import error_response, json_response
from s2s_actors.server.limits import Denied

if TYPE_CHECKING:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    from s2s_actors.actors.tally import Tally
    from s2s_actors.protocol.session import Session
    from s2s_actors.protocol.session_start import SessionStart
    from s2s_actors.server.client_secrets import ClientSecrets
    from s2s_actors.server.door import Door

__all__ = ["MAX_BODY_BYTES", "Minting"]

logger = logging.getLogger(__name__)

MAX_BODY_BYTES: Final = 64 * 1024
"""Instructions and tools of one session, many times over; it stays in memory for a while."""


class _Expiry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long a secret is valid: names, default and range are OpenAI's."""

    anchor: Literal["created_at"] = "created_at"
    seconds: Annotated[int, msgspec.Meta(ge=10, le=7200)] = 600


class _Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    expires_after: _Expiry | None = None
    session: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "realtime"})


class Minting:
    """Makes client secrets for who has a key; where nobody needs one, for this machine.

    Promises: settings that no session could have are refused here, by the same rules and with
    the same words as in a session; a secret that has been made is told once, and never logged.

    Args:
        door: Knows the keys.
        secrets: Keeps what was made.
        start: How sessions begin that bring no settings.
        tally: Counts who gets none.
    """

    def __init__(
        self, door: Door, secrets: ClientSecrets, start: SessionStart, tally: Tally
    ) -> None:
        self._door = door
        self._secrets = secrets
        self._start = start
        self._tally = tally

    def refuse(self, headers: Headers, *, is_local: bool) -> Response | None:
        """Why a request gets no secret, whatever its body says; None if it may have one.

        Args:
            headers: Those of the request.
            is_local: Whether it comes from this machine.
        """
        refusal = self._door.refuse(headers, self._door.key_of(headers))
        if refusal is not None:
            self._tally.refused(refusal.reason)
            return refusal.response
        if self._door.keys is None and not is_local:
            self._tally.refused("client_secrets_need_keys")
            return error_response(
                HTTPStatus.FORBIDDEN,
                "client_secrets_need_keys",
                "This server has no API keys: it makes client secrets for its own machine only.",
            )
        kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return error_response(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
                "unsupported_content_type",
                "Send JSON, with 'Content-Type: application/json'.",
            )
        return None

    def answer(self, headers: Headers, body: bytes) -> Response:
        """The answer to a request that was not refused."""
        try:
            wish = _read(body)
            session = self._session(wish.session)
        except ClientError as error:
            return error_response(
                HTTPStatus.BAD_REQUEST, error.code, error.message, param=error.param
            )
        key = self._door.key_of(headers)
        lifetime_s = (wish.expires_after or _Expiry()).seconds
        made = self._secrets.lend(key, lifetime_s, msgspec.json.encode(wish.session))
        if isinstance(made, Denied):
            self._tally.refused(made.reason)
            return _too_many(made)
        name = "nobody" if key is None else key.name
        logger.info("key %r: a client secret for %d s was made", name, lifetime_s)
        value = {
            "value": made,
            "expires_at": int(time.time()) + lifetime_s,
            "session": msgspec.to_builtins(without_secrets(session)),
        }
        return json_response(HTTPStatus.OK, value)

    def _session(self, settings: dict[str, Any]) -> Session:
        """The session that would begin with these settings.

        Raises:
            ClientError: None could.
        """
        check_depth(settings, param="session")
        model = settings.get("model", self._start.model)
        if not isinstance(model, str):
            text = "Invalid type for 'session.model': expected a string."
            raise ClientError("invalid_type", text, param="session.model")
        start = replace(
            self._start,
            session_id=new_id("sess"),
            model=model,
            transcription=settings.get("type") == "transcription",
            settings=settings,
            expires_at=0,  # it has not begun
        )
        # All of it, since not everything that may be refused is a matter of form.
        return Dialogue(start).session


def _read(body: bytes) -> _Wish:
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise ClientError("invalid_json", "The body is not valid JSON.") from None
    if not isinstance(value, dict):
        raise ClientError("invalid_value", "The body must be a JSON object.")
    return convert(value, _Wish)


def _too_many(denied: Denied) -> Response:
    response = error_response(HTTPStatus.TOO_MANY_REQUESTS, denied.code, denied.text)
    response.headers["Retry-After"] = str(math.ceil(denied.retry_after_s))
    return response
