"""Settings of the models: which backends work, and with what."""

from __future__ import annotations

from dataclasses import dataclass

from s2s_actors.settings.setting import DAY_S, setting
from s2s_actors.settings.values import Seconds, Text, Url, Word

__all__ = ["ModelSettings"]


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Which backends work, and with what."""

    vad: str = setting("silero", Word(), "Backend that detects speech.")
    stt: str = setting("faster-whisper", Word(), "Backend that turns speech into text.")
    llm: str = setting("transformers", Word(), "Backend that writes the answer.")
    tts: str = setting("piper", Word(), "Backend that speaks.")
    turn: str = setting(
        "smart-turn", Word(), "Backend that tells whether a turn sounds finished (semantic_vad)."
    )
    stt_model: str | None = setting(
        None,
        Text("MODEL"),
        "Speech recognition model, by name or path.",
        default_text="the backend's",
    )
    llm_model: str | None = setting(
        None, Text("MODEL"), "Language model, by name or path.", default_text="the backend's"
    )
    llm_base_url: str | None = setting(
        None,
        Url(),
        "Where the OpenAI-compatible server of --llm openai listens.",
        default_text="the backend's",
    )
    llm_api_key: str | None = setting(
        None, Word("KEY", "a key without spaces"), "Key for that server.", secret=True
    )
    llm_connect_timeout_s: float = setting(
        5.0, Seconds(0.1, DAY_S), "How long a connection to a remote language model may take."
    )
    llm_first_timeout_s: float = setting(
        30.0,
        Seconds(0.1, DAY_S),
        "How long a remote language model may take to begin an answer, retries included.",
    )
    llm_timeout_s: float = setting(
        15.0, Seconds(0.1, DAY_S), "Longest silence of a remote language model within an answer."
    )
    tts_voice: str | None = setting(
        None, Text("VOICE"), "Voice, by name or path.", default_text="the backend's"
    )
    script: str | None = setting(
        None, Text("FILE"), "Script that the scripted backends play.", default_text="a built-in one"
    )
