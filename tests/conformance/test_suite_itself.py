"""The suite's own tests: what it shows of good and bad servers, and its scripted helpers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from websockets.sync.server import ServerConnection, serve

from .not_yet import NOT_YET
from .realtime_conformance.checks import AREAS, CORE, FULL, Check
from .realtime_conformance.scorecard import FAILED, NOT_APPLICABLE, PASSED, Scorecard
from .realtime_conformance.scripted_model import answer
from .realtime_conformance.sound import from_pcmu, silence, to_pcma, to_pcmu, tone

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
CHECKLIST = {
    "transport": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    "session": [11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 23, 25, 26, 28],
    "input_audio_buffer": [29, 30, 31, 32, 33, 34, 35, 37, 39, 41, 42, 43],
    "conversation.item": [44, 46, 47, 48, 49, 50, 51, 54, 55, 56],
    "transcription": [58, 59, 60, 61, 62],
    "response": [63, 64, 65, 67, 68, 69, 70, 71, 72, 74, 76, 77, 78, 81],
    "tools": [83, 84, 85, 87, 88, 89],
    "error": [90, 91, 93, 94, 96],
}
"""Checks that carry a number; the numbers are stable, and not all are in use."""

SESSION: dict[str, Any] = {
    "type": "realtime",
    "object": "realtime.session",
    "id": "sess_1",
    "model": "fake",
    "output_modalities": ["audio"],
    "audio": {"input": {}, "output": {}},
}


def run_suite(*arguments: str) -> str:
    """What the suite prints, with the packages that this test has."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "--patience",
        "3",
        *arguments,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def greet(connection: ServerConnection, greeting: dict[str, Any]) -> None:
    """A server that knows two events, and closes at all others."""
    session = dict(greeting["session"])
    connection.send(json.dumps(greeting))
    for number, frame in enumerate(connection):
        event = json.loads(frame)
        if event["type"] != "session.update":
            return
        updated = {"type": "session.updated", "event_id": f"u{number}", "session": session}
        connection.send(json.dumps(updated))


@pytest.fixture
def greeting() -> dict[str, Any]:
    return {"type": "session.created", "event_id": "e1", "session": SESSION}


@pytest.fixture
def fake(greeting: dict[str, Any]) -> Iterator[str]:
    """The address of the fake server."""
    with serve(lambda connection: greet(connection, greeting), "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}/v1/realtime"
        server.shutdown()
        thread.join()


def row(printed: str, area: str) -> list[int]:
    """The numbers of an area in the scorecard."""
    found = re.search(rf"^{re.escape(area)} +([\d ]+)$", printed, re.MULTILINE)
    assert found is not None, printed
    return [int(number) for number in found[1].split()]


def test_the_scorecard_counts_what_passed_failed_and_did_not_apply(fake: str) -> None:
    chosen = "first_frame or wrong_key or offer_compression or ping_is_answered"
    printed = run_suite(str(HERE / "test_transport.py"), "--server", fake, "-k", chosen)
    assert row(printed, "transport") == [1, 1, 1, 1, 0, 0]
    assert row(printed, "all") == [1, 1, 1, 1, 0, 0]
    assert "1 check failed:" in printed
    assert "transport/compression (core) a client may offer compression: closed" in printed


def test_a_greeting_that_stock_clients_would_drop_fails(
    greeting: dict[str, Any], fake: str
) -> None:
    greeting["event_id"] = ""
    printed = run_suite(str(HERE / "test_transport.py"), "--server", fake, "-k", "first_frame")
    assert row(printed, "transport") == [0, 1, 0, 0, 0, 0]
    assert "no event_id" in printed


def test_faults_on_command_are_not_asked_of_other_servers(fake: str) -> None:
    printed = run_suite(str(HERE / "test_response.py"), "--server", fake, "-k", "failing_model")
    assert row(printed, "response") == [0, 0, 0, 0, 0, 2]


def test_gaps_of_the_own_server_excuse_no_other(fake: str) -> None:
    chosen = "dead_mcp_server"
    printed = run_suite(str(HERE / "test_tools.py"), "--server", fake, "-k", chosen)
    assert row(printed, "tools") == [0, 0, 0, 0, 1, 0]
    assert "known gap" not in printed


def test_every_number_of_the_checklist_has_a_check_and_no_id_is_given_twice() -> None:
    printed = run_suite(str(HERE), "--list-checks")
    lines = re.findall(r"^(\S+/.+?) +(core|full) +\w", printed, re.MULTILINE)
    ids = [check_id for check_id, _ in lines]
    assert [check_id for check_id, count in Counter(ids).items() if count > 1] == []
    numbers = {tuple(re.split(r"[/\[-]", check_id)[:2]) for check_id in ids}
    wanted = {(area, str(number)) for area, all_ in CHECKLIST.items() for number in all_}
    assert wanted <= numbers
    assert set(NOT_YET) <= set(ids)


def test_a_scorecard_shows_areas_in_their_order_and_failures_in_a_line_each() -> None:
    card = Scorecard()
    card.record(Check("tools/1", FULL, "a tool"), PASSED)
    card.record(Check("transport/1", CORE, "a door"), FAILED, "it is\nshut")
    card.record(Check("transport/2", CORE, "a window"), NOT_APPLICABLE)
    lines = list(card.lines())
    assert [line.split()[0] for line in lines[1:5]] == ["area", "transport", "tools", "all"]
    assert lines[2].split()[1:] == ["0", "1", "1", "0", "0", "0"]
    assert lines[-1] == "  transport/1 (core) a door: it is shut"


def test_a_failure_is_not_taken_back_by_what_follows() -> None:
    card = Scorecard()
    check = Check("error/1", CORE, "an error")
    card.record(check, FAILED, "first")
    card.record(check, PASSED)
    assert card.count("error", CORE) == Counter({FAILED: 1})
    assert AREAS[-1] == "error"


def messages(*texts: str) -> list[dict[str, Any]]:
    """A chat that begins with the user."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("chat", "said"),
    [
        (["Say exactly: Hello."], "Hello."),
        (["Hi.", "One two.", "Repeat your last answer verbatim."], "One two."),
        (["The secret word is zebra.", "Ah.", "What is the secret word?"], "It is zebra."),
        (["What is the secret word?"], "I do not know it."),
        (["Who?"], "You said Who?."),
    ],
)
def test_the_scripted_model_answers_from_what_it_was_given(chat: list[str], said: str) -> None:
    assert answer({"messages": messages(*chat)}).text == said


@pytest.mark.parametrize(
    ("choice", "called"),
    [("auto", ()), ("none", ()), ("required", ("f",)), ({"function": {"name": "g"}}, ("g",))],
)
def test_the_scripted_model_obeys_the_choice_of_tools(choice: Any, called: tuple[str]) -> None:
    tools = [{"function": {"name": name}} for name in "fg"]
    body = {"messages": messages("Hello."), "tools": tools, "tool_choice": choice}
    assert answer(body).calls == called


def test_companded_sound_is_a_sixth_as_large_and_sounds_alike() -> None:
    sound = tone(300)
    companded = to_pcmu(sound)
    assert len(companded) == len(to_pcma(sound)) == len(sound) // 6
    wanted = np.frombuffer(sound, "<i2").reshape(-1, 3).mean(axis=1)
    heard = np.frombuffer(from_pcmu(companded), "<i2")
    assert np.abs(heard - wanted).max() < 400
    assert to_pcmu(silence(1)) == b"\xff" * 8
    assert to_pcma(silence(1)) == b"\xd5" * 8
