"""Whether a conversation came off, and if not, why: one line a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from s2s_actors.client.turns import turns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from s2s_actors.client.record import Record
    from s2s_actors.client.turns import Answer, Turn

__all__ = ["problems"]


def problems(record: Record) -> list[str]:
    """Everything that a caller has to know; empty when all that was said was answered."""
    return list(_problems(record, turns_of(record)))


def _problems(record: Record, turns: list[Turn]) -> Iterator[str]:
    answers = [answer for turn in turns for answer in turn.answers]
    if record.closed is not None:
        yield f"the server closed the connection: {record.closed}"
    yield from _what_is_missing(record, turns, answers)
    for turn in turns:
        if turn.transcript_error:
            yield f"no transcript: {turn.transcript_error}"
    for answer in answers:
        if answer.status == "failed":
            yield f"the response failed: {answer.detail or 'the server does not say why'}"


def _what_is_missing(record: Record, turns: list[Turn], answers: list[Answer]) -> Iterator[str]:
    gave_up_s = record.gave_up_after_s
    within = "" if gave_up_s is None else f" within {gave_up_s:g} s"
    if not any(turn.item_id for turn in turns):
        yield f"the server heard nothing{within}"
    elif not any(answer.text or answer.audio_bytes for answer in answers):
        yield f"the server answered nothing{within}"
    elif gave_up_s is not None:
        yield f"the conversation broke off: nothing happened{within}"
    elif not any(answer.audio_bytes for answer in answers):
        yield "the answer came without audio"
