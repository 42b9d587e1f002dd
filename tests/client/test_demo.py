"""The demonstration: a server process of its own, and nothing left of it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import psutil
import pytest

from s2s_actors.client.audio_file import read_pcm, write_wav
from s2s_actors.client.demo import DemoOptions, run
from s2s_actors.client.speech import speech_end_ms
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from pathlib import Path

FAKE_SERVER: Final = (sys.executable, "-m", "tests.support.fake_realtime")


@pytest.fixture
def question(tmp_path: Path) -> Path:
    path = tmp_path / "question.wav"
    write_wav(path, silence(100) + tone(200))
    return path


def test_a_question_goes_in_and_an_answer_comes_out(
    question: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out" / "answer.wav"
    options = DemoOptions(input=question, output=output)
    assert run(options, server_command=FAKE_SERVER) == 0
    assert len(read_pcm(output)) == 9600
    printed = capsys.readouterr()
    assert "The capital of France is Paris." in printed.out
    assert "loading a fake model" in printed.err
    assert psutil.Process().children() == []


def test_the_default_question_is_named_by_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = DemoOptions(output=tmp_path / "answer.wav")
    assert run(options, server_command=FAKE_SERVER) == 0
    assert 'asking "What is the capital of France?"' in capsys.readouterr().out


def test_a_broken_question_fails_before_a_server_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = DemoOptions(input=tmp_path / "gone.wav")
    assert run(options, server_command=["/no/such/program"]) == 1
    assert "error: there is no file" in capsys.readouterr().err


def test_a_server_that_fails_to_start_is_one_line(
    question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = [sys.executable, "-c", "raise SystemExit('error: there is no model tiny.en')"]
    assert run(DemoOptions(input=question), server_command=broken) == 1
    last_line = capsys.readouterr().err.splitlines()[-1]
    assert last_line == "error: the server ended with code 1: there is no model tiny.en"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_a_signal_stops_the_server_too(number: int, code: int, question: Path) -> None:
    server = "import sys, threading; print('loading', file=sys.stderr); threading.Event().wait()"
    program = (
        "import sys; from pathlib import Path; from s2s_actors.client.demo import *\n"
        f"options = DemoOptions(input=Path({str(question)!r}))\n"
        f"sys.exit(run(options, server_command=[sys.executable, '-c', {server!r}]))"
    )
    demo = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    assert demo.stderr is not None
    with demo.stderr as errors:
        while errors.readline() != "loading\n":
            pass
        (child,) = psutil.Process(demo.pid).children()
        demo.send_signal(number)
        assert demo.wait(30) == code
        assert not child.is_running()


@pytest.mark.models
def test_the_real_server_answers_the_real_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "answer.wav"
    assert run(DemoOptions(output=output)) == 0
    printed = capsys.readouterr()
    assert re.search(r"heard +What is the capital of France\?", printed.out)
    assert re.search(r"answered +.*Paris", printed.out)
    assert "loading" in printed.err
    assert speech_end_ms(read_pcm(output)) is not None
