"""The flags of the bench command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from s2s_actors.cli import run
from s2s_actors.client.bench import run as bench_run
from s2s_actors.client.bench.options import SCENARIOS, BenchOptions

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., BenchOptions]:
    """Run the command with flags; return what it asks the bench for."""
    taken: list[BenchOptions] = []

    def take(options: BenchOptions) -> int:
        taken.append(options)
        return 0

    monkeypatch.setattr(bench_run, "run", take)

    def ask(*flags: str) -> BenchOptions:
        assert run(["bench", *flags]) == 0
        return taken[-1]

    return ask


def test_by_default_it_asks_the_server_where_serve_listens(
    asked: Callable[..., BenchOptions],
) -> None:
    options = asked()
    assert options.url == "ws://127.0.0.1:8765/v1/realtime"
    assert options.scenarios == ("turns",)
    assert options.turn_detection_settings() == {"type": "server_vad"}


def test_flags_reach_the_bench(asked: Callable[..., BenchOptions]) -> None:
    options = asked(
        *("--url", "ws://x", "--compare", "ws://y", "--sessions", "3", "--turns", "5"),
        *("--warm-up", "1", "--audio", "a.wav", "--audio", "b.wav", "--json", "o.json"),
        *("--window", "200", "--duration", "9", "--html", "o.html", "--reference", "t.tsv"),
    )
    assert (options.url, options.compare, options.sessions) == ("ws://x", "ws://y", 3)
    assert (options.turns, options.warm_up, options.duration_s) == (5, 1, 9.0)
    assert options.audio == (Path("a.wav"), Path("b.wav"))
    assert (options.json, options.html) == (Path("o.json"), Path("o.html"))
    assert options.reference == Path("t.tsv")
    assert options.turn_detection_settings() == {
        "type": "server_vad",
        "silence_duration_ms": 200,
    }


def test_a_crowd_may_be_swept_from_the_smallest_to_the_largest(
    asked: Callable[..., BenchOptions],
) -> None:
    flags = ("--scenario", "crowd", "--talking", "0", "--piece", "40")
    options = asked(*flags, "--sweep", "50,1,50,25")
    assert options.sweep == (1, 25, 50)
    assert (options.talking_percent, options.piece_ms) == (0.0, 40)
    assert asked(*flags).sweep == ()


def test_scenarios_come_in_our_order_and_all_means_all(
    asked: Callable[..., BenchOptions],
) -> None:
    assert asked("--scenario", "noise", "--scenario", "turns").scenarios == ("turns", "noise")
    assert asked("--scenario", "all").scenarios == SCENARIOS


@pytest.mark.parametrize(
    ("flags", "settings"),
    [
        (("--turn-detection", "as-is"), None),
        (("--turn-detection", "semantic_vad"), {"type": "semantic_vad"}),
        (
            ("--turn-detection", "semantic_vad", "--eagerness", "high", "--window", "200"),
            {"type": "semantic_vad", "eagerness": "high"},
        ),
    ],
)
def test_how_turns_end_is_said_in_the_terms_of_the_protocol(
    flags: tuple[str, ...],
    settings: dict[str, object] | None,
    asked: Callable[..., BenchOptions],
) -> None:
    assert asked(*flags).turn_detection_settings() == settings


@pytest.mark.parametrize("flags", [("--serve",), ("--", "--llm", "scripted")])
def test_a_server_of_its_own_is_started_for_serve_or_serve_flags(
    flags: tuple[str, ...], asked: Callable[..., BenchOptions]
) -> None:
    options = asked(*flags)
    assert options.url is None
    assert options.serve_args == flags[1:]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--scenario", "dance"), "there is no scenario 'dance'"),
        (("--url", "ws://x", "--serve"), "exclude each other"),
        (("--turns", "2", "--warm-up", "2"), "leaves no turn to count"),
        (("--sessions", "0"), "--sessions"),
        (("--sweep", "1,2"), "for the scenario crowd alone"),
        (("--scenario", "all", "--sweep", "1,2"), "for the scenario crowd alone"),
        (("--scenario", "crowd", "--sweep", "1,b"), "numbers with commas between, not '1,b'"),
        (("--scenario", "crowd", "--sweep", "0,1"), "from 1 on"),
        (("--scenario", "crowd", "--talking", "60"), "--talking"),
    ],
)
def test_nonsense_is_refused_as_wrong_usage(
    flags: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", *flags]) == 2
    assert message in capsys.readouterr().err


def test_the_help_teaches_by_examples(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "--help"]) == 0
    shown = capsys.readouterr().out
    for flag in ("--scenario", "--compare", "--window", "--eagerness", "--html", "--duration"):
        assert flag in shown
    assert "s2s-actors bench --scenario all --html bench.html" in shown
