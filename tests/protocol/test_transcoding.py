"""Audio on its way between a client's format and the 24 kHz inside."""

from __future__ import annotations

import base64
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.protocol import audio, g711
from s2s_actors.protocol.input_audio import MAX_BUFFER_MS
from s2s_actors.protocol.session import AudioFormat, PcmaFormat, PcmFormat, PcmuFormat
from s2s_actors.protocol.transcoding import WireDecoder, WireEncoder, encoded
from tests.protocol.playing import Player, one, types

G711 = [PcmuFormat(), PcmaFormat()]


def tone(rate_hz: int, length_ms: int, pitch_hz: float = 440.0) -> bytes:
    times = np.arange(rate_hz * length_ms // 1000) / rate_hz
    return (12000 * np.sin(2 * np.pi * pitch_hz * times)).astype("<i2").tobytes()


def loudest_hz(pcm: bytes, rate_hz: int) -> float:
    samples = np.frombuffer(pcm, "<i2")
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(np.argmax(spectrum) * rate_hz / len(samples))


def law_of(wire: AudioFormat) -> g711.Law:
    return "mu" if isinstance(wire, PcmuFormat) else "a"


def test_pcm_passes_as_it_is_in_both_directions() -> None:
    assert WireDecoder(PcmFormat()).decode(b"abc") == b"abc"
    assert WireDecoder(PcmFormat()).flush() == b""
    assert WireEncoder(PcmFormat()).encode(b"abcd") == b"abcd"
    assert WireEncoder(PcmFormat()).bytes_per_ms == 48


@pytest.mark.parametrize("wire", G711)
@given(cuts=st.lists(st.integers(0, 8000), max_size=6))
def test_what_comes_in_keeps_length_and_pitch_however_it_is_cut(
    wire: AudioFormat, cuts: list[int]
) -> None:
    data = g711.encode(tone(8000, 1000), law_of(wire))
    edges = [0, *sorted(cuts), len(data)]
    decoder = WireDecoder(wire)

    pcm = b"".join(decoder.decode(data[start:end]) for start, end in pairwise(edges))
    pcm += decoder.flush()

    assert abs(len(pcm) // 2 - 24_000) <= 1
    assert loudest_hz(pcm, 24_000) == pytest.approx(440, abs=2)


@pytest.mark.parametrize("wire", G711)
def test_what_goes_out_keeps_length_and_pitch_and_has_no_seams(wire: AudioFormat) -> None:
    pcm = tone(24_000, 1000)
    encoder = WireEncoder(wire)

    pieces = [encoder.encode(pcm[start : start + 4800]) for start in range(0, len(pcm), 4800)]
    pieces.append(encoder.encode(b"", last=True))

    heard = g711.decode(b"".join(pieces), law_of(wire))
    in_one = g711.decode(encoded(pcm, wire), law_of(wire))
    # The resampler may round differently at the edge of a chunk: by one code, never more.
    steps = np.frombuffer(heard, "<i2").astype(int) - np.frombuffer(in_one, "<i2").astype(int)
    assert np.abs(steps).max() <= 1024
    assert np.count_nonzero(steps) < len(steps) // 100
    assert abs(len(heard) // 2 - 8000) <= 1
    assert loudest_hz(heard, 8000) == pytest.approx(440, abs=2)
    assert encoder.bytes_per_ms == 8


def test_a_flushed_decoder_begins_anew() -> None:
    data = g711.encode(tone(8000, 100), "mu")
    decoder = WireDecoder(PcmuFormat())
    first = decoder.decode(data) + decoder.flush()

    assert decoder.decode(data) + decoder.flush() == first


def wire_bytes(player: Player, length_ms: int) -> bytes:
    """A tone as a telephone sends it."""
    wire = player.dialogue.session.audio.input.format
    return g711.encode(tone(8000, length_ms), law_of(wire))


@pytest.mark.parametrize("kind", ["audio/pcmu", "audio/pcma"])
def test_a_telephone_holds_a_turn_in_its_own_format(kind: str) -> None:
    player = Player()
    wire = {"format": {"type": kind}}
    player.update(audio={"input": {**wire, "turn_detection": None}, "output": wire})
    player.append(wire_bytes(player, 1000))
    committed = one(player.send("input_audio_buffer.commit"), "input_audio_buffer.committed")
    item_id = committed["item_id"]
    player.hears(item_id, "hello")

    response_id = player.respond()
    events = player.writes(response_id, "Hello there.") + player.ends(response_id)
    events += player.speaks_all(1000)

    deltas = [each for each in events if each["type"] == "response.output_audio.delta"]
    sent = b"".join(base64.b64decode(each["delta"]) for each in deltas)
    assert abs(len(sent) - 8000) <= 8
    done = one(events, "response.done")["response"]
    assert done["audio"]["output"]["format"] == {"type": kind}
    shown = one(
        player.send("conversation.item.retrieve", item_id=item_id), "conversation.item.retrieved"
    )
    audio = base64.b64decode(shown["item"]["content"][0]["audio"])
    assert abs(len(audio) - 8000) <= 8
    assert loudest_hz(g711.decode(audio, "mu" if kind == "audio/pcmu" else "a"), 8000) == (
        pytest.approx(440, abs=2)
    )
    player.finish()


def test_a_tenth_of_a_second_is_enough_for_a_telephone_too() -> None:
    player = Player()
    player.update_input(format={"type": "audio/pcmu"}, turn_detection=None)
    player.append(wire_bytes(player, 100))

    assert types(player.send("input_audio_buffer.commit"))[0] == "input_audio_buffer.committed"


def test_a_change_of_format_in_mid_stream_loses_nothing() -> None:
    player = Player()
    player.update_input(turn_detection=None)
    player.append(tone(24_000, 200))
    player.update_input(format={"type": "audio/pcmu"})
    player.append(wire_bytes(player, 200))
    player.update_input(format={"type": "audio/pcm", "rate": 24000})
    player.append(tone(24_000, 200))

    assert abs(player.now_ms - 600) <= 1


def test_half_a_sample_of_the_old_format_does_not_shift_the_new_one() -> None:
    player = Player()
    player.update_input(turn_detection=None)
    player.append(tone(24_000, 100) + b"\x7f")
    player.update_input(format={"type": "audio/pcmu"})
    player.append(wire_bytes(player, 1000))
    item_id = one(player.send("input_audio_buffer.commit"), "input_audio_buffer.committed")[
        "item_id"
    ]

    heard = player.work.utterances[item_id].pcm
    assert loudest_hz(heard, 24_000) == pytest.approx(440, abs=2)
    loudest = int(np.abs(np.frombuffer(heard, "<i2").astype(int)).max())
    assert loudest == pytest.approx(12_000, rel=0.1)  # shifted by a byte it is noise at full scale


def test_a_full_buffer_does_not_keep_a_format_from_changing() -> None:
    player = Player()
    player.update_input(format={"type": "audio/pcmu"}, turn_detection=None)
    player.append(wire_bytes(player, 1000))
    buffer = player.dialogue.listening.buffer
    buffer.append(bytes(audio.size_bytes(MAX_BUFFER_MS - buffer.held_ms) - 96))
    events = player.update_input(format={"type": "audio/pcma"})

    assert types(events) == ["session.updated"]
