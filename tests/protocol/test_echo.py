"""The server's voice, back through the air, is told from the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
import soxr

from s2s_actors.protocol import g711
from s2s_actors.protocol.echo import KEPT_S, EchoGuard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Audio: TypeAlias = NDArray[np.float64]

RATE_HZ = 24_000
MIC_RATE_HZ = 16_000


def voice(seed: int, *, length_s: float = 4.0, pitch_hz: float = 120.0) -> Audio:
    """Syllables of a buzz whose pitch wanders, each with a vowel or a hiss of its own."""
    rng = np.random.default_rng(seed)
    syllables: list[Audio] = []
    while sum(map(len, syllables)) < length_s * RATE_HZ:
        times = np.arange(int(rng.uniform(0.1, 0.25) * RATE_HZ)) / RATE_HZ
        pitch = pitch_hz * rng.uniform(0.85, 1.2) * (1 + rng.uniform(-0.3, 0.3) * times)
        turns = np.cumsum(pitch) / RATE_HZ + rng.uniform()
        formants = rng.uniform([250, 800, 2000], [800, 2200, 3200])
        buzz = np.zeros(len(times))
        for number in range(1, int(3500 / pitch_hz)):
            loudness = np.sum(1 / (1 + ((number * pitch_hz - formants) / 120) ** 2))
            buzz += loudness * np.cos(2 * np.pi * number * turns + rng.uniform(0, 6))
        hiss = 0.2 * rng.standard_normal(len(times))
        syllables.append((buzz + hiss) * np.hanning(len(times)))
    speech = np.concatenate(syllables)[: int(length_s * RATE_HZ)]
    return 0.1 * speech / np.std(speech)


def pcm(audio: Audio) -> bytes:
    return (np.clip(audio, -1, 1) * 32767).astype("<i2").tobytes()


def heard(audio: Audio, delay_ms: int, level_db: float) -> Audio:
    """What the microphone hears of it, from the same position on."""
    late: Audio = np.concatenate([np.zeros(delay_ms * RATE_HZ // 1000), audio])
    return late[: len(audio)] * 10 ** (level_db / 20)


def in_a_room(audio: Audio, *, direct: float = 1.0, seed: int = 1) -> Audio:
    """With 0.3 s of reverberation, as strong as the direct sound."""
    times = np.arange(int(0.3 * RATE_HZ)) / RATE_HZ
    tail = np.random.default_rng(seed).standard_normal(len(times)) * 10 ** (-10 * times)
    response = tail / np.sqrt(np.sum(tail**2))
    response[0] += direct
    size = len(audio) + len(response)
    both = np.fft.rfft(audio, size) * np.fft.rfft(response, size)
    mixed: Audio = np.fft.irfft(both, size)[: len(audio)] / np.hypot(1, direct)
    return mixed


def telephoned(audio: Audio) -> Audio:
    narrow = soxr.resample(audio, RATE_HZ, g711.RATE_HZ)
    law = g711.decode(g711.encode(pcm(narrow), "mu"), "mu")
    wide: Audio = soxr.resample(np.frombuffer(law, "<i2") / 32768, g711.RATE_HZ, RATE_HZ)
    return np.pad(wide, (0, max(0, len(audio) - len(wide))))[: len(audio)]


def noisy(audio: Audio, snr_db: float) -> Audio:
    noise = np.random.default_rng(9).standard_normal(len(audio))
    return audio + noise * np.std(audio) * 10 ** (-snr_db / 20)


def windows(mic: Audio, length_ms: int, *, start_s: float = 1.0) -> Iterator[tuple[Audio, int]]:
    """Pieces of what was heard, at 16 kHz, with the position of their ends."""
    length = length_ms * RATE_HZ // 1000
    for end in range(int(start_s * RATE_HZ) + length, len(mic), length):
        yield soxr.resample(mic[end - length : end], RATE_HZ, MIC_RATE_HZ), end


def share(guard: EchoGuard, mic: Audio, length_ms: int, *, start_s: float = 1.0) -> float:
    """How many of the windows are taken for echo, 0 to 1."""
    verdicts = [
        guard.is_echo(piece.astype(np.float32), end)
        for piece, end in windows(mic, length_ms, start_s=start_s)
    ]
    return float(np.mean(verdicts))


def guard_of(agent: Audio, at_sample: int = 0) -> EchoGuard:
    guard = EchoGuard()
    guard.played(pcm(agent), at_sample)
    return guard


@pytest.mark.parametrize(("level_db", "delay_ms"), [(-6, 20), (-20, 150), (-40, 800)])
def test_echo_is_known_however_loud_and_late(level_db: float, delay_ms: int) -> None:
    agent = voice(1)
    guard = guard_of(agent)
    assert guard.delay_ms is None
    assert share(guard, heard(agent, delay_ms, level_db), 192) == 1.0
    assert guard.delay_ms == pytest.approx(delay_ms, abs=2)


def test_the_voice_of_a_user_is_not_echo() -> None:
    agent, mic = voice(1), voice(2, pitch_hz=180)
    assert share(guard_of(agent), mic, 192) == 0.0


def test_other_words_of_the_same_voice_are_not_echo() -> None:
    assert share(guard_of(voice(1)), voice(3), 192) == 0.0


def test_a_user_is_heard_over_the_echo() -> None:
    agent, user = voice(1), voice(2, pitch_hz=180)
    echo = heard(agent, 150, -20)
    guard = guard_of(agent)
    assert share(guard, echo, 192) == 1.0
    assert share(guard, echo + user, 192) == 0.0


def test_who_repeats_what_was_said_later_than_an_echo_is_not_echo() -> None:
    agent = voice(1)
    assert share(guard_of(agent), heard(agent, 1200, 0), 192, start_s=2) == 0.0
    assert share(guard_of(agent), heard(agent, 990, 0), 192, start_s=2) == 1.0


def test_echo_may_come_before_its_time() -> None:
    agent = voice(1)
    early = guard_of(agent, at_sample=90 * RATE_HZ // 1000)
    assert share(early, agent, 192) == 1.0
    too_early = guard_of(agent, at_sample=300 * RATE_HZ // 1000)
    assert share(too_early, agent, 192) == 0.0


def test_a_room_noise_a_telephone_and_another_clock_do_not_hide_it() -> None:
    agent = voice(1)
    skewed = np.interp(np.arange(len(agent)) * (1 + 1e-4), np.arange(len(agent)), agent)
    mic = telephoned(noisy(heard(in_a_room(skewed), 150, -15), 15))
    guard = guard_of(agent)
    share(guard, mic, 400)
    assert share(guard, mic, 192) == 1.0
    assert share(guard, voice(2, pitch_hz=180), 192) == 0.0


def test_the_room_is_learnt_and_makes_the_guard_surer() -> None:
    agent = voice(1, length_s=8)
    mic = heard(in_a_room(agent, direct=0.5), 150, -20)
    before = [
        share(guard_of(agent), mic[: end + 1], 96, start_s=end / RATE_HZ - 0.097)
        for _, end in windows(mic, 200, start_s=5)
    ]
    guard = guard_of(agent)
    share(guard, mic[: 5 * RATE_HZ], 400)
    after = share(guard, mic, 96, start_s=5)
    assert np.nanmean(before) < 0.8
    assert after > 0.95


def test_windows_that_agree_teach_a_room_without_any_direct_sound() -> None:
    agent = voice(4, length_s=10)
    mic = noisy(heard(in_a_room(agent, direct=0, seed=3), 150, -20), 10)
    guard = guard_of(agent)
    assert share(guard, mic[: 2 * RATE_HZ], 400) == 0.0
    share(guard, mic[: 6 * RATE_HZ], 400, start_s=2)
    assert share(guard, mic, 400, start_s=6) > 0.9


def test_a_path_that_changes_is_learnt_anew() -> None:
    agent = voice(1, length_s=8)
    guard = guard_of(agent)
    share(guard, heard(in_a_room(agent), 150, -20)[: 4 * RATE_HZ], 192)
    moved = heard(in_a_room(agent, direct=0.7, seed=2), 600, -10)
    share(guard, moved[: 6 * RATE_HZ], 300, start_s=4.5)
    assert guard.delay_ms == pytest.approx(600, abs=5)
    assert share(guard, moved, 96, start_s=6) > 0.9


def test_what_was_not_played_after_an_interruption_has_no_echo() -> None:
    agent = voice(1)
    guard = guard_of(agent[: 3 * RATE_HZ // 2])
    guard.played(pcm(agent[3 * RATE_HZ // 2 :]), 3 * RATE_HZ // 2)
    guard.stopped(RATE_HZ)
    assert share(guard, heard(agent, 100, -10), 192, start_s=2.2) == 0.0
    guard.played(pcm(agent), RATE_HZ)
    again = np.concatenate([np.zeros(RATE_HZ), agent])
    assert share(guard, heard(again, 100, -10), 192, start_s=2.2) == 1.0


def test_pieces_are_one_stream_however_they_are_cut() -> None:
    agent = voice(1)
    guard = EchoGuard()
    data = pcm(agent)
    for start in range(0, len(data), 4802):
        guard.played(data[start : start + 4802], start // 2)
    assert share(guard, heard(agent, 150, -20), 192) == 1.0


def test_the_past_is_forgotten() -> None:
    guard = EchoGuard()
    second = bytes(2 * RATE_HZ)
    for number in range(60):
        guard.played(second, number * RATE_HZ)
        guard.is_echo(np.ones(3200, np.float32), number * RATE_HZ)
    assert len(guard._played._pieces) <= KEPT_S + 2
    guard.played(second, 100 * RATE_HZ)
    assert len(guard._played._pieces) == 1


@pytest.mark.parametrize("mic", [np.zeros(3200), np.ones(3200), np.ones(100), np.ones(0)])
def test_silence_and_crumbs_are_not_echo(mic: Audio) -> None:
    assert not EchoGuard().is_echo(mic.astype(np.float32), RATE_HZ)
    assert not guard_of(voice(1)).is_echo(mic.astype(np.float32), RATE_HZ)
