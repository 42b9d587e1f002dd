"""The generated pages of the reference: what the code says of its commands and settings.

``python -m s2s_actors.cli.reference docs/reference`` writes them; a test checks that the
ones in the tree are current.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer.main

from s2s_actors.cli.app import PROGRAM, build_app
from s2s_actors.settings import settings_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["reference_pages"]

_WIDTH = 100

_CONFIGURATION = """\
# Configuration

Every setting of `s2s-actors serve` can be given as a flag, as an environment variable or in
a TOML file that `--config FILE` (or `S2S_CONFIG`) names. A flag beats the environment, which
beats the file, which beats the default. An empty variable counts as not set. An unknown key
or `S2S_` variable and a value that does not fit are refused by name, with exit code 2.

`s2s-actors serve --print-config` shows what is set and where each value comes from. Away
from a terminal it prints TOML, so its output can be used as a file:

```console
$ s2s-actors serve --units 8 --print-config > s2s.toml
$ s2s-actors serve --config s2s.toml
```

The key of a language model's server is a secret: it has no flag, because command lines can be
read by every user of a machine, and it is never printed. `S2S_DEBUG=1` (or
`s2s-actors --debug`) shows the stack traces of errors.

"""

_COMMANDS = """\
# Command line

Results go to standard output, progress and logs to standard error.

| exit code | meaning |
| --- | --- |
| 0 | it worked |
| 1 | it did not: nothing heard, nothing answered, port in use, file that can't be written |
| 2 | wrong usage or configuration |
| 130 | interrupted |

"""


class _Helpful(Protocol):
    def get_help(self) -> str: ...


def reference_pages() -> Mapping[str, str]:
    """Return the text of each generated page by its file name."""
    return {
        "configuration.md": _CONFIGURATION + settings_reference(),
        "cli.md": _COMMANDS + "\n".join(_sections()),
    }


def _sections() -> Iterator[str]:
    group = typer.main.get_group(build_app())
    # The width is set, or else the pages would depend on the terminal.
    with group.make_context(PROGRAM, [], resilient_parsing=True, terminal_width=_WIDTH) as top:
        yield from _section(PROGRAM, top)
        for name, command in group.commands.items():
            with command.make_context(
                name, [], parent=top, resilient_parsing=True, terminal_width=_WIDTH
            ) as context:
                yield from _section(f"{PROGRAM} {name}", context)


def _section(title: str, context: _Helpful) -> Iterator[str]:
    yield f"## `{title}`\n"
    yield f"```text\n{context.get_help()}\n```\n"


def main(folder: Path) -> None:
    """Write the pages into a folder."""
    for name, text in reference_pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{folder / name}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
