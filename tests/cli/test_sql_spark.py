"""`metastored sql --spark`: statements about rows, executed by a Spark of the command."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.errors import install_command
from metastored.testing import RunningServer
from tests.cli.terminal import Terminal
from tests.support.forks import running_server
from tests.support.path_python import without_python
from tests.support.processes import ENVIRONMENT

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PATIENCE = 240.0
ODD = "'\\u001b[2J'"
VALUES = (
    "SELECT 1 AS a, 2 AS a, named_struct('x', null, 'y', array(1)) AS s, X'4142' AS b, double('NaN') AS f, "
    f"timestamp'0001-01-01 00:00:00' AS t, null AS v, true AS z, 1.50BD AS d, {ODD} AS o"
)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def run(server: RunningServer, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command by the path of its interpreter; no environment is activated."""
    return subprocess.run(
        [sys.executable, "-m", "metastored", "sql", "--uri", server.uri, "--user", "ann", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**ENVIRONMENT, **without_python(folder), "SPARK_LOCAL_IP": "127.0.0.1"},
        cwd=folder,
        check=False,
    )


def test_a_script_of_definitions_and_rows(server: RunningServer, tmp_path: Path) -> None:
    file = tmp_path / "a.sql"
    file.write_text(
        f"""-- a script
        CREATE DATABASE shop; USE shop;
        CREATE TABLE orders (id BIGINT, name STRING) STORED AS ORC TBLPROPERTIES ('transactional' = 'true');
        INSERT INTO orders VALUES (1, 'a;b'), (2, 'b');
        UPDATE orders SET name = 'c' WHERE id = 2;
        SELECT id, name FROM orders ORDER BY id;
        CREATE TABLE copied USING parquet AS SELECT * FROM orders; -- which writes rows
        SHOW TABLES;
        {VALUES};
        SELECT * FROM nosuch;
        SELECT id FROM range(1000) ORDER BY id;
        """
    )
    done = run(server, tmp_path, "--spark", "--limit", "2", "--no-stop-on-error", "--output", "json", "-f", str(file))
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["rows"] for each in results if each["columns"] == ["id", "name"]] == [[[1, "a;b"], [2, "c"]]]
    assert {"columns": ["tab_name"], "rows": [["copied"], ["orders"]]} in results
    (values,) = [each for each in results if "z" in each["columns"]]
    assert values["columns"][:2] == ["a", "a"]
    assert values["rows"] == [
        [1, 2, '{"x":null,"y":[1]}', "4142", "nan", "0001-01-01 00:00:00", None, True, "1.50", "\x1b[2J"]
    ]
    assert results[-1] == {"columns": ["id"], "rows": [[0], [1]]}
    assert done.returncode == 2 and done.stderr.count("starting Spark") == 1
    errors = [line for line in done.stderr.splitlines() if line.startswith(("metastored:", "the first"))]
    assert errors[0].startswith("metastored: statement 10: Spark: [TABLE_OR_VIEW_NOT_FOUND]")
    assert errors[1:] == ["the first 2 rows; --limit shows more, --limit 0 all"]
    assert "Traceback" not in done.stderr and "\tat " not in done.stderr
    with metastored.connect(server.uri) as client:
        assert client.table("shop.copied").owner == "ann"


def test_the_prompt_starts_spark_once_and_sees_what_others_change(server: RunningServer, tmp_path: Path) -> None:
    environment = {**without_python(tmp_path), "SPARK_LOCAL_IP": "127.0.0.1"}
    terminal = Terminal(server.uri, tmp_path, "--spark", **environment)
    try:
        terminal.until("default> ")
        terminal.type("CREATE DATABASE desk; USE desk; CREATE TABLE pens (id INT) USING parquet;\n")
        terminal.until("desk> ")
        terminal.type("INSERT INTO pens VALUES (7);\n")
        assert "starting Spark" in terminal.until("ok: INSERT INTO …\r\ndesk> ")
        with metastored.connect(server.uri, cache=False) as other:
            other.sql("ALTER TABLE desk.pens ADD COLUMNS (colour STRING)")
            other.sql("CREATE VIEW desk.v AS SELECT colour FROM desk.pens")
        terminal.type("SHOW VIEWS; SELECT id, colour IS NULL AS missing FROM pens;\n")
        shown = terminal.until("(1 row)\r\ndesk> ")
        assert "7  | true" in shown and "starting Spark" not in shown
        terminal.type("SELECT 1 +;\n")
        assert "error: Spark: [PARSE_SYNTAX_ERROR]" in terminal.until("desk> ")
        terminal.type("SELECT count(*) FROM range(1000000000000) WHERE id % 7 = hash(id);\n")
        terminal.interrupt_until("desk> ")
        terminal.type("SELECT 6 * 7 AS answer;\n")
        assert "42" in terminal.until("(1 row)")
        terminal.type("exit\n")
        assert terminal.close() == 0
    finally:
        if terminal.process.poll() is None:
            terminal.process.kill()
            terminal.process.wait()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--limit", "5"), "--master, --conf and --limit are for Spark: add --spark"),
        (("--spark", "--conf", "x"), "--conf x has no value"),
        (("--spark", "--password-stdin"), "--spark cannot log in with a password"),
        ((), "metastored.spark.sql(spark, \"SELECT 1\")"),
        (("--spark", "-e", "SHOW NOTHING"), "line 1, column 6: 'NOTHING' is not expected"),
    ],
)  # fmt: skip
def test_wrong_flags_and_statements_start_no_spark(
    server: RunningServer, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    done = run(server, tmp_path, *words, "-e", "SELECT 1")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert sentence in done.stderr


def test_without_the_extra_the_sentence_has_the_pip_line(server: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "pyspark.py").write_text("raise ImportError")
    command = [sys.executable, "-m", "metastored", "sql", "--spark", "--uri", server.uri, "-e", "SELECT 1"]
    path = f"{tmp_path}:{ENVIRONMENT['PYTHONPATH']}"
    done = subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, "PYTHONPATH": path}, check=False)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].endswith(install_command("spark"))


def test_a_spark_that_cannot_be_started_is_an_error_of_one_line(server: RunningServer, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "metastored", "sql", "--spark", "--uri", server.uri, "-e", "SELECT 1"]
    environment = {**ENVIRONMENT, "JAVA_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("metastored: Spark, which needs Java 17, could not be started: ")
