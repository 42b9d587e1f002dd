"""How a ``session.update`` changes the effective session: all of it or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from s2s_actors.errors import ClientError
from s2s_actors.protocol.mcp_checks import settled
from s2s_actors.protocol.mcp_tools import McpTool
from s2s_actors.protocol.session import (
    AudioOutput,
    RealtimeSession,
    Session,
    VoiceId,
)
from s2s_actors.protocol.validation import check_depth, convert

if TYPE_CHECKING:
    from collections.abc import Mapping

S = TypeVar("S", bound=Session)

_KINDS = ("realtime", "transcription")
_READ_ONLY = ("id", "object", "expires_at")
_IGNORED = ("model",)
"""Stock clients always send the model; the connection has fixed it already."""
_TAGGED = ("format", "turn_detection", "tool_choice", "truncation")
"""Unions: another type replaces the object instead of mixing two vocabularies."""
_WHOLE = ("tools", "tool_choice", "parameters", "variables", "metadata")
"""Values that are replaced as they come: merging into them would mean nothing."""


def apply_update(session: S, patch: Mapping[str, Any]) -> S:
    """The session after an update.

    Only fields that are present change; objects merge; null clears what may be null.

    Raises:
        ClientError: The update is not acceptable; ``session`` stands as it was.
    """
    _check_head(session, patch)
    check_depth(patch, param="session")
    current = msgspec.to_builtins(session)
    merged = _merge(current, {k: v for k, v in patch.items() if k not in _IGNORED})
    updated: S = convert(merged, type(session), root="session")
    if isinstance(updated, RealtimeSession):
        output = plain_voice(updated.audio.output)
        known = session.tools if isinstance(session, RealtimeSession) else []
        return replace(
            updated,
            audio=replace(updated.audio, output=output),
            tools=settled(updated.tools, known, path="session.tools", reuse=False),
        )
    return updated


def without_secrets(session: S) -> S:
    """The session as clients see it."""
    if isinstance(session, RealtimeSession):
        tools = [tool.shown() if isinstance(tool, McpTool) else tool for tool in session.tools]
        return replace(session, tools=tools)
    return session


def voice_of(session: Session) -> str | VoiceId | None:
    """The assistant's voice, None where nobody speaks."""
    return session.audio.output.voice if isinstance(session, RealtimeSession) else None


def plain_voice(output: AudioOutput) -> AudioOutput:
    """The same settings with the voice as a string, which is how clients can read it back."""
    if isinstance(output.voice, VoiceId):
        return replace(output, voice=output.voice.id)
    return output


def _check_head(session: Session, patch: Mapping[str, Any]) -> None:
    kind = patch.get("type")
    if kind is None:
        raise ClientError(
            "missing_required_parameter",
            "Missing required parameter: 'session.type'.",
            param="session.type",
        )
    own_kind = session.__struct_config__.tag
    if kind in _KINDS and kind != own_kind:
        raise ClientError(
            "invalid_parameter",
            f"Passing a {kind} session update event to a {own_kind} session is not allowed.",
            param="session.type",
        )
    for name in _READ_ONLY:
        if name in patch:
            raise ClientError(
                "unknown_parameter",
                f"Unknown parameter: 'session.{name}'.",
                param=f"session.{name}",
            )


def _merge(current: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(current)
    for name, value in patch.items():
        merged[name] = _merged_value(name, merged.get(name), value)
    return merged


def _merged_value(name: str, old: Any, new: Any) -> Any:
    if not isinstance(new, dict) or not isinstance(old, dict) or name in _WHOLE:
        return new
    if name in _TAGGED:
        # A patch without a type tunes what is there; one with another type replaces it.
        if new.get("type", old.get("type")) != old.get("type"):
            return new
        return _merge(old, new)
    return _merge(old, new)
