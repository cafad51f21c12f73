"""ACID tables of another metastore, read through metastored: the same rows as a direct read, while others write.

Every transaction of the writer raises the version of all rows by one. A snapshot that is right has therefore rows of
one version, and a read through the first metastored is not older than a direct read before it, and not newer than one
after it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

import pytest

import metastored
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.cleaner import clean
from metastored.spark.acid.compaction.queue import request
from metastored.spark.acid.compaction.worker import work
from metastored.spark.files import files_of
from metastored.testing import RunningServer, running_server
from tests.spark.acid.conftest import FULL, INSERT_ONLY, Warehouse, new_warehouse
from tests.support.apache import ApacheMetastore
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROWS = 10
READS = 3
PATIENCE = 240.0


@contextmanager
def repeated(work: Callable[[], None]) -> Iterator[None]:
    """Does something again and again on a thread. An error of it is one of the test."""
    stopped, done = threading.Event(), threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            while not stopped.is_set():
                work()
                done.set()
        except BaseException as error:
            errors.append(error)
            done.set()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert done.wait(PATIENCE)
        yield
    finally:
        stopped.set()
        thread.join(PATIENCE)
    if errors:
        raise errors[0]


def version(spark: Any, client: metastored.Client, name: str) -> int:
    """The version of all rows of a table."""
    with acid.snapshot(spark, client) as snapshot:
        rows = [(row["id"], row["version"]) for row in snapshot.read(name).collect()]
    assert sorted(id for id, _ in rows) == list(range(ROWS)), "each row is there, once"
    (found,) = {each for _, each in rows}
    return int(found)


Writer = Callable[[metastored.Client, str, int], None]
"""Raises the version of the rows of a table to a number."""


def check(spark: Any, uri: str, there: Warehouse, properties: dict[str, str], writer: Writer) -> None:
    """Reads a table of another metastore through a metastored, while a writer runs."""
    name = there.create("t", {"id": "bigint", "version": "bigint"}, properties=properties)
    acid.insert(spark, name, spark.range(ROWS).selectExpr("id", "0 as version"), client=there.client)
    with ExitStack() as stack:
        near = stack.enter_context(running_server())
        client = stack.enter_context(metastored.connect(near.uri, user="ann", cache=False))
        client.sql(
            f"CREATE REMOTE DATABASE far CONNECTED TO {there.database} "
            f"WITH DBPROPERTIES ('hive.metastore.uris' = '{uri}')"
        )
        bob = stack.enter_context(metastored.connect(uri, user="bob", cache=False))
        versions = count(1)
        with repeated(lambda: writer(bob, name, next(versions))):
            seen = []
            for _ in range(READS):
                before = version(spark, there.client, name)
                seen.append(version(spark, client, "far.t"))
                assert before <= seen[-1] <= version(spark, there.client, name)
        assert seen == sorted(seen) and seen[-1] > 0
        assert version(spark, client, "far.t") == version(spark, there.client, name)


def test_a_table_of_another_metastored_is_read_while_it_is_written_and_compacted(
    spark: Any, server: RunningServer, warehouse: Warehouse
) -> None:
    def write(client: metastored.Client, name: str, version: int) -> None:
        acid.update(spark, name, {"version": str(version)}, client=client)
        request(client, table_name(name), None, CompactionKind.MAJOR, "test")
        done = work(spark, client, "test-1")
        assert done is not None and done.outcome == "compacted", done
        assert all(each.error is None for each in clean(client, lambda place: files_of(spark, place)))

    check(spark, server.uri, warehouse, FULL, write)


@pytest.mark.apache
def test_a_table_of_hive_3_1_is_read_while_it_is_written(spark: Any, hive_3_1: ApacheMetastore) -> None:
    def write(client: metastored.Client, name: str, version: int) -> None:
        rows = spark.range(ROWS).selectExpr("id", f"{version} as version")
        acid.insert_overwrite(spark, name, rows, client=client)

    with metastored.connect(hive_3_1.uri, user="ann", cache=False) as client, new_warehouse(client) as there:
        # A standalone Hive has no class of ORC, and therefore makes no fully ACID tables.
        check(spark, hive_3_1.uri, there, INSERT_ONLY, write)


# All kinds of tables in one statement

SCRIPT = """
import json
import metastored
import metastored.spark
from metastored.spark import acid

task = json.loads(TASK)
far = metastored.connect(task["far"], cache=False)
acid.insert(spark, "raw.prices", spark.createDataFrame([(1, 100), (2, 200), (3, 300)], "id bigint, price bigint"),
            client=far)
acid.delete(spark, "raw.prices", "id = 3", client=far)

def sql(statement):
    return [list(row) for row in metastored.spark.sql(spark, statement).collect()]

sql("INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')")
sql("DELETE FROM shop.orders WHERE id = 3")
spark.sql("CREATE TABLE shop.customers USING parquet AS SELECT 1 AS id, 'ann' AS who UNION ALL SELECT 2, 'bob'")
metastored.spark.lance.write(
    spark.createDataFrame([(1, 0.5), (2, 0.25)], "id bigint, discount double"), "shop.discounts")
result = {
    "all": sql('''
        SELECT o.name, c.who, p.price, d.discount FROM shop.orders o JOIN shop.customers c ON c.id = o.id
        JOIN far.prices p ON p.id = o.id JOIN shop.discounts d ON d.id = o.id ORDER BY o.id'''),
    "lance": sql("SELECT id FROM shop.discounts WHERE discount < 0.5"),
}
sql("INSERT INTO shop.orders SELECT id + 10, 'of lance' FROM shop.discounts")
result["inserted"] = sql("SELECT id, name FROM shop.orders WHERE id > 3 ORDER BY id")
"""


def test_one_statement_reads_acid_plain_remote_and_lance_tables() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(running_server()) for _ in range(2)]
        far, near = (stack.enter_context(metastored.connect(each.uri, user="ann", cache=False)) for each in servers)
        far.create_database("raw")
        near.create_database("shop")
        prices = {"id": "bigint", "price": "bigint"}
        far.create_table(metastored.table("raw.prices", prices, format="orc", properties=FULL))
        orders = {"id": "bigint", "name": "string"}
        near.create_table(metastored.table("shop.orders", orders, format="orc", properties=FULL))
        near.sql(
            "CREATE REMOTE DATABASE far CONNECTED TO raw "
            f"WITH DBPROPERTIES ('hive.metastore.uris' = '{servers[0].uri}')"
        )
        conf = {
            "spark.hadoop.hive.metastore.uris": servers[1].uri, "spark.sql.warehouse.dir": servers[1].warehouse,
        }  # fmt: skip
        task = repr(json.dumps({"far": servers[0].uri}))
        found: dict[str, Any] = run_spark(SCRIPT.replace("TASK", task), conf=conf)
    assert found["all"] == [["a", "ann", 100, 0.5], ["b", "bob", 200, 0.25]]
    assert found["lance"] == [[2]]
    assert found["inserted"] == [[11, "of lance"], [12, "of lance"]]
