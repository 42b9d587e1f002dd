"""The table of settings: each is declared here once, and nowhere else.

Flag, environment variable, key in the file, help text and reference page all follow from
the field: ``claim_timeout_s`` is ``--claim-timeout``, ``S2S_CLAIM_TIMEOUT`` and
``claim_timeout``. A unit at the end of a field's name is for readers of the code.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Final, TypeVar

from s2s_actors.errors import SetupError
from s2s_actors.settings.values import (
    MIB,
    Choice,
    Kind,
    Seconds,
    Size,
    Text,
    Url,
    Whole,
    Word,
)

__all__ = ["ENV_PREFIX", "SETTINGS", "Setting", "Settings"]

ENV_PREFIX: Final = "S2S_"
_DAY_S: Final = 86400.0
_UNIT_SUFFIXES: Final = ("_s", "_bytes")
_METADATA_KEY: Final = "s2s_actors.setting"

_ON_OFF: Final = Choice(("on", "off"))

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table.

    Attributes:
        field: Name of the attribute of :class:`Settings`.
        kind: How its values are read, checked and shown.
        help: One sentence for help texts and the reference.
        default: Value where no layer says anything; None where it is left to others.
        default_text: What the default amounts to, where None or a long text does not say.
        secret: Never shown, and never taken from a flag: command lines are public.
    """

    field: str
    kind: Kind
    help: str
    default: object
    default_text: str | None
    secret: bool

    @property
    def key(self) -> str:
        """Key in the file."""
        for suffix in _UNIT_SUFFIXES:
            if self.field.endswith(suffix):
                return self.field.removesuffix(suffix)
        return self.field

    @property
    def flag(self) -> str | None:
        """Flag of ``serve``, None for secrets."""
        return None if self.secret else "--" + self.key.replace("_", "-")

    @property
    def env(self) -> str:
        """Environment variable."""
        return ENV_PREFIX + self.key.upper()

    @property
    def optional(self) -> bool:
        """Whether None (nothing set) is a value."""
        return self.default is None


def _setting(
    default: _T,
    kind: Kind,
    text: str,
    *,
    default_text: str | None = None,
    secret: bool = False,
) -> _T:
    row = (kind, text, default_text, secret)
    declared: _T = field(default=default, repr=not secret, metadata={_METADATA_KEY: row})
    return declared


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything an operator can set; whoever holds one knows that each value is valid.

    Raises:
        SetupError: A value does not fit; the message names the setting, the value and what
            is allowed.
    """

    host: str = _setting(
        "127.0.0.1",
        Word("ADDRESS", "a host name or address"),
        "Address to listen on; 0.0.0.0 is every IPv4 address of the machine.",
    )
    port: int = _setting(8765, Whole(0, 65535), "Port to listen on; 0 takes any free one.")
    api_key_file: str | None = _setting(
        None,
        Text("FILE"),
        "Keys that clients need: TOML with a table [[key]] for each (name, hash, limits).",
        default_text="none, anyone who reaches the port may talk",
    )
    allow_origin: str | None = _setting(
        None,
        Text("ORIGINS"),
        "Web pages that may connect, beside the server's own: origins such as "
        "https://example.org, with commas between them, or *.",
        default_text="none",
    )
    tls_cert: str | None = _setting(
        None,
        Text("FILE"),
        "Certificate chain (PEM): serve wss:// and https://.",
        default_text="no TLS",
    )
    tls_key: str | None = _setting(
        None, Text("FILE"), "Its private key (PEM).", default_text="the file of --tls-cert"
    )
    open_to_all: str = _setting(
        "off",
        _ON_OFF,
        "Listen on an address that other machines reach although nobody needs a key.",
    )
    units: int = _setting(
        4, Whole(1, 1024), "Pipelines kept ready: how many sessions can run at once."
    )

    vad: str = _setting("silero", Word(), "Backend that detects speech.")
    stt: str = _setting("faster-whisper", Word(), "Backend that turns speech into text.")
    llm: str = _setting("transformers", Word(), "Backend that writes the answer.")
    tts: str = _setting("piper", Word(), "Backend that speaks.")
    turn: str = _setting(
        "smart-turn", Word(), "Backend that tells whether a turn sounds finished (semantic_vad)."
    )
    stt_model: str | None = _setting(
        None,
        Text("MODEL"),
        "Speech recognition model, by name or path.",
        default_text="the backend's",
    )
    llm_model: str | None = _setting(
        None, Text("MODEL"), "Language model, by name or path.", default_text="the backend's"
    )
    llm_base_url: str | None = _setting(
        None,
        Url(),
        "Where the OpenAI-compatible server of --llm openai listens.",
        default_text="the backend's",
    )
    llm_api_key: str | None = _setting(
        None, Word("KEY", "a key without spaces"), "Key for that server.", secret=True
    )
    llm_timeout_s: float = _setting(
        30.0, Seconds(0.1, _DAY_S), "Longest silence of a remote language model."
    )
    tts_voice: str | None = _setting(
        None, Text("VOICE"), "Voice, by name or path.", default_text="the backend's"
    )
    script: str | None = _setting(
        None, Text("FILE"), "Script that the scripted backends play.", default_text="a built-in one"
    )
    # Chosen by trial: the small default model keeps to the point under these words, and
    # under near misses ("friendly", "one or two short sentences") it does not.
    instructions: str = _setting(
        "You are a helpful voice assistant. Keep your answers short.",
        Text(may_be_empty=True),
        "System prompt of sessions that bring none.",
    )

    claim_timeout_s: float = _setting(
        120.0, Seconds(0.01, _DAY_S), "Time in which a client must send its first event."
    )
    session_timeout_s: float = _setting(
        3600.0, Seconds(0.01, 30 * _DAY_S), "Longest life of a session."
    )
    drain_timeout_s: float = _setting(
        5.0,
        Seconds(0.01, 3600),
        "Time in which a unit must drain before its stages are replaced.",
    )
    queue: int = _setting(0, Whole(0, 100_000), "How many clients may wait for a unit.")
    queue_timeout_s: float = _setting(
        10.0, Seconds(0.01, 3600), "Longest wait of a client for a unit."
    )
    admission: str = _setting(
        "load",
        Choice(("load", "units")),
        "What a new session needs: a free unit and a machine that keeps up, or only the unit.",
    )
    # A machine that keeps up is some 0.01 s late, nine in ten times. One with a few sessions too
    # many falls back further and further, so there is little to gain by waiting longer.
    max_lag_s: float = _setting(
        0.25,
        Seconds(0.01, 60),
        "How late sound and events may be, nine in ten of them, before new sessions must wait.",
    )
    max_model_wait_s: float = _setting(
        3.0,
        Seconds(0.01, 3600),
        "How long a model may leave work without any result before new sessions must wait.",
    )
    shutdown_timeout_s: float = _setting(
        30.0, Seconds(0, _DAY_S), "Time that running sessions get to finish when the server stops."
    )
    write_timeout_s: float = _setting(
        10.0, Seconds(0.01, 3600), "How long a client may leave its socket unread."
    )
    max_frame_bytes: int = _setting(
        32 * MIB, Size(1024, 1024 * MIB), "Largest websocket message taken from a client."
    )
    conduct: str = _setting(
        "natural",
        Choice(("natural", "plain")),
        "How sessions behave where the protocol leaves it open: natural is all of the switches "
        "below, plain is none of them. A client gets the plain one with ?conduct=plain.",
    )
    speculation: str = _setting(
        "on",
        _ON_OFF,
        "Begin to answer in short pauses, unseen, in case that was all; pauses while the machine "
        "is busy.",
    )
    partial_transcripts: str = _setting(
        "on", _ON_OFF, "Tell parts of a transcript while the user still speaks."
    )
    interruptions: str = _setting(
        "weighed",
        Choice(("weighed", "any")),
        "What stops an answer: speech that is more than a cough or an mm-hmm, or any speech.",
    )
    resume: str = _setting(
        "on", _ON_OFF, "Go on with an answer that was interrupted by what turned out to be nothing."
    )
    playback_clock: str = _setting(
        "on",
        _ON_OFF,
        "Forget of an interrupted answer what the client can't have played by then.",
    )
    echo_guard: str = _setting(
        "on", _ON_OFF, "Do not take the assistant's own voice in the microphone for the user's."
    )
    audio_lead_s: float = _setting(
        5.0,
        Seconds(0.2, 3600),
        "How far speech is sent ahead of its playback; with --conduct plain as fast as it is made.",
    )
    mcp: str = _setting(
        "on",
        Choice(("on", "off")),
        "Whether sessions may use MCP servers: the server then connects to addresses that its "
        "clients name.",
    )
    compression: str = _setting(
        "off",
        Choice(("off", "deflate")),
        "Compression that clients may negotiate; it saves bandwidth and costs CPU.",
    )
    log_level: str = _setting(
        "info", Choice(("debug", "info", "warning", "error")), "Least severity that is logged."
    )

    def __post_init__(self) -> None:
        for row in SETTINGS:
            given = getattr(self, row.field)
            if given is None and row.optional:
                continue
            try:
                value = row.kind.check(given)
            except ValueError:
                shown = "its value" if row.secret else repr(given)
                message = f"{row.field}: {shown} must be {row.kind.allowed}"
                raise SetupError(message) from None
            object.__setattr__(self, row.field, value)


SETTINGS: Final[tuple[Setting, ...]] = tuple(
    Setting(f.name, kind, text, f.default, default_text, secret)
    for f in fields(Settings)
    for kind, text, default_text, secret in [f.metadata[_METADATA_KEY]]
)
"""The table, in the order in which the settings are shown."""
