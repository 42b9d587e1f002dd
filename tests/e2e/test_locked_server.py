"""A locked server as a process: it renews keys and certificate while it runs, and tells no key."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from s2s_actors.client.credentials import API_KEY_ENV
from s2s_actors.server.keys import hash_of, new_secret
from tests.server.harness import receive
from tests.support.certificates import Certificate, make_certificate
from tests.support.running_server import PATIENCE_S, run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SCRIPTED = [
    word for kind in ("vad", "stt", "llm", "tts", "turn") for word in (f"--{kind}", "scripted")
]


class Locked:
    """``s2s-actors serve`` with keys and a certificate, and all of its log.

    Args:
        process: It.
        port: Where it listens.
    """

    def __init__(self, process: asyncio.subprocess.Process, port: int) -> None:
        self.process = process
        self.port = port
        self.log: list[str] = []

    @classmethod
    @asynccontextmanager
    async def serving(cls, keys: Path, made: Certificate) -> AsyncIterator[Self]:
        """Run it for the length of the block, as talkative as it can be."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "s2s_actors", "serve", "--port", "0", *SCRIPTED),
            *("--api-key-file", str(keys), "--tls-cert", str(made.cert)),
            *("--tls-key", str(made.key), "--admission", "units"),
            *("--log-level", "debug", "--log-content", "on"),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            async with asyncio.timeout(4 * PATIENCE_S):
                line = (await process.stdout.readline()).decode()
            assert line.startswith("listening on wss://127.0.0.1:"), line
            yield cls(process, int(line.rsplit(":", 1)[1].split("/")[0]))
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()

    async def hang_up(self, answer: str) -> None:
        """Send SIGHUP and wait for a line of the log."""
        self.process.send_signal(signal.SIGHUP)
        assert self.process.stderr is not None
        async with asyncio.timeout(PATIENCE_S):
            while line := (await self.process.stderr.readline()).decode():
                self.log.append(line)
                if answer in line:
                    return
        raise AssertionError(f"{answer!r} is not in the log: {self.log}")

    async def end(self) -> str:
        """Stop it in order, and return its log."""
        self.process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            rest = (await self.process.communicate())[1]
        assert self.process.returncode == 0
        return "".join(self.log) + rest.decode()

    def caller(self, trusted: Path, secret: str, query: str = "") -> connect:
        """A websocket with a key in the header."""
        return connect(
            f"wss://127.0.0.1:{self.port}/v1/realtime?model=m{query}",
            ssl=ssl.create_default_context(cafile=trusted),
            additional_headers={"Authorization": f"Bearer {secret}"},
            proxy=None,
        )

    async def refuses(self, trusted: Path, secret: str) -> bool:
        """Whether a key opens nothing; the answer does not show it."""
        with pytest.raises(InvalidStatus) as refused:
            await self.caller(trusted, secret)
        response = refused.value.response
        assert secret.encode() not in response.serialize()
        return response.status_code == 401


def key_file(path: Path, **secrets: str) -> Path:
    tables = [f'[[key]]\nname = "{name}"\nhash = "{hash_of(s)}"\n' for name, s in secrets.items()]
    path.write_text("\n".join(tables))
    path.chmod(0o600)
    return path


async def answers(ws: ClientConnection) -> bool:
    await ws.send('{"type":"session.update","session":{"type":"realtime","instructions":"x"}}')
    return str((await receive(ws))["type"]) == "session.updated"


def test_keys_and_certificate_are_renewed_under_a_running_session_and_no_key_is_told(
    tmp_path: Path,
) -> None:
    used, renewed = make_certificate(tmp_path, "used"), make_certificate(tmp_path, "renewed")
    first_ca = tmp_path / "first.pem"
    first_ca.write_bytes(used.cert.read_bytes())
    old, new, wrong, asked = (new_secret() for _ in range(4))
    keys = key_file(tmp_path / "keys.toml", mine=old)

    async def scenario() -> str:
        async with Locked.serving(keys, used) as server:
            async with server.caller(first_ca, old, f"&api_key={asked}") as running:
                assert (await receive(running))["type"] == "session.created"
                assert await server.refuses(first_ca, wrong)

                key_file(keys, mine=new)
                used.cert.write_bytes(renewed.cert.read_bytes())
                used.key.write_bytes(renewed.key.read_bytes())
                await server.hang_up("keys and certificate were read again")
                with pytest.raises(ssl.SSLCertVerificationError):
                    await server.caller(first_ca, new)
                async with server.caller(renewed.cert, new) as ws:
                    await receive(ws)
                assert await server.refuses(renewed.cert, old)
                assert await answers(running)

                used.key.write_text("no key")
                await server.hang_up("nothing was reloaded: --tls-cert")
                async with server.caller(renewed.cert, new) as ws:
                    await receive(ws)
                assert await answers(running)
            browser = [Subprotocol("realtime"), Subprotocol(f"openai-insecure-api-key.{new}")]
            async with connect(
                f"wss://127.0.0.1:{server.port}/v1/realtime",
                ssl=ssl.create_default_context(cafile=renewed.cert),
                subprotocols=browser,
                proxy=None,
            ) as ws:
                assert ws.subprotocol == "realtime"
            return await server.end()

    log = run(scenario())
    assert "granted" in log  # it is the log of the sessions
    assert "a request from 127.0.0.1 was refused: 401" in log
    for secret in (old, new, wrong, asked):
        assert secret not in log
        assert hash_of(secret) not in log
    assert "Traceback" not in log


def test_our_own_commands_show_a_key_and_trust_a_certificate_by_the_environment(
    tmp_path: Path,
) -> None:
    made, secret = make_certificate(tmp_path), new_secret()
    keys = key_file(tmp_path / "keys.toml", mine=secret)

    async def pool(port: int, **environ: str) -> tuple[int | None, str, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "s2s_actors", "pool", "--json"),
            *("--url", f"wss://127.0.0.1:{port}"),
            env={k: v for k, v in os.environ.items() if not k.startswith("S2S_")} | environ,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        return process.returncode, out.decode(), err.decode()

    async def scenario() -> None:
        trust = {"SSL_CERT_FILE": str(made.cert)}
        async with (
            Locked.serving(keys, made) as server,
            server.caller(made.cert, secret) as ws,
        ):
            session_id = (await receive(ws))["session"]["id"]
            code, out, err = await pool(server.port, **trust, **{API_KEY_ENV: secret})
            assert (code, err) == (0, "")
            assert session_id in out
            code, out, _ = await pool(server.port, **trust)
            assert code == 0
            assert session_id not in out
            code, out, err = await pool(server.port)
            assert (code, out) == (1, "")
            assert "SSL_CERT_FILE" in err
            assert "Traceback" not in err

    run(scenario())
