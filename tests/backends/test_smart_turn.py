"""Smart Turn tells a finished sentence from a broken-off one, in whatever window it comes."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np
import pytest

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.registry import load_backend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from s2s_actors.backends.base import TurnDetector
    from tests.support.speech import Speaker

pytestmark = pytest.mark.models

SENTENCES = (
    "What is the capital of France?",
    "Turn off the lights in the kitchen.",
    "How do I get from the station to the museum?",
    "The train that leaves at nine does not stop in Cambridge.",
    "Please set an alarm for seven thirty in the morning.",
    "I would like to order a large pizza with mushrooms and extra cheese.",
    "My name is Peter, and I live in a small town near the sea.",
)
PAUSE = np.zeros(1600, dtype=np.float32)


@pytest.fixture(scope="module")
def detector() -> TurnDetector:
    loaded = load_backend("turn", "smart-turn", BackendOptions())
    loaded.warm_up()
    return loaded


@pytest.fixture(scope="module")
def spoken(speaker: Speaker) -> list[NDArray[np.float32]]:
    """The sentences, without the silence around them."""
    clips = []
    for sentence in SENTENCES:
        samples = np.frombuffer(speaker.say(sentence), "<i2").astype(np.float32) / np.float32(32768)
        loud = np.flatnonzero(np.abs(samples) > 0.01)
        clips.append(samples[loud[0] : loud[-1]])
    return clips


def test_a_finished_sentence_sounds_finished_and_a_broken_off_one_does_not(
    detector: TurnDetector, spoken: list[NDArray[np.float32]]
) -> None:
    finished, broken_off = (
        [detector.completeness(np.concatenate([s[: int(part * s.size)], PAUSE])) for s in spoken]
        for part in (1.0, 0.6)
    )
    # Some of what is left of a sentence is a whole one, such as "Turn off the lights".
    assert mean(finished) > 0.75
    assert mean(broken_off) < mean(finished) - 0.25


def test_the_end_of_a_long_utterance_counts(
    detector: TurnDetector, spoken: list[NDArray[np.float32]]
) -> None:
    long = np.concatenate([*spoken, PAUSE])
    assert long.size > detector.window_samples
    expected = detector.completeness(long[-detector.window_samples :])
    assert detector.completeness(long) == expected


def test_a_short_utterance_counts_as_one_after_silence(
    detector: TurnDetector, spoken: list[NDArray[np.float32]]
) -> None:
    short = np.concatenate([spoken[0], PAUSE])
    silence = np.zeros(detector.window_samples - short.size, dtype=np.float32)
    expected = detector.completeness(np.concatenate([silence, short]))
    assert detector.completeness(short) == expected


def test_threads_may_ask_at_once(detector: TurnDetector, spoken: list[NDArray[np.float32]]) -> None:
    expected = [detector.completeness(clip) for clip in spoken]
    with ThreadPoolExecutor(len(spoken)) as threads:
        assert list(threads.map(detector.completeness, spoken)) == expected


def test_the_package_with_the_weights_is_not_imported(detector: TurnDetector) -> None:
    assert detector.info.source == "pipecat-ai"
    assert "pipecat" not in sys.modules
