"""What users and models say stays out of the log: a real process, at its most talkative.

One session does all that could make a server talk: it says, hears, writes, calls, is refused, and
makes stages fail and crash. Each of its words is a canary.
"""

from __future__ import annotations

import base64
import json
import random
import signal
from typing import TYPE_CHECKING

import pytest

from s2s_actors.server.keys import hash_of
from tests.support.canaries import canary_words
from tests.support.fake_openai import FakeOpenAI, Reply
from tests.support.mcp_server import LocalMcp
from tests.support.realtime_client import RealtimeClient, script
from tests.support.running_server import ServeCommand, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = canary_words(random.Random(6))  # noqa: S311 - to be the same each time
CLIENT_KEY, LLM_KEY, URL_PASSWORD, MCP_KEY = (next(WORDS) for _ in range(4))
KEYS = {"client": CLIENT_KEY, "llm": LLM_KEY, "url": URL_PASSWORD, "mcp": MCP_KEY}
INSTRUCTIONS, ASKED, HEARD, ANSWER, TOOL, ARGUMENT, OUTPUT, CRASH, REMOTE_ERROR, GARBAGE = (
    next(WORDS) for _ in range(10)
)
SAID = {
    "instructions": INSTRUCTIONS,
    "text of the user": ASKED,
    "transcript": HEARD,
    "answer": ANSWER,
    "name of a tool": TOOL,
    "argument of a tool": ARGUMENT,
    "output of a tool": OUTPUT,
    "text of an exception": CRASH,
    "error of a remote model": REMOTE_ERROR,
    "event that is none": GARBAGE,
}
PCM = random.Random(7).randbytes(4_800)  # noqa: S311 - sound, no secret
TEXT_MODE = {"output_modalities": ["text"]}


def replies() -> list[Reply]:
    """A remote model answers, calls a tool, fails, answers what is no answer, and speaks."""
    call = {
        "index": 0,
        "id": "call_1",
        "type": "function",
        "function": {"name": TOOL, "arguments": json.dumps({"at": ARGUMENT})},
    }
    return [
        Reply(texts=(ANSWER,)),
        Reply(texts=(), tool_deltas=(call,), finish_reason="tool_calls"),
        Reply(status=400, error_code=REMOTE_ERROR),
        Reply(raw=f"{{{ANSWER}"),
        Reply(texts=(f"CHOKE {ANSWER}.",)),
    ]


@pytest.fixture(scope="module")
def model() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(*replies()) as running:
        yield running


@pytest.fixture(scope="module")
def mcp() -> Iterator[LocalMcp]:
    with LocalMcp(bearer=MCP_KEY) as running:
        yield running


def flags(model: FakeOpenAI, folder: Path) -> list[str]:
    """A server whose voice crashes on a word, and that is told keys in every possible way."""
    played = folder / "script.toml"
    played.write_text(f'[tts]\nrules = [{{ match = "CHOKE", crash = "{CRASH}" }}]\n')
    keys = folder / "keys.toml"
    keys.write_text(f'[[key]]\nname = "canary"\nhash = "{hash_of(CLIENT_KEY)}"\n')
    keys.chmod(0o600)
    address = model.base_url.replace("http://", f"http://user:{URL_PASSWORD}@")
    return [
        *("--log-level", "debug", "--script", str(played), "--api-key-file", str(keys)),
        *("--llm", "openai", "--llm-base-url", address, "--llm-model", "test"),
    ]


async def everything(server: ServeCommand, mcp: LocalMcp) -> None:
    """A session that leaves nothing out."""
    async with RealtimeClient(
        server, additional_headers={"Authorization": f"Bearer {CLIENT_KEY}"}
    ) as client:
        function = {"type": "function", "name": TOOL, "description": ASKED, "parameters": {}}
        remote = mcp.tool(headers={"X-Key": MCP_KEY}, authorization=MCP_KEY)
        hears = {"transcription": {"model": "scripted", "prompt": script(HEARD)}}
        await client.update(
            instructions=INSTRUCTIONS,
            tools=[function, remote],
            audio={"input": hears},
            **TEXT_MODE,
        )
        await client.event("mcp_list_tools.completed")
        await client.append(PCM)
        await client.say()
        assert (await client.done())["status"] == "completed"
        calling = await client.ask(ASKED)
        output = {
            "type": "function_call_output",
            "call_id": calling["output"][0]["call_id"],
            "output": OUTPUT,
        }
        await client.send("conversation.item.create", item=output)
        for _ in range(2):
            await client.create()
            assert (await client.done())["status"] == "failed"
        for frame in (f'{{"type": "{GARBAGE}"}}', f'{{"{GARBAGE}', json.dumps([GARBAGE])):
            await client.send_raw(frame)
            await client.error()
        await client.create(output_modalities=["audio"])
        assert (await client.done())["status"] == "failed"
    server.signal(signal.SIGTERM)
    assert await server.exit_code() == 0


def log_of(model: FakeOpenAI, mcp: LocalMcp, folder: Path, *more: str) -> str:
    with ServeCommand(*flags(model, folder), *more, S2S_LLM_API_KEY=LLM_KEY) as server:
        run(everything(server, mcp))
    return server.log()


@pytest.fixture(scope="module")
def log(model: FakeOpenAI, mcp: LocalMcp, tmp_path_factory: pytest.TempPathFactory) -> str:
    return log_of(model, mcp, tmp_path_factory.mktemp("discreet"))


def audio_in(log: str) -> bool:
    """Whether some of the audio is in it, as base64 at any of its three offsets or as hex."""
    forms = [PCM.hex()[200:230], repr(PCM[200:210])[2:-1]]
    forms += [base64.b64encode(PCM[start:])[300:330].decode() for start in range(3)]
    return any(form in log for form in forms)


def test_the_log_tells_what_happened(log: str) -> None:
    assert "now connected" in log
    assert "tts-0 failed" in log
    assert "raise RuntimeError(fault.crash)" in log
    assert "\nRuntimeError (text withheld" in log
    assert "client_left" in log


@pytest.mark.parametrize("what", SAID)
def test_nothing_said_is_in_the_log(log: str, what: str) -> None:
    assert SAID[what] not in log


@pytest.mark.parametrize("whose", KEYS)
def test_no_key_is_in_the_log(log: str, whose: str) -> None:
    assert KEYS[whose] not in log


def test_no_audio_is_in_the_log(log: str) -> None:
    assert not audio_in(log)


# --- where the operator wants to see it -----------------------------------------------------


@pytest.fixture(scope="module")
def open_log(mcp: LocalMcp, tmp_path_factory: pytest.TempPathFactory) -> str:
    with FakeOpenAI(*replies()) as model:
        return log_of(model, mcp, tmp_path_factory.mktemp("open"), "--log-content", "on")


# A remote model's own words about its failure are shown to nobody, and so not to the operator.
SHOWN = sorted(SAID.keys() - {"error of a remote model"})


@pytest.mark.parametrize("what", SHOWN)
def test_all_that_was_said_is_in_the_log_if_the_operator_wants_it(open_log: str, what: str) -> None:
    assert SAID[what] in open_log


@pytest.mark.parametrize("whose", ["client", "llm", "url"])
def test_keys_of_the_server_are_not_in_that_log_either(open_log: str, whose: str) -> None:
    assert KEYS[whose] not in open_log
