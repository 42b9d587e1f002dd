"""One GET request to a server, past any proxy where the server is on this machine."""

from __future__ import annotations

import json
import ssl
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from s2s_actors.client.address import is_loopback
from s2s_actors.client.credentials import KEY_HINT, TRUST_HINT, authorization
from s2s_actors.errors import SetupError

__all__ = ["get_json"]

_TIMEOUT_S: Final = 5.0
_START_HINT: Final = "start a server with: s2s-actors serve"


def get_json(address: str) -> dict[str, object]:
    """Get an object from ``http(s)://...``; waits for the server for at most 5 s.

    Raises:
        SetupError: Nobody answers, or not with a JSON object.
    """
    request = Request(address)  # noqa: S310 - our own address, or the one that was typed
    for name, value in authorization().items():
        request.add_unredirected_header(name, value)
    opener = build_opener(*([ProxyHandler({})] if is_loopback(address) else []))
    try:
        with opener.open(request, timeout=_TIMEOUT_S) as response:
            answer = json.load(response)
    except HTTPError as error:
        with error:  # it holds the connection
            hint = KEY_HINT if error.code == 401 else None
            message = f"{address} answers HTTP {error.code} {error.reason}"
            raise SetupError(message, hint=hint) from error
    except URLError as error:
        raise _unreachable(address, error) from error
    except TimeoutError as error:
        raise SetupError(f"{address} did not answer within {_TIMEOUT_S:g} s") from error
    except (OSError, HTTPException, ValueError) as error:
        raise SetupError(f"{address} does not answer as our server does") from error
    if not isinstance(answer, dict):
        raise SetupError(f"{address} does not answer as our server does")
    return answer


def _unreachable(address: str, error: URLError) -> SetupError:
    if isinstance(error.reason, ConnectionRefusedError):
        return SetupError(f"nothing listens at {address}", hint=_START_HINT)
    if isinstance(error.reason, ssl.SSLCertVerificationError):
        message = f"{address} is not to be trusted ({error.reason.verify_message})"
        return SetupError(message, hint=TRUST_HINT)
    return SetupError(f"can't reach {address}: {error.reason}")
