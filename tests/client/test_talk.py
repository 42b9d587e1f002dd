"""The talk command: a report and an exit code, whatever happens."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from s2s_actors.client.audio_file import read_pcm, write_wav
from s2s_actors.client.talk import TalkOptions, run
from tests.support.fake_realtime import Close, FakeRealtime, error, one_turn, opening, utterance
from tests.support.fake_sounddevice import FakeSoundDevice
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.fake_realtime import Step

ANSWER = tone(300, hz=880)


@pytest.fixture
def question(tmp_path: Path) -> Path:
    path = tmp_path / "question.wav"
    write_wav(path, silence(60) + tone(200))
    return path


def talk(script: list[Step], question: Path, output: Path | None, timeout_s: float = 5.0) -> int:
    with FakeRealtime(script) as server:
        return run(TalkOptions(url=server.url, input=question, output=output, timeout_s=timeout_s))


def test_a_question_in_a_file_gets_its_answer_in_a_file(
    question: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "out" / "answer.wav"
    assert talk(one_turn(question_ms=260, answer_pcm=ANSWER), question, output) == 0
    assert read_pcm(output) == ANSWER
    printed = capsys.readouterr()
    assert "The capital of France is Paris." in printed.out
    assert str(output) in printed.out.replace("\n", "")
    assert printed.err == ""


def test_an_answer_need_not_be_written(question: Path) -> None:
    assert talk(one_turn(question_ms=260, answer_pcm=ANSWER), question, None) == 0


def test_nothing_answered_fails_and_writes_nothing(
    question: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "answer.wav"
    script = [*opening(), *utterance(1, "Hello?", stop_after_ms=360)]
    assert talk(script, question, output, timeout_s=0.3) == 1
    assert not output.exists()
    assert "problem: the server answered nothing within 0.3 s" in capsys.readouterr().out


def test_a_full_server_is_one_line(question: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script: list[Step] = [error("session_limit_reached", "All units are in use."), Close(1013)]
    assert talk(script, question, None) == 1
    assert capsys.readouterr().err.splitlines() == [
        "error: the server refused the session: All units are in use. (session_limit_reached)"
    ]


def test_no_server_is_one_line_and_a_hint(
    question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeRealtime() as gone:
        url = gone.url
    assert run(TalkOptions(url=url, input=question)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("error: nothing listens at ws://127.0.0.1:")
    assert lines[1] == "hint: start one with: s2s-actors serve"


@pytest.mark.parametrize(
    ("pcm", "reason"), [(silence(500), "there is nothing to hear in"), (b"", "question.wav")]
)
def test_a_silent_or_empty_file_is_one_line(
    question: Path, pcm: bytes, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_wav(question, pcm)
    assert run(TalkOptions(input=question)) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert reason in line


def test_an_answer_that_can_t_be_written_still_shows_the_report(
    question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = question / "answer.wav"
    assert talk(one_turn(question_ms=260, answer_pcm=ANSWER), question, output) == 1
    printed = capsys.readouterr()
    assert "The capital of France is Paris." in printed.out
    assert printed.err.startswith(f"error: can't write {output}")


def test_two_questions_at_once_are_refused(
    question: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(TalkOptions(input=question, say="Hello?")) == 1
    assert "not from both" in capsys.readouterr().err


def test_a_blank_text_is_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(TalkOptions(say=" ")) == 1
    assert capsys.readouterr().err == "error: there is nothing to say: the text is blank\n"


def test_without_a_microphone_library_talking_live_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    assert run(TalkOptions()) == 1
    assert "hint: pip install 's2s_actors[microphone]'" in capsys.readouterr().err


def test_talking_live_shows_what_is_said_as_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", FakeSoundDevice())
    script = [*one_turn(question_ms=-80, answer_pcm=ANSWER), Close(1001, "going away")]
    output = tmp_path / "answer.wav"
    with FakeRealtime(script) as server:
        assert run(TalkOptions(url=server.url, output=output, timeout_s=5.0)) == 1
    printed = capsys.readouterr()
    assert "you     What is the capital of France?" in printed.out
    assert "answer  The capital of France is Paris." in printed.out
    assert printed.err == "error: the server closed the connection: 1001 going away\n"
    assert read_pcm(output) == ANSWER
