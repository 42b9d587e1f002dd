"""How the help texts of the commands are made: what it does, then examples."""

from __future__ import annotations

__all__ = ["taught"]

_KEEP_LINES = "\b"  # tells the help formatter to leave the lines of a paragraph as they are


def taught(what: str, *examples: str) -> str:
    """Return a help text of paragraphs and example command lines."""
    lines = "\n".join(f"  {example}" for example in examples)
    return f"{what}\n\n{_KEEP_LINES}\nExamples:\n{lines}"
