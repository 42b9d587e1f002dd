"""Settings of the conversation: how sessions behave."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import ON_OFF, setting
from s2s_actors.settings.values import Choice, Seconds, Text

__all__ = ["TalkingSettings"]


@dataclass(frozen=True, kw_only=True)
class TalkingSettings:
    """How sessions behave."""

    # Chosen by trial: the small default model keeps to the point under these words, and
    # under near misses ("friendly", "one or two short sentences") it does not.
    instructions: str = setting(
        "You are a helpful voice assistant. Keep your answers short.",
        Text(may_be_empty=True),
        "System prompt of sessions that bring none.",
    )
    conduct: str = setting(
        "natural",
        Choice(("natural", "plain")),
        "How sessions behave where the protocol leaves it open: natural is all of the switches "
        "below, plain is none of them. A client gets the plain one with ?conduct=plain.",
    )
    speculation: str = setting(
        "on",
        ON_OFF,
        "Begin to answer in short pauses, unseen, in case that was all; pauses while the machine "
        "is busy.",
    )
    partial_transcripts: str = setting(
        "on", ON_OFF, "Tell parts of a transcript while the user still speaks."
    )
    interruptions: str = setting(
        "weighed",
        Choice(("weighed", "any")),
        "What stops an answer: speech that is more than a cough or an mm-hmm, or any speech.",
    )
    resume: str = setting(
        "on", ON_OFF, "Go on with an answer that was interrupted by what turned out to be nothing."
    )
    playback_clock: str = setting(
        "on",
        ON_OFF,
        "Forget of an interrupted answer what the client can't have played by then.",
    )
    echo_guard: str = setting(
        "on", ON_OFF, "Do not take the assistant's own voice in the microphone for the user's."
    )
    audio_lead_s: float = setting(
        5.0,
        Seconds(0.2, 3600),
        "How far speech is sent ahead of its playback; with --conduct plain as fast as it is made.",
    )
    mcp: str = setting(
        "on",
        ON_OFF,
        "Whether sessions may use MCP servers: the server then connects to addresses that its "
        "clients name.",
    )
    mcp_hosts: str | None = setting(
        None,
        Text("HOSTS"),
        "Where those MCP servers may be: hosts such as tools.example.org, 127.0.0.1:9000 or "
        "*.example.org, with commas between them.",
        default_text="anywhere",
    )
