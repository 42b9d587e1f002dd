"""Messages that may come late or twice, and must then change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from s2s_actors.actors import messages as m
from s2s_actors.backends.base import Transcript
from s2s_actors.backends.chat import Finished, TextDelta
from s2s_actors.simulation.sounds import loud, text_item

if TYPE_CHECKING:
    from s2s_actors.actors.lease import Lease

HARMLESS_TWICE: Final = (
    # All others come from one owner through one mailbox, and so exactly once.
    m.SessionEnd,
    m.EndSession,
    m.SessionStarted,
    m.StagePassed,
    m.StageReplaced,
    m.UnitIdle,
    m.CancelClaim,
    m.TimerFired,
)
"""What several may send, or what is sent again to be sure."""


def late_messages(lease: Lease) -> dict[tuple[str, str], object]:
    """What may still be on its way when the session is over, by receiver and by name."""
    words = f"{lease.session_id} says"
    unit, frame = f"unit-{lease.unit}", text_item(words)
    stages: dict[tuple[str, object], str] = {
        ("Transcribed", m.Transcribed(lease, "item_x", Transcript(words))): "conversation",
        ("Generated", m.Generated(lease, "resp_x", TextDelta(words))): "conversation",
        ("Finished", m.Generated(lease, "resp_x", Finished("stop", 1, 1))): "conversation",
        ("Spoken", m.Spoken(lease, "resp_x", 0, loud(20), last=True)): "conversation",
        ("SpeechStopped", m.SpeechStopped(lease, 900, 400, 0)): "conversation",
        ("TimerFired", m.TimerFired(lease, "session", 1)): "conversation",
        ("SessionEnd", m.SessionEnd(lease)): "conversation",
        ("AudioIn", m.AudioIn(lease, loud(200), 0, 0.0)): "vad",
    }
    late: dict[tuple[str, str], object] = {
        (f"{stage}-{lease.unit}", name): message for (name, message), stage in stages.items()
    }
    return late | {
        (f"conversation-{lease.unit}", "ClientFrame"): m.ClientFrame(lease, frame, 0.0, 10),
        (unit, "SessionEnd"): m.SessionEnd(lease),
        (unit, "EndSession"): m.EndSession(lease, words, 1011, "internal_error"),
        (unit, "StagePassed"): m.StagePassed(lease, "stt"),
        (unit, "TimerFired"): m.TimerFired(lease, "drain", 1),
        ("pool", "UnitIdle"): m.UnitIdle(lease.unit, lease),
    }
