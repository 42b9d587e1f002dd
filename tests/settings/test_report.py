"""What ``--print-config`` and the reference page show."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.settings import (
    SETTINGS,
    ConfigSources,
    Settings,
    print_settings,
    resolve_settings,
    settings_as_toml,
    settings_reference,
)

if TYPE_CHECKING:
    import pytest

RESOLVED = resolve_settings(
    ConfigSources(
        {"port": "0"},
        {"S2S_LLM_API_KEY": "hunter2", "S2S_INSTRUCTIONS": 'Say "[bold]hi".\nThen stop.'},
    )
)


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_every_setting_is_shown_with_its_origin() -> None:
    lines = settings_as_toml(RESOLVED).splitlines()
    assert len(lines) == len(SETTINGS)
    assert "port = 0  # flag --port" in lines
    assert 'host = "127.0.0.1"  # default' in lines
    assert "# stt_model is not set" in lines
    assert 'max_frame = "32 MiB"  # default' in lines


def test_secrets_are_masked_but_their_origin_is_shown() -> None:
    text = settings_as_toml(RESOLVED)
    assert "hunter2" not in text
    assert '# llm_api_key = "********"  # environment S2S_LLM_API_KEY' in text


@given(
    instructions=st.text(st.characters(exclude_categories=["Cs"])),
    timeout_s=st.floats(0.1, 86400),
    size=st.integers(1024, 1024**3),
)
def test_the_plain_output_reads_back_as_a_file(
    instructions: str, timeout_s: float, size: int
) -> None:
    import tomllib  # noqa: PLC0415 - what reads files must read this

    given_ = Settings(instructions=instructions, llm_timeout_s=timeout_s, max_frame_bytes=size)
    text = settings_as_toml(type(RESOLVED)(given_, RESOLVED.origins))
    values = tomllib.loads(text)
    fields = {row.key: row for row in SETTINGS}
    read = {fields[key].field: fields[key].kind.check(value) for key, value in values.items()}
    assert Settings(**read) == given_  # type: ignore[arg-type]


def test_a_pipe_gets_toml() -> None:
    out = io.StringIO()
    print_settings(RESOLVED, out)
    assert out.getvalue() == settings_as_toml(RESOLVED)


def test_a_terminal_gets_a_table_with_secrets_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    out = Terminal()
    print_settings(RESOLVED, out)
    text = out.getvalue()
    assert "flag --port" in text
    assert "environment S2S_LLM_API_KEY" in text
    assert "[bold]" in text
    assert "hunter2" not in text


def test_the_reference_has_a_row_for_every_setting() -> None:
    reference = settings_reference()
    assert len(reference.splitlines()) == len(SETTINGS) + 2
    for row in SETTINGS:
        assert f"`{row.env}` | `{row.key}`" in reference
        assert row.flag is None or f"`{row.flag} " in reference
