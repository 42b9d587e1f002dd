"""A pause in the middle of a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from s2s_actors.client.audio_file import BYTES_PER_MS, duration_ms
from s2s_actors.client.bench.clips import Clip, clip_of
from s2s_actors.client.bench.pausing import paused, quietest_place_ms
from tests.support.sound import mixed, noise, silence, tone

# Two words with 60 ms between them, which is no pause; hiss all over.
_WORDS = silence(100) + tone(500) + silence(60) + tone(400) + silence(100)
SENTENCE = clip_of("two words", mixed(_WORDS, noise(1160, level_db=-70.0)), "two words")


def rms(pcm: bytes) -> float:
    return float(np.sqrt(np.mean(np.frombuffer(pcm, "<i2").astype(float) ** 2)))


def test_the_cut_is_where_the_middle_is_quietest() -> None:
    assert quietest_place_ms(SENTENCE) == pytest.approx(630, abs=20)


@pytest.mark.parametrize("pause_ms", [300, 500, 700])
def test_the_clip_is_longer_by_the_pause_and_knows_its_new_end(pause_ms: int) -> None:
    clip = paused(SENTENCE, pause_ms)
    assert duration_ms(clip.pcm) == duration_ms(SENTENCE.pcm) + pause_ms
    assert (clip.start_ms, clip.end_ms) == (SENTENCE.start_ms, SENTENCE.end_ms + pause_ms)
    measured = clip_of("again", clip.pcm)
    assert measured.end_ms == pytest.approx(clip.end_ms, abs=10)
    assert clip.reference == "two words"


def test_the_words_stay_as_they_are() -> None:
    clip = paused(SENTENCE, 500)
    cut = quietest_place_ms(SENTENCE) * BYTES_PER_MS
    fade, pause = 5 * BYTES_PER_MS, 500 * BYTES_PER_MS
    assert clip.pcm[: cut - fade] == SENTENCE.pcm[: cut - fade]
    assert clip.pcm[cut + pause + fade :] == SENTENCE.pcm[cut + fade :]


def test_the_pause_is_as_quiet_as_the_room() -> None:
    clip = paused(SENTENCE, 500)
    cut = quietest_place_ms(SENTENCE) * BYTES_PER_MS
    pause = clip.pcm[cut : cut + 500 * BYTES_PER_MS]
    room = SENTENCE.pcm[: 90 * BYTES_PER_MS]
    assert 20 * np.log10(rms(pause) / rms(room)) == pytest.approx(0.0, abs=2.0)


def test_digital_silence_gets_a_faint_hiss() -> None:
    clip = paused(Clip("clean", _WORDS, 100, 1060), 300)
    cut = quietest_place_ms(Clip("clean", _WORDS, 100, 1060)) * BYTES_PER_MS
    assert rms(clip.pcm[cut : cut + 300 * BYTES_PER_MS]) > 1.0
