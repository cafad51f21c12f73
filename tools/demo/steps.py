"""The steps of the demo on the new cluster: each is what a user would type, and prints what it gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import metastored
import metastored.spark
from metastored.model.counting import counted
from tools.demo import data
from tools.demo.show import print_rows, print_statement, print_table, say

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE = """CREATE REMOTE DATABASE old_shop CONNECTED TO shop
WITH DBPROPERTIES ('hive.metastore.uris' = '{uri}')"""
JOIN = """select c.country, count(distinct o.id) as orders, sum(o.euro) as euro, count(distinct e.customer) as visitors
from old_shop.orders o join old_shop.customers c on o.customer = c.id
left join web.events e on e.customer = c.id and e.day = o.day
where o.day >= '2024-09-05' group by c.country order by euro desc"""
ACCOUNTS = """create table web.accounts (customer bigint, euro double, state string)
stored as orc tblproperties ('transactional' = 'true')"""
FIRST = """insert into web.accounts
select customer, sum(euro), 'new' from old_shop.orders where day < '2024-09-05' group by customer"""
MERGE = """merge into web.accounts a using
(select customer, sum(euro) as euro from old_shop.orders where day >= '2024-09-05' group by customer) o
on a.customer = o.customer
when matched and o.euro > 400 then update set euro = a.euro + o.euro, state = 'gold'
when matched and o.euro < 5 then delete
when matched then update set euro = a.euro + o.euro
when not matched then insert values (o.customer, o.euro, 'late')"""
STATES = "select state, count(*) as accounts, sum(euro) as euro from web.accounts group by state order by state"


def sql(spark: SparkSession, text: str) -> None:
    """One statement, of metastored, on ACID tables, or of Spark, with its result."""
    print_statement(text)
    print_rows(metastored.spark.sql(spark, text).collect())


def connect_old_cluster(spark: SparkSession, uri: str) -> None:
    sql(spark, REMOTE.format(uri=uri))
    sql(spark, "SHOW REMOTES")


def join_both(spark: SparkSession) -> None:
    sql(spark, "create database web")
    events = spark.createDataFrame(data.events(), "customer bigint, day string, fruit string")
    events.write.format("parquet").partitionBy("day").saveAsTable("web.events")
    say(f"web.events: {data.EVENTS:,} rows in the new warehouse")
    sql(spark, JOIN)


def merge_accounts(spark: SparkSession) -> None:
    for statement in (ACCOUNTS, FIRST, MERGE, STATES):
        sql(spark, statement)


def analyze(spark: SparkSession) -> None:
    from metastored.spark import statistics

    done = statistics.analyze(spark, "web.events")
    counts = ((done.rows, "row"), (len(done.columns), "column"), (len(done.partitions), "partition"))
    say(f"{', '.join(counted(number, noun) for number, noun in counts)}, in one pass")
    sql(spark, "describe extended web.events customer")


def compact(spark: SparkSession, client: metastored.Client) -> None:
    from metastored.spark.acid.compaction.queue import worker_id
    from metastored.spark.acid.compaction.worker import work

    sql(spark, "alter table web.accounts compact 'major'")
    done = work(spark, client, worker_id())
    assert done is not None
    say(f"{done.table.database}.{done.table.table} {done.outcome} into {', '.join(map(last, done.directories))}")
    sql(spark, STATES)


def search_vectors(spark: SparkSession, client: metastored.Client) -> None:
    import pyarrow as pa

    import metastored.lance
    from metastored.spark import lance

    frame = spark.createDataFrame(data.products(), "id bigint, fruit string, taste array<float>")
    version = lance.write(frame, "web.products", vectors={"taste": data.DIMENSIONS})
    say(f"web.products: version {version} of a Lance table with vectors of {data.DIMENSIONS} dimensions")
    from lance_namespace import QueryTableRequest
    from lance_namespace_urllib3_client.models.query_table_request_vector import QueryTableRequestVector

    lemon = QueryTableRequestVector(single_vector=data.vector(data.FRUITS.index("lemon")))
    request = QueryTableRequest(id=["web", "products"], vector=lemon, k=3)
    with metastored.lance.Hive2Namespace(client) as namespace:
        reply = namespace.query_table(request)
    with pa.ipc.open_file(reply.data) as reader:
        found = reader.read_all()
    print_table(("fruit", "distance to a lemon"), [(row["fruit"], row["_distance"]) for row in found.to_pylist()])


def run_pipeline(uri: str) -> None:
    """A file of steps, by the command that a user would type."""
    file = Path(__file__).with_name("daily.yml")
    words = ["metastored", "pipeline", "run", str(file.relative_to(Path.cwd())), "--uri", uri]
    print(f"$ {' '.join(words)}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    shown = [line for line in done.stdout.splitlines() if not is_noise(line)]
    print("\n".join(f"    {line}" for line in shown), flush=True)
    if done.returncode:
        raise SystemExit(done.returncode)


def is_noise(line: str) -> bool:
    """Lines that Spark prints before its log level is set."""
    return (
        line.startswith(("WARNING: Using incubator", "Using Spark's default", "Setting ", "To adjust"))
        or " WARN " in line
    )


def last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
