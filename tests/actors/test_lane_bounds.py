"""Each lane is bounded; what does not fit is refused by name, and what did fit is all applied."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from s2s_actors.actors.conversation import ConversationActor
from s2s_actors.actors.llm import LlmActor
from s2s_actors.actors.stt import SttActor
from s2s_actors.actors.tts import TtsActor
from s2s_actors.actors.vad import VadActor
from s2s_actors.protocol import audio
from s2s_actors.protocol import client_events as ce
from s2s_actors.protocol.answering import MAX_ASIDE
from s2s_actors.protocol.input_audio import MAX_BUFFER_MS
from s2s_actors.protocol.response import ResponseParams
from s2s_actors.runtime.outlet import LaneFullError
from s2s_actors.server.intake import EARLY_LIMIT_BYTES, EARLY_LIMIT_FRAMES
from s2s_actors.server.options import ServerOptions
from tests.support.stepped_plant import SteppedPlant, append, loud, silent

if TYPE_CHECKING:
    from s2s_actors.runtime.actor import Actor
    from tests.support.stepped_plant import Client

MIB = 1024 * 1024
PAGE = Path(__file__).parents[2] / "docs/explanation/messages_and_threads.md"
PUSH_TO_TALK = ce.SessionUpdate(
    session={"type": "realtime", "audio": {"input": {"turn_detection": None}}}
)
TRANSCRIBE = ce.SessionUpdate(
    session={"type": "realtime", "audio": {"input": {"transcription": {"model": "any"}}}}
)


def waiting_bytes(actor: Actor) -> int:
    return actor.actor_inbox.waiting_bytes


def errors(client: Client) -> list[str]:
    return [e["error"]["code"] for e in client.events if e["type"] == "error"]


def test_utterances_that_speech_recognition_has_no_room_for_fail_and_the_others_are_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SttActor, "limit_bytes", audio.size_bytes(1000))
    with SteppedPlant() as plant:
        client = plant.visit("a")
        client.say(PUSH_TO_TALK, TRANSCRIBE)
        plant.run()
        plant.wedged.add("stt-0")
        for _ in range(8):
            client.say(append(loud(300)), ce.AudioCommit())
        plant.run()
        assert waiting_bytes(plant.actor("stt-0")) <= audio.size_bytes(1000)
        failed = [e for e in client.events if e["type"].endswith("transcription.failed")]
        assert {e["error"]["code"] for e in failed} == {"stt_backpressure"}
        plant.wedged.clear()
        plant.run()
        heard = [t for t in client.types if t.endswith("transcription.completed")]
        assert (len(heard), len(failed)) == (3, 5)
        client.ask()
        plant.run()
        assert client.status == "completed"


def test_audio_that_voice_detection_has_no_room_for_is_refused_and_not_buffered_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(VadActor, "limit_bytes", audio.size_bytes(1000))
    with SteppedPlant() as plant:
        client = plant.visit("a")
        plant.run()
        plant.wedged.add("vad-0")
        client.say(*[append(silent(200)) for _ in range(8)])
        plant.run()
        assert waiting_bytes(plant.actor("vad-0")) <= audio.size_bytes(1000)
        assert errors(client) == ["input_backpressure"] * 3
        client.say(ce.AudioCommit())
        plant.run()
        (item,) = [e["item"] for e in client.events if e["type"] == "conversation.item.added"]
        client.say(ce.ItemRetrieve(item_id=item["id"]))
        plant.run()
        (part,) = client.events[-1]["item"]["content"]
        assert len(part["audio"]) * 3 // 4 == audio.size_bytes(1000)
        plant.wedged.clear()
        plant.run()


def test_events_that_the_conversation_has_no_room_for_are_refused_and_the_others_applied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ConversationActor, "limit_bytes", 1000)  # a frame of the client counts 100
    with SteppedPlant() as plant:
        client = plant.visit("a")
        plant.run()
        plant.wedged.add("conversation-0")
        for _ in range(10):
            client.say(ce.AudioClear())
        with pytest.raises(LaneFullError):
            client.say(ce.AudioClear())
        plant.wedged.clear()
        plant.run()
        assert client.types.count("input_audio_buffer.cleared") == 10


@pytest.mark.parametrize(("lane", "actor"), [("llm", LlmActor), ("tts", TtsActor)])
def test_answers_that_a_model_has_no_room_for_fail_and_the_session_goes_on(
    monkeypatch: pytest.MonkeyPatch, lane: str, actor: type[Actor]
) -> None:
    monkeypatch.setattr(actor, "limit_messages", 2)
    with SteppedPlant() as plant:
        client = plant.visit("a")
        plant.run()
        plant.wedged.add(f"{lane}-0")
        aside = ce.ResponseCreate(
            response=ResponseParams(conversation="none", output_modalities=["audio"])
        )
        client.say(*[aside] * 4)
        plant.run()
        assert plant.actor(f"{lane}-0").actor_inbox.waiting_messages == 2
        plant.wedged.clear()
        plant.run()
        done = [e["response"] for e in client.events if e["type"] == "response.done"]
        assert sorted(each["status"] for each in done) == ["completed"] * 2 + ["failed"] * 2
        client.ask()
        plant.run()
        assert client.status == "completed"


def test_the_page_about_queues_tells_their_real_bounds() -> None:
    options = ServerOptions()
    bounds = {
        ("frames", "a unit"): f"{EARLY_LIMIT_FRAMES:,} frames, {EARLY_LIMIT_BYTES // MIB} MiB",
        ("client events", "the conversation"): f"{ConversationActor.limit_messages:,} events, "
        f"{ConversationActor.limit_bytes // MIB} MiB",
        ("audio", "voice detection"): f"{VadActor.limit_messages:,} appends, "
        f"{minutes(VadActor.limit_bytes)} minutes",
        ("audio", "a commit"): f"{MAX_BUFFER_MS // 60_000} minutes",
        ("pieces of speech", "STT"): f"{SttActor.limit_messages} pieces, "
        f"{minutes(SttActor.limit_bytes)} minutes",
        ("chats", "LLM"): f"{LlmActor.limit_messages} chats",
        ("pieces of text", "TTS"): f"{TtsActor.limit_messages:,} pieces;",
        ("responses out of band", "their end"): f"{MAX_ASIDE} responses",
        ("server events", "the client to read"): f"{options.outbox_limit_events:,} events, "
        f"{options.outbox_limit_bytes // MIB} MiB",
    }
    rows = {
        (what, who): most
        for what, who, most in re.findall(
            r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(), re.MULTILINE
        )
    }
    for row, most in bounds.items():
        assert rows[row].startswith(most), row


def minutes(size_bytes: int) -> int:
    return audio.duration_ms(size_bytes) // 60_000
