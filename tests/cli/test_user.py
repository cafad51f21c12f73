"""`metastored user`, run as a person runs it: which commands make a database, and which need one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import psycopg
import pytest

from tests.support.forks import run_command
from tests.support.postgres import PostgresServer
from tests.transfer.support import metastored

pytestmark = pytest.mark.slow

NEED_ONE = [("list",), ("remove", "maja"), ("passwd", "maja", "--password-stdin")]


def run(*words: str, said: str = "a password\n") -> subprocess.CompletedProcess[str]:
    return run_command("user", *words, input=said, timeout=60)


@pytest.mark.parametrize("words", NEED_ONE, ids=lambda words: words[0])
def test_a_command_that_needs_users_makes_no_database(words: tuple[str, ...], tmp_path: Path) -> None:
    typo = tmp_path / "typo"
    done = run(*words, "--data", str(typo))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("metastored: there is no database") and done.stderr.count("\n") == 1
    assert str(typo) in done.stderr and "metastored serve --data" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.postgres
@pytest.mark.parametrize("words", NEED_ONE, ids=lambda words: words[0])
def test_a_command_that_needs_users_makes_no_tables(words: tuple[str, ...], postgres: PostgresServer) -> None:
    with postgres.database() as url:
        done = run(*words, "--database-url", url)
        assert done.returncode == 2
        assert "the database is empty" in done.stderr and done.stderr.count("\n") == 1
        assert tables(url) == 0


def test_the_first_user_may_come_before_the_server_and_the_new_database_is_mentioned(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    first = run("add", "maja", "--password-stdin", "--data", data)
    assert (first.returncode, first.stderr) == (0, f"metastored: a new database was created in {data}\n")
    assert first.stdout == "added the user maja\n"
    second = run("add", "tom", "--password-stdin", "--data", data)
    assert (second.returncode, second.stderr) == (0, "")
    assert metastored("user", "list", "--data", data).stdout == "maja\ntom\n"
    assert run("passwd", "tom", "--password-stdin", "--data", data).stdout == "changed the password of tom\n"
    assert run("remove", "tom", "--data", data).stdout == "removed the user tom\n"


def tables(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
    assert row is not None
    return int(row[0])
