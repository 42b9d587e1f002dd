"""The audio in messages that a client creates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio
from s2s_actors.protocol.entry import Entry
from s2s_actors.protocol.items import InputAudio, Message
from s2s_actors.protocol.transcoding import decoded, duration_ms

if TYPE_CHECKING:
    from s2s_actors.protocol.items import Item
    from s2s_actors.protocol.session import AudioFormat

MAX_VOICE_MS = 5 * 60_000
"""Longest audio of one part, the same as the longest utterance."""


def entry_of(item: Item, wire: AudioFormat, *, path: str) -> Entry:
    """An item from a client as it is kept: what is to be heard apart from the rest.

    Args:
        item: As it was sent.
        wire: The format of its audio.
        path: Where it is in the client event.

    Raises:
        ClientError: A part has audio that can't be played, or neither audio nor words.
    """
    if not isinstance(item, Message):
        return Entry(item)
    voices: dict[int, bytes] = {}
    content = list(item.content)
    for index, part in enumerate(content):
        if isinstance(part, InputAudio):
            where = f"{path}.content[{index}].audio"
            if isinstance(part.audio, str):
                voices[index] = _pcm(part.audio, wire, param=where)
            elif part.transcript is None:
                raise ClientError(
                    "missing_required_parameter",
                    f"Missing required parameter: '{where}'.",
                    param=where,
                )
            content[index] = replace(part, audio=UNSET)
    return Entry(replace(item, content=tuple(content)), voices=voices)


def _pcm(text: str, wire: AudioFormat, *, param: str) -> bytes:
    data = audio.decode_append(text, param=param)
    if duration_ms(len(data), wire) > MAX_VOICE_MS:
        raise ClientError(
            "string_above_max_length",
            f"Invalid '{param}': a part holds at most {MAX_VOICE_MS // 1000} s of audio.",
            param=param,
        )
    pcm = decoded(data, wire)
    if len(pcm) % audio.BYTES_PER_SAMPLE:
        raise ClientError(
            "invalid_value", f"Invalid '{param}': it ends in the middle of a sample.", param=param
        )
    return pcm
