"""Audio in base64: what is taken, what is refused, and that nothing is lost."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio
from tests.protocol.playing import Player, error_of


@pytest.mark.parametrize(
    "text", ["abc", "!!!", "A", "=", "A===", "AA=A", "AAA", "AAAA AAAA", "é", "AAAA\n"]
)
def test_text_that_is_not_base64_is_refused(text: str) -> None:
    with pytest.raises(ClientError) as caught:
        audio.decode_append(text)

    assert (caught.value.code, caught.value.param) == ("invalid_value", "audio")


def test_an_empty_append_is_refused() -> None:
    with pytest.raises(ClientError, match="empty"):
        audio.decode_append("")


@pytest.mark.parametrize(
    ("value", "code"),
    [("abc", "invalid_value"), ("", "invalid_value"), (None, "invalid_type"), (5, "invalid_type")],
)
def test_a_bad_append_is_answered_and_later_audio_works(value: object, code: str) -> None:
    player = Player()
    error = error_of(player.send("input_audio_buffer.append", audio=value, event_id="e1"))
    assert (error["code"], error["param"], error["event_id"]) == (code, "audio", "e1")

    assert player.append(bytes(480)) == []
    assert player.now_ms == 10


def test_fifteen_mebibytes_fit_into_one_append_and_no_byte_more() -> None:
    most = base64.b64encode(bytes(audio.MAX_APPEND_BYTES)).decode()
    assert len(audio.decode_append(most)) == audio.MAX_APPEND_BYTES

    with pytest.raises(ClientError) as caught:
        audio.decode_append(base64.b64encode(bytes(audio.MAX_APPEND_BYTES + 3)).decode())
    assert (caught.value.code, caught.value.param) == ("string_above_max_length", "audio")


@given(st.binary(min_size=1, max_size=300))
def test_audio_survives_the_wire(data: bytes) -> None:
    assert audio.decode_append(audio.encode(data)) == data


@given(st.integers(0, 100_000))
def test_pieces_add_up_and_are_never_too_long(size: int) -> None:
    pcm = bytes(size * 2)
    pieces = audio.deltas(pcm)

    assert b"".join(pieces) == pcm
    assert all(0 < len(piece) <= audio.size_bytes(audio.DELTA_MS) for piece in pieces)


def test_milliseconds_and_bytes_agree() -> None:
    assert audio.size_bytes(20) == 960
    assert audio.duration_ms(960) == 20
    assert audio.duration_ms(959) == 19
