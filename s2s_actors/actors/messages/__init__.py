"""Messages between actors.

Three kinds, and the difference is a promise about order and loss:

* *data* keeps its place behind whatever was sent before it; a full lane refuses it;
* a *marker* keeps its place too, but is never refused: life cycles depend on it;
* *control* may overtake data, is never refused, and is the only kind that may overtake.

Each message of a unit carries the lease of its session. Audio is 16-bit little-endian mono.
"""

from s2s_actors.actors.messages.hearing import (
    AnswerPlayed,
    AudioEnded,
    AudioIn,
    ConfigureVad,
    Listened,
    SpeechDismissed,
    SpeechLasted,
    SpeechMessage,
    SpeechPaused,
    SpeechQuiet,
    SpeechResumed,
    SpeechStarted,
    SpeechStopped,
    SpeechWeighed,
    WeighingFailed,
)
from s2s_actors.actors.messages.life_cycle import (
    Bind,
    CancelClaim,
    Claim,
    ClaimUnit,
    ClientFrame,
    EndSession,
    OpenConversation,
    QueueMoved,
    ServerReady,
    SessionEnd,
    SessionStarted,
    Shutdown,
    StagePassed,
    StageReplaced,
    TimerFired,
    UnitIdle,
)
from s2s_actors.actors.messages.work import (
    Generate,
    Generated,
    McpCalled,
    McpListed,
    ResponseFailed,
    Speak,
    Spoken,
    Transcribe,
    Transcribed,
    TranscriptionFailed,
)

__all__ = [
    "AnswerPlayed",
    "AudioEnded",
    "AudioIn",
    "Bind",
    "CancelClaim",
    "Claim",
    "ClaimUnit",
    "ClientFrame",
    "ConfigureVad",
    "EndSession",
    "Generate",
    "Generated",
    "Listened",
    "McpCalled",
    "McpListed",
    "OpenConversation",
    "QueueMoved",
    "ResponseFailed",
    "ServerReady",
    "SessionEnd",
    "SessionStarted",
    "Shutdown",
    "Speak",
    "SpeechDismissed",
    "SpeechLasted",
    "SpeechMessage",
    "SpeechPaused",
    "SpeechQuiet",
    "SpeechResumed",
    "SpeechStarted",
    "SpeechStopped",
    "SpeechWeighed",
    "Spoken",
    "StagePassed",
    "StageReplaced",
    "TimerFired",
    "Transcribe",
    "Transcribed",
    "TranscriptionFailed",
    "UnitIdle",
    "WeighingFailed",
]
