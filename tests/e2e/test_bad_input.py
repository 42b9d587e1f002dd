"""Clients that send rubbish, too much or nothing; what an operator can get wrong."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from websockets.exceptions import InvalidStatus

from tests.server.harness import http
from tests.support.realtime_client import RealtimeClient
from tests.support.running_server import RunningServer, run
from tests.support.sound import silence, tone

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024 * 1024

NOT_AN_EVENT: list[str | bytes] = [
    "{",
    "",
    "null",
    "5",
    '"text"',
    "[]",
    "[" * 1_000_000,
    '{"a":' * 100_000,
    '{"event_id":"x"}',
    '{"type":null}',
    '{"type":5}',
    '{"type":"x.y","event_id":5}',
    '{"type":"session.created","session":{}}',
    b"\x00\x01\x02",
    b'{"type":"input_audio_buffer.clear"}',
    '{"type":"input_audio_buffer.append","audio":"\\ud800"}',
    '{"type":"input_audio_buffer.clear","type":"\\u0000"}',
]

WRONG_FIELDS: list[tuple[dict[str, Any], str | None]] = [
    ({"type": "scooby.dooby.doo"}, "invalid_value"),
    ({"type": "session.update"}, "missing_required_parameter"),
    ({"type": "session.update", "session": None}, "invalid_type"),
    ({"type": "session.update", "session": {"type": "realtime", "x": 1}}, "unknown_parameter"),
    ({"type": "input_audio_buffer.append"}, "missing_required_parameter"),
    ({"type": "input_audio_buffer.append", "audio": None}, "invalid_type"),
    ({"type": "input_audio_buffer.append", "audio": 5}, "invalid_type"),
    ({"type": "input_audio_buffer.append", "audio": ""}, "invalid_value"),
    ({"type": "input_audio_buffer.append", "audio": "abc"}, "invalid_value"),
    ({"type": "input_audio_buffer.append", "audio": "!!!!"}, "invalid_value"),
    ({"type": "input_audio_buffer.append", "audio": "é" * 8}, "invalid_value"),
    ({"type": "input_audio_buffer.append", "audio": "AA==", "x": 1}, "unknown_parameter"),
    ({"type": "input_audio_buffer.commit"}, "input_audio_buffer_commit_empty"),
    ({"type": "conversation.item.create"}, "missing_required_parameter"),
    ({"type": "conversation.item.create", "item": []}, "invalid_type"),
    ({"type": "conversation.item.create", "item": {"type": "song"}}, "invalid_value"),
    (
        {
            "type": "conversation.item.create",
            "item": {"type": "message", "role": "user", "content": [{"type": "input_text"}]},
        },
        "missing_required_parameter",
    ),
    (
        {
            "type": "conversation.item.create",
            "previous_item_id": "item_nosuch",
            "item": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "x"}],
            },
        },
        "invalid_value",
    ),
    ({"type": "conversation.item.delete", "item_id": "yo"}, "item_delete_invalid_item_id"),
    ({"type": "conversation.item.retrieve", "item_id": "yo"}, "item_retrieve_invalid_item_id"),
    (
        {
            "type": "conversation.item.truncate",
            "item_id": "yo",
            "content_index": 0,
            "audio_end_ms": 0,
        },
        "item_truncate_invalid_item_id",
    ),
    ({"type": "response.cancel"}, "response_cancel_not_active"),
    ({"type": "response.cancel", "response_id": "resp_nosuch"}, "response_cancel_not_active"),
    ({"type": "response.create", "response": {"max_output_tokens": 0}}, None),
    ({"type": "response.create", "response": {"metadata": {"k": "v" * 513}}}, None),
    ({"type": "response.create", "response": {"conversation": "mine"}}, "invalid_value"),
    ({"type": "output_audio_buffer.clear"}, "invalid_value"),
    ({"type": "transcription_session.update"}, "invalid_value"),
]


async def still_fine(client: RealtimeClient) -> None:
    """The session goes on: a spoken turn is answered."""
    await client.play("Fine.")
    await client.say(300)
    response = await client.done()
    assert response["status"] == "completed"
    assert client.audio_of(response["id"])


def test_what_is_no_event_is_answered_and_the_session_goes_on(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server, name="other") as other:
            await other.update()
            before = other.mark()
            async with RealtimeClient(server) as client:
                await client.event("session.created")
                for frame in NOT_AN_EVENT:
                    await client.send_raw(frame)
                    error = await client.error()
                    assert error["type"] == "invalid_request_error", frame[:60]
                    assert len(error["message"]) < 2000
                assert client.types.count("error") == len(NOT_AN_EVENT)
                await still_fine(client)
            assert other.mark() == before
            await still_fine(other)

    run(scenario())


def test_wrong_fields_are_named_and_change_nothing(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            before = await client.update()
            for event, code in WRONG_FIELDS:
                fields = {name: value for name, value in event.items() if name != "type"}
                event_id = await client.send(event["type"], **fields)
                error = await client.error(event_id=event_id)
                assert error["type"] == "invalid_request_error", event
                assert code in (None, error["code"]), event
            assert client.checker.items == []
            assert await client.update() == before
            await still_fine(client)

    run(scenario())


@pytest.mark.parametrize("event_id", [5, None, "x" * 513, [], {}])
def test_an_event_id_that_is_none_is_refused_or_left_out(
    server: RunningServer, event_id: Any
) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.send_raw(json.dumps({"type": "response.cancel", "event_id": event_id}))
            error = await client.error()
            assert error.get("event_id") is None
            await still_fine(client)

    run(scenario())


def test_samples_may_be_cut_anywhere(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.play("Yes.")
            pcm = tone(600) + silence(800)
            start = 0
            for length in [1, 1, 3, 961, 7, 1441] * 200:
                piece = pcm[start : start + length]
                start += length
                if not piece:
                    break
                audio = base64.b64encode(piece).decode()
                await client.send("input_audio_buffer.append", audio=audio)
            await client.done()
            item_id = client.of("input_audio_buffer.committed")[0]["item_id"]
            await client.send("conversation.item.retrieve", item_id=item_id)
            item = (await client.event("conversation.item.retrieved"))["item"]
            heard = base64.b64decode(item["content"][0]["audio"])
            assert pcm.startswith(heard)
            assert len(heard) > 48 * 900

    run(scenario())


def test_a_frame_over_the_limit_closes_that_connection_only() -> None:
    with RunningServer(units=2, max_frame_bytes=64 * 1024) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, name="other") as other:
                await other.update()
                async with RealtimeClient(server) as client:
                    await client.update()
                    await client.send_raw("x" * 65 * 1024)
                    assert await client.closed() == 1009
                await server.until_pool(lambda pool: pool["in_use"] == 1)
                await still_fine(other)
            async with RealtimeClient(server) as client:
                await still_fine(client)

        run(scenario())


def test_the_largest_append_is_taken(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.update(audio={"input": {"turn_detection": None}})
            size = 15 * MIB
            audio = base64.b64encode(bytes(size)).decode()
            await client.send("input_audio_buffer.append", audio=audio)
            event_id = await client.send("input_audio_buffer.append", audio=audio + "AAAA")
            error = await client.error(event_id=event_id)
            assert error["code"] == "string_above_max_length"
            await client.send("input_audio_buffer.commit")
            await client.event("input_audio_buffer.committed")

    run(scenario())


def test_a_client_that_stops_reading_is_dropped_and_its_unit_comes_back() -> None:
    with RunningServer(units=2, write_timeout_s=0.5) as server:

        async def scenario() -> None:
            async with RealtimeClient(server, name="other") as other:
                await other.update()
                async with RealtimeClient(server, max_queue=1) as client:
                    await client.update(output_modalities=["text"])
                    await client.stop_reading()
                    await server.until_pool(lambda pool: pool["counts"]["active"] == 2)
                    # Each of these is answered by as much: more than the sockets hold.
                    text = "x" * 200_000
                    for _ in range(60):
                        await client.send("session.update", session=_instructed(text))
                    await server.until_pool(lambda pool: pool["in_use"] == 1)
                    client.reset()
                await still_fine(other)
            await server.until_idle()
            async with RealtimeClient(server) as client:
                await still_fine(client)

        run(scenario())


def _instructed(text: str) -> dict[str, Any]:
    return {"type": "realtime", "instructions": text}


def test_ten_minutes_of_audio_at_once_are_bounded_and_control_is_answered() -> None:
    with RunningServer(units=2) as server:
        process = psutil.Process()
        second = base64.b64encode(tone(1000)).decode()
        pieces = [base64.b64encode(tone(20)).decode()] * 50

        async def scenario() -> None:
            async with RealtimeClient(server, name="other") as other:
                await other.update()
                async with RealtimeClient(server) as client:
                    await client.play("Yes.")
                    before_bytes = process.memory_info().rss
                    for number in range(600):
                        for piece in pieces if number % 10 == 0 else [second]:
                            await client.send("input_audio_buffer.append", audio=piece)
                    await client.update(instructions="still listening")
                    # What was dropped was named, and nothing else went wrong.
                    codes = {event["error"]["code"] for event in client.of("error")}
                    assert codes <= {"input_backpressure"}
                    grown_mib = (process.memory_info().rss - before_bytes) / MIB
                    assert grown_mib < 250, f"grew by {grown_mib:.0f} MiB"
                    await client.append(silence(1500))
                    await client.event("input_audio_buffer.speech_stopped")
                    assert (await client.done())["status"] == "completed"
                await still_fine(other)

        run(scenario())


def test_a_flood_of_small_events_is_bounded(server: RunningServer) -> None:
    async def scenario() -> None:
        async with RealtimeClient(server) as client:
            await client.event("session.created")
            count = 20_000
            for _ in range(count):
                await client.send("input_audio_buffer.clear")
            await client.sync()
            refused = [event["error"]["code"] for event in client.of("error")]
            cleared = client.types.count("input_audio_buffer.cleared")
            assert set(refused[:-1]) <= {"input_backpressure"}
            assert cleared + len(refused) - 1 == count
            await still_fine(client)

    run(scenario())


# --- what is no session -------------------------------------------------------------------


def test_a_wrong_path_is_told_what_there_is(server: RunningServer) -> None:
    async def scenario() -> None:
        status, body = await server.get("/v1/realtimes")
        assert status == 404
        assert "/v1/realtime" in body["paths"]
        with pytest.raises(InvalidStatus) as refused:
            await RealtimeClient(server, query="/more").__aenter__()
        assert refused.value.response.status_code == 404

    run(scenario())


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD"])
@pytest.mark.parametrize("path", ["/v1/realtime", "/v1/pool"])
def test_a_wrong_method_is_refused(server: RunningServer, method: str, path: str) -> None:
    async def scenario() -> None:
        request = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        status, headers, _ = await http(server.port, request.encode())
        assert (status, headers["Allow"]) == (405, "GET")
        assert (await server.pool())["in_use"] == 0

    run(scenario())


def test_a_plain_get_of_the_session_path_asks_for_an_upgrade(server: RunningServer) -> None:
    async def scenario() -> None:
        assert (await server.get("/v1/realtime"))[0] == 426

    run(scenario())


# --- the operator --------------------------------------------------------------------------


def serve_fails(*flags: str) -> str:
    """What ``serve`` says before it ends with an error."""
    done = subprocess.run(
        [sys.executable, "-m", "s2s_actors", "serve", "--port", "0", *flags],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode not in (0, 1), done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout
    return done.stderr


SCRIPTED = [
    part for kind in ("vad", "stt", "llm", "tts", "turn") for part in (f"--{kind}", "scripted")
]


def test_a_script_that_does_not_exist_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "nosuch.toml")
    assert missing in serve_fails(*SCRIPTED, "--script", missing)


def test_a_script_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[llm]\nanswer = "singular"\n')
    assert "answer" in serve_fails(*SCRIPTED, "--script", str(path))


def test_a_backend_that_does_not_exist_is_named() -> None:
    assert "nosuch" in serve_fails(*SCRIPTED[:-1], "nosuch")


@pytest.mark.models
@pytest.mark.parametrize(
    ("flag", "kind", "backend"),
    [
        ("--stt-model", "--stt", "faster-whisper"),
        ("--llm-model", "--llm", "transformers"),
        ("--tts-voice", "--tts", "piper"),
    ],
)
def test_a_model_path_that_does_not_exist_is_named(
    tmp_path: Path, flag: str, kind: str, backend: str
) -> None:
    missing = str(tmp_path / "nosuch")
    said = serve_fails(*SCRIPTED, kind, backend, flag, missing)
    assert flag in said
    assert missing in said
