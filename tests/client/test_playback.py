"""The playback clock knows what the user has heard."""

from __future__ import annotations

from s2s_actors.client.playback import Heard, Playback

MS = 48


def loud(ms: int) -> bytes:
    return b"\1" * (ms * MS)


def test_audio_is_played_in_order_and_filled_up_with_silence() -> None:
    playback = Playback()
    playback.put("a", b"\1\2\3\4")
    playback.put("b", b"\5\6")
    assert playback.take(4) == b"\1\2\3\4"
    assert playback.take(6) == b"\5\6\0\0\0\0"
    assert playback.take(2) == b"\0\0"


def test_an_interruption_says_how_much_was_heard_and_drops_the_rest() -> None:
    playback = Playback()
    playback.put("a", loud(100))
    playback.put("a", loud(100))
    playback.take(130 * MS)
    assert playback.interrupt() == Heard("a", 130)
    assert playback.take(4) == bytes(4)


def test_audio_that_arrives_after_its_interruption_is_not_heard() -> None:
    playback = Playback()
    playback.put("a", loud(100))
    playback.take(10 * MS)
    playback.interrupt()
    playback.put("a", loud(100))
    assert playback.take(2) == b"\0\0"
    playback.put("b", loud(100))
    assert playback.take(2) == b"\1\1"


def test_an_answer_that_has_not_begun_was_heard_for_no_time() -> None:
    playback = Playback()
    playback.put("a", loud(100))
    assert playback.interrupt() == Heard("a", 0)


def test_silence_is_not_interrupted() -> None:
    playback = Playback()
    assert playback.interrupt() is None
    playback.put("a", loud(20))
    playback.take(40 * MS)
    assert playback.interrupt() is None


def test_the_way_to_the_speaker_counts_as_unheard() -> None:
    playback = Playback(latency_ms=50)
    playback.put("a", loud(100))
    playback.take(100 * MS)
    playback.take(20 * MS)  # silence behind it: 30 ms are still under way
    assert playback.interrupt() == Heard("a", 70)


def test_after_the_way_to_the_speaker_all_was_heard() -> None:
    playback = Playback(latency_ms=50)
    playback.put("a", loud(100))
    playback.take(100 * MS)
    playback.take(50 * MS)
    assert playback.interrupt() is None
