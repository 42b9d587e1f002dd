"""Sounds that are no words."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_actors.client.audio_file import duration_ms
from s2s_actors.client.bench.sounds import BURSTS, HUMS, NOISES, burst, hum, noise


def level_db(pcm: bytes) -> float:
    samples = np.frombuffer(pcm, "<i2").astype(float)
    return float(20 * np.log10(np.sqrt(np.mean(samples**2)) / 32768))


def spectrum(pcm: bytes) -> tuple[np.ndarray, np.ndarray]:
    samples = np.frombuffer(pcm, "<i2").astype(float)
    return np.fft.rfftfreq(len(samples), 1 / 24_000), np.abs(np.fft.rfft(samples)) ** 2


@pytest.mark.parametrize("kind", NOISES)
def test_a_noise_is_as_long_and_as_loud_as_it_should_be(kind: str) -> None:
    pcm = noise(kind, 2000)
    assert duration_ms(pcm) == 2000
    assert level_db(pcm) == pytest.approx(-32.0, abs=1.5)


def test_there_are_ten_kinds_and_no_two_are_alike() -> None:
    assert len(NOISES) == 10
    assert len({noise(kind, 500) for kind in NOISES}) == 10


@pytest.mark.parametrize("kind", NOISES)
def test_a_noise_is_the_same_each_time(kind: str) -> None:
    assert noise(kind, 300) == noise(kind, 300)


def test_pink_and_brown_fall_by_3_and_6_db_an_octave() -> None:
    for kind, fall_db in (("white", 0.0), ("pink", 3.0), ("brown", 6.0)):
        hz, power = spectrum(noise(kind, 6000))
        low = power[(hz >= 200) & (hz < 400)].mean()
        high = power[(hz >= 800) & (hz < 1600)].mean()
        assert 10 * np.log10(low / high) / 2 == pytest.approx(fall_db, abs=0.7)


def test_the_mains_hum_at_50_and_100_hz() -> None:
    hz, power = spectrum(noise("mains hum", 2000))
    assert set(hz[np.argsort(power)[-2:]]) == {50.0, 100.0}


@pytest.mark.parametrize("kind", BURSTS)
def test_a_burst_is_short(kind: str) -> None:
    assert 0 < duration_ms(burst(kind)) <= 300


@pytest.mark.parametrize("length_ms", HUMS)
def test_a_hum_is_a_voice_of_that_length(length_ms: int) -> None:
    pcm = hum(length_ms)
    assert duration_ms(pcm) == length_ms
    hz, power = spectrum(pcm)
    assert 100 < hz[np.argmax(power)] < 160
