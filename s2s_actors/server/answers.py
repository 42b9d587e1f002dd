"""HTTP answers in JSON, errors in the shape that OpenAI's clients read."""

from __future__ import annotations

import email.utils
import json
from typing import TYPE_CHECKING, Any

from websockets.datastructures import Headers
from websockets.http11 import Response

if TYPE_CHECKING:
    from http import HTTPStatus


def json_response(status: HTTPStatus, value: object) -> Response:
    """An answer with a JSON body; the connection closes after it."""
    body = json.dumps(value, separators=(",", ":")).encode() + b"\n"
    return response(status, "application/json", body)


def response(status: HTTPStatus, content_type: str, body: bytes) -> Response:
    """An answer with any body; the connection closes after it."""
    headers = Headers(
        [
            ("Date", email.utils.formatdate(usegmt=True)),
            ("Connection", "close"),
            ("Content-Length", str(len(body))),
            ("Content-Type", content_type),
            ("Cache-Control", "no-store"),
        ]
    )
    return Response(status.value, status.phrase, headers, body)


def error_response(
    status: HTTPStatus, code: str, message: str, *, param: str | None = None, **more: Any
) -> Response:
    """An error; ``more`` goes beside the ``error`` object."""
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json_response(status, {"error": error, **more})
