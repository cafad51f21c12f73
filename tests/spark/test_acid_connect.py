"""ACID tables by a session of Spark Connect: the same functions, with a client of the metastore.

The server and the client of Spark Connect are those of `pyspark[connect]`, in `.venv-pipelines`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.testing import running_server
from tests.support.pipelines import PYTHON, needs_pipelines

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600), needs_pipelines]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 280.0
PROGRAM = """
import json, sys
from pyspark.sql import SparkSession
import metastored, metastored.spark
from metastored.errors import Error
from metastored.spark import acid

builder = SparkSession.builder.remote("local[2]")
for name, value in {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
result = {"kind": type(spark).__module__}

def rows(frame):
    return sorted(list(row) for row in frame.collect())

def made(*values):
    return spark.createDataFrame(list(values), "id bigint, name string")

with metastored.connect(sys.argv[1]) as client:
    acid.insert(spark, "shop.orders", made((1, "a"), (2, "b"), (3, "c")), client=client)
    result["inserted"] = rows(acid.read(spark, "shop.orders", client=client))
    acid.update(spark, "shop.orders", {"name": "upper(name)"}, "id = 1", client=client)
    acid.delete(spark, "shop.orders", "id = 2", client=client)
    result["changed"] = rows(acid.read(spark, "shop.orders", client=client))
    acid.merge(spark, "shop.orders", made((3, "cc"), (4, "d")), "target.id = source.id",
               matched={"name": "source.name"}, not_matched="*", client=client)
    with acid.snapshot(spark, client) as snapshot:
        result["merged"] = rows(snapshot.read("shop.orders", where="id > 2"))
    result["sql"] = rows(metastored.spark.sql(spark, "SELECT count(*), max(id) FROM shop.orders", client=client))
    # Waits for an exclusive lock: the transactions of the reads above have ended with their DataFrames.
    acid.insert_overwrite(spark, "shop.orders", made((9, "z")), client=client)
    result["overwritten"] = rows(acid.read(spark, "shop.orders", columns=["id"], client=client))
    try:
        acid.read(spark, "shop.orders")
    except Error as error:
        result["refused"] = str(error)
spark.stop()
with open(sys.argv[2], "w") as file:
    json.dump(result, file)
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("connect")
    (folder / "program.py").write_text(PROGRAM)
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT / "src"), "PYSPARK_PYTHON": str(PYTHON), "SPARK_LOCAL_IP": "127.0.0.1",
    }  # fmt: skip
    with running_server() as server, metastored.connect(server.uri) as client:
        client.create_database("shop")
        columns, properties = {"id": "bigint", "name": "string"}, {"transactional": "true"}
        client.create_table(metastored.table("shop.orders", columns, format="orc", properties=properties))
        done = subprocess.run(
            [PYTHON, "program.py", server.uri, "result.json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            cwd=folder,
            env=environment,
        )
    assert done.returncode == 0, done.stdout
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    assert found["kind"] == "pyspark.sql.connect.session"
    return found


def test_rows_are_inserted_and_read(result: dict[str, Any]) -> None:
    assert result["inserted"] == [[1, "a"], [2, "b"], [3, "c"]]


def test_rows_are_updated_and_deleted(result: dict[str, Any]) -> None:
    assert result["changed"] == [[1, "A"], [3, "c"]]


def test_a_merge_updates_and_inserts_and_a_snapshot_filters(result: dict[str, Any]) -> None:
    assert result["merged"] == [[3, "cc"], [4, "d"]]


def test_a_statement_reads_the_table(result: dict[str, Any]) -> None:
    assert result["sql"] == [[3, 4]]


def test_reads_end_with_their_data_frames_so_that_the_table_can_be_overwritten(result: dict[str, Any]) -> None:
    assert result["overwritten"] == [[9]]


def test_without_a_client_the_error_names_it(result: dict[str, Any]) -> None:
    assert "client=metastored.connect(" in result["refused"]
