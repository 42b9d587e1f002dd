"""The checkers of the conformance suite, for all other tests."""

from tests.conformance.realtime_conformance.stream_checker import (
    CLIENT_TYPES,
    CrossSessionChecker,
    StreamChecker,
)

__all__ = ["CLIENT_TYPES", "CrossSessionChecker", "StreamChecker"]
