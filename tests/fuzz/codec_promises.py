"""What the codec, and the session that takes an update, promise for any bytes at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from s2s_actors.errors import ClientError
from s2s_actors.protocol.client_events import SessionUpdate
from s2s_actors.protocol.codec import decode, encode
from s2s_actors.protocol.merge import apply_update, without_secrets
from s2s_actors.protocol.server_events import client_error
from s2s_actors.protocol.session import RealtimeSession, TranscriptionSession

if TYPE_CHECKING:
    from s2s_actors.protocol.client_events import ClientEvent
    from s2s_actors.protocol.session import Session

__all__ = ["CORPUS", "check_codec"]

CORPUS: Final = Path(__file__).with_name("corpus")
"""An event of each kind, and some that are nearly one."""

_SESSIONS: Final[tuple[Session, ...]] = (
    RealtimeSession(id="sess_1", model="m", instructions="", expires_at=0),
    TranscriptionSession(id="sess_2", expires_at=0),
)
_LONGEST_ID: Final = 512
_LONGEST_MESSAGE: Final = 4000


def check_codec(raw: bytes) -> None:
    """Decode a frame, as bytes and as text.

    Raises:
        AssertionError: A promise was broken; whatever else is raised breaks one too.
    """
    verdict = _verdict(raw)
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        assert isinstance(verdict, ClientError), "text that is no UTF-8 was taken"
        return
    same = _verdict(text)
    if isinstance(verdict, ClientError):
        assert isinstance(same, ClientError)
        assert (same.code, same.param, same.event_id) == (
            verdict.code,
            verdict.param,
            verdict.event_id,
        )
    else:
        assert same == verdict


def _verdict(raw: str | bytes) -> ClientEvent | ClientError:
    try:
        event = decode(raw)
    except ClientError as error:
        _check_error(error)
        return error
    again = decode(msgspec.json.encode(event))
    assert again == event, f"{event} is read back as {again}"
    if isinstance(event, SessionUpdate):
        for session in _SESSIONS:
            _check_update(session, event.session)
    return event


def _check_update(session: Session, patch: dict[str, Any]) -> None:
    try:
        updated = apply_update(session, patch)
    except ClientError as error:
        _check_error(error)
        return
    shown = msgspec.json.decode(msgspec.json.encode(without_secrets(updated)))
    assert shown["id"] == session.id


def _check_error(error: ClientError) -> None:
    assert error.code
    assert error.event_id is None or len(error.event_id) <= _LONGEST_ID
    assert len(error.message) <= _LONGEST_MESSAGE, f"a message of {len(error.message)} characters"
    shown = msgspec.json.decode(encode(client_error(error)))
    assert shown["error"]["event_id"] == error.event_id
