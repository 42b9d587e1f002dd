"""What a run of the bench is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["SCENARIOS", "BenchOptions", "Eagerness", "ScenarioName", "TurnDetection"]

ScenarioName: TypeAlias = Literal[
    "turns",
    "barge-in",
    "pauses",
    "backchannel",
    "noise",
    "burst",
    "conversation",
    "visits",
    "soak",
    "crowd",
]
SCENARIOS: Final[tuple[ScenarioName, ...]] = get_args(ScenarioName)
TurnDetection: TypeAlias = Literal["server_vad", "semantic_vad", "as-is"]
Eagerness: TypeAlias = Literal["low", "medium", "high", "auto"]

_BRIEF: Final = "Answer in one short sentence."


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """What the command line says.

    Attributes:
        url: The server; None starts one of our own.
        compare: A second server, measured in turn with the first one.
        scenarios: What to measure, in this order.
        sessions: Sessions at once on each server.
        turns: Turns that each session takes in each scenario, warm-up included.
        warm_up: How many of them do not count.
        audio: Recordings to say; ours if there are none.
        reference: File with what is said in them.
        turn_detection: How turns end; ``as-is`` leaves it to the server.
        window_ms: ``silence_duration_ms`` of ``server_vad``, None for the server's default.
        eagerness: Of ``semantic_vad``, None for the server's default.
        instructions: System prompt of the sessions, None for one that asks for short answers.
        answer_tokens: The most that a model may write in an answer, None for its own measure.
        stagger_s: Time between the questions of a burst.
        duration_s: Length of the soak, and of each crowd.
        sweep: Sizes of the crowd, one after the other; just ``sessions`` if there are none.
        talking_percent: Share of a crowd that speaks at any moment.
        piece_ms: Audio in each event of a crowd.
        timeout_s: Longest silence of a server.
        json: Where the whole result goes.
        html: Where the page goes.
        serve_args: Flags for a server of our own.
        command: The command line, for the report.
    """

    url: str | None = None
    compare: str | None = None
    scenarios: tuple[ScenarioName, ...] = ("turns",)
    sessions: int = 1
    turns: int = 10
    warm_up: int = 0
    audio: tuple[Path, ...] = ()
    reference: Path | None = None
    turn_detection: TurnDetection = "server_vad"
    window_ms: int | None = None
    eagerness: Eagerness | None = None
    instructions: str | None = None
    answer_tokens: int | None = None
    stagger_s: float = 0.0
    duration_s: float = 60.0
    sweep: tuple[int, ...] = ()
    talking_percent: float = 5.0
    piece_ms: int = 20
    timeout_s: float = 30.0
    json: Path | None = None
    html: Path | None = None
    serve_args: tuple[str, ...] = ()
    command: str = "s2s-actors bench"

    @property
    def prompt(self) -> str:
        """System prompt of sessions that are asked questions."""
        return self.instructions or _BRIEF

    def turn_detection_settings(self) -> dict[str, object] | None:
        """The part of a ``session.update`` that says how turns end, None to leave it out."""
        if self.turn_detection == "as-is":
            return None
        settings: dict[str, object] = {"type": self.turn_detection}
        if self.turn_detection == "server_vad" and self.window_ms is not None:
            settings["silence_duration_ms"] = self.window_ms
        if self.turn_detection == "semantic_vad" and self.eagerness is not None:
            settings["eagerness"] = self.eagerness
        return settings
