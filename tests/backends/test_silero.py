"""Silero streams equal the package's own wrapper, and do not hear each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import silero_vad
import torch

from s2s_actors.backends.base import BackendOptions
from s2s_actors.backends.silero import SileroStream, SileroVad

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.support.speech import Speaker

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def vad() -> SileroVad:
    loaded = SileroVad.load(BackendOptions(), print)
    loaded.warm_up()
    return loaded


@pytest.fixture(scope="module")
def frames(speaker: Speaker) -> NDArray[np.float32]:
    pcm = np.frombuffer(speaker.say("Hello there, how are you today?"), dtype="<i2")
    silence = np.zeros(512 * 20, dtype=np.float32)
    audio = np.concatenate([silence, pcm.astype(np.float32) / 32768.0, silence])
    return audio[: audio.size // 512 * 512].reshape(-1, 512)


def test_a_stream_equals_the_packages_wrapper(vad: SileroVad, frames: NDArray[np.float32]) -> None:
    wrapper = silero_vad.load_silero_vad(onnx=True)
    theirs = [wrapper(torch.from_numpy(frame), 16_000).item() for frame in frames]
    stream = vad.open_stream("s")
    ours = [stream.probability(frame) for frame in frames]
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert max(ours) > 0.9
    assert min(ours) < 0.1


def test_streams_do_not_hear_each_other(vad: SileroVad, frames: NDArray[np.float32]) -> None:
    alone = vad.open_stream("alone")
    expected = [alone.probability(frame) for frame in frames]
    noise = np.random.default_rng(1).uniform(-1, 1, frames.shape).astype(np.float32)
    stream, noisy = vad.open_stream("a"), vad.open_stream("b")
    heard = []
    for frame, other in zip(frames, noise, strict=True):
        noisy.probability(other)
        heard.append(stream.probability(frame))
    assert heard == expected


def test_a_reset_stream_is_as_new(vad: SileroVad, frames: NDArray[np.float32]) -> None:
    stream = vad.open_stream("s")
    first = [stream.probability(frame) for frame in frames]
    stream.reset()
    assert [stream.probability(frame) for frame in frames] == first


class Counting:
    """In place of the model: its state counts the frames, and quiet ones are full of zeros."""

    def __init__(self) -> None:
        self.frames_remembered = 0

    def run(
        self, outputs: None, inputs: dict[str, NDArray[np.generic]], /
    ) -> list[NDArray[np.generic]]:
        del outputs
        state = inputs["state"].astype(np.float32) + np.float32(1)
        self.frames_remembered = int(state.flat[0])
        return [np.array([[inputs["input"].astype(np.float32).flat[-1]]]), state]


def test_a_stream_begins_anew_when_nothing_was_like_speech_for_five_seconds() -> None:
    model = Counting()
    stream = SileroStream(model)
    quiet, loud = np.zeros(512, np.float32), np.full(512, 0.1, np.float32)
    for frame in [*[quiet] * 159, loud, *[quiet] * 160]:
        stream.probability(frame)
    assert model.frames_remembered == 320
    for count in [*range(1, 161), 1]:
        stream.probability(quiet)
        assert model.frames_remembered == count


def test_minutes_of_noise_do_not_make_a_stream_hard_of_hearing(
    vad: SileroVad, frames: NDArray[np.float32]
) -> None:
    noise = np.random.default_rng(1).normal(0, 0.003, (160 * 25, 512)).astype(np.float32)  # 2 min
    veteran, newcomer = vad.open_stream("a"), vad.open_stream("b")
    assert max([veteran.probability(frame) for frame in noise]) < 0.5
    heard = [[stream.probability(frame) for frame in frames] for stream in (veteran, newcomer)]
    onsets = [int(np.argmax(np.array(probabilities) >= 0.5)) for probabilities in heard]
    assert onsets[0] <= onsets[1] + 2


def test_a_pause_in_a_sentence_changes_nothing(vad: SileroVad, frames: NDArray[np.float32]) -> None:
    wrapper = silero_vad.load_silero_vad(onnx=True)
    pause = np.zeros((100, 512), np.float32)  # three seconds
    sentence = np.concatenate([frames, pause, frames])
    theirs = [wrapper(torch.from_numpy(frame), 16_000).item() for frame in sentence]
    stream = vad.open_stream("s")
    assert [stream.probability(frame) for frame in sentence] == pytest.approx(theirs, abs=1e-6)


def test_a_frame_of_another_length_is_refused(vad: SileroVad) -> None:
    with pytest.raises(ValueError, match="512"):
        vad.open_stream("s").probability(np.zeros(256, dtype=np.float32))


def test_frames_of_several_sessions_heard_in_one_go_sound_as_they_do_alone(
    vad: SileroVad, frames: NDArray[np.float32]
) -> None:
    rng = np.random.default_rng(2)
    noise = rng.uniform(-1, 1, frames.shape).astype(np.float32)
    voices = [frames, noise, frames[::-1].copy(), np.zeros_like(frames)]
    alone = [vad.open_stream("alone") for _ in voices]
    expected = [
        [stream.probability(frame) for frame in voice]
        for stream, voice in zip(alone, voices, strict=True)
    ]
    # Others come and go: the batch is never the same for long.
    streams = [vad.open_stream(str(index)) for index in range(len(voices))]
    heard: list[list[float]] = [[] for _ in voices]
    while any(len(found) < len(frames) for found in heard):
        present = [
            index
            for index, found in enumerate(heard)
            if len(found) < len(frames) and rng.random() < 0.7
        ]
        if not present:
            continue
        batch = [voices[index][len(heard[index])] for index in present]
        found = vad.probabilities([streams[index] for index in present], batch)
        for index, probability in zip(present, found, strict=True):
            heard[index].append(probability)
    for found, single in zip(heard, expected, strict=True):
        assert found == pytest.approx(single, abs=1e-5)


def test_a_batch_that_fails_has_changed_no_stream(
    vad: SileroVad, frames: NDArray[np.float32]
) -> None:
    expected = vad.open_stream("alone").probability(frames[0])
    stream, other = vad.open_stream("a"), vad.open_stream("b")
    with pytest.raises(ValueError, match="512"):
        vad.probabilities([stream, other], [frames[0], frames[0][:100]])
    assert stream.probability(frames[0]) == pytest.approx(expected, abs=1e-6)
