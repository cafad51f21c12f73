"""Secrets of remotes: encrypted with a key file, or referenced."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from metastored.errors import ConfigError, InvalidObjectException, StoreError
from metastored.model.remotes.endpoints import Endpoint
from metastored.store.security.remote_secrets import RemoteSecrets

PASSWORD = "metastored.remote.password"
# Base64 has no "!", so an encrypted value never contains this text by chance.
SECRET = "a-secret!"


def key_file(folder: Path, *keys: bytes) -> Path:
    file = folder / "keys"
    file.write_bytes(b"\n".join(map(base64.b64encode, keys)) + b"\n")
    return file


def endpoint(value: str, key: str = PASSWORD) -> Endpoint:
    return Endpoint("thrift", ((key, value),))


def test_a_secret_is_encrypted_and_decrypted(tmp_path: Path) -> None:
    secrets = RemoteSecrets.read(key_file(tmp_path, os.urandom(32)))
    sealed = secrets.sealed({PASSWORD: SECRET, "hive.metastore.uris": "thrift://a:1"}, "thrift", "d")
    assert sealed[PASSWORD] != SECRET and SECRET not in sealed[PASSWORD]
    assert sealed["hive.metastore.uris"] == "thrift://a:1"
    assert secrets.opened(sealed)[PASSWORD] == SECRET


def test_the_same_secret_is_never_stored_in_the_same_way(tmp_path: Path) -> None:
    secrets = RemoteSecrets.read(key_file(tmp_path, os.urandom(32)))
    first, second = (secrets.sealed({PASSWORD: SECRET}, "thrift", "d") for _ in range(2))
    assert first != second


def test_a_newer_key_is_put_above_the_older_one(tmp_path: Path) -> None:
    old, new = os.urandom(32), os.urandom(32)
    sealed = RemoteSecrets.read(key_file(tmp_path, old)).sealed({PASSWORD: SECRET}, "thrift", "d")
    both = RemoteSecrets.read(key_file(tmp_path, new, old))
    assert both.opened(sealed)[PASSWORD] == SECRET
    resealed = both.sealed({PASSWORD: SECRET}, "thrift", "d")
    assert RemoteSecrets.read(key_file(tmp_path, new)).opened(resealed)[PASSWORD] == SECRET


def test_a_secret_of_another_key_fails_its_connection_with_the_reason() -> None:
    sealed = RemoteSecrets([os.urandom(32)]).sealed({PASSWORD: SECRET}, "thrift", "d")
    for secrets in (RemoteSecrets([os.urandom(32)]), RemoteSecrets()):
        kept = secrets.opened(sealed)[PASSWORD]
        with pytest.raises(StoreError, match="a key that remotes_key_file does not have"):
            secrets.resolved(endpoint(kept))


def test_without_a_key_secrets_are_refused() -> None:
    with pytest.raises(InvalidObjectException, match="set remotes_key_file"):
        RemoteSecrets().sealed({PASSWORD: SECRET}, "thrift", "remote database d")


def test_a_password_in_an_address_is_a_secret_too() -> None:
    uri = {"iceberg.catalog.uri": f"postgresql://u:{SECRET}@db/c"}
    with pytest.raises(InvalidObjectException, match="set remotes_key_file"):
        RemoteSecrets().sealed(uri, "iceberg", "d")
    secrets = RemoteSecrets([os.urandom(32)])
    assert SECRET not in str(secrets.sealed(uri, "iceberg", "d").values())
    assert secrets.opened(secrets.sealed(uri, "iceberg", "d")) == uri


def test_a_reference_is_stored_as_it_is_and_resolved_at_each_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    secrets = RemoteSecrets(references=["env:OLD_*", f"file:{tmp_path}/*"])
    assert secrets.sealed({PASSWORD: f"file:{file}"}, "thrift", "d")[PASSWORD] == f"file:{file}"
    for content in ("first\n", "second"):
        file.write_text(content)
        assert secrets.resolved(endpoint(f"file:{file}")).get(PASSWORD) == content.strip()
    monkeypatch.setenv("OLD_PASSWORD", "third")
    assert secrets.resolved(endpoint("env:OLD_PASSWORD")).get(PASSWORD) == "third"


@pytest.mark.parametrize(
    "reference",
    ["file:/etc/passwd", "env:PATH", "file:secret", "file:", "file:/allowed/../etc/passwd", "file:/allowedly"],
)
def test_other_files_and_variables_are_not_referred_to(reference: str) -> None:
    secrets = RemoteSecrets(references=["env:OLD_*", "file:/allowed/*"])
    with pytest.raises(InvalidObjectException, match="remotes_references allows only"):
        secrets.sealed({PASSWORD: reference}, "thrift", "d")
    with pytest.raises(InvalidObjectException, match="remotes_references allows only"):
        secrets.resolved(endpoint(reference))


@pytest.mark.parametrize("reference", ["env:OLD_MISSING", "file:/allowed/missing"])
def test_a_missing_secret_fails_the_connection_with_its_name(reference: str) -> None:
    secrets = RemoteSecrets(references=["env:OLD_*", "file:/allowed/*"])
    with pytest.raises(StoreError, match=f"'{PASSWORD}' is {reference}"):
        secrets.resolved(endpoint(reference))


def test_a_text_that_looks_like_a_reference_is_none_in_other_keys() -> None:
    given = endpoint("file:/etc/passwd", "ssh.tunnel.known.hosts")
    assert RemoteSecrets().resolved(given) == given


@pytest.mark.parametrize("content", [b"", b"short", b"not base64 !!", base64.b64encode(b"x" * 31), b"\xff\xfe"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "keys"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="openssl rand -base64 32 makes one"):
        RemoteSecrets.read(file)


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nokey: No such file"):
        RemoteSecrets.read(tmp_path / "nokey")
