"""What a unit costs in memory and threads, and what idle units cost in processor time.

python measure_units.py [--idle-s 10] [--units 4 64] [-- SERVE_FLAG ...]

Starts ``s2s-actors serve`` once for each number of units, lets it come to rest, and reads
what the system says about the process. Needs ``psutil``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil

SETTLE_S = 2.0
MIB = 1024 * 1024


@dataclass(frozen=True)
class Reading:
    """One server at rest."""

    units: int
    rss_mib: float
    threads: int
    cpu_percent: float
    main_wake_ups: int


def measure(units: int, idle_s: float, serve_flags: list[str]) -> Reading:
    """Start a server, wait for it to settle, and watch it do nothing."""
    command = [sys.executable, "-m", "s2s_actors", "serve", "--port", "0"]
    command += ["--log-level", "warning", "--units", str(units), *serve_flags]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        if not server.stdout.readline().startswith("listening"):
            raise SystemExit("the server did not start")
        time.sleep(SETTLE_S)
        process = psutil.Process(server.pid)
        cpu_s, switches = _cpu_s(process), _main_wake_ups(server.pid)
        time.sleep(idle_s)
        return Reading(
            units,
            process.memory_info().rss / MIB,
            process.num_threads(),
            100 * (_cpu_s(process) - cpu_s) / idle_s,
            _main_wake_ups(server.pid) - switches,
        )
    finally:
        server.terminate()
        server.wait(30)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _main_wake_ups(pid: int) -> int:
    """How often the main thread has been put to sleep and woken (Linux)."""
    with open(f"/proc/{pid}/task/{pid}/status", encoding="ascii") as status:
        return sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)


def main() -> None:
    """Measure, print a table, and what one unit adds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, nargs="+", default=[4, 64])
    parser.add_argument("--idle-s", type=float, default=10.0)
    parser.add_argument("serve_flags", nargs="*", metavar="SERVE_FLAG")
    options = parser.parse_args()
    print("units  memory (MiB)  threads  idle CPU (%)  wake-ups of the main thread")
    readings = []
    for units in options.units:
        reading = measure(units, options.idle_s, options.serve_flags)
        readings.append(reading)
        print(
            f"{units:5}  {reading.rss_mib:12.1f}  {reading.threads:7}"
            f"  {reading.cpu_percent:12.1f}  {reading.main_wake_ups:27}",
            flush=True,
        )
    first, last = readings[0], readings[-1]
    if last.units > first.units:
        more = last.units - first.units
        print(
            f"one more unit: {(last.rss_mib - first.rss_mib) / more:.2f} MiB, "
            f"{(last.threads - first.threads) / more:g} threads"
        )


if __name__ == "__main__":
    main()
