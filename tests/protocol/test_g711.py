"""G.711 tables, held against FFmpeg's codecs."""

from __future__ import annotations

from typing import Final

import av
import numpy as np
import pytest

from s2s_actors.protocol import g711

LAWS: Final[tuple[tuple[g711.Law, str], ...]] = (("mu", "pcm_mulaw"), ("a", "pcm_alaw"))
ALL_CODES = bytes(range(256))


def reference_decode(codec: str, data: bytes) -> bytes:
    context = av.CodecContext.create(codec, "r")
    context.sample_rate = g711.RATE_HZ
    context.layout = "mono"
    return b"".join(frame.to_ndarray().tobytes() for frame in context.decode(av.Packet(data)))


@pytest.mark.parametrize(("law", "codec"), LAWS)
def test_every_code_has_the_value_that_the_recommendation_gives_it(
    law: g711.Law, codec: str
) -> None:
    assert g711.decode(ALL_CODES, law) == reference_decode(codec, ALL_CODES)


@pytest.mark.parametrize("law", ["mu", "a"])
def test_a_value_that_has_a_code_survives_the_way_there_and_back(law: g711.Law) -> None:
    values = g711.decode(ALL_CODES, law)

    assert g711.decode(g711.encode(values, law), law) == values


@pytest.mark.parametrize("law", ["mu", "a"])
def test_any_value_gets_the_nearest_code(law: g711.Law) -> None:
    samples = np.arange(-32768, 32768, dtype=np.int32)
    values = np.frombuffer(g711.decode(ALL_CODES, law), "<i2").astype(np.int32)

    coded = np.frombuffer(
        g711.decode(g711.encode(samples.astype("<i2").tobytes(), law), law), "<i2"
    ).astype(np.int32)

    nearest = np.abs(samples[:, None] - values[None, :]).min(axis=1)
    assert np.array_equal(np.abs(samples - coded), nearest)


def test_silence_is_silence() -> None:
    assert g711.decode(g711.encode(bytes(4), "mu"), "mu") == bytes(4)
    quietest = np.frombuffer(g711.decode(g711.encode(bytes(4), "a"), "a"), "<i2")
    assert np.abs(quietest).max() == 8  # A-law has no zero
