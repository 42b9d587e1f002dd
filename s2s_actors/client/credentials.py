"""The key that commands show to a server, and how they trust one: from the environment alone."""

from __future__ import annotations

import os
import re
from typing import Final

from s2s_actors.errors import SetupError

__all__ = ["API_KEY_ENV", "KEY_HINT", "TRUST_HINT", "authorization"]

API_KEY_ENV: Final = "S2S_API_KEY"
"""Not a flag: every user of a machine can read the command lines of the others."""
KEY_HINT: Final = f"put a key that the server knows into {API_KEY_ENV}"
TRUST_HINT: Final = "put the file with its certificate (PEM) into SSL_CERT_FILE to trust it"
_KEY: Final = re.compile(r"[!-~]+")


def authorization() -> dict[str, str]:
    """Header with the key of the environment, none without one.

    Raises:
        SetupError: It can't be a key; it is not shown.
    """
    key = os.environ.get(API_KEY_ENV, "").strip()
    if not key:
        return {}
    if not _KEY.fullmatch(key):
        raise SetupError(f"{API_KEY_ENV} is no key: it has spaces or letters beyond ASCII in it")
    return {"Authorization": f"Bearer {key}"}
