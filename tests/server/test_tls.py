"""The port speaks TLS with the certificate of the day, and with nothing older than TLS 1.2."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import TYPE_CHECKING, Any

import pytest
from websockets.asyncio.client import connect

from s2s_actors.errors import SetupError
from s2s_actors.server.tls import Tls
from tests.server.harness import FakePool, RawClient, listening, receive, run
from tests.support.certificates import make_certificate

if TYPE_CHECKING:
    from pathlib import Path


def caller(port: int, trusted: Path, **options: Any) -> connect:
    context = ssl.create_default_context(cafile=trusted)
    return connect(f"wss://127.0.0.1:{port}/v1/realtime", ssl=context, proxy=None, **options)


def test_a_session_runs_over_tls_and_a_renewed_certificate_is_for_the_next_one(
    tmp_path: Path,
) -> None:
    used, renewed = make_certificate(tmp_path, "used"), make_certificate(tmp_path, "renewed")
    first = tmp_path / "first.pem"
    first.write_bytes(used.cert.read_bytes())
    tls = Tls(used.cert, used.key)

    async def scenario() -> None:
        async with listening(FakePool(), tls=tls.context) as port, caller(port, first) as running:
            await receive(running)
            used.cert.write_bytes(renewed.cert.read_bytes())
            used.key.write_bytes(renewed.key.read_bytes())
            tls.reload()
            async with caller(port, renewed.cert) as ws:
                await receive(ws)
            with pytest.raises(ssl.SSLCertVerificationError):
                await caller(port, first)
            await (await running.ping())

    run(scenario())


@pytest.mark.parametrize("wrong", ["gone", "empty", "another key", "no PEM"])
def test_broken_files_are_named_and_change_nothing(tmp_path: Path, wrong: str) -> None:
    good, other = make_certificate(tmp_path), make_certificate(tmp_path, "other")
    first = tmp_path / "first.pem"
    first.write_bytes(good.cert.read_bytes())
    tls = Tls(good.cert, good.key)
    match wrong:
        case "gone":
            good.cert.unlink()
        case "empty":
            good.cert.write_bytes(b"")
        case "another key":
            good.key.write_bytes(other.key.read_bytes())
        case _:
            good.key.write_bytes(b"-----BEGIN PRIVATE KEY-----\ncanary\n")
    with pytest.raises(SetupError, match="--tls-cert") as refused:
        tls.reload()
    assert str(good.cert) in refused.value.message
    assert "canary" not in refused.value.message

    async def scenario() -> None:
        async with listening(FakePool(), tls=tls.context) as port, caller(port, first) as ws:
            await receive(ws)

    run(scenario())


def test_a_key_with_a_password_is_refused_and_nobody_is_asked(tmp_path: Path) -> None:
    made = make_certificate(tmp_path, password=b"canary")
    with pytest.raises(SetupError, match="--tls-key"):
        Tls(made.cert, made.key)


def test_nothing_older_than_1_2_is_spoken(tmp_path: Path) -> None:
    made = make_certificate(tmp_path)
    assert Tls(made.cert, made.key).context.minimum_version == ssl.TLSVersion.TLSv1_2


@pytest.mark.parametrize(
    "bytes_", [b"GET /v1/realtime HTTP/1.1\r\nHost: x\r\n\r\n", b"\x00" * 100, b"\x16\x03\x01"]
)
def test_who_speaks_no_tls_is_cut_without_a_word_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, bytes_: bytes
) -> None:
    made = make_certificate(tmp_path)

    async def scenario() -> None:
        context = Tls(made.cert, made.key).context
        async with listening(FakePool(), tls=context, handshake_timeout_s=0.3) as port:
            raw = await RawClient.open(port, handshake=False)
            raw.send(bytes_)
            assert b"HTTP" not in await raw.read_to_end()
            await raw.close()
            async with caller(port, made.cert) as ws:
                await receive(ws)

    with caplog.at_level(logging.INFO):
        run(scenario())
    assert not [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert "Traceback" not in caplog.text


def test_a_client_for_plain_websockets_fails_soon_at_a_port_with_tls(tmp_path: Path) -> None:
    made = make_certificate(tmp_path)

    async def scenario() -> None:
        async with listening(FakePool(), tls=Tls(made.cert, made.key).context) as port:
            with pytest.raises(Exception, match="did not receive a valid HTTP response"):
                async with asyncio.timeout(5):
                    await connect(f"ws://127.0.0.1:{port}/v1/realtime", proxy=None)

    run(scenario())
