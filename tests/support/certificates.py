"""Certificates that a test makes for itself: valid for an hour, for this machine."""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Certificate", "make_certificate"]


@dataclass(frozen=True, slots=True)
class Certificate:
    """Where a certificate and its private key are."""

    cert: Path
    key: Path


def make_certificate(folder: Path, name: str = "own", password: bytes = b"") -> Certificate:
    """Write a fresh certificate that has signed itself; clients trust it as it is."""
    made = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    secret = ec.generate_private_key(ec.SECP256R1())
    called = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    hour = dt.timedelta(hours=1)
    host = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    signed = (
        x509.CertificateBuilder()
        .subject_name(called)
        .issuer_name(called)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - hour)
        .not_valid_after(now + hour)
        .add_extension(host, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(secret, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    made.cert.write_bytes(signed.public_bytes(pem))
    form = serialization.PrivateFormat.PKCS8
    lock: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password:
        lock = serialization.BestAvailableEncryption(password)
    made.key.write_bytes(secret.private_bytes(pem, form, lock))
    made.key.chmod(0o600)
    return made
