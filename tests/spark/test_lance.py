"""Lance tables from real Spark: what is written is read, by Spark and through the namespace. One Spark does it all.

`make test` has 20,000 rows, `make soak` five million.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lance
import numpy
import pyarrow
import pytest
from lance_namespace import CountTableRowsRequest, CreateTableIndexRequest, DescribeTableRequest, QueryTableRequest
from lance_namespace_urllib3_client.models.query_table_request_vector import QueryTableRequestVector

import metastored
from metastored.lance import Hive2Namespace
from metastored.testing import RunningServer, running_server
from tests.support.lance_spark import ROWS
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PREPARED = """
import metastored.spark
from metastored.lance import Hive2Namespace
from metastored.errors import Error
from lance_namespace.errors import LanceNamespaceError

lance = metastored.spark.lance
spark.sql("CREATE DATABASE shop")
df = rows(spark, COUNT, 4)
columns = ", ".join(df.columns)
vectors = {"vector": DIMENSIONS}

def refused(call):
    try:
        call()
    except (Error, LanceNamespaceError) as error:
        return [type(error).__name__, str(error)]

def digest(frame):
    '''Every value of every row: a hash of each row, summed. Maps are no input of hashes, so their entries are.'''
    flat = frame.withColumn("counts", F.map_entries("counts")).select(*df.columns)
    row = F.xxhash64(*flat.columns)
    found = flat.select(F.sum(row.cast("decimal(38,0)")), F.count("*")).first()
    return [str(found[0]), found[1]]

found = result = {}
"""
"""Rows, and functions to write and compare them."""

SCRIPT = """
found["created"] = lance.write(df, "shop.points", vectors=vectors)
found["expected"] = digest(df)
found["read"] = digest(lance.read(spark, "shop.points"))
found["exists"] = refused(lambda: lance.write(df, "shop.points"))
found["ignored"] = lance.write(df, "shop.points", mode="ignore")
more = rows(spark, COUNT + 10, 1).where(f"id >= {COUNT}")
found["appended"] = lance.write(more.select(*reversed(df.columns)), "shop.points", mode="append")
found["rows"] = lance.read(spark, "shop.points", columns=["id"]).count()
found["older"] = lance.read(spark, "shop.points", columns=["id"], version=found["created"]).count()
chosen = lance.read(spark, "shop.points", columns=["name", "price"], filter=f"id >= {COUNT} AND price IS NOT NULL")
found["chosen"] = [chosen.columns, sorted([row[0], str(row[1])] for row in chosen.collect())]
found["partitions"] = lance.read(spark, "shop.points").rdd.getNumPartitions()
found["empty append"] = lance.write(more.limit(0), "shop.points", mode="append")
found["overwritten"] = lance.write(more, "shop.points", mode="overwrite", vectors=vectors)
found["rows overwritten"] = lance.read(spark, "shop.points").count()
found["no column"] = refused(lambda: lance.read(spark, "shop.points", columns=["nope"]))
found["no filter"] = refused(lambda: lance.read(spark, "shop.points", filter="nope > 1"))
found["no table"] = refused(lambda: lance.read(spark, "shop.nope"))
found["no database"] = refused(lambda: lance.write(df, "nowhere.t"))
found["other columns"] = refused(lambda: lance.write(df.select("id"), "shop.points", mode="append"))
found["other type"] = refused(
    lambda: lance.write(more.withColumn("price", F.col("price").cast("double")), "shop.points", mode="append"))
found["no mode"] = refused(lambda: lance.write(df, "shop.points", mode="upsert"))
found["empty"] = lance.write(df.limit(0), "shop.nothing", vectors=vectors)
found["rows empty"] = lance.read(spark, "shop.nothing").count()

# A task that fails: a vector of another length.
short = rows(spark, 10, 1).withColumn("vector", F.slice("vector", 1, F.when(F.col("id") == 7, 3).otherwise(DIMENSIONS)))
try:
    lance.write(short, "shop.broken", vectors=vectors)
except Exception as error:
    found["failed"] = type(error).__name__
found["declared"] = refused(lambda: lance.read(spark, "shop.broken"))

# A table whose versions the metastore keeps.
managed = Hive2Namespace(uri=URI, managed_by="impl")
found["managed"] = [
    lance.write(rows(spark, 100, 2), "shop.managed", vectors=vectors, namespace=managed),
    lance.write(rows(spark, 100, 2), "shop.managed", mode="append", namespace=managed),
    lance.read(spark, "shop.managed", namespace=managed).count(),
    lance.read(spark, "shop.managed", version=1).count(),
]

# Options and a table of the catalog that name the data source, with a task that somebody else has made.
import base64, os, pickle, tempfile
marked = os.path.join(tempfile.mkdtemp(), "marked")

class Trap:
    def __reduce__(self):
        return (open, (marked, "w"))

forged = base64.b64encode(b"x" * 32 + pickle.dumps(Trap())).decode()
tries = {
    "option": lambda: spark.read.format("metastored-lance").schema("id BIGINT").option("task-secret", forged).load(),
    "table": lambda: spark.sql(
        f"CREATE TABLE shop.trap (id BIGINT) USING `metastored-lance` OPTIONS ('task-secret' '{forged}')"
    ) and spark.table("shop.trap"),
    "nothing": lambda: spark.read.format("metastored-lance").schema("id BIGINT").load(),
}
for name, trap in tries.items():
    try:
        trap().collect()
    except Exception as error:
        found[name] = [str(error), os.path.exists(marked)]
found["described"] = [[row.col_name, row.data_type] for row in spark.sql("DESCRIBE shop.points").collect()]
"""

LARGE = """
found["created"] = lance.write(df, "shop.points", vectors=vectors)
found["expected"] = digest(df)
found["read"] = digest(lance.read(spark, "shop.points"))
found["chosen"] = lance.read(spark, "shop.points", columns=["id"], filter=f"id >= {COUNT - 7}").count()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


def on_spark(server: RunningServer, count: int, timeout: float, script: str = SCRIPT) -> dict[str, Any]:
    found: dict[str, Any] = run_spark(
        f"COUNT, URI = {count}, {server.uri!r}\n{ROWS}{PREPARED}{script}",
        conf={
            "spark.master": "local[2]",
            "spark.hadoop.hive.metastore.uris": server.uri,
            "spark.sql.warehouse.dir": server.warehouse,
        },
        timeout=timeout,
    )
    return found


COUNT = 20_000
DIMENSIONS = 128
NEAREST = 5


@pytest.fixture(scope="module")
def found(server: RunningServer) -> dict[str, Any]:
    return on_spark(server, COUNT, 600.0)


@pytest.fixture(scope="module")
def namespace(server: RunningServer) -> Iterator[Hive2Namespace]:
    with Hive2Namespace(uri=server.uri) as space:
        yield space


def test_every_value_of_20_000_rows_is_read_as_it_was_written(found: dict[str, Any]) -> None:
    assert found["created"] == 1
    assert found["expected"][1] == COUNT
    assert found["read"] == found["expected"]


def test_modes_are_those_of_spark(found: dict[str, Any]) -> None:
    assert found["exists"][0] == "TableAlreadyExistsError"
    assert (found["ignored"], found["appended"], found["overwritten"]) == (1, 2, 3)
    assert (found["rows"], found["older"], found["rows overwritten"]) == (COUNT + 10, COUNT, 10)


@pytest.mark.parametrize("name", ["option", "table", "nothing"])
def test_nobody_else_has_the_data_source_unpickle_anything(found: dict[str, Any], name: str) -> None:
    message, was_run = found[name]
    assert "a task that this program did not prepare" in message
    assert not was_run


def test_lance_selects_columns_and_rows(found: dict[str, Any]) -> None:
    columns, rows = found["chosen"]
    assert columns == ["name", "price"]
    assert len(rows) == 9
    assert rows[0] == [f"name-{COUNT + 1}", f"{(COUNT + 1) * 1.25:.4f}"]


def test_each_fragment_is_read_by_a_task_of_its_own(found: dict[str, Any]) -> None:
    assert found["partitions"] == 5


def test_writes_without_rows_make_empty_tables_and_no_versions(found: dict[str, Any]) -> None:
    assert (found["empty append"], found["empty"], found["rows empty"]) == (2, 1, 0)


@pytest.mark.parametrize(
    ("case", "kind", "said"),
    [
        ("no column", "InvalidInputException", "no column 'nope'"),
        ("no filter", "InvalidInputException", "nope"),
        ("no table", "TableNotFoundError", "shop.nope"),
        ("no database", "NamespaceNotFoundError", "nowhere"),
        ("other columns", "ConversionError", "the rows have id"),
        ("other type", "ConversionError", "price"),
        ("no mode", "InvalidInputException", "upsert"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(found: dict[str, Any], case: str, kind: str, said: str) -> None:
    assert found[case][0] == kind
    assert said in found[case][1]


def test_a_write_that_fails_leaves_no_table(found: dict[str, Any]) -> None:
    assert found["failed"]
    assert found["declared"][0] == "TableNotFoundError"


def test_commits_go_through_the_metastore_where_it_keeps_the_versions(
    found: dict[str, Any], server: RunningServer
) -> None:
    assert found["managed"] == [1, 2, 200, 100]
    with metastored.connect(server.uri) as client:
        assert (client.table("shop.managed").parameters or {})["version"] == "2"


def test_other_tools_can_describe_the_table(found: dict[str, Any]) -> None:
    described = dict(found["described"])
    assert described["price"] == "decimal(20,4)"
    assert described["counts"] == "map<string,bigint>"
    assert described["vector"] == "array<float>"


def check_neighbours(namespace: Hive2Namespace, version: int, count: int) -> None:
    """A vector search through the namespace finds the nearest of all vectors, by their distances: some are equal."""
    id = ["shop", "points"]
    dataset = lance.dataset(namespace.describe_table(DescribeTableRequest(id=id)).location, version=version)
    assert dataset.count_rows() == count
    target = numpy.sin(4242 + numpy.arange(DIMENSIONS) * 0.37).astype("float32") + numpy.float32(0.001)

    def distances(rows: Any) -> Any:
        return ((rows["vector"].values.to_numpy().reshape(-1, DIMENSIONS) - target) ** 2).sum(axis=1)

    nearest: list[float] = []
    for batch in dataset.to_batches(columns=["vector"]):
        nearest = sorted([*nearest, *numpy.sort(distances(batch))[:NEAREST].tolist()])[:NEAREST]
    vector = QueryTableRequestVector(single_vector=target.tolist())
    reply = namespace.query_table(QueryTableRequest(id=id, k=NEAREST, vector=vector, version=version))
    assert isinstance(reply.data, bytes)
    answer = pyarrow.ipc.open_file(reply.data).read_all()
    assert answer["_distance"].to_pylist() == pytest.approx(nearest, abs=1e-5)
    (chosen,) = (
        dataset.to_table(columns=["vector"], filter=f"id IN ({', '.join(map(str, answer['id'].to_pylist()))})")
        .combine_chunks()
        .to_batches()
    )
    assert sorted(distances(chosen)) == pytest.approx(nearest, abs=1e-5)


def test_a_vector_search_through_the_namespace_finds_the_neighbours(
    found: dict[str, Any], namespace: Hive2Namespace
) -> None:
    check_neighbours(namespace, found["created"], COUNT)


@pytest.mark.soak
def test_five_million_rows_are_read_as_they_were_written_and_searched() -> None:
    count = 5_000_000
    with running_server() as server:
        found = on_spark(server, count, 3600.0, LARGE)
        assert (found["created"], found["expected"][1], found["chosen"]) == (1, count, 7)
        assert found["read"] == found["expected"]
        with Hive2Namespace(uri=server.uri) as namespace:
            check_neighbours(namespace, 1, count)
            index = CreateTableIndexRequest(id=["shop", "points"], column="id", index_type="BTREE")
            namespace.create_table_scalar_index(index)
            request = CountTableRowsRequest(id=["shop", "points"], predicate=f"id >= {count - 7}")
            assert namespace.count_table_rows(request).count == 7
