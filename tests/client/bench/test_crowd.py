"""A crowd, from the streamer's process to the report."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from s2s_actors.backends.script import LlmScript, Script, SttScript, TtsScript
from s2s_actors.client.audio_file import write_wav
from s2s_actors.client.bench import crowd_streamer
from s2s_actors.client.bench.clips import clip_of
from s2s_actors.client.bench.crowd_plan import (
    Outcome,
    Plan,
    Steady,
    Stopping,
    Utterance,
    sound_of,
)
from s2s_actors.client.bench.crowd_streamer import stream
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.run import run
from s2s_actors.client.bench.seats import look_at
from s2s_actors.client.connection import session_update
from s2s_actors.errors import SetupError
from tests.support.fake_realtime import (
    Close,
    FakeRealtime,
    Hear,
    Send,
    SendText,
    answer,
    error,
    opening,
    utterance,
)
from tests.support.running_server import RunningServer, scripted_models
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from s2s_actors.client.bench.crowd_plan import Report
    from s2s_actors.client.bench.seats import Server
    from tests.support.fake_realtime import Step

SCRIPT = Script(
    stt=SttScript(answers=("What is it?",)),
    llm=LlmScript(answers=("It is a bench.",)),
    tts=TtsScript(ms_per_char=10, chunk_ms=20),
)
PCM = silence(60) + tone(400) + silence(40)


def streamed(url: str, *, sessions: int = 1, duration_s: float = 1.0) -> list[Report]:
    """What a streamer tells that lives in this process; each session speaks once."""
    reports: list[Report] = []
    plan = Plan(
        url=url,
        settings=session_update("Be brief."),
        sessions=sessions,
        piece_ms=20,
        clips=(sound_of(clip_of("tone", PCM)),),
        utterances=tuple(Utterance(number, 0, 1.0) for number in range(sessions)),
        duration_s=duration_s,
        timeout_s=5.0,
    )
    asyncio.run(stream(plan, reports.append))
    return reports


def outcome_of(script: Sequence[Step], **options: Any) -> Outcome:
    with FakeRealtime(script) as fake:
        outcome = streamed(fake.url, **options)[-1]
    assert isinstance(outcome, Outcome)
    return outcome


ONE_TURN: list[Step] = [
    *utterance(1, "What?", stop_after_ms=1600),
    *answer(1, ["Yes."], bytes(9600)),
]


def test_a_streamer_tells_when_all_are_there_and_when_it_ends() -> None:
    with FakeRealtime([*opening(), *ONE_TURN]) as fake:
        reports = streamed(fake.url, sessions=3)
        heard_ms = len(fake.heard) / 48
    assert fake.close_codes == [1000, 1000, 1000]
    assert [type(report) for report in reports] == [Steady, Stopping, Outcome]
    outcome = reports[-1]
    assert isinstance(outcome, Outcome)
    assert outcome.late_ms is not None
    # As many pieces as there are 20 ms in the time that was measured.
    assert outcome.late_ms.n == pytest.approx(3 * outcome.seconds * 50, abs=6)
    assert heard_ms > 3 * 1900
    assert [len(log.said) for log in outcome.logs] == [1, 1, 1]


def test_what_leaves_while_the_last_answers_are_waited_for_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crowd_streamer, "_TAIL_S", 0.5)
    outcome = outcome_of(opening())
    assert outcome.late_ms is not None
    assert outcome.late_ms.n == pytest.approx(outcome.seconds * 50, abs=6)
    assert len(outcome.logs[0].said) == 1


def test_what_turns_bring_is_kept_with_the_moments_at_which_speech_left() -> None:
    (log,) = outcome_of([*opening(), *ONE_TURN]).logs
    (said,) = log.said
    assert said.onset_s is not None
    assert said.end_s is not None
    assert said.end_s - said.onset_s == pytest.approx(0.4, abs=0.15)
    names = [kind.split(".")[-1] for _, kind in log.events]
    assert names == ["speech_started", "speech_stopped", "completed", "done"]
    times_s = [at_s for at_s, _ in log.events]
    assert times_s == sorted(times_s)
    assert (log.problem, log.errors, log.closed) == ("", [], "")


def test_errors_are_kept_and_do_not_end_a_session() -> None:
    script: list[Step] = [
        *opening(),
        Hear(200),
        error("input_backpressure", "Too much."),
        *ONE_TURN,
    ]
    (log,) = outcome_of(script).logs
    assert log.errors == ["input_backpressure: Too much."]
    assert log.closed == ""
    assert len(log.events) == 4


@pytest.mark.parametrize(
    ("step", "closed"),
    [(Close(1011, "sorry"), "1011 sorry"), (SendText("nonsense"), "this is no Realtime server")],
)
def test_a_session_that_the_server_ends_is_told(step: Step, closed: str) -> None:
    script: list[Step] = [*opening(), Hear(200), step]
    (log,) = outcome_of(script, duration_s=0.2).logs
    assert log.closed == closed


def test_sessions_that_never_come_about_say_why() -> None:
    created = Send({"type": "session.created"})
    outcome = outcome_of([created, error("full", "Later."), Close(1013)], sessions=2)
    assert [log.problem for log in outcome.logs] == [
        "the server refused the settings: Later.",
        "the server refused the settings: Later.",
    ]
    assert (outcome.late_ms, outcome.seconds) == (None, 0.0)


def measure(tmp_path: Path, **options: Any) -> tuple[int, dict[str, Any]]:
    clip = tmp_path / "clip.wav"
    write_wav(clip, PCM)
    path = tmp_path / "bench.json"
    settings: dict[str, Any] = {
        "scenarios": ("crowd",),
        "audio": (clip,),
        "window_ms": 200,
        "timeout_s": 5.0,
        "json": path,
        "html": tmp_path / "bench.html",
        **options,
    }
    return run(BenchOptions(**settings)), json.loads(path.read_text())


def test_a_crowd_is_listened_to_and_set_against_one_alone(tmp_path: Path) -> None:
    with RunningServer(scripted_models(SCRIPT), units=5) as server:
        url = f"ws://127.0.0.1:{server.port}"
        code, data = measure(
            tmp_path, url=url, sessions=3, duration_s=2.0, talking_percent=25.0, piece_ms=40
        )
    assert code == 0
    (point,) = data["crowds"]
    assert (point["sessions"], point["opened"], point["piece_ms"]) == (3, 3, 40)
    assert point["said"] == 3
    assert (point["missed"], point["false_starts"], point["errors"]) == (0, 0, {})
    assert point["started_ms"]["n"] == 3
    assert point["alone_started_ms"]["n"] == 1
    assert point["updated_ms"]["n"] > 0
    assert point["usage"] is None  # a server that is not ours
    assert [summary["scenario"] for summary in data["summaries"]] == [
        "crowd, alone",
        "crowd of 3",
    ]
    assert "Sessions that are listened to" in (tmp_path / "bench.html").read_text()


def test_a_sweep_measures_each_size_on_a_server_of_its_own(tmp_path: Path) -> None:
    kinds = ("vad", "stt", "llm", "tts", "turn")
    flags = tuple(part for kind in kinds for part in (f"--{kind}", "scripted"))
    code, data = measure(tmp_path, serve_args=flags, sweep=(1, 2), duration_s=1.0)
    assert code == 0
    assert [point["sessions"] for point in data["crowds"]] == [1, 2]
    for point in data["crowds"]:
        assert point["usage"]["rss_mb"] > 10
        assert point["usage"]["cores"] > 0
        # The system counts the machine's time by samples: of a second hardly used it may see none.
        assert point["usage"]["machine_cores"] >= 0
        assert point["usage"]["threads"] > 5
        assert point["cpu_ms_per_session_s"] > 0
    assert data["pools"]["A"]["size"] == 4
    assert psutil.Process().children() == []


def test_what_a_sweep_has_measured_is_shown_if_a_later_server_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunningServer(scripted_models(SCRIPT), units=4) as server:
        url = f"ws://127.0.0.1:{server.port}"
        asked: list[str] = []

        def look_once(name: str, url: str) -> Server:
            if asked:
                raise SetupError("no second server")
            asked.append(name)
            return look_at(name, url)

        monkeypatch.setattr("s2s_actors.client.bench.run.look_at", look_once)
        code, data = measure(tmp_path, url=url, sweep=(1, 2), duration_s=1.0)
    assert code == 1
    assert [point["sessions"] for point in data["crowds"]] == [1]
    assert "error: no second server" in capsys.readouterr().err


def test_a_server_that_has_no_room_breaks(tmp_path: Path) -> None:
    with RunningServer(scripted_models(SCRIPT), units=2) as server:
        url = f"ws://127.0.0.1:{server.port}"
        code, data = measure(tmp_path, url=url, sessions=3, duration_s=1.0)
    assert code == 0
    (point,) = data["crowds"]
    assert point["opened"] == 2
    ((reason, times),) = point["errors"].items()
    assert "in use" in reason
    assert f"{times} x {reason}" in point["breaks"]
