"""The kinds of value: what each takes, refuses and shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.settings.values import Choice, Seconds, Size, Text, Url, Whole, Word

if TYPE_CHECKING:
    from s2s_actors.settings.values import Kind

WHOLE = Whole(0, 65535)
SECONDS = Seconds(0.5, 3600)
SIZE = Size(1024, 1024**3)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (WHOLE, ""),
        (WHOLE, "eight"),
        (WHOLE, "-1"),
        (WHOLE, "65536"),
        (WHOLE, "1.0"),
        (WHOLE, "1_000"),
        (WHOLE, " 7"),
        (WHOLE, "٣"),
        (WHOLE, "9" * 5000),
        (SECONDS, ""),
        (SECONDS, "soon"),
        (SECONDS, "0"),
        (SECONDS, "3600.1"),
        (SECONDS, "nan"),
        (SECONDS, "inf"),
        (SIZE, "1023"),
        (SIZE, "2 GiB"),
        (SIZE, "32 MB"),
        (SIZE, "-32"),
        (SIZE, "MiB"),
        (Word(), ""),
        (Word(), "two words"),
        (Text(), ""),
        (Text(), "  "),
        (Url(), "localhost:8000"),
        (Url(), "ftp://host/v1"),
        (Url(), "http://"),
        (Url(), "http://[::1"),
        (Url(), "http://host/a b"),
        (Choice(("info", "debug")), "loud"),
        (Choice(("info", "debug")), "INFO"),
    ],
)
def test_a_text_that_does_not_fit_is_refused(kind: Kind, text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the kind's whole answer
        kind.read(text)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (WHOLE, True),
        (WHOLE, 1.0),
        (WHOLE, "1"),
        (SECONDS, True),
        (SECONDS, "1"),
        (SIZE, True),
        (SIZE, 2048.0),
        (SIZE, [2048]),
        (Word(), 7),
        (Text(), 7),
        (Url(), 7),
        (Choice(("1",)), 1),
        (Choice(("1",)), ["1"]),
    ],
)
def test_a_value_of_another_type_is_refused(kind: Kind, value: object) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the kind's whole answer
        kind.check(value)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (WHOLE, "0", 0),
        (WHOLE, "65535", 65535),
        (SECONDS, "0.5", 0.5),
        (SECONDS, "3600", 3600.0),
        (SIZE, "1024", 1024),
        (SIZE, "32 MiB", 32 * 1024**2),
        (SIZE, "64kib", 64 * 1024),
        (SIZE, "1GiB", 1024**3),
        (Word(), "silero", "silero"),
        (Text(), "a path/with spaces", "a path/with spaces"),
        (Text(may_be_empty=True), "", ""),
        (Url(), "http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        (Choice(("info", "debug")), "debug", "debug"),
    ],
)
def test_a_text_that_fits_becomes_a_value(kind: Kind, text: str, value: object) -> None:
    assert kind.read(text) == value


@given(st.integers(1024, 1024**3))
def test_a_size_is_shown_as_something_that_reads_back(size: int) -> None:
    assert SIZE.check(SIZE.show(size)) == size


@given(st.floats(0.5, 3600))
def test_seconds_are_shown_as_something_that_reads_back(seconds: float) -> None:
    assert SECONDS.check(SECONDS.show(seconds)) == seconds


def test_what_is_allowed_names_the_limits_as_they_are_written() -> None:
    assert WHOLE.allowed == "a whole number from 0 to 65535"
    assert Seconds(0.01, 2_592_000).allowed == "a number of seconds from 0.01 to 2592000"
    assert "1 KiB to 1 GiB" in SIZE.allowed
