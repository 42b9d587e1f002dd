"""Starts the command line: ``s2s-actors`` and ``python -m s2s_actors``."""

from __future__ import annotations

import sys

from s2s_actors.cli import run
from s2s_actors.streams import finish_streams, open_streams

_INTERRUPTED = 130
SWITCH_INTERVAL_S = 0.001


def main() -> None:
    """Run the command that the arguments name, and exit with its code."""
    # A thread that burns Python bytecode (a model's decoding loop) keeps the interpreter
    # lock for a whole switch interval. With CPython's 5 ms, a message between two actors
    # beside such a thread took 6-8 ms (95th percentile); with 1 ms it took 54 µs. This is
    # a property of the process, so it is set here and never by code that is imported.
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    open_streams()
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = _INTERRUPTED
    except SystemExit:
        finish_streams(0)
        raise
    sys.exit(finish_streams(code))


if __name__ == "__main__":
    main()
