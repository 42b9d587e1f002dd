"""Who may open a session: by the page that a browser shows, and by key."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal

from s2s_actors.server.answers import error_response
from s2s_actors.server.client_secrets import PREFIX
from s2s_actors.server.origin import Origins

if TYPE_CHECKING:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    from s2s_actors.server.client_secrets import ClientSecrets, Lent
    from s2s_actors.server.keys import ApiKey, KeyRing

__all__ = ["Door", "Refusal"]

_BEARER: Final = "bearer"
_MOST_SECRETS: Final = 2
"""Both places may hold one; a header with a thousand must not cost a thousand looks."""
_KEY_SUBPROTOCOL: Final = "openai-insecure-api-key."
"""Browsers can set no headers for a websocket: OpenAI's clients put the key here."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why somebody may not come in.

    Attributes:
        reason: For the operator's figures. A wrong key is somebody who guesses, or has an old
            one; none is any passer-by; a client secret that opens nothing has mostly expired.
        response: For who asked; it does not tell that.
    """

    reason: Literal[
        "origin_not_allowed", "missing_api_key", "invalid_api_key", "invalid_client_secret"
    ]
    response: Response


class Door:
    """Looks at who wants to come in.

    Promises: no answer says whether a key exists, nor shows anything that was sent.

    Args:
        origins: Pages that may.
        keys: Keys that may; None if nobody needs one.
        secrets: What keys have lent to others; None where they lend nothing.
    """

    def __init__(
        self,
        origins: Origins | None = None,
        keys: KeyRing | None = None,
        secrets: ClientSecrets | None = None,
    ) -> None:
        self._origins = origins or Origins()
        self.keys = keys
        self.secrets = secrets

    def refuse(
        self, headers: Headers, key: ApiKey | None, lent: Lent | None = None
    ) -> Refusal | None:
        """Why a request may not open a session; None if it may.

        Args:
            headers: Those of the request.
            key: What :meth:`key_of` found in them.
            lent: What :meth:`lent_to` found in them, where that is enough.
        """
        if not self._origins.lets_in(headers.get("Origin"), headers.get("Host")):
            response = error_response(
                HTTPStatus.FORBIDDEN,
                "origin_not_allowed",
                "This page may not use the server; its operator can allow that.",
            )
            return Refusal("origin_not_allowed", response)
        if key is None and lent is None and (self.keys is not None or self._is_lent(headers)):
            response = error_response(
                HTTPStatus.UNAUTHORIZED,
                "invalid_api_key",
                "No valid API key was sent: put one into the header 'Authorization: Bearer ...'.",
            )
            response.headers["WWW-Authenticate"] = "Bearer"
            if self._is_lent(headers):
                return Refusal("invalid_client_secret", response)
            return Refusal("invalid_api_key" if _secrets(headers) else "missing_api_key", response)
        return None

    def key_of(self, headers: Headers) -> ApiKey | None:
        """The key that a request shows; None without a valid one, or if nobody needs one."""
        if self.keys is None:
            return None
        found = (self.keys.find(secret) for secret in _secrets(headers))
        return next((key for key in found if key is not None), None)

    def lent_to(self, headers: Headers) -> Lent | None:
        """What the client secret of a request stands for; None without a valid one."""
        if self.secrets is None:
            return None
        found = (self.secrets.find(secret, self.keys) for secret in _secrets(headers))
        return next((lent for lent in found if lent is not None), None)

    def _is_lent(self, headers: Headers) -> bool:
        """Whether it looks like a client secret, so that its settings would be missed."""
        shown = _secrets(headers) if self.secrets is not None else []
        return any(secret.startswith(PREFIX) for secret in shown)


def _secrets(headers: Headers) -> list[str]:
    """What is offered as a key, in the order in which it counts."""
    secrets: list[str] = []
    for value in headers.get_all("Authorization"):
        scheme, _, secret = value.strip().partition(" ")
        if scheme.lower() == _BEARER:
            secrets.append(secret.strip())
    for value in headers.get_all("Sec-WebSocket-Protocol"):
        offered = [each.strip() for each in value.split(",")]
        secrets += [
            each.removeprefix(_KEY_SUBPROTOCOL)
            for each in offered
            if each.startswith(_KEY_SUBPROTOCOL)
        ]
    return [secret for secret in secrets if secret][:_MOST_SECRETS]
