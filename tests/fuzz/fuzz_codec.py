"""Fuzzes the codec with atheris, which keeps what leads into code not seen before.

``python -m tests.fuzz.fuzz_codec -max_total_time=60 [more of libFuzzer's flags] [directory]``

What is found on the way is kept in the directory (a temporary one by default), which may be used
again. Atheris is no dependency of the project: it is built for few systems. ``pip install
atheris`` brings it where it is to be had; the tests examine the same promises without it.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from pathlib import Path

_MISSING = "atheris is not installed (pip install atheris): the codec is not fuzzed by coverage\n"


def main(arguments: list[str]) -> int:
    """Fuzz until told to stop, or until something is found.

    Args:
        arguments: For libFuzzer, and a directory as the last one.
    """
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        sys.stderr.write(_MISSING)
        return 0
    with atheris.instrument_imports(include=["s2s_actors.protocol", "s2s_actors.errors"]):
        promises = importlib.import_module("tests.fuzz.codec_promises")
    flags = [each for each in arguments if each.startswith("-")]
    found = [each for each in arguments if not each.startswith("-")]
    directory = Path(found[0] if found else tempfile.mkdtemp(prefix="codec-"))
    directory.mkdir(parents=True, exist_ok=True)
    for seed in promises.CORPUS.iterdir():
        shutil.copy(seed, directory)
    atheris.Setup([sys.argv[0], *flags, str(directory)], promises.check_codec)
    atheris.Fuzz()  # ends the process
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
