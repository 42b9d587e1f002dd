"""Pictures in a chat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from s2s_actors.backends.chat import ChatMessage

IMAGE_NOTE = "(an image was sent)"
"""Stands for a picture in the chat of a model that can't see, which then can say so."""


@dataclass(frozen=True, slots=True)
class ImageInput:
    """A picture that the user sent.

    Attributes:
        url: Data URL of a PNG or JPEG image.
        detail: How closely the model should look.
    """

    url: str
    detail: Literal["auto", "low", "high"] = "auto"


def text_alone(message: ChatMessage) -> str:
    """What a model that only reads gets of a message: a note stands for each picture."""
    return "\n".join(filter(None, [message.text, *[IMAGE_NOTE] * len(message.images)]))
