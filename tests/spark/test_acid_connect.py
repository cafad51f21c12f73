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
from metastored.spark.acid.sql.guard import guarded

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
    guarded(spark, lambda: metastored.connect(sys.argv[1]))
    def refused(run):
        try:
            run()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    frame = made((7, "x"))
    result["writers"] = [refused(run) for run in (
        lambda: frame.write.insertInto("shop.orders", overwrite=True),
        lambda: frame.write.mode("overwrite").saveAsTable("shop.orders"),
        lambda: frame.writeTo("shop.orders").append(),
        lambda: frame.mergeInto("shop.orders", frame.id == 7).whenMatched().delete().merge(),
        lambda: spark.readStream.format("rate").load().writeStream.toTable("shop.orders"),
        lambda: spark.sql("EXECUTE IMMEDIATE 'SELECT * FROM shop.' || 'orders'"),
        lambda: spark.sql("SELECT * FROM ${hidden}"),
    )]
    def sql(text, args=None):
        return rows(metastored.spark.sql(spark, text, args, client=client))

    result["casts"] = [refused(lambda text=text: sql(text)) for text in (
        "INSERT INTO shop.orders VALUES (current_timestamp(), 'x')",
        "UPDATE shop.orders SET id = name",
        "INSERT INTO shop.orders SELECT 1e30D, 'x'",
    )]
    spark.conf.set("spark.sql.storeAssignmentPolicy", "LEGACY")
    result["legacy"] = sql("INSERT INTO shop.orders SELECT '10', 7 UNION ALL SELECT 'eleven', 8")
    spark.conf.unset("spark.sql.storeAssignmentPolicy")
    result["bound"] = sql("UPDATE shop.orders SET name = :name WHERE id = :id", {"name": "it's", "id": 9})
    result["counts"] = sql(
        "MERGE INTO shop.orders o USING (VALUES (9, 'a'), (10, 'b'), (12, 'c')) s(id, name) ON o.id = s.id "
        "AND o.id IN (SELECT id FROM shop.orders) WHEN MATCHED AND s.name = 'a' THEN DELETE "
        "WHEN MATCHED THEN UPDATE SET name = (SELECT max(name) FROM shop.orders t WHERE t.id = o.id) "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    result["named"] = sql("SELECT id, name FROM IDENTIFIER(:t) WHERE id > 0", {"t": "shop.orders"})
    sql("TRUNCATE TABLE shop.orders")
    result["empty"] = sql("SELECT * FROM shop.orders")
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


def test_a_guarded_session_refuses_writers_and_hidden_names(result: dict[str, Any]) -> None:
    *found, variable = result["writers"]
    assert all(text.startswith("AcidTableError: ") for text in found), found
    assert "use args=" in variable


def test_values_are_assigned_by_the_policy(result: dict[str, Any]) -> None:
    timestamp, text, large = result["casts"]
    assert "INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST" in timestamp and "INCOMPATIBLE_DATA_FOR_TABLE" in text
    assert "CAST_OVERFLOW" in large
    assert result["legacy"] == [[2, 2]]


def test_parameters_counts_and_names(result: dict[str, Any]) -> None:
    assert result["bound"] == [[1]]
    assert result["counts"] == [[3, 1, 1, 1]]
    assert result["named"] == [[10, "7"], [12, "c"]]
    assert result["empty"] == []


def test_without_a_client_the_error_names_it(result: dict[str, Any]) -> None:
    assert "client=metastored.connect(" in result["refused"]
