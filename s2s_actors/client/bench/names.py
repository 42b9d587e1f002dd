"""What the keys of a summary are called for people, and which of them lead."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from s2s_actors.client.bench.summary import Summary

__all__ = ["ALONE", "COUNTS", "FIGURES", "RATIOS", "counts_of", "figure_name", "figures_of"]

ALONE: Final = ", alone"
"""What the name of a scenario ends in if it was run with one session to compare with."""

_PLACE: Final = re.compile(r"latency_place_(\d+)_ms")

FIGURES: Final[Mapping[str, str]] = {
    "latency_ms": "voice to voice",
    "latency_first_turn_ms": "… first turn of a session",
    "latency_later_turns_ms": "… later turns",
    "latency_pause_300_ms": "… after a pause of 300 ms",
    "latency_pause_500_ms": "… after a pause of 500 ms",
    "latency_pause_700_ms": "… after a pause of 700 ms",
    "latency_quickest_ms": "… the quickest of each round",
    "latency_slowest_ms": "… the slowest of each round",
    "recovery_ms": "answer after a cut-off",
    "stopped_ms": "to speech_stopped",
    "transcript_ms": "to the transcript",
    "created_ms": "to response.created",
    "first_text_ms": "to the first text",
    "done_ms": "to response.done",
    "started_ms": "to speech_started",
    "cancelled_ms": "to response.done (cancelled)",
    "last_audio_ms": "to the last audio of the old answer",
    "answer_ms": "voice to voice after it",
    "claim_ms": "from the call to session.created",
    "claim_connected_ms": "… from the end of the handshake",
    "leave_idle_ms": "from leaving to the next one's session",
    "leave_busy_ms": "… in the middle of an answer",
    "session_mb": "memory of one more session (MB)",
    "session_audio_mb": "… audio said and heard in it (MB)",
    "interrupted_ms": "to the interruption",
    "lead_ms": "audio sent ahead of playback",
    "stalled_ms": "silence of a stuttering answer",
    "sent_late_ms": "lateness of this client",
}
"""Names of figures, in the order in which they are shown."""

COUNTS: Final[Mapping[str, str]] = {
    "cut_off": "cut off",
    "cut_off_pause_300": "… in a pause of 300 ms",
    "cut_off_pause_500": "… in a pause of 500 ms",
    "cut_off_pause_700": "… in a pause of 700 ms",
    "answered_early": "answered before the end",
    "restarted": "answered more than once",
    "stuttered": "answers that stutter",
    "word_errors": "word errors",
    "stopped": "answers that stopped",
    "late_audio": "audio after the stop",
    "first_word_heard": "first word heard",
    "answered": "interruptions answered",
    "interrupted": "answers broken off",
    "interrupted_by_words": "… by mm-hmm and the like",
    "interrupted_by_sounds": "… by coughs and clicks",
    "resumed": "… and resumed",
    "taken_for_turn": "… and the sound answered",
    "turns_started": "turns with speech_started",
    "turns_stopped": "… with speech_stopped",
    "turns_transcribed": "… with a transcript",
    "turns_done": "… with response.done",
    "false_starts": "sessions with a false start",
    "had_errors": "… with an error",
    "was_closed": "… closed by the server",
    "fell_for_noise": "noises taken for speech",
    "answered_noise": "… answered",
    "heard_words_in_noise": "… with a transcript",
    "noticed_noise": "… with speech_started",
}
"""Names of counts, in the order in which they are shown."""


RATIOS: Final[Mapping[str, str]] = {"latency_to_alone": "voice to voice, to that of one alone"}
"""Names of ratios."""


def figure_name(key: str) -> str:
    """What a figure is called; those of a place in a burst are named by its number."""
    place = _PLACE.fullmatch(key)
    return f"… place {place[1]} in the burst" if place else FIGURES.get(key, key)


def figures_of(summaries: Iterable[Summary]) -> list[str]:
    """The keys of their figures in order; ones without a name come last."""
    found = _in_order((key for summary in summaries for key in summary.figures), FIGURES)
    places = [key for key in found if _PLACE.fullmatch(key)]
    if places:
        found = [key for key in found if key not in places]
        behind = found.index("latency_slowest_ms") + 1
        found[behind:behind] = places
    return found


def counts_of(summaries: Iterable[Summary]) -> list[str]:
    """The keys of their counts in order; ones without a name come last."""
    return _in_order((key for summary in summaries for key in summary.counts), COUNTS)


def _in_order(found: Iterable[str], known: Mapping[str, str]) -> list[str]:
    keys = dict.fromkeys(found)
    return [key for key in known if key in keys] + [key for key in keys if key not in known]
