"""Which failed requests are made again, and after how long."""

from __future__ import annotations

from email.utils import formatdate

import httpx2
import openai
import pytest

from s2s_actors.backends.openai_retry import LONGEST_WAIT_S, MAX_RETRIES, wait_before_retry_s

NOW_S = 1_700_000_000.0
REQUEST = httpx2.Request("POST", "http://x/v1/chat/completions")


def _refused(status: int, retry_after: str | None = None) -> openai.APIStatusError:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    response = httpx2.Response(status, headers=headers, request=REQUEST)
    return openai.APIStatusError("no", response=response, body=None)


def _wait_s(
    error: openai.OpenAIError, retries: int = 0, chance: float = 1.0, now_s: float = NOW_S
) -> float | None:
    return wait_before_retry_s(error, retries, chance=chance, now_s=now_s)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_again_after_a_wait_that_doubles(status: int) -> None:
    waits_s = [_wait_s(_refused(status), retries) for retries in range(MAX_RETRIES + 1)]
    assert waits_s == [0.25, 0.5, None]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422])
def test_a_request_that_is_at_fault_is_not_made_again(status: int) -> None:
    assert _wait_s(_refused(status)) is None


@pytest.mark.parametrize(
    "error",
    [openai.APIConnectionError(request=REQUEST), openai.APITimeoutError(request=REQUEST)],
)
def test_a_connection_that_failed_is_tried_again(error: openai.OpenAIError) -> None:
    assert _wait_s(error) == 0.25


def test_other_failures_are_left_alone() -> None:
    assert _wait_s(openai.OpenAIError("what is this?")) is None


def test_chance_halves_the_wait_at_most() -> None:
    assert [_wait_s(_refused(503), 1, chance) for chance in (0.0, 0.5, 1.0)] == [0.25, 0.375, 0.5]


@pytest.mark.parametrize(
    ("given", "waited_s"),
    [
        ("2", 2.0),
        ("2.5", 2.5),
        (formatdate(NOW_S + 3, usegmt=True), 3.0),
        (str(LONGEST_WAIT_S), LONGEST_WAIT_S),
        ("0", 0.25),
        ("-5", 0.25),
        (formatdate(NOW_S - 60, usegmt=True), 0.25),
        ("nan", 0.25),
        ("soon", 0.25),
        ("", 0.25),
    ],
)
def test_retry_after_lengthens_the_wait_and_never_shortens_it(given: str, waited_s: float) -> None:
    assert _wait_s(_refused(429, given)) == pytest.approx(waited_s)


@pytest.mark.parametrize(
    "given", [str(LONGEST_WAIT_S + 0.1), "inf", "9" * 400, formatdate(NOW_S + 3600, usegmt=True)]
)
def test_who_asks_for_too_long_is_not_asked_again(given: str) -> None:
    assert _wait_s(_refused(503, given)) is None
