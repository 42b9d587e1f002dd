"""When a conversation is over."""

from __future__ import annotations

from s2s_actors.client.progress import Progress
from s2s_actors.client.record import Event

TRANSCRIBED = "conversation.item.input_audio_transcription.completed"


def buffer(at_ms: float, what: str, item_id: str = "u1") -> Event:
    return Event(at_ms, f"input_audio_buffer.{what}", {"item_id": item_id})


def response(at_ms: float, what: str, response_id: str = "r1") -> Event:
    return Event(at_ms, f"response.{what}", {"response": {"id": response_id}})


def transcript(at_ms: float, text: str, item_id: str = "u1") -> Event:
    return Event(at_ms, TRANSCRIBED, {"item_id": item_id, "transcript": text})


def progress_after(*events: Event, last_speech_end_ms: float = 1000.0) -> Progress:
    progress = Progress(last_speech_end_ms, timeout_ms=30_000.0)
    for event in events:
        progress.add(event)
    return progress


HEARD = (
    buffer(300, "speech_started"),
    buffer(1500, "speech_stopped"),
    buffer(1500, "committed"),
)


def test_it_is_over_as_soon_as_all_that_was_said_is_answered() -> None:
    progress = progress_after(
        *HEARD, transcript(1600, "hi"), response(1600, "created"), response(1900, "done")
    )
    assert progress.wait_ms(1900) == 100  # for what may come behind response.done
    assert progress.wait_ms(2000) == 0
    assert not progress.timed_out(2000)


def test_it_waits_for_an_answer() -> None:
    progress = progress_after(*HEARD, transcript(1600, "hi"))
    assert progress.wait_ms(1600) == 30_000


def test_it_waits_for_the_end_of_an_answer() -> None:
    progress = progress_after(*HEARD, transcript(1600, "hi"), response(1700, "created"))
    assert progress.wait_ms(1700) == 30_000


def test_it_waits_while_the_user_speaks_again() -> None:
    answered = (*HEARD, transcript(1600, "hi"), response(1600, "created"))
    progress = progress_after(
        *answered, buffer(1700, "speech_started", "u2"), response(1800, "done")
    )
    assert progress.wait_ms(1800) > 0


def test_it_waits_for_the_second_answer() -> None:
    first = (*HEARD, transcript(1600, "hi"), response(1600, "created"), response(1800, "done"))
    second = (
        buffer(2500, "speech_started", "u2"),
        buffer(3000, "speech_stopped", "u2"),
        buffer(3000, "committed", "u2"),
        transcript(3100, "and?", "u2"),
    )
    waiting = progress_after(*first, *second, last_speech_end_ms=2700)
    assert waiting.wait_ms(3100) == 30_000
    for event in (response(3100, "created", "r2"), response(3300, "done", "r2")):
        waiting.add(event)
    assert waiting.wait_ms(3400) == 0


def test_it_waits_as_soon_as_the_second_speech_has_ended() -> None:
    first = (*HEARD, transcript(1600, "hi"), response(1600, "created"), response(1800, "done"))
    progress = progress_after(
        *first, buffer(2500, "speech_started", "u2"), buffer(3000, "speech_stopped", "u2")
    )
    assert progress.wait_ms(3000) == 30_000


def test_it_gives_the_server_time_to_notice_the_last_words() -> None:
    progress = progress_after(
        *HEARD,
        transcript(1600, "hi"),
        response(1600, "created"),
        response(1900, "done"),
        last_speech_end_ms=4000,
    )
    assert progress.wait_ms(2000) == 3500
    assert progress.wait_ms(5500) == 0


def test_it_waits_a_little_for_a_late_transcript() -> None:
    progress = progress_after(*HEARD, response(1600, "created"), response(1900, "done"))
    assert progress.wait_ms(1900) == 3000
    progress.add(transcript(2500, "hi"))
    assert progress.wait_ms(2500) == 0


def test_an_utterance_without_words_needs_no_answer() -> None:
    progress = progress_after(*HEARD, transcript(1600, ""))
    assert progress.wait_ms(1600) == 1600
    assert progress.wait_ms(3200) == 0


def test_it_gives_up_when_nothing_happens_after_the_speech() -> None:
    progress = progress_after()
    assert progress.wait_ms(0) == 31_000
    assert not progress.timed_out(30_999)
    assert progress.timed_out(31_000)
    assert progress.wait_ms(31_000) == 0


def test_every_event_puts_off_giving_up() -> None:
    progress = progress_after(*HEARD, response(20_000, "created"))
    assert not progress.timed_out(31_000)
    assert progress.timed_out(50_000)
