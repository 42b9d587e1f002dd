"""What is known of a response while it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

Event: TypeAlias = "dict[str, Any]"


@dataclass(slots=True)
class Part:
    """A content part while it is written."""

    kind: str
    text: list[str] = field(default_factory=list)
    audio_bytes: int = 0
    audio_done: bool = False
    text_done: bool = False
    done: bool = False


@dataclass(slots=True)
class Output:
    """An output item while it is written."""

    item: Event
    parts: list[Part] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    arguments_done: bool = False
    done: Event | None = None


@dataclass(slots=True)
class Response:
    """A response while it is open."""

    head: Event
    outputs: list[Output] = field(default_factory=list)

    @property
    def in_conversation(self) -> bool:
        """Whether it belongs to the default conversation."""
        return self.head.get("conversation_id") is not None
