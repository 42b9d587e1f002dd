"""The input buffer: one clock, whole samples, bounded size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.errors import ClientError
from s2s_actors.protocol import audio
from s2s_actors.protocol.input_audio import KEEP_SILENCE_MS, MAX_BUFFER_MS, InputAudioBuffer


def filled(length_ms: int) -> InputAudioBuffer:
    buffer = InputAudioBuffer()
    buffer.append(bytes(audio.size_bytes(length_ms)))
    return buffer


@given(st.lists(st.binary(max_size=7), max_size=20))
def test_odd_bytes_wait_for_the_next_append(chunks: list[bytes]) -> None:
    buffer = InputAudioBuffer()
    taken = b""
    for chunk in chunks:
        told = buffer.whole_samples(chunk)
        buffer.append(chunk)
        taken += told
        assert len(told) % 2 == 0
    whole = b"".join(chunks)

    assert taken == whole[: len(whole) // 2 * 2]
    assert buffer.end_samples == len(whole) // 2
    assert buffer.slice(0, 1000) == taken


def test_asking_what_an_append_would_add_changes_nothing() -> None:
    buffer = filled(10)
    buffer.append(b"x")
    assert buffer.whole_samples(b"yz") == b"xy"
    assert buffer.whole_samples(b"yz") == b"xy"
    assert buffer.end_ms == 10


def test_the_clock_goes_on_over_clear_and_commit() -> None:
    buffer = filled(100)
    buffer.clear()
    assert (buffer.start_ms, buffer.end_ms, buffer.held_ms) == (100, 100, 0)
    buffer.append(bytes(audio.size_bytes(50)))
    buffer.drop_before(120)
    assert (buffer.start_ms, buffer.end_ms, buffer.held_ms) == (120, 150, 30)


def test_clear_forgets_the_odd_byte_too() -> None:
    buffer = filled(10)
    buffer.append(b"x")
    buffer.clear()
    buffer.append(b"ab")

    assert buffer.slice(10, 20) == b"ab"


def test_a_slice_is_what_is_still_held() -> None:
    buffer = InputAudioBuffer()
    buffer.append(b"\1\0" * 24 * 10 + b"\2\0" * 24 * 10)
    buffer.drop_before(5)

    assert buffer.slice(0, 10) == b"\1\0" * 24 * 5
    assert buffer.slice(10, 99) == b"\2\0" * 24 * 10
    assert buffer.slice(0, 5) == b""
    assert buffer.slice(15, 12) == b""


def test_dropping_what_is_gone_or_to_come_changes_no_clock() -> None:
    buffer = filled(100)
    buffer.drop_before(50)
    buffer.drop_before(20)
    assert buffer.start_ms == 50
    buffer.drop_before(500)
    assert (buffer.start_ms, buffer.end_ms) == (100, 100)


def test_silence_is_trimmed_to_what_a_turn_may_need() -> None:
    buffer = filled(KEEP_SILENCE_MS + 1500)
    buffer.trim_silence(before_ms=0)
    assert buffer.start_ms == 0
    buffer.trim_silence(before_ms=1000)
    assert buffer.start_ms == 1000
    buffer.trim_silence(before_ms=KEEP_SILENCE_MS)
    assert (buffer.start_ms, buffer.held_ms) == (1500, KEEP_SILENCE_MS)


def test_trimming_keeps_all_that_nobody_has_listened_to() -> None:
    buffer = filled(KEEP_SILENCE_MS + 60_000)
    buffer.trim_silence(before_ms=-6000)

    assert buffer.start_ms == 0


def test_an_append_over_the_limit_is_refused_and_changes_nothing() -> None:
    buffer = filled(MAX_BUFFER_MS - 10)
    buffer.append(bytes(audio.size_bytes(10)))

    for action in (buffer.whole_samples, buffer.append):
        with pytest.raises(ClientError) as caught:
            action(b"ab")
        assert (caught.value.code, caught.value.param) == ("input_audio_buffer_full", "audio")
    assert buffer.held_ms == MAX_BUFFER_MS
    buffer.clear()
    buffer.append(b"ab")
