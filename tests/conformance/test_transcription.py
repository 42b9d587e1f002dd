"""The user's words as text, and sessions that do nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from .realtime_conformance.checks import CORE, FULL, check
from .realtime_conformance.client import Client
from .realtime_conformance.sound import silence

if TYPE_CHECKING:
    from .realtime_conformance.client import Event
    from .realtime_conformance.target import Target

EVENT = "conversation.item.input_audio_transcription"
VAD_ONLY = {"type": "server_vad", "create_response": False}
LOGPROBS = "item.input_audio_transcription.logprobs"
BROKEN_EAR = "#script " + json.dumps({"answers": [{"error": "stt_failed"}]})


def heard(client: Client) -> Event:
    """Speak; the transcript of it."""
    client.say()
    return client.event(f"{EVENT}.completed")


@check("transcription/58", CORE)
def test_a_spoken_turn_gets_one_transcript(client: Client) -> None:
    client.listen(transcribe=True, turn_detection=VAD_ONLY)
    completed = heard(client)
    stopped = client.of("input_audio_buffer.speech_stopped")[0]
    assert completed["item_id"] == stopped["item_id"]
    assert completed["content_index"] == 0
    assert completed["transcript"].strip()
    assert completed["usage"]["type"] in ("tokens", "duration")
    client.nothing(f"{EVENT}.delta", f"{EVENT}.completed", since=client.mark())
    deltas = [event["delta"] for event in client.of(f"{EVENT}.delta")]
    assert not deltas or "".join(deltas) == completed["transcript"]


@check("transcription/answer", CORE)
def test_a_transcribed_turn_is_answered_too(client: Client) -> None:
    client.listen(transcribe=True)
    client.say()
    assert client.done()["status"] == "completed"
    assert client.of(f"{EVENT}.completed")


@check("transcription/manual", CORE)
def test_a_turn_committed_by_hand_is_transcribed(client: Client) -> None:
    client.listen(transcribe=True, turn_detection=None)
    client.append(client.target.speech)
    client.send("input_audio_buffer.commit")
    committed = client.event("input_audio_buffer.committed")
    assert client.event(f"{EVENT}.completed")["item_id"] == committed["item_id"]


@check("transcription/two", CORE)
def test_each_turn_has_a_transcript_of_its_own(client: Client) -> None:
    client.listen(transcribe=True, turn_detection=VAD_ONLY)
    ids = [heard(client)["item_id"] for _ in range(2)]
    spoken = [event["item_id"] for event in client.of("input_audio_buffer.speech_started")]
    assert ids == spoken


@check("transcription/59", CORE)
def test_without_transcription_there_are_no_transcripts_but_answers(client: Client) -> None:
    client.say()
    assert client.done()["status"] == "completed"
    client.nothing(since=client.mark())
    assert not [kind for kind in client.types if kind.startswith(EVENT)]


@check("transcription/60", FULL)
def test_log_probabilities_come_when_they_are_asked_for(client: Client) -> None:
    client.update(include=[LOGPROBS])
    client.listen(transcribe=True, turn_detection=VAD_ONLY)
    completed = heard(client)
    assert completed["logprobs"]
    for entry in completed["logprobs"]:
        assert set(entry) == {"token", "logprob", "bytes"}
        assert entry["logprob"] <= 0


@check("transcription/60-absent", FULL)
def test_log_probabilities_do_not_come_unasked(client: Client) -> None:
    client.listen(transcribe=True, turn_detection=VAD_ONLY)
    assert "logprobs" not in heard(client)


@pytest.mark.needs_script
@check("transcription/61", FULL)
def test_a_failed_transcription_says_so_and_the_session_goes_on(client: Client) -> None:
    transcription = {"model": "any", "prompt": BROKEN_EAR}
    client.listen(transcription=transcription, turn_detection=VAD_ONLY)
    client.say()
    failed = client.event(f"{EVENT}.failed")
    assert failed["item_id"] == client.of("input_audio_buffer.committed")[0]["item_id"]
    assert failed["error"]["code"]
    client.listen(transcription={"prompt": ""})
    heard(client)


@pytest.fixture
def only(target: Target) -> Any:
    """Opens a session that only transcribes."""
    return Client(target, {"intent": "transcription"})


@check("transcription/62", FULL)
def test_a_session_of_transcription_shows_its_type(only: Client) -> None:
    with only as client:
        session = client.received[0]["session"]
        assert session["type"] == "transcription"
        assert session["id"].startswith("sess_")
        assert "output" not in session["audio"]
        assert "instructions" not in session


@check("transcription/62-update", FULL)
def test_a_session_of_transcription_is_changed_by_updates_of_its_type(only: Client) -> None:
    with only as client:
        shown = client.listen(transcription={"model": "whisper-1", "language": "en"})
        assert shown["type"] == "transcription"
        transcription = shown["audio"]["input"]["transcription"]
        assert (transcription["model"], transcription["language"]) == ("whisper-1", "en")


@check("transcription/62-turn", FULL)
def test_a_session_of_transcription_hears_and_never_answers(only: Client) -> None:
    with only as client:
        client.listen(transcription={"model": "whisper-1"}, turn_detection={"type": "server_vad"})
        since = client.mark()
        assert heard(client)["transcript"].strip()
        client.nothing("response.created", since=since)


@check("transcription/62-manual", FULL)
def test_a_session_of_transcription_takes_commits(only: Client) -> None:
    with only as client:
        client.listen(transcription={"model": "whisper-1"}, turn_detection=None)
        client.append(client.target.speech + silence(100))
        client.send("input_audio_buffer.commit")
        client.event(f"{EVENT}.completed")


@check("transcription/62-response", FULL)
def test_a_session_of_transcription_refuses_responses(only: Client) -> None:
    with only as client:
        assert client.error(client.create())["type"] == "invalid_request_error"


@check("transcription/62-type", FULL)
def test_a_session_of_transcription_refuses_the_other_type(only: Client) -> None:
    with only as client:
        session = {"type": "realtime", "instructions": "X"}
        error = client.error(client.send("session.update", session=session))
        assert error["type"] == "invalid_request_error"
