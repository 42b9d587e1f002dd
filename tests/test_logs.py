"""The log's form: what it leaves out, and what it still tells."""

from __future__ import annotations

import io
import logging
import subprocess
import sys

import pytest

from s2s_actors.logs import DiscreetFormatter

SAID = "qzxvkwjbfp"


def shown(logger_name: str, message: str, *arguments: object, error: object = None) -> str:
    """What a line of the log looks like."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(DiscreetFormatter("%(levelname)s %(name)s: %(message)s"))
    record = logging.LogRecord(
        logger_name,
        logging.ERROR,
        "there.py",
        7,
        message,
        arguments,
        (type(error), error, error.__traceback__) if isinstance(error, BaseException) else None,
    )
    logging.Formatter().format(record)  # as another handler would: it leaves the text behind
    handler.handle(record)
    return out.getvalue()


def caught(error: Exception) -> Exception:
    try:
        raise error
    except type(error) as raised:
        return raised


def test_a_record_of_its_own_is_shown_whole() -> None:
    line = shown("s2s_actors.server", "%s: %d left", "the pool", 3)
    assert line == "ERROR s2s_actors.server: the pool: 3 left\n"


@pytest.mark.parametrize(
    "name", ["asyncio", "s2s_actors.server.websockets", "s2s_actors_of_others", "root"]
)
def test_of_a_librarys_record_only_the_place_is_shown(name: str) -> None:
    line = shown(name, f"it said {SAID} and %s", SAID)
    assert SAID not in line
    assert "there.py:7" in line


def test_of_an_exception_kind_and_place_are_shown_but_no_text() -> None:
    text = shown("s2s_actors", "it failed", error=caught(ValueError(SAID)))
    assert SAID not in text
    assert "ValueError" in text
    assert "test_logs.py" in text
    assert "raise error" in text


def test_what_led_to_an_exception_is_told_as_discreetly() -> None:
    error = caught(RuntimeError(SAID))
    error.__cause__ = caught(KeyError(SAID))
    text = shown("s2s_actors", "it failed", error=error)
    assert SAID not in text
    assert text.index("KeyError") < text.index("which led to") < text.index("RuntimeError")


def test_what_was_raised_while_an_exception_was_handled_is_told_as_discreetly() -> None:
    error = caught(RuntimeError(SAID))
    error.__context__ = caught(KeyError(SAID))
    text = shown("s2s_actors", "it failed", error=error)
    assert SAID not in text
    assert "KeyError" in text


def test_every_exception_of_a_group_is_told_as_discreetly() -> None:
    group = ExceptionGroup(SAID, [caught(KeyError(SAID)), caught(OSError(SAID))])
    text = shown("s2s_actors", "it failed", error=caught(group))
    assert SAID not in text
    assert "KeyError" in text
    assert "OSError" in text


def test_exceptions_that_lead_to_each_other_come_to_an_end() -> None:
    first, second = caught(ValueError(SAID)), caught(TypeError(SAID))
    first.__cause__, second.__cause__ = second, first
    text = shown("s2s_actors", "it failed", error=first)
    assert text.count("Traceback") == 2


def test_notes_of_an_exception_are_not_shown() -> None:
    error = caught(ValueError())
    error.add_note(SAID)
    assert SAID not in shown("s2s_actors", "it failed", error=error)


# --- in a process of its own ----------------------------------------------------------------

_SCRIPT = """
import gc, logging, sys, threading
from s2s_actors.logs import set_up_logs
set_up_logs("debug", with_content={with_content})
{body}
"""


def log_of(body: str, *, with_content: bool = False) -> str:
    """What a process that does this writes to standard error."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(with_content=with_content, body=body)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stderr


WAYS_OUT = {
    "main": f"raise ValueError('{SAID[:5]}' + '{SAID[5:]}')",
    "thread": f"""
def fail(): raise ValueError('{SAID[:5]}' + '{SAID[5:]}')
thread = threading.Thread(target=fail, name="worker")
thread.start(); thread.join()
""",
    "finalizer": f"""
class Leaver:
    def __del__(self): raise ValueError('{SAID[:5]}' + '{SAID[5:]}')
leaver = Leaver()
del leaver
""",
    "library": f"""
def send(text): logging.getLogger("httpx").warning("sent %s", text)
send('{SAID[:5]}' + '{SAID[5:]}')
""",
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_nothing_said_gets_out(way: str) -> None:
    log = log_of(WAYS_OUT[way])
    assert SAID not in log
    assert "withheld" in log


@pytest.mark.parametrize("way", WAYS_OUT)
def test_all_of_it_gets_out_if_the_operator_wants_it(way: str) -> None:
    assert SAID in log_of(WAYS_OUT[way], with_content=True)


@pytest.mark.parametrize("with_content", [False, True])
def test_libraries_are_never_asked_for_less_than_warnings(*, with_content: bool) -> None:
    body = f"""
logging.getLogger("httpx").info("{SAID}")
logging.getLogger("s2s_actors.x").debug("own")
"""
    log = log_of(body, with_content=with_content)
    assert "own" in log
    assert "httpx" not in log
