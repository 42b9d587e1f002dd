"""A proxy with TLS for the clients that insist on ``wss://``, and a certificate for it."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tests.stock_clients.running import run_python
from tests.support.running_server import PATIENCE_S

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType
    from typing import Self

MAKE_CERTIFICATE = """
import datetime, ipaddress, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

key = ec.generate_private_key(ec.SECP256R1())
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
now = datetime.datetime.now(datetime.timezone.utc)
host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
made = (
    x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    .serial_number(x509.random_serial_number())
    .not_valid_before(now - datetime.timedelta(days=1))
    .not_valid_after(now + datetime.timedelta(days=1))
    .add_extension(host, critical=False)
    .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    .sign(key, hashes.SHA256())
)
pem = serialization.Encoding.PEM
with open(sys.argv[1], "wb") as file:
    file.write(made.public_bytes(pem))
with open(sys.argv[2], "wb") as file:
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write(key.private_bytes(pem, form, secret))
"""


class TlsProxy:
    """Passes bytes between TLS clients and a port of this machine; in a thread of its own.

    Args:
        folder: Where to write ``certificate.pem``, which clients have to trust, and its key.
        port: The port behind it.
    """

    def __init__(self, folder: Path, port: int) -> None:
        self.certificate = folder / "certificate.pem"
        key, program = folder / "key.pem", folder / "make_certificate.py"
        program.write_text(MAKE_CERTIFICATE, encoding="utf-8")
        run_python(program, str(self.certificate), str(key))
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(self.certificate, key)
        self._behind = port
        self._listening: Future[int] = Future()
        self._thread = threading.Thread(target=self._run, name="tls-proxy")
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event

    def __enter__(self) -> Self:
        self._thread.start()
        self.port = self._listening.result(PATIENCE_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0, ssl=self._context)
        self._listening.set_result(server.sockets[0].getsockname()[1])
        await self._stop.wait()
        server.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._behind)
        async with asyncio.TaskGroup() as both:
            both.create_task(_copy(reader, behind_writer))
            both.create_task(_copy(behind_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
