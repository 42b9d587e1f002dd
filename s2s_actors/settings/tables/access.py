"""Settings of the door: who may come in."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import ON_OFF, setting
from s2s_actors.settings.values import Text

__all__ = ["AccessSettings"]


@dataclass(frozen=True, kw_only=True)
class AccessSettings:
    """Who may come in."""

    api_key_file: str | None = setting(
        None,
        Text("FILE"),
        "Keys that clients need: TOML with a table [[key]] for each, as s2s-actors key prints it.",
        default_text="none, anyone who reaches the port may talk",
    )
    allow_origin: str | None = setting(
        None,
        Text("ORIGINS"),
        "Web pages that may connect, beside the server's own: origins such as "
        "https://example.org, with commas between them, or *.",
        default_text="none",
    )
    tls_cert: str | None = setting(
        None,
        Text("FILE"),
        "Certificate chain (PEM): serve wss:// and https://.",
        default_text="no TLS",
    )
    tls_key: str | None = setting(
        None, Text("FILE"), "Its private key (PEM).", default_text="the file of --tls-cert"
    )
    open_to_all: str = setting(
        "off",
        ON_OFF,
        "Listen on an address that other machines reach although nobody needs a key.",
    )
