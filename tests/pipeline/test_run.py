"""Pipelines with real Spark, run by the command: steps of all types, one that fails, one that is killed.

Steps of type dataflow need the extra `pyspark[pipelines]`, so those pipelines run in `.venv-pipelines`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.hive.transactions.leases import LEASES
from metastored.lance import Hive2Namespace
from metastored.pipeline.model import TYPES
from metastored.spark.copying.iceberg import iceberg_catalog
from metastored.structs import ShowLocksRequest, StorageDescriptor, UnlockRequest
from metastored.testing import RunningServer, running_server
from tests.support import pipelines
from tests.support.path_python import without_python

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 280.0
SPARK = """\
spark:
  spark.master: local[1]
  spark.ui.enabled: false
  spark.driver.host: 127.0.0.1
  spark.driver.memory: 1g
  spark.sql.shuffle.partitions: 1
  spark.local.dir: {folder}
"""
ALL_TYPES = (
    SPARK
    + """\
parameters:
  far:
  date: 2024-01-01
steps:
  - name: remote
    type: sql
    sql: |
      CREATE DATABASE IF NOT EXISTS shop;
      CREATE REMOTE DATABASE IF NOT EXISTS away CONNECTED TO there
      WITH DBPROPERTIES ('hive.metastore.uris' = '{{{{ far }}}}')
  - {{name: tables, type: python, file: steps.py, function: make_ledger, needs: [remote]}}
  - {{name: fetch, type: copy, from: away.orders, to: shop.orders, needs: [remote]}}
  - name: ledger
    type: sql
    needs: [tables, fetch]
    sql: |
      INSERT INTO shop.ledger SELECT id, name FROM shop.orders WHERE ds = '{{{{ date }}}}';
      CREATE TABLE IF NOT EXISTS shop.events USING parquet AS SELECT * FROM shop.orders;
      DELETE FROM shop.ledger WHERE id = 0 AND '{{{{ env:PIPELINE_PASSWORD }}}}' = 'hush hush';
  - {{name: compact, type: compact, table: shop.ledger, kind: major, needs: [ledger]}}
  - {{name: iceberg, type: copy, from: shop.orders, to: shop.orders_iceberg, format: iceberg, needs: [fetch]}}
  - {{name: lance, type: lance, from: shop.ledger, to: shop.ledger_lance, needs: [compact]}}
  - {{name: repair, type: repair, table: shop.orders, mode: sync, needs: [fetch]}}
  - {{name: analyze, type: analyze, table: shop.orders, columns: [id], needs: [repair]}}
  - {{name: flow, type: dataflow, project: flow, needs: [ledger]}}
"""
)
PROJECT = """\
name: flow
storage: file://{folder}/storage
database: shop
libraries: [{{glob: {{include: tables.py}}}}]
"""
TABLES = """
from pyspark import pipelines as dp

@dp.table
def late():
    return spark.readStream.table("shop.events").where("id >= 5")

@dp.materialized_view
def by_day():
    return spark.read.table("late").groupBy("ds").count()
"""
STEPS = """
import metastored

def make_ledger(spark, client, parameters):
    assert parameters["date"] == "2024-01-01"
    columns = {"id": "bigint", "name": "string"}
    table = metastored.table("shop.ledger", columns, format="orc", properties={"transactional": "true"})
    client.create_table(table, if_not_exists=True)
"""


def pipeline(folder: Path, *words: str, python: str | Path = sys.executable) -> subprocess.CompletedProcess[str]:
    """The command by the path of its interpreter; no environment is activated."""
    return subprocess.run(
        [python, "-m", "metastored", "pipeline", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=folder,
        env={
            **without_python(folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYTHONPATH": str(ROOT / "src"),
            "PIPELINE_PASSWORD": "hush hush",
        },
    )


@pytest.fixture(scope="module")
def near() -> Iterator[RunningServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A metastore with a table of text files in two partitions."""
    folder = tmp_path_factory.mktemp("far")
    with running_server() as server, metastored.connect(server.uri, cache=False) as client:
        client.create_database("there")
        columns = {"id": "bigint", "name": "string"}
        table = metastored.table(
            "there.orders", columns, partitioned_by={"ds": "string"}, format="textfile", external=True,
            location=folder.as_uri(),
        )  # fmt: skip
        client.create_table(table)
        for ds, count in (("2024-01-01", 10), ("2024-01-02", 20)):
            (folder / ds).mkdir()
            (folder / ds / "000000_0").write_text("".join(f"{id}\x01n{id}\n" for id in range(count)))
            where = (folder / ds).as_uri()
            client.add_partitions("there.orders", [metastored.partition(table, [ds], location=where)])
        yield server


def project(folder: Path, tables: str = TABLES) -> None:
    """A project of Spark's declarative pipelines: a streaming table and a materialized view of it."""
    (folder / "flow").mkdir(exist_ok=True)
    (folder / "flow/spark-pipeline.yml").write_text(PROJECT.format(folder=folder))
    (folder / "flow/tables.py").write_text(tables)


def rows_of(client: metastored.Client, table: str) -> list[dict[str, Any]]:
    """The rows of a Parquet table, by pyarrow."""
    location = local_path((client.table(table).sd or StorageDescriptor()).location or "")
    found: list[dict[str, Any]] = pyarrow.dataset.dataset(location, format="parquet").to_table().to_pylist()
    return found


@pipelines.needs_pipelines
def test_steps_of_all_types_over_local_remote_acid_iceberg_and_lance_tables(
    near: RunningServer, far: RunningServer, tmp_path: Path
) -> None:
    (tmp_path / "daily.yml").write_text(ALL_TYPES.format(folder=tmp_path))
    (tmp_path / "steps.py").write_text(STEPS)
    project(tmp_path)
    flags = ("--uri", near.uri, "--param", f"far={far.uri}")
    plan = pipeline(tmp_path, "run", "daily.yml", *flags, "--dry-run")
    assert plan.returncode == 0, plan.stderr
    assert "executes 3 statements" in plan.stdout
    done = pipeline(tmp_path, "run", "daily.yml", *flags, "--output", "json", python=pipelines.PYTHON)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hush hush" not in done.stdout + done.stderr
    steps = {each["name"]: each for each in json.loads(done.stdout)["steps"]}
    assert {each["type"] for each in steps.values()} == set(TYPES)
    assert {each["state"] for each in steps.values()} == {"done"}
    assert (steps["fetch"]["rows"], steps["fetch"]["detail"]) == (30, "partitions: 2 copied")
    assert steps["iceberg"]["rows"] == 30
    assert steps["flow"]["detail"] == "2 flows completed"
    for event in ("Flow spark_catalog.shop.late has COMPLETED.", "Run is COMPLETED."):
        assert f"flow: {event}" in done.stderr
    with metastored.connect(near.uri, cache=False) as client:
        assert iceberg_catalog(client).load_table("shop.orders_iceberg").scan().to_arrow().num_rows == 30
        assert client.partition_names("shop.orders") == ("ds=2024-01-01", "ds=2024-01-02")
        assert client.partition_statistics("shop.orders", ["ds=2024-01-01"], ["id"])
        assert sorted(each["id"] for each in rows_of(client, "shop.late")) == sorted([*range(5, 10), *range(5, 20)])
        days = {each["ds"]: each["count"] for each in rows_of(client, "shop.by_day")}
        assert days == {"2024-01-01": 5, "2024-01-02": 15}
    namespace = Hive2Namespace(uri=near.uri)
    try:
        import lance

        rows = lance.dataset(namespace_client=namespace, table_id=["shop", "ledger_lance"]).to_table()
    finally:
        namespace.close()
    assert sorted(rows["id"].to_pylist()) == list(range(1, 10))
    listed = pipeline(tmp_path, "runs", "--uri", near.uri, "--output", "json")
    ((_, name, _, state, *_),) = json.loads(listed.stdout)["rows"]
    assert (name, state) == ("daily", "done")
    # A plan after the run: nothing of the copy would change.
    again = pipeline(tmp_path, "run", "daily.yml", *flags, "--dry-run")
    assert "nothing: the source has not changed" in again.stdout


BROKEN = (
    SPARK
    + """\
steps: [{{name: flow, type: dataflow, project: flow}}]
"""
)


@pipelines.needs_pipelines
def test_a_dataflow_that_fails_is_reported_with_sparks_reasons(near: RunningServer, tmp_path: Path) -> None:
    (tmp_path / "broken.yml").write_text(BROKEN.format(folder=tmp_path))
    project(tmp_path, TABLES.replace("shop.events", "shop.nowhere"))
    failed = pipeline(tmp_path, "run", "broken.yml", "--uri", near.uri, python=pipelines.PYTHON)
    assert failed.returncode == 2
    assert "the step 'flow' failed" in failed.stderr
    assert "Failed to resolve flow: 'spark_catalog.shop.late'." in failed.stderr
    assert "Flows with errors: spark_catalog.shop.late" in failed.stderr
    assert "Traceback" not in failed.stderr


FAILING = (
    SPARK
    + """\
steps:
  - {{name: first, type: sql, sql: "CREATE TABLE IF NOT EXISTS killed.log (step STRING) USING parquet"}}
  - name: second
    type: sql
    needs: [first]
    sql: |
      INSERT INTO killed.log VALUES ('second');
      SELECT assert_true(id < 2, 'no {{{{ env:PIPELINE_PASSWORD }}}}') FROM killed.{table}
  - {{name: third, type: python, file: killed.py, function: killed_once, needs: [second]}}
  - {{name: fourth, type: sql, sql: "INSERT INTO killed.log VALUES ('fourth')", needs: [third]}}
"""
)
KILLED = """
import os, pathlib, signal

def killed_once(spark, client, parameters):
    marker = pathlib.Path("marker")
    if not marker.exists():
        marker.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return 7
"""


def test_a_run_goes_on_after_a_failed_step_and_after_a_kill(near: RunningServer, tmp_path: Path) -> None:
    with metastored.connect(near.uri, cache=False) as client:
        client.create_database("killed", if_not_exists=True)
        client.create_table(metastored.table("killed.full", {"id": "int"}, format="textfile"))
        client.create_table(metastored.table("killed.empty", {"id": "int"}, format="textfile"))
        location = Path((client.table("killed.full").sd.location or "").removeprefix("file:"))  # type: ignore[union-attr]
        (location / "rows").write_text("1\n2\n")  # Only the last row fails the check of the statement.
    (tmp_path / "killed.py").write_text(KILLED)
    (tmp_path / "weekly.yml").write_text(FAILING.format(folder=tmp_path, table="full"))
    failed = pipeline(tmp_path, "run", "weekly.yml", "--uri", near.uri, "--state", "state")
    assert failed.returncode == 2
    assert "the step 'second' failed" in failed.stderr
    assert "no ***" in failed.stderr and "hush hush" not in failed.stderr + failed.stdout
    command = failed.stderr.rpartition("to go on: ")[2].strip()
    assert command == f"metastored pipeline run weekly.yml --uri {near.uri} --state state"
    # The reason is gone: the table of the statement has no rows any more.
    (location / "rows").unlink()
    words = shlex.split(command)[2:]
    assert pipeline(tmp_path, *words).returncode == -9
    refused = pipeline(tmp_path, *words)
    assert refused.returncode == 2 and "has the pipeline 'weekly' with these parameters" in refused.stderr
    # The lease of the killed process would be over after a minute.
    with metastored.connect(near.uri, cache=False) as client:
        (lease,) = client.api.show_locks(ShowLocksRequest(dbname=LEASES)).locks or ()
        client.api.unlock(UnlockRequest(lockid=lease.lockid))
    done = pipeline(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "second: done in an earlier run" in done.stderr
    with metastored.connect(near.uri, cache=False) as client:
        log = Path((client.table("killed.log").sd.location or "").removeprefix("file:"))  # type: ignore[union-attr]
    import pyarrow.parquet

    rows = [value for file in log.glob("*.parquet") for value in pyarrow.parquet.read_table(file)["step"].to_pylist()]
    assert sorted(rows) == ["fourth", "second"]
    listed = pipeline(tmp_path, "runs", "--state", "state")
    assert listed.stdout.count("weekly") == 1 and "done" in listed.stdout
