"""Playing an answer on paper."""

from __future__ import annotations

from s2s_actors.client.bench.player import Playing, play


def test_an_answer_at_once_never_stutters_and_is_far_ahead() -> None:
    assert play([(500.0, 1000.0), (500.0, 2000.0)]) == Playing(
        audio_ms=3000.0, underruns=0, stalled_ms=0.0, lead_ms=3000.0, ends_ms=3500.0
    )


def test_a_steady_stream_keeps_the_lead_of_the_start() -> None:
    playing = play([(100.0 * n, 100.0) for n in range(20)])
    assert playing is not None
    assert (playing.underruns, playing.lead_ms, playing.ends_ms) == (0, 200.0, 2100.0)


def test_a_gap_longer_than_the_buffer_stutters_until_there_is_enough_again() -> None:
    # 200 ms play from 0 to 200; the rest comes at 500 and 600, so 400 ms are silent.
    playing = play([(0.0, 200.0), (500.0, 150.0), (600.0, 150.0), (610.0, 100.0)])
    assert playing is not None
    assert (playing.underruns, playing.stalled_ms, playing.ends_ms) == (1, 400.0, 1000.0)


def test_an_answer_shorter_than_the_buffer_is_played_when_it_is_whole() -> None:
    playing = play([(0.0, 50.0), (30.0, 50.0)])
    assert playing is not None
    assert (playing.underruns, playing.ends_ms) == (0, 130.0)


def test_without_audio_there_is_nothing_to_play() -> None:
    assert play([]) is None
