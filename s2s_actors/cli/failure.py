"""The exception of a command that was used rightly and yet did not succeed."""

from __future__ import annotations

from s2s_actors.errors import S2SError

__all__ = ["CommandFailed"]


class CommandFailed(S2SError):  # noqa: N818 - what happened, not who is to blame
    """The work of a command failed: exit code 1.

    Attributes:
        message: One line for the operator.
        hint: What mends it, if that is known.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
