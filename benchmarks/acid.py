"""Transactional tables on Spark against plain ORC, in the same Spark, with the same rows.

Reads, inserts, merges and major compactions of five million rows with six columns. Both sides are run in turns after a
first round that compiles classes; the median of each is compared. The rows of the results are checked too. Then a Spark
that knows nothing of ACID reads the same tables, which the metastore shows to it as views.
"""

from __future__ import annotations

import json
import time
from typing import Any

import metastored
from benchmarks.rows import Results, Row
from benchmarks.spark_turns import TURNS
from metastored.testing import running_server
from tests.support.spark import run_spark

DB = "acid_bench"
COLUMNS = {
    "id": "bigint", "grp": "int", "name": "string", "amount": "double", "price": "decimal(12,2)", "ts": "timestamp",
}  # fmt: skip

SCRIPT = """
import json, statistics, time
import metastored
from metastored.spark import acid
from pyspark.sql import functions as F

task = json.loads(TASK)
rows, times, db, folder = task["rows"], task["times"], task["db"], task["folder"]
client = metastored.connect(task["uri"])
spark.sparkContext.setLogLevel("ERROR")
source = spark.range(0, rows, 1, 4).select(
    F.col("id"), (F.hash("id") % 1000).cast("int").alias("grp"),
    F.concat(F.lit("name_"), (F.xxhash64("id") % 100000).cast("string")).alias("name"),
    (F.hash("id") / 7.0).alias("amount"), (F.col("id") % 997 / F.lit(7)).cast("decimal(12,2)").alias("price"),
    (F.lit("2024-01-01").cast("timestamp") + F.make_interval(secs=F.col("id") % 864000)).alias("ts")).localCheckpoint()

result = {}
number = iter(range(1000))
def plain_write():
    source.write.option("compression", "zlib").orc(f"{folder}/plain_{next(number)}")
def acid_write():
    acid.insert(spark, f"{db}.written", source, client=client)
result["write"] = in_turns({"plain": plain_write, "acid": acid_write}, min(times, 3))

source.write.option("compression", "zlib").orc(f"{folder}/plain")
acid.insert(spark, f"{db}.clean", source, client=client)
acid.insert(spark, f"{db}.deleted", source, client=client)
acid.insert(spark, f"{db}.merged", source, client=client)
acid.insert(spark, f"{db}.compacted", source, client=client)
acid.delete(spark, f"{db}.deleted", "id % 100 = 7", client=client)
plain = spark.read.schema(source.schema).orc(f"{folder}/plain")

def consumed(frame):
    frame.agg(F.sum(F.xxhash64(*frame.columns).bitwiseAND(F.lit(0xFFFF)))).collect()
def read(table, **options):
    with acid.snapshot(spark, client) as snapshot:
        consumed(snapshot.read(f"{db}.{table}", **options))

result["all columns"] = in_turns({
    "plain": lambda: consumed(plain), "acid": lambda: read("clean"), "deletes": lambda: read("deleted")}, times)
where = f"id between {rows // 5} and {rows // 5 + rows // 250}"
result["filter"] = in_turns({
    "plain": lambda: consumed(plain.where(where)), "acid": lambda: read("clean", where=where)}, times)
with acid.snapshot(spark, client) as snapshot:
    result["counts"] = [plain.count(), snapshot.read(f"{db}.clean").count(), snapshot.read(f"{db}.deleted").count()]

changes = source.where("id % 100 = 3").withColumn("amount", F.lit(1.0)).localCheckpoint()
def merge():
    acid.merge(spark, f"{db}.merged", changes, "target.id = source.id",
               matched={"amount": "source.amount"}, not_matched="*", client=client)
result["merge"] = in_turns({"read": lambda: read("merged"), "merge": merge}, min(times, 3))
with acid.snapshot(spark, client) as snapshot:
    merged = snapshot.read(f"{db}.merged")
    result["merged"] = [merged.count(), merged.where("amount = 1.0 and id % 100 = 3").count()]

from metastored.hive.locations import local_path
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark.acid.compaction.queue import request
from metastored.spark.acid.compaction.worker import work
from pathlib import Path

place = Path(local_path(client.table(f"{db}.compacted").sd.location))
fields = ", ".join(f"{each.name}: {each.dataType.simpleString()}" for each in source.schema)
schema = ("operation int, originalTransaction bigint, bucket int, rowId bigint, currentTransaction bigint, "
          f"row struct<{fields}>")
def copy():
    newest = max(place.glob("base_*"), default=place / "delta_0000001_0000001_0000", key=lambda path: path.name)
    files = [str(path) for path in newest.glob("bucket_*")]
    frame = spark.read.schema(schema).orc(files)
    frame.write.option("compression", "zlib").orc(f"{folder}/copy_{next(number)}")
def compact():
    request(client, table_name(f"{db}.compacted"), None, CompactionKind.MAJOR, "bench")
    done = work(spark, client, "bench-1")
    assert done.outcome == "compacted", done
rests = iter(range(100))
copied, compacted = [], []
for turn in range(min(times, 3) + 1):
    acid.delete(spark, f"{db}.compacted", f"id % 100 = {next(rests)}", client=client)
    copied.append(seconds(copy))
    compacted.append(seconds(compact))
result["compaction"] = {"copy": statistics.median(copied[1:]), "compact": statistics.median(compacted[1:])}
with acid.snapshot(spark, client) as snapshot:
    result["compacted"] = [snapshot.read(f"{db}.compacted").count(), len(compacted)]
"""

VIEWS = """
import json
from pyspark.sql import functions as F

task = json.loads(TASK)
rows, times, db, folder = task["rows"], task["times"], task["db"], task["folder"]
spark.sparkContext.setLogLevel("ERROR")
plain = spark.read.schema(task["schema"]).orc(f"{folder}/plain")

def consumed(frame):
    frame.agg(F.sum(F.xxhash64(*frame.columns).bitwiseAND(F.lit(0xFFFF)))).collect()
def view(table):
    return spark.table(f"{db}.{table}")

where = f"id between {rows // 5} and {rows // 5 + rows // 250}"
result = {
    "all columns": in_turns({
        "plain": lambda: consumed(plain), "acid": lambda: consumed(view("clean")),
        "deletes": lambda: consumed(view("deleted"))}, times),
    "filter": in_turns({
        "plain": lambda: consumed(plain.where(where)), "acid": lambda: consumed(view("clean").where(where))}, times),
    "counts": [plain.count(), view("clean").count(), view("deleted").count()],
}
"""
LOOK_UPS = 500


def run(results: Results, quick: bool) -> None:
    rows, times = (200_000, 2) if quick else (5_000_000, 5)
    with running_server(acid_views_port=0) as server, metastored.connect(server.uri) as client:
        client.create_database(DB)
        for name in ("clean", "deleted", "merged", "compacted", "written"):
            properties = {"transactional": "true"}
            client.create_table(metastored.table(f"{DB}.{name}", COLUMNS, format="orc", properties=properties))
        folder = f"{server.warehouse}/{DB}_plain"
        task = {"rows": rows, "times": times, "db": DB, "uri": server.uri, "folder": folder}
        conf = {
            "spark.master": "local[2]", "spark.driver.memory": "4g", "spark.sql.shuffle.partitions": "4",
            "spark.sql.catalogImplementation": "in-memory",
        }  # fmt: skip
        script = TURNS + SCRIPT.replace("TASK", repr(json.dumps(task)))
        found: dict[str, Any] = run_spark(script, conf=conf, timeout=1800)
        views = f"thrift://127.0.0.1:{server.acid_views_port}"
        task["schema"] = ", ".join(f"{name} {type}" for name, type in COLUMNS.items())
        conf |= {"spark.sql.catalogImplementation": "hive", "spark.hadoop.hive.metastore.uris": views}
        script = TURNS + VIEWS.replace("TASK", repr(json.dumps(task)))
        seen: dict[str, Any] = run_spark(script, conf=conf, timeout=1800)
        client.create_table(metastored.table(f"{DB}.plain", COLUMNS, format="orc"))
        with metastored.connect(views, cache=False) as viewing:
            look_ups = {name: seconds_of_look_ups(viewing, name) for name in ("plain", "clean", "plain", "clean")}
    assert seen["counts"] == [rows, rows, rows - rows // 100]
    assert found["counts"] == [rows, rows, rows - rows // 100]
    assert found["merged"] == [rows, rows // 100]
    rest, compactions = found["compacted"]
    assert rest == rows - rows // 100 * compactions
    read = found["all columns"]
    add(results, "ACID: read, all columns", read["acid"], read["plain"], 1.4, 1.2)
    add(results, "ACID: read, 1 % of the rows deleted", read["deletes"], read["plain"], 1.8, 1.5)
    add(results, "ACID: selective filter", found["filter"]["acid"], found["filter"]["plain"], 1.5, 1.5)
    add(results, "ACID: insert", found["write"]["acid"], found["write"]["plain"], 3.0, 2.0)
    add(results, "ACID: merge of 1 % (against the read)", found["merge"]["merge"], found["merge"]["read"], 2.5, 2.5)
    read = seen["all columns"]
    add(results, "ACID by views: read, all columns", read["acid"], read["plain"], 1.3, 1.2)
    add(results, "ACID by views: read, 1 % of the rows deleted", read["deletes"], read["plain"], 1.8, 1.5)
    add(results, "ACID by views: selective filter", seen["filter"]["acid"], seen["filter"]["plain"], 1.3, 1.3)
    add(results, "ACID by views: get_table, unchanged", look_ups["clean"], look_ups["plain"], 3.0, 2.0)
    times_of = found["compaction"]
    results.more(
        "ACID: major compaction, rows (against read and write)", rows / times_of["compact"], rows / times_of["copy"],
        unit="1/s", least=0.7, aim=0.7,
    )  # fmt: skip


def seconds_of_look_ups(client: metastored.Client, name: str) -> float:
    """Of one look-up."""
    begin = time.perf_counter()
    for _ in range(LOOK_UPS):
        client.api.get_table(DB, name)
    return (time.perf_counter() - begin) / LOOK_UPS


def add(results: Results, name: str, ours: float, plain: float, least: float, aim: float) -> None:
    """A time as a multiple of that of plain ORC: the smaller the better."""
    results.add(Row(name, ours, plain, "s", ours / plain, least, aim, higher_is_better=False))
