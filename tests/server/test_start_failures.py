"""A server that cannot start prints the reason in one line and exits with code 2, for every wrong setting."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from metastored.config import KEYS
from tests.server.support import certificate
from tests.support.forks import run_command
from tests.support.postgres import running_postgres
from tests.transfer.support import command, environment

pytestmark = pytest.mark.slow

Flags = Callable[[Path], list[str]]

AS_A_USER = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
"""Takes away that root may write everywhere."""


def serve(*flags: str, unprivileged: bool = False) -> subprocess.CompletedProcess[str]:
    words = ("serve", "--port", "0", *flags)
    if unprivileged and os.geteuid() == 0:
        assert shutil.which("setpriv"), "util-linux has setpriv; these tests need it when they run as root"
        whole = [*AS_A_USER, *command(*words)]
        return subprocess.run(whole, capture_output=True, text=True, timeout=60, env=environment())
    return run_command(*words, timeout=60)


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """One line on standard error, with these words, and exit code 2."""
    lines = [line for line in done.stderr.splitlines() if " WARNING " not in line]
    assert (done.returncode, len(lines), done.stdout) == (2, 1, ""), done.stderr
    assert lines[0].startswith("metastored: ")
    assert [word for word in words if word not in lines[0]] == []


def unwritable(folder: Path) -> Path:
    made = folder / "unwritable"
    made.mkdir()
    made.chmod(0o555)
    return made


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (lambda folder: unwritable(folder), ("cannot be written", "--data")),
        (lambda folder: unwritable(folder) / "data", ("cannot be made", "Permission denied")),
        (lambda folder: folder / "file", ("is a file",)),
        (lambda folder: folder / "file" / "data", ("cannot be made", "Not a directory")),
    ],
    ids=["unwritable", "in an unwritable one", "a file", "in a file"],
)
@pytest.mark.parametrize("more", [(), ("--workers", "2"), ("--http-port", "0")], ids=["plain", "workers", "http"])
def test_a_data_folder_that_cannot_be_used(
    tmp_path: Path, place: Callable[[Path], Path], words: tuple[str, ...], more: tuple[str, ...]
) -> None:
    (tmp_path / "file").touch()
    data = place(tmp_path)
    refused(serve("--data", str(data), *more, unprivileged=True), str(data), *words)


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("name", ["nowhere/ready", "folder", "unwritable/ready"])
def test_a_ready_file_that_cannot_be_written(tmp_path: Path, name: str, workers: str) -> None:
    (tmp_path / "folder").mkdir()
    unwritable(tmp_path)
    flags = ("--data", str(tmp_path / "data"), "--ready-file", str(tmp_path / name), "--workers", workers)
    refused(serve(*flags, unprivileged=True), "ready_file", str(tmp_path / name), "cannot be written")
    assert not (tmp_path / "data").exists()


FILES = [key.name for key in KEYS.values() if key.kind in ("file", "file or URL") and key.name != "ready_file"]
"""The settings that name a file to be read."""


@pytest.mark.parametrize(
    ("kind", "workers"), [("missing", "1"), ("missing", "2"), ("a directory", "1"), ("empty", "1")]
)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used(tmp_path: Path, name: str, kind: str, workers: str) -> None:
    if name == "kerberos_keytab" and find_spec("gssapi") is None:
        pytest.skip("the kerberos extra (gssapi) is not installed: make system installs it")
    chain, key = certificate(tmp_path)
    file = {"missing": tmp_path / "missing", "a directory": tmp_path, "empty": tmp_path / "empty"}[kind]
    (tmp_path / "empty").touch()
    given = {
        "data": tmp_path / "data",
        "http_port": 0,
        "workers": workers,
        "tls_certificate": chain,
        "tls_key": key,
        name: file,
    }
    if name == "kerberos_keytab":
        given["kerberos_principal"] = "hive/localhost@EXAMPLE.COM"
    flags = [text for each, value in given.items() for text in (KEYS[each].flag, str(value))]
    refused(serve(*flags), name, str(file))


def test_a_key_with_a_password_is_refused_without_a_prompt(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path)
    found = load_pem_private_key(Path(key).read_bytes(), None)
    pem, how = serialization.Encoding.PEM, serialization.BestAvailableEncryption(b"secret")
    locked = tmp_path / "locked.pem"
    locked.write_bytes(found.private_bytes(pem, serialization.PrivateFormat.PKCS8, how))
    flags = ("--data", str(tmp_path / "data"), "--tls-certificate", str(chain), "--tls-key", str(locked))
    refused(serve(*flags), "tls_key", "without a password")


@pytest.mark.parametrize("flag", ["--port", "--http-port"])
def test_a_port_that_is_in_use(tmp_path: Path, flag: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        refused(serve("--data", str(tmp_path / "data"), flag, str(port)), f"127.0.0.1:{port}", "in use", flag)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "192.0.2.1", "a..b", "::g"])
def test_an_address_that_is_not_this_machines(tmp_path: Path, host: str) -> None:
    refused(serve("--data", str(tmp_path / "data"), "--host", host), "cannot listen on", host)


@pytest.mark.parametrize(
    ("url", "words", "workers"),
    [
        ("postgresql://127.0.0.1:1/x", "Connection refused", "1"),
        ("postgresql://127.0.0.1:1/x", "Connection refused", "2"),
        ("postgresql://127.0.0.1:port/x", "port", "1"),
        ("postgresql://127.0.0.1/x?nope=1", "nope", "1"),
        ("postgresql://%zz@127.0.0.1/x", "%zz", "1"),
        ("mysql://127.0.0.1/x", "postgresql://user@host/name", "1"),
        ("metastored.db", "postgresql://user@host/name", "1"),
    ],
)
def test_a_database_url_that_cannot_be_used(url: str, words: str, workers: str) -> None:
    refused(serve("--database-url", url, "--workers", workers), words)


@pytest.mark.parametrize("name", ["data", "ready_file", "tls_certificate", "metrics_token"])
def test_a_home_directory_of_an_unknown_user(name: str) -> None:
    refused(serve(KEYS[name].flag, "~nobody-of-this-name/x"), f"{name} is '~nobody-of-this-name/x'", "complete path")


def test_a_url_of_web_keys_without_a_host(tmp_path: Path) -> None:
    flags = ("--data", str(tmp_path / "data"), "--http-port", "0", "--jwt-keys", "https://[")
    refused(serve(*flags), "jwt_keys https://[", "a URL with a host")


@pytest.mark.postgres
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_user_of_postgresql_who_may_not_create_tables(workers: str) -> None:
    with running_postgres() as postgres, postgres.database() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE ROLE reader LOGIN")
            connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        flags = ("--database-url", url.replace("postgres@", "reader@"), "--workers", workers)
        refused(serve(*flags), "the schema cannot be set up", "permission denied for schema public")
        refused(serve("--database-url", url.replace("postgres@", "nobody_at_all@")), "nobody_at_all", "does not exist")
