"""The server's side of TLS: certificates from files or self-signed, and the verification of client certificates.

A certificate is reloaded when its file changes; open connections keep the old certificate. No private key is ever
written to an error or the log.
"""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import logging
import os
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Final

from metastored.config import Settings
from metastored.errors import ConfigError
from metastored.server.user_names import is_user_name
from metastored.store.engine import private
from metastored.store.engine.file_lock import FileLock

log = logging.getLogger("metastored.server")

MADE_CERTIFICATE: Final = "http-certificate.pem"
MADE_KEY: Final = "http-key.pem"
MAKING: Final = "http-certificate.lock"
YEARS: Final = 10
"""The validity of a self-signed certificate. Clients trust it by its fingerprint, so a short one has no use."""


class Tls:
    """A certificate and its key, in the SSL context of new connections."""

    def __init__(
        self,
        certificate: Path,
        key: Path | None = None,
        client_ca: Path | None = None,
        client_verification: ssl.VerifyMode = ssl.CERT_REQUIRED,
    ) -> None:
        """`client_verification` matters with `client_ca`: CERT_OPTIONAL leaves it to the caller to refuse a client
        without a certificate. One that is presented must be right in any case."""
        self._files = (certificate, key or certificate)
        self._key = key
        self.context: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._seen = self._state()
        # OpenSSL's errors do not name the file.
        _readable("tls_certificate", certificate)
        if key is not None:
            _readable("tls_key", key)
        try:
            self.context.load_cert_chain(certificate, key, _no_password)
        except (OSError, ssl.SSLError) as error:
            files = f"tls_certificate {certificate}" + (f" with tls_key {key}" if key is not None else "")
            raise ConfigError(
                f"{files}: {error.strerror or error}; a certificate chain and its key without a password were "
                "expected, both in PEM"
            ) from error
        if client_ca is not None:
            try:
                self.context.load_verify_locations(client_ca)
            except (OSError, ssl.SSLError) as error:
                raise ConfigError(f"tls_client_ca {client_ca}: {error.strerror or error}") from error
            self.context.verify_mode = client_verification

    def reload(self) -> None:
        """Reloads the files if they have changed. An unusable certificate is logged once; the old one stays in use."""
        state = self._state()
        if state == self._seen or None in state:
            return
        self._seen = state
        try:
            # Tried apart first: a key that does not fit would leave the context with half of it.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._files[0], self._key, _no_password)
            self.context.load_cert_chain(self._files[0], self._key, _no_password)
        except (OSError, ssl.SSLError) as error:
            log.error("tls_certificate %s changed and cannot be used: %s", self._files[0], error.strerror or error)
        else:
            log.info("tls_certificate %s changed and is used from now on", self._files[0])

    def _state(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stamp(file) for file in self._files)


def _readable(setting: str, file: Path) -> None:
    try:
        with file.open("rb"):
            pass
    except OSError as error:
        raise ConfigError(f"{setting} {file}: {error.strerror or error}") from error


def _no_password() -> str:
    """For an encrypted key: without this, OpenSSL would prompt on the terminal and wait."""
    return ""


def _stamp(file: Path) -> tuple[int, int, int] | None:
    with suppress(OSError):
        stat = file.stat()
        return stat.st_mtime_ns, stat.st_size, stat.st_ino
    return None


def thrift_tls(settings: Settings) -> Tls | None:
    """For the Thrift port: when there is a certificate."""
    if settings.tls_certificate is None:
        return None
    return Tls(settings.tls_certificate, settings.tls_key, settings.tls_client_ca)


def http_tls(settings: Settings) -> Tls | None:
    """For the HTTP port: always, unless a gateway ends TLS."""
    if settings.http_tls == "off":
        return None
    certificate, key = settings.tls_certificate, settings.tls_key
    if certificate is None:
        certificate, key = made_certificate(settings.data)
    # HTTP has a status for a missing certificate; a handshake could only cut the connection.
    return Tls(certificate, key, settings.tls_client_ca, ssl.CERT_OPTIONAL)


def made_certificate(folder: Path) -> tuple[Path, Path]:
    """The self-signed certificate and its key; created if the directory has none."""
    certificate, key = folder / MADE_CERTIFICATE, folder / MADE_KEY
    if certificate.exists() and key.exists():
        return certificate, key
    private.make_folder(folder)
    # Two servers that start at the same time must not mix the key of one with the certificate of the other.
    lock = FileLock(folder / MAKING)
    try:
        with lock:
            if not (certificate.exists() and key.exists()):
                made_key, made = _make()
                _put(key, made_key)
                _put(certificate, made)
    finally:
        lock.close()
    return certificate, key


def fingerprint(certificate: Path) -> str:
    """The SHA-256 of the first certificate of a file, as browsers and openssl show it."""
    text = certificate.read_text(encoding="ascii")
    end = "-----END CERTIFICATE-----"
    der = ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE-----") : text.index(end) + len(end)] + "\n")
    digest = hashlib.sha256(der).hexdigest().upper()
    return ":".join(digest[at : at + 2] for at in range(0, len(digest), 2))


def common_name(certificate: dict[str, object] | None) -> str | None:
    """The common name in the subject of a client's certificate, as `ssl` gives it after it was verified.

    None if it has none, several, or one that is not a name of a user (a NUL, a line break).
    """
    subject = (certificate or {}).get("subject", ())
    assert isinstance(subject, tuple)
    names = [value for part in subject for name, value in part if name == "commonName"]
    # With two common names it would be ambiguous which user is meant.
    return str(names[0]) if len(names) == 1 and is_user_name(str(names[0])) else None


def _put(file: Path, content: bytes) -> None:
    """Writes a file atomically, readable by its owner only."""
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(private.create(unfinished, os.O_TRUNC, shown=file), "wb") as output:
        output.write(content)
    unfinished.replace(file)


def _make() -> tuple[bytes, bytes]:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    host = socket.gethostname()
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, host[:64])])
    names: list[x509.GeneralName] = [x509.DNSName(each) for each in dict.fromkeys((host, "localhost"))]
    names += [x509.IPAddress(ipaddress.ip_address(each)) for each in ("127.0.0.1", "::1")]
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=365 * YEARS))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain), certificate.public_bytes(pem)
