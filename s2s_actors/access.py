"""From the operator's settings to who may come in."""

from __future__ import annotations

import ipaddress
import logging
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from s2s_actors.errors import SetupError
from s2s_actors.server.client_secrets import ClientSecrets
from s2s_actors.server.door import Door
from s2s_actors.server.keys import read_keys
from s2s_actors.server.origin import Origins, is_origin
from s2s_actors.server.tls import Tls

if TYPE_CHECKING:
    from s2s_actors.settings import Settings

__all__ = ["Access"]

logger = logging.getLogger(__name__)


class Access:
    """Who may come in, as the settings say it.

    Promises: once it is made, a file that has become broken changes nothing.

    Attributes:
        door: Who may have a session.
        tls: The server's certificate, None without one.

    Raises:
        SetupError: A file or an origin is none, or the port would be open to all without a
            word of the operator's.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.api_key_file is None and settings.open_to_all == "off":
            _refuse_openness(settings.host)
        self._key_file = settings.api_key_file
        self._secret_files = (self._key_file, settings.tls_key or settings.tls_cert)
        keys = None if self._key_file is None else read_keys(Path(self._key_file))
        lends = settings.http_port is not None
        secrets = ClientSecrets(time.monotonic) if lends else None
        self.door = Door(Origins(_origins(settings.allow_origin), settings.host), keys, secrets)
        self.tls = _tls_of(settings)
        self._warn_of_open_files()

    def reload(self) -> None:
        """Read keys and certificate again; sessions that run go on."""
        try:
            keys = None if self._key_file is None else read_keys(Path(self._key_file))
            if self.tls is not None:
                self.tls.reload()
        except SetupError as error:
            logger.error("nothing was reloaded: %s", error.message)  # noqa: TRY400 - one line
            return
        self.door.keys = keys
        self._warn_of_open_files()
        logger.info("keys and certificate were read again")

    def _warn_of_open_files(self) -> None:
        for name in self._secret_files:
            if name is not None and _is_open(Path(name)):
                logger.warning(
                    "%s is open to every user of this machine: chmod o= mends that", name
                )


def _is_open(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH))
    except OSError:
        return False  # it went after it was read


def _tls_of(settings: Settings) -> Tls | None:
    if settings.tls_cert is None:
        if settings.tls_key is not None:
            raise SetupError("--tls-key is of no use without --tls-cert")
        return None
    key = None if settings.tls_key is None else Path(settings.tls_key)
    return Tls(Path(settings.tls_cert), key)


def _origins(text: str | None) -> frozenset[str]:
    origins = [each.strip() for each in (text or "").split(",") if each.strip()]
    for origin in origins:
        if not is_origin(origin):
            raise SetupError(
                f"--allow-origin: {origin!r} is no origin",
                hint="a scheme, a host and perhaps a port, in small letters: https://example.org",
            )
    return frozenset(origins)


def _refuse_openness(host: str) -> None:
    if host == "localhost":
        return
    try:
        if ipaddress.ip_address(host).is_loopback:
            return
    except ValueError:
        pass  # a name: it may lead anywhere
    raise SetupError(
        f"--host {host} can be reached from other machines, and nobody needs a key",
        hint="set --api-key-file, or --open-to-all on if something in front of it keeps "
        "strangers out",
    )
