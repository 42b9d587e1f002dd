"""Flag beats environment beats file beats default, and what does not fit is refused by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from s2s_actors.errors import SetupError
from s2s_actors.settings import ConfigSources, Settings, resolve_settings
from tests.settings.test_table import BAD_VALUES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from s2s_actors.settings import ResolvedSettings

PORTS = {"flag": 9001, "environment": 9002, "file": 9003, "default": 8765}


def resolve(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> ResolvedSettings:
    return resolve_settings(ConfigSources(flags or {}, environ or {}, file))


def refusal(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> SetupError:
    with pytest.raises(SetupError) as refused:
        resolve(flags, environ, file)
    return refused.value


def write(folder: Path, text: str) -> Path:
    path = folder / "s2s.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "present",
    [
        {"flag", "environment", "file"},
        {"flag", "file"},
        {"flag", "environment"},
        {"environment", "file"},
        {"flag"},
        {"environment"},
        {"file"},
        set[str](),
    ],
)
def test_each_layer_beats_those_below_it(present: set[str], tmp_path: Path) -> None:
    resolved = resolve(
        {"port": str(PORTS["flag"])} if "flag" in present else {},
        {"S2S_PORT": str(PORTS["environment"])} if "environment" in present else {},
        write(tmp_path, f"port = {PORTS['file']}") if "file" in present else None,
    )
    winner = next(layer for layer in PORTS if layer in present or layer == "default")
    assert resolved.settings.port == PORTS[winner]
    assert resolved.origins["port"].layer == winner


def test_with_nothing_given_all_values_are_the_defaults() -> None:
    resolved = resolve()
    assert resolved.settings == Settings()
    assert {origin.layer for origin in resolved.origins.values()} == {"default"}


def test_an_origin_says_what_the_value_is_called_there(tmp_path: Path) -> None:
    path = write(tmp_path, "units = 2")
    origins = resolve({"port": "1"}, {"S2S_LLM_TIMEOUT": "3"}, path).origins
    assert str(origins["port"]) == "flag --port"
    assert str(origins["llm_timeout_s"]) == "environment S2S_LLM_TIMEOUT"
    assert str(origins["units"]) == f"file {path}"
    assert str(origins["host"]) == "default"


def test_the_environment_can_name_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "units = 2")
    assert resolve(environ={"S2S_CONFIG": str(path)}).settings.units == 2


def test_a_file_on_the_command_line_replaces_the_one_of_the_environment(tmp_path: Path) -> None:
    path = write(tmp_path, "units = 2")
    assert resolve(environ={"S2S_CONFIG": "/nowhere.toml"}, file=path).settings.units == 2


def test_empty_and_foreign_variables_are_ignored() -> None:
    environ = {"S2S_PORT": "", "S2S_CONFIG": "", "S2S_DEBUG": "1", "PORT": "x", "PATH": "/bin"}
    assert resolve(environ=environ).settings == Settings()


@pytest.mark.parametrize(
    ("flags", "environ", "where"),
    [
        ({"port": "x"}, {}, "--port 'x': must be a whole number from 0 to 65535"),
        ({}, {"S2S_UNITS": "0"}, "S2S_UNITS='0': must be a whole number from 1 to 1024"),
        ({"log_level": "loud"}, {}, "--log-level 'loud': must be one of debug, info"),
        ({"port": "1"}, {"S2S_PORT": "x"}, "S2S_PORT='x'"),
    ],
)
def test_a_bad_value_is_refused_by_flag_or_variable_even_if_it_is_beaten(
    flags: Mapping[str, str], environ: Mapping[str, str], where: str
) -> None:
    assert refusal(flags, environ).message.startswith(where)


@pytest.mark.parametrize("field", BAD_VALUES)
def test_every_bad_value_in_a_file_is_refused_by_file_and_key(field: str, tmp_path: Path) -> None:
    key = field.removesuffix("_s").removesuffix("_bytes")
    value = BAD_VALUES[field]
    shown = f'"{value}"' if isinstance(value, str) else str(value).lower()
    path = write(tmp_path, f"{key} = {shown}")
    message = refusal(file=path).message
    assert message.startswith(f"{path}: {key} = ")
    assert ": must be " in message


def test_an_unknown_variable_is_refused_with_a_suggestion() -> None:
    error = refusal(environ={"S2S_UNIT": "4"})
    assert error.message == "unknown environment variable S2S_UNIT"
    assert error.hint == "did you mean S2S_UNITS?"


@pytest.mark.parametrize("key", ["claim-timeout", "claim_timeout_s", "claimtimeout"])
def test_an_unknown_key_is_refused_with_a_suggestion(key: str, tmp_path: Path) -> None:
    path = write(tmp_path, f"{key} = 4")
    error = refusal(file=path)
    assert error.message == f"unknown key {key!r} in {path}"
    assert error.hint == "did you mean claim_timeout?"


def test_an_unknown_table_is_refused_with_all_that_is_known(tmp_path: Path) -> None:
    error = refusal(file=write(tmp_path, "[xyzzy]\nport = 3"))
    assert "'xyzzy'" in error.message
    assert error.hint is not None
    assert "claim_timeout, compression" in error.hint


def test_broken_toml_is_refused_by_file_and_line(tmp_path: Path) -> None:
    path = write(tmp_path, "port = 1\nunits = = 2\n")
    assert refusal(file=path).message.startswith(f"{path}:2: not valid TOML")


def test_toml_that_ends_too_early_is_refused_by_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'host = "abc')
    assert refusal(file=path).message.startswith(str(path))


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s2s.toml"
    path.write_bytes(b"\xff\xfe")
    assert "UTF-8" in refusal(file=path).message


@pytest.mark.parametrize("name", ["missing.toml", "."])
def test_a_file_that_can_not_be_read_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert refusal(file=path).message.startswith(f"--config {path}: ")


@pytest.mark.parametrize("layer", ["environment", "file"])
def test_a_refused_key_is_never_shown(layer: str, tmp_path: Path) -> None:
    error = (
        refusal(environ={"S2S_LLM_API_KEY": "hunter 2"})
        if layer == "environment"
        else refusal(file=write(tmp_path, 'llm_api_key = "hunter 2"'))
    )
    assert "hunter" not in error.message
    assert "(hidden)" in error.message
