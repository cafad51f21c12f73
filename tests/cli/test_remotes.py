"""`metastored remotes` and `metastored import waggle-dance`, run as a person runs them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.cli.others.remotes import may_write
from metastored.statements.parsing import parse_script
from metastored.statements.values import CreateRemote
from metastored.testing import RunningServer
from tests.support.forks import run_command, running_server

pytestmark = pytest.mark.slow

PATIENCE = 120.0
DEAD = "thrift://127.0.0.1:1"
FEDERATION = """
primary-meta-store:
  name: local
  remote-meta-store-uris: thrift://127.0.0.1:1
federated-meta-stores:
- name: dw
  remote-meta-store-uris: thrift://127.0.0.1:1
  latency: 5
"""


@pytest.fixture
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run_command(*words, input=stdin, timeout=PATIENCE)


def test_the_list_has_every_remote_and_calls_none(server: RunningServer) -> None:
    with metastored.connect(server.uri) as client:
        client.sql(f"CREATE REMOTE DATABASE old WITH DBPROPERTIES ('hive.metastore.uris' = '{DEAD}')")
    done = run("remotes", "list", "--uri", server.uri)
    assert done.returncode == 0 and "database | old" in done.stdout
    (row,) = json.loads(run("remotes", "list", "--uri", server.uri, "--output", "json").stdout)["rows"]
    assert row[:5] == ["database", "old", "old", "thrift", DEAD]


def test_without_remotes_there_is_nothing_to_test(server: RunningServer) -> None:
    done = run("remotes", "test", "--uri", server.uri)
    assert (done.returncode, done.stdout) == (0, "there are no remotes\n")


def test_a_remote_that_does_not_exist_is_refused(server: RunningServer) -> None:
    done = run("remotes", "test", "old", "--uri", server.uri)
    assert done.returncode == 2 and "there is no remote 'old'; there are: none" in done.stderr


@pytest.mark.parametrize(
    ("location", "allowed", "expected"),
    [
        ("file:/", True, True),
        ("file:/", False, False),
        ("file:/missing/folder", True, True),
        ("s3a://bucket/x", True, None),
        (None, True, None),
    ],
)
def test_only_local_storage_is_known_to_be_writable(
    location: str | None, allowed: bool, expected: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory that does not exist is made in the one above it, which may be written or not."""
    monkeypatch.setattr("os.access", lambda path, mode: allowed and path == Path("/"))
    assert may_write(location) is expected


def test_the_configuration_of_waggle_dance_is_printed_as_statements(tmp_path: Path) -> None:
    file, settings = tmp_path / "federation.yml", tmp_path / "server.yml"
    file.write_text(FEDERATION)
    settings.write_text("database-resolution: PREFIXED\nport: 48869")
    done = run("import", "waggle-dance", str(file), "--server-config", str(settings))
    assert done.returncode == 0
    assert done.stderr == (
        "note: metastore dw: latency is not converted: metastored.remote.timeout is the time for a whole call\n"
    )
    prefixes = [each.prefix for each in parse_script(done.stdout) if isinstance(each, CreateRemote)]
    assert prefixes == ["", "dw_"]


def test_the_configuration_of_waggle_dance_is_executed_at_a_server(server: RunningServer, tmp_path: Path) -> None:
    file, settings = tmp_path / "federation.yml", tmp_path / "server.yml"
    file.write_text(FEDERATION)
    settings.write_text("databaseResolution: PREFIXED")
    words = ("import", "waggle-dance", str(file), "--server-config", str(settings), "--into", server.uri)
    done = run(*words)
    assert done.stdout.splitlines() == ["created remote catalog local", "created remote catalog dw"], done.stderr
    with metastored.connect(server.uri) as client:
        rows = [row[:3] for row in client.sql("SHOW REMOTES").rows]
    assert rows == [("catalog", "dw", "dw_*"), ("catalog", "local", "*")]
    again = run(*words)
    assert again.returncode == 2 and "already exists" in again.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "while parsing"),
        (FEDERATION + "  mapped-databses: []", "Waggle Dance has no such key: mapped-databses"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_of_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "federation.yml"
    file.write_text(text)
    done = run("import", "waggle-dance", str(file))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
