"""The energy ruler finds the end of speech."""

from __future__ import annotations

import pytest

from s2s_actors.client.speech import speech_end_ms, speech_regions_ms
from tests.support.sound import mixed, noise, silence, tone


def test_speech_ends_where_the_sound_ends() -> None:
    assert speech_end_ms(silence(300) + tone(500) + silence(700)) == 800


@pytest.mark.parametrize("noise_db", [-75.0, -60.0, -45.0])
def test_noise_does_not_move_the_end(noise_db: float) -> None:
    pcm = silence(500) + tone(500) + silence(700)
    end_ms = speech_end_ms(mixed(pcm, noise(1700, level_db=noise_db)))
    assert end_ms == pytest.approx(1000, abs=10)


@pytest.mark.parametrize("gain_db", [-40.0, -30.0, -6.0])
def test_quiet_and_loud_speech_end_at_the_same_time(gain_db: float) -> None:
    assert speech_end_ms(tone(500, level_db=gain_db) + silence(200)) == 500


@pytest.mark.parametrize(
    "pcm", [b"", silence(1000), noise(1000, level_db=-65.0), b"\0", silence(5) + b"\1"]
)
def test_there_is_no_end_where_there_is_no_speech(pcm: bytes) -> None:
    assert speech_end_ms(pcm) is None


def test_a_click_is_no_speech() -> None:
    assert speech_regions_ms(tone(400) + silence(600) + tone(10) + silence(400)) == [(0, 400)]


def test_a_short_pause_belongs_to_the_speech_and_a_long_one_parts_it() -> None:
    pcm = tone(300) + silence(100) + tone(300) + silence(500) + tone(300)
    assert speech_regions_ms(pcm) == [(0, 700), (1200, 1500)]


def test_speech_without_any_pause_is_speech() -> None:
    assert speech_regions_ms(tone(1000)) == [(0, 1000)]
