"""The response resource: usage that adds up, metadata within limits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.errors import ClientError
from s2s_actors.protocol.response import Usage, check_metadata


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**7))
def test_totals_are_the_sums_of_the_details(read: int, written: int, spoken_ms: int) -> None:
    usage = Usage.of(read=read, written=written, spoken_ms=spoken_ms)
    output = usage.output_token_details

    assert usage.total_tokens == usage.input_tokens + usage.output_tokens
    assert usage.output_tokens == output.text_tokens + output.audio_tokens
    assert usage.input_tokens == usage.input_token_details.text_tokens == read


@pytest.mark.parametrize(("spoken_ms", "tokens"), [(0, 0), (1, 1), (50, 1), (51, 2), (1000, 20)])
def test_an_audio_token_is_fifty_milliseconds_of_speech(spoken_ms: int, tokens: int) -> None:
    usage = Usage.of(read=0, written=0, spoken_ms=spoken_ms)

    assert usage.output_token_details.audio_tokens == tokens


@pytest.mark.parametrize(
    "metadata",
    [None, {}, {"k" * 64: "v" * 512}, {str(number): "" for number in range(16)}],
)
def test_metadata_within_the_limits_passes(metadata: dict[str, str] | None) -> None:
    check_metadata(metadata, param="response.metadata")


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        ({"k" * 65: ""}, "string_above_max_length"),
        ({"": "v" * 513}, "string_above_max_length"),
        ({str(number): "" for number in range(17)}, "invalid_value"),
    ],
)
def test_metadata_over_a_limit_is_refused(metadata: dict[str, str], code: str) -> None:
    with pytest.raises(ClientError) as caught:
        check_metadata(metadata, param="response.metadata")

    assert (caught.value.code, caught.value.param) == (code, "response.metadata")
    assert len(caught.value.message) < 300
