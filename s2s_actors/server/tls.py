"""Certificate and key of the server, and how they are exchanged while it runs."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from s2s_actors.errors import SetupError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Tls"]


class Tls:
    """A certificate that is read again when it has been renewed.

    Promises: connections that are open go on with what they began with; files that are broken
    change nothing.

    Args:
        cert: The certificate chain (PEM).
        key: Its private key (PEM); None if it is in the same file.

    Raises:
        SetupError: A file can't be read, or they don't belong together.
    """

    def __init__(self, cert: Path, key: Path | None = None) -> None:
        self._cert = cert
        self._key = key
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.reload()

    def reload(self) -> None:
        """Read the files again.

        Raises:
            SetupError: As for the class; the context is as it was.
        """
        for flag, path in (("--tls-cert", self._cert), ("--tls-key", self._key)):
            if path is not None and not path.is_file():
                raise SetupError(f"{flag} {path}: no such file")
        # A trial first: a chain that fails half way would leave the context without a key.
        _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), self._cert, self._key)
        _load(self.context, self._cert, self._key)


def _load(context: ssl.SSLContext, cert: Path, key: Path | None) -> None:
    try:
        # No password is asked for: a server has nobody to ask.
        context.load_cert_chain(cert, key, password=lambda: b"")
    except (OSError, ssl.SSLError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or "unusable"
        shown = f"--tls-cert {cert}" + (f", --tls-key {key}" if key else "")
        raise SetupError(f"{shown}: no certificate with its key ({reason})") from None
