"""Secrets of remotes: encrypted with a key file where they are stored, or references that are resolved when used.

A secret in a definition is `env:NAME`, `file:PATH`, or the secret itself. A reference is stored as it is, if the
setting `remotes_references` allows it for the hosts of the definition, or if an administrator makes the definition:
whoever may define remotes could otherwise send any secret of this machine to a host of their own. The rules are in
`model/remotes/rights.py`; they are checked when a definition is stored and again for each connection. The secret itself
is stored encrypted, and only where the server has a key file.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from metastored.errors import ConfigError, InvalidObjectException, StoreError
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import holds_secret, is_reference
from metastored.model.remotes.rights import References

if TYPE_CHECKING:
    from cryptography.fernet import MultiFernet

DEFAULT_REFERENCES: Final = ("env:METASTORED_REMOTE__*", "file:/run/secrets/*")
_ENCRYPTED: Final = "encrypted:"
_KEY_BYTES: Final = 32
_LARGEST_SECRET: Final = 64 * 1024

HOW_TO_MAKE_A_KEY: Final = "openssl rand -base64 32"


def is_encrypted(value: str) -> bool:
    return value.startswith(_ENCRYPTED)


class RemoteSecrets:
    """The secrets of one server's remotes."""

    def __init__(self, keys: Iterable[bytes] = (), references: Iterable[str] = DEFAULT_REFERENCES) -> None:
        """`keys` has the key that encrypts first; the others only decrypt what was encrypted before."""
        self._keys = tuple(keys)
        self._references = References(references)

    @classmethod
    def read(cls, key_file: Path | None, references: Iterable[str] = DEFAULT_REFERENCES) -> RemoteSecrets:
        """Reads the key file: one key of 32 bytes in base64 on each line, the newest first. Raises ConfigError."""
        return cls(() if key_file is None else _read_keys(key_file), references)

    # Stored definitions

    def check(self, endpoint: Endpoint, what: str, *, by_admin: bool) -> None:
        """Raises InvalidObjectException where a definition may not use what it refers to. `by_admin`: who makes it."""
        self._references.check(endpoint, what, by_admin=by_admin)

    def sealed(self, parameters: Mapping[str, str], via: str, what: str) -> dict[str, str]:
        """Parameters as they may be stored. Raises InvalidObjectException for a secret that may not."""
        return {
            name: self._seal(name, value, what) if holds_secret(name, value, via) else value
            for name, value in parameters.items()
        }

    def _seal(self, name: str, value: str, what: str) -> str:
        if is_reference(value):
            self._references.check_named(value, f"{what}: '{name}'")
            return value
        if not self._keys:
            raise InvalidObjectException(
                f"{what}: '{name}' is a secret, and this server has no key to store it with: give env:NAME or "
                f"file:PATH, or set remotes_key_file to a file that {HOW_TO_MAKE_A_KEY} has made"
            )
        return _ENCRYPTED + self._cipher().encrypt(value.encode()).decode()

    def opened(self, parameters: Mapping[str, str]) -> dict[str, str]:
        """What `sealed` was given. A secret that cannot be decrypted stays as it is stored."""
        return {name: self._open(value) if is_encrypted(value) else value for name, value in parameters.items()}

    def _open(self, value: str) -> str:
        from cryptography.fernet import InvalidToken

        try:
            return self._cipher().decrypt(value.removeprefix(_ENCRYPTED)).decode() if self._keys else value
        except InvalidToken:
            return value

    # Connections

    def resolved(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with its references replaced by the secrets; call it for each new connection.

        Raises InvalidObjectException where one of them may not be used for a host of the endpoint, and StoreError where
        a secret is not there, without saying what else is.
        """
        self._references.check(endpoint, by_admin=True)
        properties = [
            (name, self._resolve(name, value) if holds_secret(name, value, endpoint.via) else value)
            for name, value in endpoint.properties
        ]
        return replace(endpoint, properties=tuple(properties))

    def _resolve(self, name: str, value: str) -> str:
        if is_encrypted(value):
            raise StoreError(
                f"'{name}' was encrypted with a key that remotes_key_file does not have; put that key back into the "
                "file, below the newest one, or give the secret again by ALTER"
            )
        if not is_reference(value):
            return value
        kind, _, where = value.partition(":")
        if kind == "env":
            secret = os.environ.get(where)
            if secret is None:
                raise StoreError(f"'{name}' is {value}, and the server's environment has no such variable")
            return secret
        try:
            with open(where, encoding="utf-8") as file:
                return file.read(_LARGEST_SECRET).strip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            raise StoreError(f"'{name}' is {value}, which cannot be read: {reason}") from None

    def _cipher(self) -> MultiFernet:
        from cryptography.fernet import Fernet, MultiFernet

        return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in self._keys])


def _read_keys(file: Path) -> list[bytes]:
    try:
        lines = [line.strip() for line in file.read_text(encoding="ascii").splitlines()]
    except OSError as error:
        raise ConfigError(f"remotes_key_file {file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise _no_key(file) from None
    keys = []
    for line in filter(None, lines):
        try:
            key = base64.b64decode(line.replace("-", "+").replace("_", "/"), validate=True)
        except ValueError:
            raise _no_key(file) from None
        if len(key) != _KEY_BYTES:
            raise _no_key(file)
        keys.append(key)
    if not keys:
        raise _no_key(file)
    return keys


def _no_key(file: Path) -> ConfigError:
    return ConfigError(
        f"remotes_key_file {file}: a key of {_KEY_BYTES} bytes in base64 was expected on each line; "
        f"{HOW_TO_MAKE_A_KEY} makes one"
    )
