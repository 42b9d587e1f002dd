"""Noise reduction takes noise, and nothing else: no sample is lost or moved."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from s2s_actors.errors import ClientError
from s2s_actors.protocol.noise_reduction import Microphone, NoiseReducer

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytest.importorskip("webrtc_noise_gain")

RATE_HZ = 24_000
KINDS: list[Microphone] = ["near_field", "far_field"]


def noise(length_s: float, loudness: float = 800.0) -> NDArray[np.float64]:
    return np.random.default_rng(1).standard_normal(int(length_s * RATE_HZ)) * loudness


def bursts(length_s: float, loudness: float = 6000.0) -> NDArray[np.float64]:
    """A chord that comes and goes like syllables do, with a pitch that glides."""
    times = np.arange(int(length_s * RATE_HZ)) / RATE_HZ
    turns = np.cumsum(150 + 40 * np.sin(2 * np.pi * 1.3 * times)) / RATE_HZ
    chord = sum(np.sin(2 * np.pi * turns * number) / number for number in range(1, 15))
    waxing: NDArray[np.float64] = np.maximum(0, np.sin(2 * np.pi * 2 * times))
    return loudness * chord * waxing


def pcm(samples: NDArray[np.float64]) -> bytes:
    return np.clip(samples, -32768, 32767).astype("<i2").tobytes()


def reduced(kind: Microphone, data: bytes) -> NDArray[np.float64]:
    reducer = NoiseReducer(kind)
    return np.frombuffer(reducer.process(data) + reducer.flush(), "<i2").astype(float)


def level_db(samples: NDArray[np.float64]) -> float:
    return float(20 * np.log10(np.sqrt(np.mean(samples**2)) + 1e-3))


@given(
    size=st.integers(0, 6000),
    cuts=st.lists(st.integers(0, 6000), max_size=6),
    kind=st.sampled_from(KINDS),
)
def test_as_much_comes_out_as_went_in_however_it_is_cut(
    size: int, cuts: list[int], kind: Microphone
) -> None:
    data = pcm(noise(0.2))[:size]
    edges = [0, *sorted(min(cut, size) for cut in cuts), size]
    reducer = NoiseReducer(kind)
    out = [reducer.process(data[a:b]) for a, b in pairwise(edges)]
    whole = NoiseReducer(kind)
    assert b"".join(out) + reducer.flush() == whole.process(data) + whole.flush()
    assert len(b"".join(out)) <= size
    assert len(whole.process(data) + whole.flush()) == size


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_moves(kind: Microphone) -> None:
    clean = bursts(2)
    out = reduced(kind, pcm(clean))
    likeness = np.correlate(out[24_000:36_000], clean[23_500:36_500], mode="valid")
    assert abs(int(likeness.argmax()) - 500) <= 24  # a millisecond


@pytest.mark.parametrize("kind", KINDS)
def test_little_is_held_back(kind: Microphone) -> None:
    reducer, data = NoiseReducer(kind), pcm(noise(1))
    out = b"".join(reducer.process(data[start : start + 960]) for start in range(0, 48_000, 960))
    assert 0 < len(data) - len(out) <= 20 * 48


@pytest.mark.parametrize(("kind", "at_least_db"), [("near_field", 8), ("far_field", 12)])
def test_noise_gets_weaker_than_speech(kind: Microphone, at_least_db: float) -> None:
    mixed = noise(6)
    mixed[3 * RATE_HZ :] += bursts(3)
    out = reduced(kind, pcm(mixed))
    quiet, loud = slice(2 * RATE_HZ, 3 * RATE_HZ), slice(3 * RATE_HZ, None)
    before_db = level_db(mixed[loud]) - level_db(mixed[quiet])
    assert level_db(out[loud]) - level_db(out[quiet]) >= before_db + at_least_db


def test_only_who_is_far_away_is_made_louder() -> None:
    distant = bursts(6, loudness=300.0)
    near, far = reduced("near_field", pcm(distant)), reduced("far_field", pcm(distant))
    assert level_db(near) == pytest.approx(level_db(distant), abs=2)
    assert level_db(far[3 * RATE_HZ :]) > level_db(near[3 * RATE_HZ :]) + 4


def test_a_flush_is_a_new_beginning() -> None:
    reducer, data = NoiseReducer("near_field"), pcm(noise(0.5))
    first = reducer.process(data) + reducer.flush()
    assert reducer.flush() == b""
    assert reducer.process(data) + reducer.flush() == first


def test_a_server_without_the_library_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webrtc_noise_gain", None)
    with pytest.raises(ClientError, match="not installed") as refused:
        NoiseReducer("near_field")
    assert refused.value.param == "session.audio.input.noise_reduction"
