"""`metastored sql`, run as a person runs it: from a flag, a file, a pipe, and at a prompt in a terminal."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.cli.results import as_csv, as_text
from metastored.cli.sql.shell import pointed
from metastored.cli.sql.shortcuts import statement_of
from metastored.client.statements.values import Result
from metastored.errors import StatementError
from metastored.statements.examples import EXAMPLES
from metastored.statements.explanations import SECTIONS
from metastored.statements.syntax import help_on
from metastored.testing import RunningServer
from tests.cli.terminal import PATIENCE, Terminal
from tests.support.forks import run_command, running_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running, metastored.connect(running.uri) as client:
        client.create_database("shop")
        client.create_table(metastored.table("shop.orders", {"id": "bigint"}))
        yield running


def run(server: RunningServer, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return run_command("sql", "--uri", server.uri, *words, input=stdin, timeout=PATIENCE)


def test_a_statement_of_the_flag_prints_a_table(server: RunningServer) -> None:
    done = run(server, "-e", "SHOW DATABASES", "-e", "SHOW TABLES IN shop")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        *("database_name", "-------------", "default", "shop", "(2 rows)"),
        *("tab_name", "--------", "orders", "(1 row)"),
    ]


def test_a_file_is_executed_and_json_is_one_line_for_each_result(server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text("-- a script\nUSE shop;\nSHOW TABLES;\nSHOW DATABASES LIKE 's*'")
    done = run(server, str(file), "--output", "json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        {"columns": ["tab_name"], "rows": [["orders"]]},
        {"columns": ["database_name"], "rows": [["shop"]]},
    ]


@pytest.mark.parametrize("words", [(), ("-",)])
def test_standard_input_is_a_script_where_it_is_no_terminal(server: RunningServer, words: tuple[str, ...]) -> None:
    assert "orders" in run(server, "--database", "shop", *words, stdin="SHOW TABLES;").stdout


def test_an_error_is_one_line_with_its_position_and_nothing_is_executed(server: RunningServer) -> None:
    done = run(server, "-e", "CREATE CONNECTOR c TYPE 'x' URL 'u'; FROBNICATE 1")
    assert done.returncode == 2
    assert done.stderr.startswith("metastored: line 1, column 38: 'FROBNICATE' is not expected; expected: ")
    assert done.stderr.count("\n") == 1
    assert "(0 rows)" in run(server, "-e", "SHOW CONNECTORS").stdout
    assert "nowhere" in run(server, "-e", "USE nowhere").stderr
    assert "two things" in run(server, "x.sql", "-e", "USE d").stderr


def test_a_server_that_is_not_there_is_an_error_of_one_line() -> None:
    done = run_command("sql", "--uri", "thrift://127.0.0.1:1", "-e", "SHOW TABLES", timeout=PATIENCE)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "127.0.0.1:1" in done.stderr


# The prompt


@pytest.fixture
def terminal(server: RunningServer, tmp_path: Path) -> Iterator[Terminal]:
    found = Terminal(server.uri, tmp_path)
    yield found
    if found.process.poll() is None:
        found.process.kill()
        found.process.wait()


def test_a_session_at_the_prompt(terminal: Terminal, tmp_path: Path) -> None:
    terminal.until("default> ")
    terminal.type("USE shop;\n")
    terminal.until("shop> ")
    terminal.type("SHOW\n")
    terminal.until("-> ")
    terminal.type("TABLES;\n")
    assert "orders" in terminal.until("shop> ")
    terminal.type("SHOW NOTHING;\n")
    shown = terminal.until("shop> ")
    assert "error: line 1, column 6: 'NOTHING' is not expected" in shown
    terminal.type("DESCRIBE nothing;\n")
    assert "error: " in terminal.until("shop> ")
    terminal.type("SHOW PARTITIONS ord\t;\n")
    assert "orders" in terminal.until("shop> ")
    terminal.type("CREATE REMOTE TABLE t WITH TBLPROPERTIES ('metastored.remote.password' = 'hush')\n")
    terminal.until("-> ")
    terminal.interrupt_until("shop> ")
    terminal.type("exit\n")
    assert terminal.close() == 0
    history = tmp_path / ".metastored_history"
    assert history.stat().st_mode & 0o777 == 0o600
    text = history.read_text("utf-8")
    assert "TABLES;" in text and "hush" not in text


def test_the_end_of_the_input_ends_the_session(terminal: Terminal) -> None:
    terminal.until("default> ")
    terminal.type("\x04")
    assert terminal.close() == 0


def test_a_mark_is_below_the_place_of_an_error() -> None:
    error = StatementError("'x' is not expected", 2, 3)
    assert pointed("a\n  x", error).splitlines()[:2] == ["  x", "  ^"]


def test_texts_of_several_lines_stay_in_their_column() -> None:
    assert as_text(Result(("a", "b"), (("1\n2", "x"), (None, "字")))) == "\n".join(
        ["a | b", "--+---", "1 | x", "2 |", "  | 字", "(2 rows)"]
    )
    assert as_text(Result(("s",), (("one\ntwo",),))) == "one\ntwo"


def test_csv_quotes_what_needs_quotes_and_has_a_heading() -> None:
    assert as_csv(Result(("a", "b"), (('x,"y"', None), ("line\nbreak", "1")))) == 'a,b\n"x,""y""",\n"line\nbreak",1'


def test_a_file_by_its_flag_and_csv(server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text("USE shop; SHOW TABLES;")
    done = run(server, "-f", str(file), "--output", "csv")
    assert (done.returncode, done.stdout.splitlines()) == (0, ["tab_name", "orders"])
    assert run(server, "-f", str(file), str(file)).returncode == 2


def test_statements_behind_an_error_are_executed_only_where_that_is_asked_for(server: RunningServer) -> None:
    text = "DROP TABLE shop.nosuch; SELECT 1; SHOW TABLES IN shop"
    assert "orders" not in run(server, "-e", text).stdout
    done = run(server, "--no-stop-on-error", "-e", text)
    assert (done.returncode, "orders" in done.stdout) == (2, True)
    first, second = done.stderr.splitlines()
    assert first.startswith("metastored: statement 1: ") and "nosuch" in first
    assert second.startswith("metastored: statement 2: line 1, column 1: SELECT reads or writes rows")


def test_the_prompt_has_help_shortcuts_and_times(terminal: Terminal) -> None:
    terminal.until("default> ")
    terminal.type("help GRANT\n")
    assert "WITH (GRANT | ADMIN) OPTION" in terminal.until("default> ")
    terminal.type("help\n")
    assert "\\timing" in terminal.until("default> ")
    terminal.type("\\c shop\n")
    terminal.until("shop> ")
    terminal.type("\\dt\n")
    assert "orders" in terminal.until("shop> ")
    terminal.type("\\timing\n")
    terminal.until("shop> ")
    terminal.type("\\d orders\n")
    assert "time: " in terminal.until("time: ")
    terminal.type("\\q\n")
    assert terminal.close() == 0


@pytest.mark.parametrize(
    ("line", "statement"),
    [
        ("\\l", "SHOW DATABASES;"),
        ("\\d", "SHOW TABLES;"),
        ("\\d shop.orders", "DESCRIBE EXTENDED shop.orders;"),
        ("\\d a; DROP TABLE b", "DESCRIBE EXTENDED `a; DROP TABLE b`;"),
        ("\\dp", None),
        ("\\l x", None),
        ("SHOW TABLES", None),
    ],
)
def test_a_shortcut_stands_for_one_statement(line: str, statement: str | None) -> None:
    assert statement_of(line) == statement


def test_every_statement_can_be_explained() -> None:
    for statements in SECTIONS.values():
        for rule, _ in statements:
            assert EXAMPLES[rule].partition("\n")[0].split()[0] in help_on("")
    assert "no statement begins with FROB" in help_on("frob")
    assert "CREATE" in help_on("create table") and "Example" in help_on("create schema")
