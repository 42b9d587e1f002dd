"""The table of settings, and the object that holds them."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from s2s_actors.errors import SetupError
from s2s_actors.settings import SETTINGS, Settings

BAD_VALUES: dict[str, Any] = {
    "host": "two words",
    "port": 65536,
    "http_port": -1,
    "max_connections": 0,
    "api_key_file": "",
    "allow_origin": " ",
    "tls_cert": "",
    "tls_key": 7,
    "open_to_all": "perhaps",
    "units": 0,
    "vad": "",
    "stt": 7,
    "llm": "a b",
    "tts": "",
    "turn": "two words",
    "stt_model": "",
    "llm_model": " ",
    "llm_base_url": "localhost:8000",
    "llm_api_key": "two words",
    "llm_connect_timeout_s": 0.0,
    "llm_first_timeout_s": 0.0,
    "llm_timeout_s": 0.0,
    "tts_voice": "",
    "script": "",
    "instructions": 7,
    "failing_sessions": -1,
    "claim_timeout_s": -1.0,
    "session_timeout_s": float("inf"),
    "history_audio_bytes": 10,
    "history_text_bytes": "much",
    "history_items": 9,
    "drain_timeout_s": 0.0,
    "queue": -1,
    "queue_timeout_s": float("nan"),
    "admission": "all",
    "max_lag_s": 0.0,
    "max_model_wait_s": 0.0,
    "shutdown_timeout_s": -0.5,
    "write_timeout_s": True,
    "max_frame_bytes": 10,
    "conduct": "polite",
    "speculation": "maybe",
    "partial_transcripts": "some",
    "interruptions": "none",
    "resume": "yes",
    "playback_clock": "",
    "echo_guard": 1,
    "audio_lead_s": 0.0,
    "mcp": "maybe",
    "mcp_hosts": " ",
    "compression": "gzip",
    "log_level": "loud",
    "log_content": "some",
}


def test_the_bad_values_tried_here_cover_every_setting() -> None:
    assert BAD_VALUES.keys() == {row.field for row in SETTINGS}


@pytest.mark.parametrize("field", BAD_VALUES)
def test_a_bad_value_is_refused_by_the_name_of_its_field(field: str) -> None:
    with pytest.raises(SetupError) as refused:
        Settings(**{field: BAD_VALUES[field]})
    assert refused.value.message.startswith(f"{field}: ")
    assert "must be" in refused.value.message


def test_the_defaults_are_valid_and_are_those_of_the_documentation() -> None:
    settings = Settings()
    assert (settings.host, settings.port, settings.units) == ("127.0.0.1", 8765, 4)
    kinds = (settings.vad, settings.stt, settings.llm, settings.tts, settings.turn)
    assert kinds == ("silero", "faster-whisper", "transformers", "piper", "smart-turn")
    assert settings.max_frame_bytes == 32 * 1024**2


def test_settings_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]


def test_a_whole_number_of_seconds_becomes_a_float() -> None:
    assert isinstance(Settings(drain_timeout_s=3).drain_timeout_s, float)


def test_the_key_of_the_language_model_is_not_in_the_repr() -> None:
    assert "hunter2" not in repr(Settings(llm_api_key="hunter2"))


def test_a_refused_key_is_not_in_the_message() -> None:
    with pytest.raises(SetupError) as refused:
        Settings(llm_api_key="hunter 2")
    assert "hunter" not in refused.value.message


def test_names_follow_from_the_field_without_its_unit() -> None:
    row = next(row for row in SETTINGS if row.field == "claim_timeout_s")
    assert (row.flag, row.env, row.key) == (
        "--claim-timeout",
        "S2S_CLAIM_TIMEOUT",
        "claim_timeout",
    )


def test_no_two_settings_share_a_name() -> None:
    assert len({row.key for row in SETTINGS}) == len(SETTINGS)
    assert len({row.env for row in SETTINGS}) == len(SETTINGS)


def test_only_secrets_have_no_flag() -> None:
    assert [row.field for row in SETTINGS if row.flag is None] == ["llm_api_key"]
