"""Records of conversations, written down rather than held."""

from __future__ import annotations

from s2s_actors.client.record import AUDIO_DELTA, Event, Record

TRANSCRIPTION = "conversation.item.input_audio_transcription"


def heard(number: int, started_ms: float, stopped_ms: float) -> list[Event]:
    """An utterance is heard and committed."""
    fields = {"item_id": f"u{number}"}
    return [
        Event(started_ms, "input_audio_buffer.speech_started", fields),
        Event(stopped_ms, "input_audio_buffer.speech_stopped", fields),
        Event(stopped_ms, "input_audio_buffer.committed", fields),
    ]


def transcribed(number: int, at_ms: float, text: str) -> Event:
    """Its transcript is there."""
    return Event(at_ms, f"{TRANSCRIPTION}.completed", {"item_id": f"u{number}", "transcript": text})


def answered(
    number: int, at_ms: float, words: list[str], *, audio_ms: int = 100, **response: object
) -> list[Event]:
    """A response of 100 ms a piece: one text delta a word, then one audio delta, then done."""
    response_id = f"r{number}"
    of = {"response_id": response_id, "item_id": f"a{number}"}
    events = [Event(at_ms, "response.created", {"response": {"id": response_id}})]
    for word in words:
        at_ms += 100
        events.append(Event(at_ms, "response.output_audio_transcript.delta", {**of, "delta": word}))
    if audio_ms:
        at_ms += 100
        events.append(Event(at_ms, AUDIO_DELTA, of, bytes(48 * audio_ms)))
    done = {"id": response_id, "status": "completed", **response}
    events.append(Event(at_ms + 100, "response.done", {"response": done}))
    return events


def one_turn() -> Record:
    """A turn without any trouble; the user stops at 1000 ms."""
    session = {"id": "sess_1", "model": "local"}
    return Record(
        [
            Event(-40.0, "session.created", {"session": session}),
            Event(-1.0, "session.updated", {"session": session}),
            *heard(1, 400, 1500),
            transcribed(1, 1600, "What is the capital of France?"),
            *answered(1, 1610, ["The capital", " of France", " is Paris."], audio_ms=1800),
        ],
        speech_ms=[(300, 1000)],
    )
