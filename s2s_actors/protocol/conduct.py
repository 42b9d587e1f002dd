"""How a session behaves where the protocol leaves it open: as people talk, or to the letter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conduct:
    """What a session does beyond the plain protocol, each on its own switch.

    Attributes:
        drafts: Begin to answer in short pauses, unseen, in case that was all.
        partials: Tell parts of a transcript while the user still speaks.
        weighs_interruptions: Speech over an answer stops it only if it is more than a cough or
            an "mm-hmm".
        resumes: Go on with an answer that was interrupted by what turned out to be nothing.
        knows_playback: Take it that the client plays in real time: what it can't have played
            when it was interrupted was not heard.
        ignores_echo: The assistant's own voice in the microphone is not speech.
        lead_ms: How far audio is sent ahead of its playback; None for as fast as it is made.
    """

    drafts: bool = False
    partials: bool = False
    weighs_interruptions: bool = False
    resumes: bool = False
    knows_playback: bool = False
    ignores_echo: bool = False
    lead_ms: int | None = None


PLAIN = Conduct()
"""Nothing but the protocol."""

NATURAL = Conduct(
    drafts=True,
    partials=True,
    weighs_interruptions=True,
    resumes=True,
    knows_playback=True,
    ignores_echo=True,
    lead_ms=5000,
)
"""All of it."""
