"""Each scenario, from the websocket to the report, against a server with scripted models."""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from s2s_actors.backends.script import LlmScript, Script, SttScript, TtsScript
from s2s_actors.client.audio_file import write_wav
from s2s_actors.client.bench import backchannel, conversation, noise_trials, rounds, story
from s2s_actors.client.bench.options import BenchOptions
from s2s_actors.client.bench.run import run
from tests.support.running_server import RunningServer, scripted_models
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from s2s_actors.client.bench.rows import Row

SCRIPT = Script(
    stt=SttScript(answers=("What is it?",)),
    llm=LlmScript(answers=("It is a bench.",)),
    tts=TtsScript(ms_per_char=10, chunk_ms=20),
)
SCRIPTED_FLAGS = tuple(
    part for kind in ("vad", "stt", "llm", "tts") for part in (f"--{kind}", "scripted")
)


@dataclass(frozen=True, slots=True)
class Report:
    code: int
    data: dict[str, Any]

    def summary(self, server: str = "A") -> dict[str, Any]:
        (found,) = (each for each in self.data["summaries"] if each["server"] == server)
        assert isinstance(found, dict)
        return found

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(self.data["rows"])


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes seconds for real servers takes tenths of it here."""
    monkeypatch.setattr(story, "HEARD_MS", 150.0)
    monkeypatch.setattr(backchannel, "_WATCHED_MS", 500.0)
    monkeypatch.setattr(backchannel, "_RESUME_MS", 500.0)
    monkeypatch.setattr(backchannel, "said", lambda _: [])
    monkeypatch.setattr(noise_trials, "NOISE_MS", 500)
    monkeypatch.setattr(noise_trials, "_WATCHED_MS", 500.0)
    monkeypatch.setattr(rounds, "_SPREAD_S", 0.1)
    monkeypatch.setattr(conversation, "_THINKING_S", (0.05, 0.2))


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with RunningServer(scripted_models(SCRIPT), units=4) as running:
        yield running


def measure(tmp_path: Path, server: RunningServer | None, **options: Any) -> Report:
    clip = tmp_path / "clip.wav"
    write_wav(clip, silence(60) + tone(600) + silence(60))
    texts = tmp_path / "texts.tsv"
    texts.write_text("clip.wav\twhat is it\n")
    path = tmp_path / "bench.json"
    settings: dict[str, Any] = {
        "url": f"ws://127.0.0.1:{server.port}" if server else None,
        "audio": (clip,),
        "reference": texts,
        "window_ms": 200,
        "turns": 1,
        "timeout_s": 5.0,
        "json": path,
        "html": tmp_path / "bench.html",
        **options,
    }
    code = run(BenchOptions(**settings))
    return Report(code, json.loads(path.read_text()))


def test_turns_are_measured_on_two_servers_in_turn(server: RunningServer, tmp_path: Path) -> None:
    with RunningServer(scripted_models(SCRIPT), units=4) as other:
        url = f"ws://127.0.0.1:{other.port}"
        report = measure(tmp_path, server, turns=2, sessions=2, compare=url)
    assert report.code == 0
    order = sorted(report.rows, key=lambda row: (row["at_s"], row["place"]["session"]))
    assert "".join(row["place"]["server"] for row in order) == "AABBBBAA"
    for name in ("A", "B"):
        summary = report.summary(name)
        assert summary["failures"] == {}
        assert summary["figures"]["latency_ms"]["n"] == 4
        assert summary["figures"]["latency_first_turn_ms"]["n"] == 2
        assert summary["counts"]["cut_off"] == {"count": 0, "of": 4}
        assert summary["counts"]["word_errors"] == {"count": 0, "of": 12}
    for probe in report.data["probes"]:
        assert probe["problem"] == ""
        assert probe["updated_ms"]["n"] > 0
    assert report.data["pools"]["A"]["size"] == 4
    assert "How it feels" in (tmp_path / "bench.html").read_text()


def test_the_window_moves_the_end_of_the_turn(server: RunningServer, tmp_path: Path) -> None:
    short, long = (
        measure(tmp_path, server, window_ms=window_ms).rows[0]["stopped_ms"]
        for window_ms in (200, 800)
    )
    assert long - short == pytest.approx(600, abs=150)


def test_a_long_answer_is_broken_into(server: RunningServer, tmp_path: Path) -> None:
    report = measure(tmp_path, server, scenarios=("barge-in",), turns=2)
    assert report.code == 0
    counts = report.summary()["counts"]
    assert counts["stopped"] == {"count": 2, "of": 2}
    assert counts["late_audio"] == {"count": 0, "of": 2}
    assert counts["first_word_heard"] == {"count": 2, "of": 2}
    assert counts["answered"] == {"count": 2, "of": 2}
    figures = report.summary()["figures"]
    assert 0 < figures["started_ms"]["p50"] <= figures["cancelled_ms"]["p50"]


@pytest.mark.parametrize(("window_ms", "cut_off"), [(200, 1), (800, 0)])
def test_a_pause_longer_than_the_window_cuts_off(
    window_ms: int, cut_off: int, server: RunningServer, tmp_path: Path
) -> None:
    report = measure(tmp_path, server, scenarios=("pauses",), window_ms=window_ms)
    assert report.code == 0
    counts = report.summary()["counts"]
    assert counts["cut_off_pause_300"] == {"count": cut_off, "of": 1}
    assert ("latency_ms" in report.summary()["figures"]) == (not cut_off)


def test_small_sounds_are_made_into_a_long_answer(server: RunningServer, tmp_path: Path) -> None:
    report = measure(tmp_path, server, scenarios=("backchannel",), turns=2)
    assert report.code == 0
    hum, cough = report.rows
    assert (hum["stimulus"], hum["kind"]) == ("hum of 200 ms", "word")
    assert (cough["stimulus"], cough["kind"]) == ("cough", "sound")
    assert {hum["problem"], cough["problem"]} == {""}


def test_noise_is_made_while_nobody_speaks(server: RunningServer, tmp_path: Path) -> None:
    report = measure(tmp_path, server, scenarios=("noise",), sessions=3)
    assert report.code == 0
    assert len({row["stimulus"] for row in report.rows}) == 10
    # The scripted VAD takes whatever is loud for speech, so it falls for most of them.
    assert report.summary()["counts"]["fell_for_noise"]["count"] > 5


def test_a_burst_tells_the_quickest_and_the_slowest_of_each_round_apart(
    server: RunningServer, tmp_path: Path
) -> None:
    report = measure(tmp_path, server, scenarios=("burst",), sessions=3, turns=2)
    assert report.code == 0
    figures = report.summary()["figures"]
    assert figures["latency_ms"]["n"] == 6
    quickest, slowest = figures["latency_quickest_ms"], figures["latency_slowest_ms"]
    assert (quickest["n"], slowest["n"]) == (2, 2)
    assert quickest["least"] == figures["latency_ms"]["least"]
    assert slowest["most"] == figures["latency_ms"]["most"]
    assert [figures[f"latency_place_{place}_ms"]["n"] for place in (1, 2, 3)] == [2, 2, 2]


def test_conversations_are_set_against_one_alone(server: RunningServer, tmp_path: Path) -> None:
    report = measure(tmp_path, server, scenarios=("conversation",), sessions=3, turns=2)
    assert report.code == 0
    alone, together = report.data["summaries"]
    assert (alone["scenario"], together["scenario"]) == ("conversation, alone", "conversation")
    assert (alone["trials"], together["trials"]) == (2, 6)
    times = together["figures"]["latency_ms"]["p90"] / alone["figures"]["latency_ms"]["p90"]
    assert together["ratios"]["latency_to_alone"]["p90"] == pytest.approx(times)
    assert alone["ratios"] == {}


def test_a_single_conversation_is_its_own_base(server: RunningServer, tmp_path: Path) -> None:
    report = measure(tmp_path, server, scenarios=("conversation",))
    assert [each["scenario"] for each in report.data["summaries"]] == ["conversation, alone"]


def test_a_conversation_with_a_full_server_fails_each_turn_and_ends(tmp_path: Path) -> None:
    with RunningServer(scripted_models(SCRIPT), units=1) as server:
        report = measure(tmp_path, server, scenarios=("conversation",), sessions=2, turns=2)
    _, together = report.data["summaries"]
    assert sum(together["failures"].values()) == 2
    assert together["trials"] == 4
    (probe,) = report.data["probes"]
    assert "session_limit_reached" in probe["problem"]  # it takes no unit from those who talk


def test_visitors_come_leave_and_are_followed_by_those_who_waited(tmp_path: Path) -> None:
    with RunningServer(scripted_models(SCRIPT), units=2, queue=1) as server:
        report = measure(tmp_path, server, scenarios=("visits",), turns=3)
    assert report.code == 0
    assert report.summary()["failures"] == {}
    figures = report.summary()["figures"]
    assert set(figures) == {"claim_ms", "claim_connected_ms", "leave_idle_ms", "leave_busy_ms"}
    assert {figure["n"] for figure in figures.values()} == {3}
    assert 0 < figures["claim_connected_ms"]["most"] < figures["claim_ms"]["most"]


def test_where_nobody_may_wait_there_are_no_visits_one_after_the_other(
    server: RunningServer, tmp_path: Path
) -> None:
    report = measure(tmp_path, server, scenarios=("visits",))
    assert report.code == 0
    (reason,) = report.summary()["failures"]
    assert "in use" in reason
    assert set(report.summary()["figures"]) == {"claim_ms", "claim_connected_ms"}


def test_visitors_to_a_server_of_our_own_may_wait_and_its_memory_is_read(tmp_path: Path) -> None:
    options: dict[str, Any] = {"scenarios": ("visits",), "sessions": 2, "reference": None}
    report = measure(tmp_path, None, url=None, serve_args=SCRIPTED_FLAGS, **options)
    assert report.code == 0
    assert report.summary()["failures"] == {}
    figures = report.summary()["figures"]
    assert figures["leave_busy_ms"]["n"] == figures["session_mb"]["n"] == 1
    assert figures["session_audio_mb"]["p50"] > 720 * 48 / 1e6  # the answer is in it, too


@pytest.mark.parametrize("units", [3, 5])
def test_a_soak_lets_callers_come_and_go(units: int, tmp_path: Path) -> None:
    # With three, each caller needs the unit that the one before has just left.
    with RunningServer(scripted_models(SCRIPT), units=units) as server:
        report = measure(tmp_path, server, scenarios=("soak",), sessions=2, duration_s=2.5)
    assert report.code == 0
    assert len(report.rows) >= 4
    firsts = [row["first"] for row in report.rows if row["place"]["session"] == 0]
    assert firsts[:2] == [True, False]
    assert report.summary()["failures"] == {}


def test_semantic_vad_and_its_eagerness_reach_the_server(
    server: RunningServer, tmp_path: Path
) -> None:
    eager, patient = (
        measure(tmp_path, server, turn_detection="semantic_vad", eagerness=eagerness).rows[0]
        for eagerness in ("high", "low")
    )
    assert {eager["problem"], patient["problem"]} == {""}


def test_a_server_of_its_own_is_started_and_stopped(tmp_path: Path) -> None:
    report = measure(tmp_path, None, url=None, serve_args=SCRIPTED_FLAGS, reference=None)
    assert report.code == 0
    assert report.summary()["figures"]["latency_ms"]["n"] == 1
    assert report.data["pools"]["A"]["size"] == 3
    assert psutil.Process().children() == []


def test_a_server_that_is_full_is_counted_and_the_others_are_measured(tmp_path: Path) -> None:
    with RunningServer(scripted_models(SCRIPT), units=1) as server:
        report = measure(tmp_path, server, sessions=2)
    assert report.code == 0
    (reason,) = report.summary()["failures"]
    assert "in use" in reason


def test_what_was_measured_before_an_interruption_is_shown(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = rounds.Watch.add

    def interrupt_after(watch: rounds.Watch, row: Row) -> None:
        measured(watch, row)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(rounds.Watch, "add", interrupt_after)
    report = measure(tmp_path, server, turns=3)
    assert report.code == 130
    assert len(report.rows) == 1


def test_a_scenario_that_could_not_be_measured_is_exit_code_1(
    server: RunningServer, tmp_path: Path
) -> None:
    report = measure(tmp_path, server, url="ws://127.0.0.1:9")
    assert report.code == 1
    (reason,) = report.summary()["failures"]
    assert "nothing listens" in reason


def test_a_broken_recording_fails_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = BenchOptions(url="ws://127.0.0.1:9", audio=(tmp_path / "gone.wav",))
    assert run(options) == 1
    assert "error: there is no file" in capsys.readouterr().err
