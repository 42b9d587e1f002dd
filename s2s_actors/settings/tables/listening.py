"""Settings of the port: where to listen, and what connections may cost."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import setting
from s2s_actors.settings.values import MIB, Choice, Seconds, Size, Whole, Word

__all__ = ["ListeningSettings"]


@dataclass(frozen=True, kw_only=True)
class ListeningSettings:
    """Where to listen, and what connections may cost."""

    host: str = setting(
        "127.0.0.1",
        Word("ADDRESS", "a host name or address"),
        "Address to listen on; 0.0.0.0 is every IPv4 address of the machine.",
    )
    port: int = setting(8765, Whole(0, 65535), "Port to listen on; 0 takes any free one.")
    http_port: int | None = setting(
        None,
        Whole(0, 65535),
        "Second port, for plain HTTP: all that the first one tells, and client secrets for "
        "browsers.",
        default_text="none",
    )
    max_frame_bytes: int = setting(
        32 * MIB, Size(1024, 1024 * MIB), "Largest websocket message taken from a client."
    )
    write_timeout_s: float = setting(
        10.0, Seconds(0.01, 3600), "How long a client may leave its socket unread."
    )
    max_connections: int = setting(
        1000,
        Whole(1, 100_000),
        "How many may be connected at a time, of all kinds; the limit of open files is raised "
        "for them as far as it can be.",
    )
    compression: str = setting(
        "off",
        Choice(("off", "deflate")),
        "Compression that clients may negotiate; it saves bandwidth and costs CPU.",
    )
