"""The log's writer: what becomes of lines that nobody reads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import IO

_SCRIPT = """
import logging, os, sys
from s2s_actors.log_writer import LogWriter
read_end, write_end = os.pipe()
writer = LogWriter(write_end, most_lines={most_lines})
logger = logging.getLogger("x")
logger.addHandler(writer)
logger.setLevel(logging.INFO)
{body}
"""
_SERVER_LOG = """
import logging
from s2s_actors.logs import set_up_logs
set_up_logs("info", with_content=False)
logging.getLogger("s2s_actors").info("a line")
print("still here")
"""
_COUNT_LOST = """
import re, threading
for number in range(5000):
    logger.info("%0100d", number)
got = bytearray()
def read_on():
    while not got.endswith(b"end\\n"):
        got.extend(os.read(read_end, 1 << 20))
reader = threading.Thread(target=read_on)
reader.start()
writer.flush()
logger.info("end")
reader.join()
text = got.decode()
print(len(re.findall("(?m)^[0-9]+$", text)), sum(map(int, re.findall(r"\\((\\d+) lines", text))))
"""
_BYTES = 100
"""Of a line; a pipe takes 65,536."""


def run_in_process(body: str, most_lines: int = 10_000) -> str:
    """What a process prints that logs into a pipe of its own; at its end nobody reads that."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(body=body, most_lines=most_lines)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    return done.stdout


def test_lines_come_out_in_their_order() -> None:
    said = run_in_process("""
for number in range(500):
    logger.info("line %d", number)
writer.flush()
sys.stdout.write(os.read(read_end, 1 << 20).decode())
""")
    assert said.splitlines() == [f"line {number}" for number in range(500)]


def test_who_logs_does_not_wait_for_who_reads_nor_does_the_end_of_the_process() -> None:
    said = run_in_process(f"""
for number in range(5000):
    logger.info("%0{_BYTES}d", number)
print("still here")
""")
    assert said == "still here\n"


def test_lines_that_found_no_room_are_counted() -> None:
    said = run_in_process(_COUNT_LOST, most_lines=50)
    written, lost = map(int, said.split())
    assert lost > 0
    assert written + lost == 5000


def test_a_closed_pipe_is_no_accident() -> None:
    said = run_in_process("""
os.close(read_end)
logger.info("to nobody")
writer.flush()
print("still here")
""")
    assert said == "still here\n"


def test_what_no_encoding_has_is_written_all_the_same() -> None:
    said = run_in_process(r"""
logger.info("half a pair: %s", chr(0xD800))
writer.flush()
sys.stdout.write(os.read(read_end, 1 << 20).decode())
""")
    assert said == "half a pair: \\ud800\n"


def _full(pipe: IO[bytes]) -> None:
    """Fill a pipe to its brim."""
    os.set_blocking(pipe.fileno(), False)
    try:
        while True:
            os.write(pipe.fileno(), bytes(4096))
    except BlockingIOError:
        os.set_blocking(pipe.fileno(), True)


def test_a_process_whose_log_nobody_reads_goes_on_and_ends() -> None:
    read_end, write_end = os.pipe()
    try:
        with os.fdopen(write_end, "wb", buffering=0) as pipe:
            _full(pipe)
            done = subprocess.run(
                [sys.executable, "-c", _SERVER_LOG],
                stdout=subprocess.PIPE,
                stderr=pipe,
                text=True,
                timeout=60,
                check=False,
            )
    finally:
        os.close(read_end)
    assert (done.stdout, done.returncode) == ("still here\n", 0)
