"""Each command inside the process: what it passes on, what it refuses, what it prints."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from s2s_actors import __version__
from s2s_actors.cli import run
from s2s_actors.client import demo, pool_watch, talk
from s2s_actors.errors import CapacityError, S2SError, SetupError
from s2s_actors.settings import SETTINGS, Settings
from statecharts import CHARTS, render

if TYPE_CHECKING:
    from collections.abc import Callable

COMMANDS = ("serve", "talk", "demo", "pool", "key", "diagram", "doctor")

Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
Options = TypeVar("Options")


@pytest.fixture(autouse=True)
def _no_settings_in_the_environment(monkeypatch: Patch) -> None:
    for name in [name for name in os.environ if name.startswith("S2S_")]:
        monkeypatch.delenv(name)
    # Set before a command sets it, so that the change is undone.
    monkeypatch.setenv("S2S_DEBUG", "0")


def replace_server(monkeypatch: Patch, start: Callable[[Settings], int]) -> None:
    module = types.ModuleType("s2s_actors.serve")
    vars(module)["run"] = start
    monkeypatch.setitem(sys.modules, "s2s_actors.serve", module)


@pytest.fixture
def served(monkeypatch: Patch) -> list[Settings]:
    """The settings that serve started a server with, which it did not really start."""
    calls: list[Settings] = []

    def start(settings: Settings) -> int:
        calls.append(settings)
        return 0

    replace_server(monkeypatch, start)
    return calls


def fail_with(error: BaseException) -> Callable[[Settings], int]:
    def start(settings: Settings) -> int:
        del settings
        raise error

    return start


def record(calls: list[Options], *, code: int = 0) -> Callable[[Options], int]:
    def command(options: Options) -> int:
        calls.append(options)
        return code

    return command


def test_help_lists_every_command(capsys: Capture) -> None:
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {command} " in out for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command_teaches_by_example(command: str, capsys: Capture) -> None:
    assert run([command, "--help"]) == 0
    assert f"Examples:\n    s2s-actors {command}" in capsys.readouterr().out


def test_without_a_command_there_is_help_and_the_code_of_wrong_usage(capsys: Capture) -> None:
    assert run([]) == 2
    assert "Commands:" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys: Capture) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"s2s-actors {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["sevre"], "Did you mean 'serve'?"),
        (["serve", "--prot", "1"], "--port"),
        (["serve", "stray"], "stray"),
        (["serve", "--units", "0"], "--units '0'"),
        (["serve", "--llm-api-key", "k"], "--llm-api-key"),
        (["serve", "--config", "missing.toml"], "missing.toml"),
        (["talk", "--timeout", "never"], "--timeout"),
        (["talk", "--input", "a.wav", "--say", "b"], "--input and --say"),
        (["demo", "--input", "a.wav", "--say", "b"], "--input and --say"),
        (["diagram", "untie"], "'untie'"),
        (["diagram", "unit", "--format", "gif"], "gif"),
    ],
)
def test_wrong_usage_is_one_error_line_that_names_it(
    arguments: list[str], named: str, capsys: Capture
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    first, *more = captured.err.splitlines()
    assert first.startswith("error: ")
    assert named in first
    assert all(line.startswith("hint: ") for line in more)
    assert captured.out == ""


def test_serve_starts_the_server_with_the_defaults(served: list[Settings]) -> None:
    assert run(["serve"]) == 0
    assert served == [Settings()]


def test_serve_has_a_flag_for_every_setting_but_secrets(capsys: Capture) -> None:
    run(["serve", "--help"])
    out = capsys.readouterr().out
    for row in SETTINGS:
        assert (f"\n  {row.flag} {row.kind.metavar}" in out) is not row.secret


def test_serve_lays_flags_over_the_environment_over_the_file(
    served: list[Settings], monkeypatch: Patch, tmp_path: Path
) -> None:
    file = tmp_path / "s2s.toml"
    file.write_text("port = 1\nunits = 1\nqueue = 1\n")
    monkeypatch.setenv("S2S_PORT", "2")
    monkeypatch.setenv("S2S_UNITS", "2")
    assert run(["serve", "--config", str(file), "--port", "3"]) == 0
    assert served == [Settings(port=3, units=2, queue=1)]


def test_serve_prints_the_settings_and_starts_nothing(
    served: list[Settings], capsys: Capture
) -> None:
    assert run(["serve", "--units", "7", "--print-config"]) == 0
    assert "units = 7  # flag --units\n" in capsys.readouterr().out
    assert served == []


def test_serve_refuses_an_unknown_variable(
    served: list[Settings], monkeypatch: Patch, capsys: Capture
) -> None:
    monkeypatch.setenv("S2S_PROT", "1")
    assert run(["serve"]) == 2
    assert capsys.readouterr().err == (
        "error: unknown environment variable S2S_PROT\nhint: did you mean S2S_PORT?\n"
    )
    assert served == []


def test_serve_says_in_one_line_that_its_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "s2s_actors", "serve", "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    first, second = done.stderr.splitlines()
    assert first == f"error: port {port} on 127.0.0.1 is in use"
    assert "--port" in second


@pytest.mark.parametrize(
    ("error", "code", "lines"),
    [
        (SetupError("no model", hint="get one"), 2, ["error: no model", "hint: get one"]),
        (CapacityError("no unit is idle"), 1, ["error: no unit is idle"]),
        (S2SError("it broke"), 1, ["error: it broke"]),
        (FileNotFoundError(2, "No such file", "a.wav"), 1, ["error: a.wav: No such file"]),
        (KeyboardInterrupt(), 130, []),
    ],
)
def test_an_error_becomes_lines_and_an_exit_code(
    error: BaseException, code: int, lines: list[str], monkeypatch: Patch, capsys: Capture
) -> None:
    replace_server(monkeypatch, fail_with(error))
    assert run(["serve"]) == code
    assert capsys.readouterr().err.splitlines() == lines


def test_a_bug_is_not_hidden(monkeypatch: Patch) -> None:
    replace_server(monkeypatch, fail_with(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        run(["serve"])


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_debugging_adds_the_stack_trace(how: str, monkeypatch: Patch, capsys: Capture) -> None:
    replace_server(monkeypatch, fail_with(SetupError("no model")))
    if how == "variable":
        monkeypatch.setenv("S2S_DEBUG", "1")
    assert run(["--debug", "serve"] if how == "flag" else ["serve"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("Traceback")
    assert err.endswith("error: no model\n")


def test_talk_passes_its_flags_on(monkeypatch: Patch) -> None:
    calls: list[talk.TalkOptions] = []
    monkeypatch.setattr(talk, "run", record(calls, code=1))
    flags = "--url ws://h:1 --input a.wav --output b.wav --instructions Hi --timeout 5"
    assert run(["talk", *flags.split()]) == 1
    assert calls == [
        talk.TalkOptions(
            url="ws://h:1",
            input=Path("a.wav"),
            output=Path("b.wav"),
            instructions="Hi",
            timeout_s=5.0,
        )
    ]


def test_talk_has_the_defaults_of_its_options(monkeypatch: Patch) -> None:
    calls: list[talk.TalkOptions] = []
    monkeypatch.setattr(talk, "run", record(calls))
    assert run(["talk"]) == 0
    assert calls == [talk.TalkOptions()]


def test_demo_passes_what_follows_the_dashes_to_the_server(monkeypatch: Patch) -> None:
    calls: list[demo.DemoOptions] = []
    monkeypatch.setattr(demo, "run", record(calls))
    assert run(["demo", "--say", "Hello?", "--", "--llm", "openai"]) == 0
    assert calls == [demo.DemoOptions(say="Hello?", serve_args=("--llm", "openai"))]


def test_pool_passes_its_flags_on(monkeypatch: Patch) -> None:
    calls: list[tuple[str, bool, bool]] = []

    def watch_pool(url: str, *, watch: bool = False, as_json: bool = False) -> int:
        calls.append((url, watch, as_json))
        return 0

    monkeypatch.setattr(pool_watch, "run", watch_pool)
    assert run(["pool", "--watch", "--url", "http://h:1"]) == 0
    assert run(["pool", "--json", "--url", "http://h:1"]) == 0
    assert calls == [("http://h:1", True, False), ("http://h:1", False, True)]


def test_diagram_lists_the_charts(capsys: Capture) -> None:
    assert run(["diagram"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(CHARTS)


def test_diagram_prints_the_drawing_and_nothing_else(capsys: Capture) -> None:
    assert run(["diagram", "unit"]) == 0
    assert capsys.readouterr().out == render.render("unit", "mermaid")


def test_diagram_writes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "unit.md"
    assert run(["diagram", "unit", "--format", "md", "--output", str(path)]) == 0
    assert path.read_text() == render.render("unit", "md")


def test_diagram_keeps_a_png_from_the_terminal(monkeypatch: Patch, capsys: Capture) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["diagram", "unit", "--format", "png"]) == 2
    captured = capsys.readouterr()
    assert "--output unit.png" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize("output", ["no/such/folder/unit.mmd", "."])
def test_output_that_can_not_be_written_is_one_line(output: str, capsys: Capture) -> None:
    assert run(["diagram", "unit", "--output", output]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"error: can't write {output}: ")
    assert err.count("\n") == 1
