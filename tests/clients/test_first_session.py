"""The first session of a new user: README's command and README's program, as printed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from metastored.testing import running_server
from tests.support.spark import CONF, run_spark

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
FIRST_STEPS = ROOT / "docs" / "start" / "first-steps.md"
START_TIMEOUT = 60.0
SPARK_TIMEOUT = 240.0


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page that have this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def serve_command(page: Path) -> str:
    """The first command of a page that starts a server."""
    lines = [line for block in blocks(page, "bash") for line in block.splitlines()]
    return next(line for line in lines if line.startswith("metastored serve"))


def session(page: Path) -> str:
    """The first program of a page that starts Spark."""
    return next(block for block in blocks(page, "python") if "SparkSession" in block)


@contextmanager
def started(command: str, folder: Path) -> Iterator[int]:
    """Runs the command in the folder, with a free port instead of 9083; the port."""
    ready = folder / "ready.json"
    bin = os.path.dirname(sys.executable)
    environment = {
        **os.environ,
        "PATH": f"{bin}{os.pathsep}{os.environ['PATH']}",
        "METASTORED_PORT": "0",
        "METASTORED_READY_FILE": str(ready),
    }
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            shlex.split(command), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        deadline = time.monotonic() + START_TIMEOUT
        while not ready.exists():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text(encoding="utf-8")
            time.sleep(0.02)
        yield json.loads(ready.read_text(encoding="utf-8"))["port"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def printed(program: str, folder: Path) -> str:
    """The output of a program that starts Spark itself. Spark gets its master and its memory from the environment."""
    settings = " ".join(f"--conf {name}={value}" for name, value in CONF.items() if "catalog" not in name)
    environment = {
        **os.environ,
        "PYSPARK_SUBMIT_ARGS": f"{settings} pyspark-shell",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    (folder / "session.py").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "session.py"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SPARK_TIMEOUT,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


@pytest.mark.spark
@pytest.mark.slow
def test_the_first_session_of_the_readme_prints_the_row_that_it_asks_for(tmp_path: Path) -> None:
    with started(serve_command(README), tmp_path) as port:
        shown = printed(session(README).replace(":9083", f":{port}"), tmp_path)
    assert re.findall(r"^\| *(\w+) *\| *([\w-]+) *\|$", shown, re.MULTILINE) == [
        ("name", "day"),
        ("pear", "2024-09-02"),
    ]
    files = sorted(path.parent.relative_to(tmp_path) for path in tmp_path.rglob("*.parquet"))
    assert files == [Path("warehouse/fruit/day=2024-09-01"), Path("warehouse/fruit/day=2024-09-02")]


def test_first_steps_has_the_session_of_the_readme() -> None:
    assert session(FIRST_STEPS) == session(README)
    assert serve_command(FIRST_STEPS) == serve_command(README)


SCRIPT = """
def rows(statement):
    return [[str(value) for value in row] for row in spark.sql(statement).collect()]

rows("create table fruit (name string, day string) using parquet partitioned by (day)")
rows("create table nut (name string) stored as textfile partitioned by (day string)")
for table in ("fruit", "nut"):
    rows(f"insert into {table} values ('apple', '2024-09-01'), ('pear', '2024-09-02')")
    rows(f"alter table {table} rename to {table}_2")
    rows(f"insert into {table}_2 partition (day = '2024-09-03') values ('plum')")
rows("create database orchard")
rows("create table orchard.tree (name string) using parquet")
rows("insert into orchard.tree values ('elm')")
result = {
    "fruit": rows("select name, day from fruit_2 order by day"),
    "nut": rows("select name, day from nut_2 order by day"),
    "tree": rows("select * from orchard.tree"),
    "places": [row[1] for name in ("default", "orchard") for row in rows(f"describe database {name}")
               if row[0] == "Location"],
}
"""


@pytest.mark.spark
@pytest.mark.slow
def test_rows_survive_partitions_and_renames_in_a_warehouse_that_is_given_as_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "my data" / "wärehouse"
    with running_server(warehouse=folder) as server:
        conf = {
            "spark.hadoop.hive.metastore.uris": server.uri,
            "spark.sql.warehouse.dir": server.warehouse,
            "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        }
        result: dict[str, Any] = run_spark(SCRIPT, conf=conf)
    expected = [["apple", "2024-09-01"], ["pear", "2024-09-02"], ["plum", "2024-09-03"]]
    assert (result["fruit"], result["nut"], result["tree"]) == (expected, expected, [["elm"]])
    assert [path.replace("%20", " ").replace("%C3%A4", "ä") for path in result["places"]] == [
        f"file:{folder}",
        f"file:{folder}/orchard.db",
    ]
    assert sorted(path.name for path in folder.iterdir()) == ["fruit_2", "nut_2", "orchard.db"]
