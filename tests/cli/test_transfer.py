"""`metastored import` and `metastored export`, run as a person runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import metastored as client_of
from metastored.testing import RunningServer, running_server
from tests.support.scripted import scripted, stall
from tests.transfer.content import table
from tests.transfer.support import command, environment, metastored


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        with client_of.connect(running.uri) as client:
            client.create_database("shop")
            client.create_table(table("shop", "orders"))
        yield running


def test_an_import_says_what_it_did(server: RunningServer, tmp_path: Path) -> None:
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


def test_a_dry_run_tells_what_would_be_written(server: RunningServer, tmp_path: Path) -> None:
    words = ("import", "metastore", server.uri, "--into", str(tmp_path))
    assert metastored(*words, "--databases", "default").returncode == 0
    done = metastored(*words, "--dry-run")
    assert (done.returncode, "table shop.orders: would be added\n" in done.stderr) == (0, True)


def test_an_export_goes_the_other_way(server: RunningServer, tmp_path: Path) -> None:
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
    with suppress(OSError):  # What Linux says when the other side of a terminal is gone.
        while data := os.read(ours, 65536):
            seen += data
    os.close(ours)
    assert process.wait(60) == 0
    assert b"tables" in seen and b"1/1" in seen and b"added: 1 database, 1 table" in seen


def test_ctrl_c_says_that_it_can_go_on(tmp_path: Path) -> None:
    # A job in a shell's background takes no Ctrl-C, nor do its children, unless they are told to.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with scripted(otherwise=stall) as silent:
            words = command("import", "metastore", silent.uri, "--into", str(tmp_path))
            process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment())
            deadline = time.monotonic() + 60
            while not silent.requests and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (process.returncode, said) == (130, "interrupted: the same command goes on where this one stopped\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("import", "metastore", "thrift://a", "--into", "x", "--verify", "--dry-run"), "choose one"),
        (("import", "metastore", "thrift://a", "thrift://b", "--into", "x"), "need a name each"),
        (("import", "metastore", "ftp://a", "--into", "x"), "begins with ftp://"),
        (("import", "metastore", "thrift://127.0.0.1:1", "--into", "x", "--without", "tables"), "nothing that can be"),
        (("export", "metastore", "somewhere", "--from", "x"), "is not the address of a metastore"),
        (("export", "metastore", "thrift://127.0.0.1:1", "--from", "nowhere"), "there is no metastored.db in it"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_exit_code_2(words: tuple[str, ...], said: str) -> None:
    done = metastored(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("metastored: ") and said in done.stderr and done.stderr.count("\n") == 1


def test_a_source_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    done = metastored("import", "metastore", "thrift://127.0.0.1:1", "--into", str(tmp_path))
    assert done.returncode == 2
    assert "no connection" in done.stderr and "Traceback" not in done.stderr


def test_the_warehouse_of_a_new_folder_is_in_it(server: RunningServer, tmp_path: Path) -> None:
    """Its own catalog `hive` is not touched by an import into another one."""
    done = metastored("import", "metastore", f"lake={server.uri}", "--into", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    with running_server(data=tmp_path / "data", warehouse=None) as imported:
        assert imported.warehouse == f"file:{tmp_path}/data/warehouse"
