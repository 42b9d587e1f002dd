"""The examples of the documentation run, each as a process, against a real port."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
import wave
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.client.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
SCRIPTED = [
    flag for kind in ("vad", "stt", "llm", "tts", "turn") for flag in (f"--{kind}", "scripted")
]
PATIENCE_S = 60


def example(*arguments: str, cwd: Path | None = None, path: Path | None = None) -> str:
    """Run Python on ``arguments``; return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=cwd,
        env=environment(path),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def environment(path: Path | None) -> dict[str, str]:
    """A small environment, with ``path`` as a place to find packages."""
    given = {"PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"}
    return given if path is None else {**given, "PYTHONPATH": str(path)}


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    """The address, as the ``openai`` package wants it, of a server that plays the script."""
    script = ["--script", str(EXAMPLES / "script.toml")]
    command = [sys.executable, "-m", "s2s_actors", "serve", "--port", "0", *SCRIPTED, *script]
    with ServerProcess(command) as server:
        url = server.wait_until_ready()
        yield url.replace("ws://", "http://").removesuffix("/realtime")


def test_the_text_turn_prints_the_answer(base_url: str) -> None:
    said = example(str(EXAMPLES / "openai_text_turn.py"), base_url)
    assert said == "The capital of France is Paris.\n(completed)\n"


def test_the_text_turn_shows_a_response_that_failed(base_url: str) -> None:
    said = example(str(EXAMPLES / "openai_text_turn.py"), base_url, "Please fail.")
    assert said == "\n(failed)\n"


@pytest.mark.parametrize(("rate_hz", "channels"), [(24_000, 1), (44_100, 2)])
def test_the_audio_turn_writes_the_answer(
    base_url: str, tmp_path: Path, rate_hz: int, channels: int
) -> None:
    question, answer = tmp_path / "question.wav", tmp_path / "answer.wav"
    tone = 0.3 * np.sin(2 * np.pi * 300 / rate_hz * np.arange(rate_hz // 2))
    with wave.open(str(question), "wb") as file:
        file.setparams((channels, 2, rate_hz, 0, "NONE", ""))
        file.writeframes(np.repeat(tone * 32767, channels).astype("<i2").tobytes())
    said = example(str(EXAMPLES / "openai_audio_turn.py"), str(question), str(answer), base_url)
    assert said.splitlines() == [
        "heard:    What is the capital of France?",
        "answered: The capital of France is Paris.",
        "(completed)",
    ]
    with wave.open(str(answer)) as file:
        assert file.getframerate() == 24_000
        # 31 characters, 60 ms each.
        # 31 characters, but for the space between the two pieces in which they are spoken.
        assert file.getnframes() == pytest.approx(30 * 0.06 * 24_000, abs=480)


@pytest.fixture
def mcp_url() -> Iterator[str]:
    """The MCP server of the example."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(EXAMPLES / "mcp_server.py"), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            assert time.monotonic() < deadline_s, "the MCP server did not start"
            time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/mcp"
    process.kill()
    process.wait()


@pytest.mark.parametrize(
    ("answer", "called", "answered"),
    [
        ("yes", "sunny in Rome", "It is sunny in Rome."),
        (
            "no",
            (
                "RealtimeMcpToolExecutionError(message='The user did not approve the call.', "
                "type='tool_execution_error')"
            ),
            "It is Error: The user did not approve the call..",
        ),
    ],
)
def test_the_mcp_tools_are_listed_approved_and_called(
    base_url: str, mcp_url: str, answer: str, called: str, answered: str
) -> None:
    said = example(str(EXAMPLES / "mcp_tools.py"), mcp_url, base_url, answer)
    assert said.splitlines() == [
        "tools:    weather",
        'may I?    weather {"city":"Rome"}',
        f"called:   {called}",
        f"answered: {answered}",
    ]


def test_the_measurement_makes_a_row_for_each_number_of_units() -> None:
    flags = ["--units", "1", "3", "--idle-s", "0.2", "--", *SCRIPTED]
    *rows, last = example(str(EXAMPLES / "measure_units.py"), *flags).splitlines()[1:]
    assert [row.split()[0] for row in rows] == ["1", "3"]
    assert last.startswith("one more unit: ")
    assert last.endswith(", 4 threads")


@pytest.fixture
def morse(tmp_path: Path) -> Path:
    """A folder into which the example of a backend has been installed."""
    source = Path(shutil.copytree(EXAMPLES / "morse_backend", tmp_path / "source"))
    target = tmp_path / "installed"
    pip = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-index"]
    example(*pip, "--no-deps", "--no-build-isolation", "--target", str(target), str(source))
    return target


def test_the_backend_is_found_and_speaks(morse: Path, tmp_path: Path) -> None:
    answer = tmp_path / "answer.wav"
    question = ["--input", str(EXAMPLES.parents[1] / "s2s_actors" / "client" / "question.flac")]
    serve = [*SCRIPTED, "--tts", "morse"]
    demo = ["-m", "s2s_actors", "demo", *question, "--output", str(answer), "--"]
    assert "You said" in example(*demo, *serve, "--tts-voice", "500", path=morse)
    with wave.open(str(answer)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
    spectrum = np.abs(np.fft.rfft(samples))
    loudest_hz = np.argmax(spectrum) * 24_000 / len(samples)
    assert loudest_hz == pytest.approx(500, abs=5)


def test_the_tests_of_the_backend_pass(morse: Path, tmp_path: Path) -> None:
    tests = str(tmp_path / "source" / "test_s2s_morse.py")
    said = example("-m", "pytest", "-q", "-c", "/dev/null", tests, cwd=tmp_path, path=morse)
    assert "3 passed" in said


def test_the_sessions_script_of_the_page_is_json() -> None:
    page = (EXAMPLES.parent / "how-to" / "script_the_models.md").read_text(encoding="utf-8")
    block = page.split("```json\n")[1].split("```")[0]
    instructions = json.loads(block)["session"]["instructions"]
    assert json.loads(instructions.removeprefix("#script "))["answers"][0] == "Sure."
