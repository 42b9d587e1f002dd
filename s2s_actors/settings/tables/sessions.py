"""Settings of the pool: how many sessions there are, and how long they may take."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import DAY_S, setting
from s2s_actors.settings.values import MIB, Choice, Seconds, Size, Whole

__all__ = ["SessionSettings"]


@dataclass(frozen=True, kw_only=True)
class SessionSettings:
    """How many sessions there are, and how long they may take."""

    units: int = setting(
        4, Whole(1, 1024), "Pipelines kept ready: how many sessions can run at once."
    )
    queue: int = setting(0, Whole(0, 100_000), "How many clients may wait for a unit.")
    queue_timeout_s: float = setting(
        10.0, Seconds(0.01, 3600), "Longest wait of a client for a unit."
    )
    admission: str = setting(
        "load",
        Choice(("load", "units")),
        "What a new session needs: a free unit and a machine that keeps up, or only the unit.",
    )
    # A machine that keeps up is some 0.01 s late, nine in ten times. One with a few sessions too
    # many falls back further and further, so there is little to gain by waiting longer.
    max_lag_s: float = setting(
        0.25,
        Seconds(0.01, 60),
        "How late sound and events may be, nine in ten of them, before new sessions must wait.",
    )
    max_model_wait_s: float = setting(
        3.0,
        Seconds(0.01, 3600),
        "How long a model may leave work without any result before new sessions must wait.",
    )
    failing_sessions: int = setting(
        3,
        Whole(0, 1000),
        "After so many sessions in a row in which the same backend failed, new ones are refused "
        "until one shows that it works again; 0 for never.",
    )
    claim_timeout_s: float = setting(
        120.0, Seconds(0.01, DAY_S), "Time in which a client must send its first event."
    )
    session_timeout_s: float = setting(
        3600.0, Seconds(0.01, 30 * DAY_S), "Longest life of a session."
    )
    history_audio_bytes: int = setting(
        64 * MIB,
        Size(MIB, 64 * 1024 * MIB),
        "Audio that a session keeps of its conversation, 2.7 MiB a minute; the oldest goes first.",
    )
    history_text_bytes: int = setting(
        16 * MIB,
        Size(MIB, 1024 * MIB),
        "Text and images that a session keeps; the oldest items go first.",
    )
    history_items: int = setting(
        2000, Whole(10, 1_000_000), "Items that a session keeps; the oldest go first."
    )
    drain_timeout_s: float = setting(
        5.0,
        Seconds(0.01, 3600),
        "Time in which a unit must drain before its stages are replaced.",
    )
    shutdown_timeout_s: float = setting(
        30.0, Seconds(0, DAY_S), "Time that running sessions get to finish when the server stops."
    )
