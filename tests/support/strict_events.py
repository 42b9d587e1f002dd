"""The strict validation of the conformance suite, for all other tests."""

from tests.conformance.realtime_conformance.strict_events import (
    EXTRA_FIELDS,
    FREE_FORM,
    NOT_OVER_WEBSOCKET,
    NULLS,
    _adapters,
    validate,
)

__all__ = ["EXTRA_FIELDS", "FREE_FORM", "NOT_OVER_WEBSOCKET", "NULLS", "_adapters", "validate"]
