"""`metastored import` and `metastored export`, run as a person runs them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

import metastored as client_of
from metastored.testing import RunningServer
from tests.support.forks import run_command, running_server
from tests.support.postgres import shared_postgres
from tests.support.scripted import scripted, stall
from tests.transfer import content
from tests.transfer.content import table
from tests.transfer.support import command, environment, metastored

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        with client_of.connect(running.uri) as client:
            client.create_database("shop")
            client.create_table(table("shop", "orders"))
        yield running


def test_an_import_prints_a_summary(server: RunningServer, tmp_path: Path) -> None:
    done = metastored("import", "metastore", server.uri, "--into", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "added: 1 database, 1 table\n" in done.stderr
    again = metastored("import", "metastore", server.uri, "--into", str(tmp_path))
    assert "both are equal\n" in again.stderr


def test_a_verification_with_differences_ends_with_1(server: RunningServer, tmp_path: Path) -> None:
    words = ("import", "metastore", server.uri, "--into", str(tmp_path))
    assert metastored(*words, "--databases", "default").returncode == 0
    done = metastored(*words, "--verify")
    assert done.returncode == 1
    assert "table shop.orders: is missing in the target\n" in done.stderr
    assert "missing: 1 database, 1 table\n" in done.stderr


def test_a_dry_run_prints_what_would_be_written(server: RunningServer, tmp_path: Path) -> None:
    words = ("import", "metastore", server.uri, "--into", str(tmp_path))
    assert metastored(*words, "--databases", "default").returncode == 0
    done = metastored(*words, "--dry-run")
    assert (done.returncode, "table shop.orders: would be added\n" in done.stderr) == (0, True)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_first_dry_run_needs_no_folder_and_makes_none(server: RunningServer, tmp_path: Path) -> None:
    done = metastored("import", "metastore", server.uri, "--into", str(tmp_path / "new"), "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "table shop.orders: would be added\n" in done.stderr
    assert "would be added: 1 database, 1 table\n" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_dry_run_into_a_folder_where_only_users_were_added_changes_no_file(
    server: RunningServer, tmp_path: Path
) -> None:
    add = run_command("user", "add", "maja", "--password-stdin", "--data", str(tmp_path), input="a password\n")
    assert add.returncode == 0, add.stderr
    before = contents(tmp_path)
    done = metastored("import", "metastore", server.uri, "--into", str(tmp_path), "--dry-run")
    assert (done.returncode, "table shop.orders: would be added\n" in done.stderr) == (0, True)
    assert contents(tmp_path) == before


@pytest.mark.postgres
@pytest.mark.parametrize("mode", ["--dry-run", "--verify"])
def test_neither_a_dry_run_nor_a_verification_makes_tables_in_an_empty_postgresql(
    server: RunningServer, mode: str
) -> None:
    with shared_postgres().database() as url:
        done = metastored("import", "metastore", server.uri, "--into", url, mode)
        if mode == "--dry-run":
            assert (done.returncode, "table shop.orders: would be added\n" in done.stderr) == (0, True)
        else:
            assert (done.returncode, "the database is empty" in done.stderr) == (2, True)
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        assert found == (0,)


@pytest.mark.postgres
def test_an_export_from_an_empty_postgresql_makes_no_tables_there() -> None:
    with shared_postgres().database() as url, running_server() as other:
        done = metastored("export", "metastore", other.uri, "--from", url)
        assert (done.returncode, "the database is empty" in done.stderr) == (2, True)
        with psycopg.connect(url) as connection:
            found = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        assert found == (0,)


def test_a_dry_run_has_one_line_for_the_partitions_of_a_table(tmp_path: Path) -> None:
    with running_server() as running:
        with client_of.connect(running.uri) as client:
            content.fill(client, "a", 24, 60)
        words = ("import", "metastore", running.uri, "--into", str(tmp_path / "data"))
        brief = metastored(*words, "--dry-run", "--databases", "a_main").stderr.splitlines()
        lines = [line for line in brief if "partition" in line and not line.startswith(("compared:", "would be"))]
        assert lines and all(re.fullmatch(r"table a_main\.\w+: \d+ partitions? would be added", line) for line in lines)
        each = metastored(*words, "--dry-run", "--verbose", "--databases", "a_main").stderr.splitlines()
        named = [line for line in each if line.startswith("partition a_main.")]
        assert len(named) == sum(int(line.split()[2]) for line in lines) > len(lines)


@pytest.mark.parametrize("mode", [(), ("--dry-run",), ("--verify",), ("--drop",)], ids=str)
@pytest.mark.parametrize(
    ("flag", "pattern"), [("--databases", "nope*"), ("--tables", "nope*|nor*"), ("--catalogs", "nope")]
)
def test_a_pattern_that_matches_nothing_is_refused_and_named(
    server: RunningServer, tmp_path: Path, mode: tuple[str, ...], flag: str, pattern: str
) -> None:
    assert metastored("import", "metastore", server.uri, "--into", str(tmp_path / "data")).returncode == 0
    before = contents(tmp_path / "data")
    words = ("import", "metastore", server.uri, "--into", str(tmp_path / "data"), flag, pattern, *mode)
    done = metastored(*words, "--journal", str(tmp_path / "journal"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"metastored: {flag} {pattern!r} matches nothing in {server.uri}")
    assert done.stderr.count("\n") == 1 and "equal" not in done.stderr
    assert contents(tmp_path / "data") == before


def test_an_alternative_that_matches_nothing_is_noted(server: RunningServer, tmp_path: Path) -> None:
    words = ("import", "metastore", server.uri, "--into", str(tmp_path), "--databases", "shop|nope*")
    done = metastored(*words)
    assert done.returncode == 0, done.stderr
    assert f"note: of --databases, 'nope*' matches nothing in {server.uri}\n" in done.stderr


def test_a_database_that_only_the_target_has_is_matched_when_it_is_to_be_dropped(tmp_path: Path) -> None:
    with running_server() as running:
        words = ("import", "metastore", running.uri, "--into", str(tmp_path))
        with client_of.connect(running.uri) as client:
            client.create_database("old_one")
            assert metastored(*words).returncode == 0
            client.drop_database("old_one")
        done = metastored(*words, "--databases", "old*", "--drop")
        assert (done.returncode, "dropped: 1 database\n" in done.stderr) == (0, True)


def test_an_export_copies_in_the_other_direction(server: RunningServer, tmp_path: Path) -> None:
    assert metastored("import", "metastore", server.uri, "--into", str(tmp_path / "data")).returncode == 0
    with running_server() as other:
        words = ("export", "metastore", other.uri, "--from", str(tmp_path / "data"))
        done = metastored(*words, "--journal", str(tmp_path / "journal"))
        assert done.returncode == 0, done.stderr
        with client_of.connect(other.uri) as client:
            assert client.table("shop.orders").owner == "ann"


def test_on_a_terminal_there_is_a_bar(server: RunningServer, tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = command("import", "metastore", server.uri, "--into", str(tmp_path))
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**environment(), "TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # Linux's error when the other side of a terminal is closed.
        while data := os.read(ours, 65536):
            seen += data
    os.close(ours)
    assert process.wait(60) == 0
    assert b"tables" in seen and b"1/1" in seen and b"added: 1 database, 1 table" in seen


def test_ctrl_c_prints_how_to_resume(tmp_path: Path) -> None:
    with scripted(otherwise=stall) as silent:
        words = command("import", "metastore", silent.uri, "--into", str(tmp_path))
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment())
        deadline = time.monotonic() + 60
        while not silent.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, "interrupted: run the same command again to resume\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "metastore", "thrift://a", "--into", "x", "--verify", "--dry-run"), "choose one"),
        (("import", "metastore", "thrift://a", "thrift://b", "--into", "x"), "need a name each"),
        (("import", "metastore", "ftp://a", "--into", "x"), "begins with ftp://"),
        (("import", "metastore", "thrift://127.0.0.1:1", "--into", "x", "--without", "tables"), "cannot be left out"),
        (("export", "metastore", "somewhere", "--from", "x"), "is not the address of a metastore"),
        (("export", "metastore", "thrift://127.0.0.1:1", "--from", "nowhere"), "there is no metastored.db in it"),
    ],
)
def test_invalid_arguments_are_one_line_and_exit_code_2(words: tuple[str, ...], said: str) -> None:
    done = metastored(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("metastored: ") and said in done.stderr and done.stderr.count("\n") == 1


def test_a_source_that_is_down_is_reported_in_one_line(tmp_path: Path) -> None:
    done = metastored("import", "metastore", "thrift://127.0.0.1:1", "--into", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == (
        "metastored: cannot connect to thrift://127.0.0.1:1: connection refused. "
        "Is the server running, and is this its address?\n"
    )


def test_the_warehouse_of_a_new_folder_is_in_it(server: RunningServer, tmp_path: Path) -> None:
    """Its own catalog `hive` is not touched by an import into another one."""
    done = metastored("import", "metastore", f"lake={server.uri}", "--into", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    with running_server(data=tmp_path / "data", warehouse=None) as imported:
        assert imported.warehouse == f"file:{tmp_path}/data/warehouse"
