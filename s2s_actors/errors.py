"""Exceptions of s2s_actors, split by who has to react.

* :exc:`S2SError`
    * :exc:`ClientError` (the peer broke the protocol: answer it, keep the session)
    * :exc:`CapacityError` (no unit is idle: refuse the session)
    * :exc:`StageError` (a backend failed: fail the response, keep the server)
    * :exc:`SetupError` (the operator has to mend something: say what, exit)
"""

from __future__ import annotations


class S2SError(Exception):
    """Base class of every exception raised by s2s_actors."""


class ClientError(S2SError):
    """The client sent something that the protocol does not allow.

    Attributes:
        code: Stable machine-readable code, sent to the client.
        message: Text for a person, sent to the client.
        param: Path of the field at fault (``session.audio.output.speed``), if there is one.
        event_id: Id of the client event at fault, if it had one.
    """

    def __init__(
        self, code: str, message: str, *, param: str | None = None, event_id: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param
        self.event_id = event_id


class CapacityError(S2SError):
    """Every unit is in use, or the server takes no new sessions."""


class StageError(S2SError):
    """A backend failed while it worked for a session.

    Attributes:
        code: Stable machine-readable code; it reaches the client.
        message: Text that may reach the client: no path, key or stack trace in it.
        blames_request: Whether it failed because of what was asked, so that it says nothing
            about the backend's health.
    """

    def __init__(self, code: str, message: str, *, blames_request: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.blames_request = blames_request


class SetupError(S2SError):
    """The server or a command can't start: one clear line for the operator.

    Attributes:
        message: What is wrong, naming the setting, file or package.
        hint: The command or change that mends it, if one is known.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
