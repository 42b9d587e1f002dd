"""Rules of the last event of a response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TypeAlias

    Event: TypeAlias = dict[str, Any]
    Fail: TypeAlias = Callable[[str, str], NoReturn]


def check_status(end: Event, fail: Fail) -> None:
    """How a response may end, and what it then has to say."""
    status, details = end["status"], end["status_details"]
    if status not in ("completed", "cancelled", "failed", "incomplete"):
        fail("I2", f"a response can't end as {status}")
    if status == "completed":
        if details is not None:
            fail("I2", "a completed response has no status_details")
        if any(item.get("status", "completed") != "completed" for item in end["output"]):
            fail("I2", "a completed response has only completed items")
    elif details is None or details.get("type") != status:
        fail("I2", f"status_details of a response that is {status} must say why")
    elif status == "failed" and not details.get("error", {}).get("code"):
        fail("I2", "a failed response names its error")
    elif status != "failed" and not details.get("reason"):
        fail("I2", f"a response that is {status} names its reason")


def check_usage(usage: Event | None, fail: Fail) -> None:
    """Tokens that add up."""
    if usage is None:
        fail("I2", "response.done has no usage")
    if usage["total_tokens"] != usage["input_tokens"] + usage["output_tokens"]:
        fail("I2", "usage: total_tokens is not the sum")
    output = usage["output_token_details"]
    if usage["output_tokens"] != output["text_tokens"] + output["audio_tokens"]:
        fail("I2", "usage: output_tokens is not the sum of its details")
    read = usage["input_token_details"]
    parts = ("text_tokens", "audio_tokens", "image_tokens")
    if usage["input_tokens"] != sum(read.get(name, 0) for name in parts):
        fail("I2", "usage: input_tokens is not the sum of its details")
