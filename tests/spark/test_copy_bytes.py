"""Copies of files byte for byte, with real Spark: when they are made, that they are equal, and what is verified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.dataset
import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.spark.copying.marks import mark_of
from metastored.structs import StorageDescriptor
from metastored.testing import RunningServer, running_server
from tests.support.spark import run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HEAD = """
import os
import metastored
import metastored.spark
from metastored.errors import Error
from metastored.hive.locations import local_path
from metastored.spark.files import HadoopFiles, LocalFiles
from metastored.spark.copying import byte_copies
from metastored.wire.structs import replace
from pyspark.sql import functions as F

client = metastored.connect("URI", cache=False)
result = found = {}

def copied(source, target, **options):
    done = metastored.spark.copy_table(spark, source, target, client=client, **options)
    return [done.rows, done.copied_files]

def difference(source, target):
    one, two = spark.table(source), spark.table(target)
    return one.exceptAll(two).count() + two.exceptAll(one).count()

def rows(count):
    return spark.range(0, count, 1, 2).select(
        "id", F.concat(F.lit("n"), "id").alias("name"), (F.col("id") / 4).cast("decimal(10,2)").alias("price"),
        F.timestamp_micros(1_600_000_000_000_000 + F.col("id") * 1_000_001).alias("at"), F.array("id").alias("ids"),
        F.concat((F.col("id") % 3).cast("string"), F.lit(" a/b")).alias("ds"))

for name in ("src", "dst"):
    client.create_database(name)
"""

EQUAL = """
for format in ("parquet", "orc"):
    option = {"compression": "zlib"} if format == "orc" else {}
    rows(50).drop("ds").write.options(**option).saveAsTable(f"src.plain_{format}", format=format)
    rows(60).write.options(**option).partitionBy("ds").saveAsTable(f"src.parts_{format}", format=format)
    for table in (f"plain_{format}", f"parts_{format}"):
        found[table] = copied(f"src.{table}", f"dst.{table}") + [difference(f"src.{table}", f"dst.{table}")]
        found[f"{table} again"] = copied(f"src.{table}", f"dst.{table}")

rows(7).withColumn("ds", F.lit("new")).write.insertInto("src.parts_parquet")
found["changed"] = copied("src.parts_parquet", "dst.parts_parquet")
found["changed"].append(difference("src.parts_parquet", "dst.parts_parquet"))
found["overwritten"] = copied("src.parts_parquet", "dst.parts_parquet", mode="overwrite")

rows(9).drop("ds", "ids").toDF("Id", "Name", "Price", "At").write.saveAsTable("src.capitals", format="parquet")
spark.sql("CREATE TABLE src.declared (c CHAR(5), v VARCHAR(5)) USING parquet")
spark.sql("INSERT INTO src.declared VALUES ('a', 'b'), ('abcde', 'abcde'), (NULL, NULL)")
rows(90).write.bucketBy(3, "id").saveAsTable("src.buckets", format="parquet")
spark.sql("CREATE TABLE src.empty (id BIGINT, ds STRING) USING parquet PARTITIONED BY (ds)")
spark.sql("ALTER TABLE src.empty ADD PARTITION (ds = '1')")
spark.sql("CREATE TABLE src.old_columns (id BIGINT) STORED AS parquet")
spark.sql("INSERT INTO src.old_columns VALUES (1)")
spark.sql("ALTER TABLE src.old_columns ADD COLUMNS (more STRING)")
spark.sql("INSERT INTO src.old_columns VALUES (2, 'x')")
rows(9).write.saveAsTable("src.spark_target", format="parquet")
spark.sql("CREATE TABLE dst.spark_target USING parquet AS SELECT * FROM src.spark_target WHERE false")
location = local_path(client.table("src.capitals").sd.location)
for name in ("_SUCCESS", "_metadata", ".hidden.parquet"):
    open(os.path.join(location, name), "w").close()
for table in ("capitals", "declared", "buckets", "empty", "old_columns", "spark_target"):
    found[table] = copied(f"src.{table}", f"dst.{table}") + [difference(f"src.{table}", f"dst.{table}")]
found["from a copy"] = copied("dst.spark_target", "dst.second") + [difference("src.spark_target", "dst.second")]
"""

REWRITTEN = """
def rewritten(table, **options):
    found[table] = copied(f"src.{table}", f"dst.{table}", **options) + [difference(f"src.{table}", f"dst.{table}")]

rows(9).write.saveAsTable("src.other_format", format="parquet")
rewritten("other_format", format="orc")

rows(9).write.saveAsTable("src.zstd", format="orc")
rewritten("zstd")

spark.sql("CREATE TABLE src.defaults (id BIGINT) USING parquet")
spark.sql("INSERT INTO src.defaults VALUES (1)")
spark.sql("ALTER TABLE src.defaults ADD COLUMNS (more INT DEFAULT 7)")
rewritten("defaults")

spark.sql("CREATE TABLE src.options (id BIGINT) USING parquet OPTIONS (mergeSchema 'true')")
spark.sql("INSERT INTO src.options VALUES (1)")
rewritten("options")

rows(9).drop("ds").write.parquet("FOLDER/below/deeper")
rows(5).drop("ds").write.mode("append").parquet("FOLDER/below")
client.create_table(metastored.table("src.below", {"id": "bigint"}, external=True, location="file://FOLDER/below"))
rewritten("below")

spark.sql("CREATE TABLE src.partition_columns (id BIGINT) PARTITIONED BY (ds STRING) STORED AS parquet")
for ds in ("1", "2"):
    spark.sql(f"INSERT INTO src.partition_columns PARTITION (ds = '{ds}') VALUES (1)")
spark.sql("ALTER TABLE src.partition_columns ADD COLUMNS (more STRING)")
rewritten("partition_columns")

rows(9).write.saveAsTable("src.buckets_there", format="parquet")
spark.sql("CREATE TABLE dst.buckets_there USING parquet CLUSTERED BY (id) INTO 2 BUCKETS "
          "AS SELECT * FROM src.buckets_there WHERE false")
try:
    copied("src.buckets_there", "dst.buckets_there")
except Error as error:
    found["buckets_there"] = f"{type(error).__name__}: {error}"

client.create_table(metastored.table("src.rates", {"id": "bigint"}, partitioned_by={"rate": "decimal(10,2)"},
                                     external=True, location="file://FOLDER/rates"))
rows(9).select("id").write.parquet("FOLDER/rates/one")
client.add_partitions("src.rates", [metastored.partition(
    client.table("src.rates"), ["1.5"], location="file://FOLDER/rates/one")])
found["rates"] = copied("src.rates", "dst.rates") + [difference("src.rates", "dst.rates")]
try:
    copied("src.rates", "dst.rates_orc", format="orc")
except Error as error:
    found["rates as rows"] = [f"{type(error).__name__}: {error}", len(client.partition_names("dst.rates_orc"))]

byte_copies.LIMIT = 100
rows(9).write.saveAsTable("src.large", format="parquet")
rewritten("large")
byte_copies.LIMIT = 1 << 30
"""

VERIFIED = """
rows(30).write.partitionBy("ds").saveAsTable("src.bad", format="parquet")
copy, count = LocalFiles.copy, byte_copies.rows_of

def refused():
    try:
        return copied("src.bad", "dst.bad")
    except (Error, OSError) as error:
        return f"{type(error).__name__}: {error}"

def left():
    root = local_path(client.table("dst.bad").sd.location)
    return [len(client.partition_names("dst.bad")), [name for _, _, files in os.walk(root) for name in files]]

def flipped(self, source, target):
    digest = copy(self, source, target)
    if "ds=1" in source:
        with open(local_path(target), "r+b") as file:
            file.seek(20)
            byte = file.read(1)
            file.seek(20)
            file.write(bytes([byte[0] ^ 1]))
    return digest

def removed(self, source, target):
    if "ds=1" in source:
        os.unlink(local_path(source))
    return copy(self, source, target)

def replaced(self, source, target):
    if "ds=1" in source:
        with open(local_path(source), "ab") as file:
            file.write(b"more")
    return copy(self, source, target)

LocalFiles.copy = flipped
found["flipped"] = [refused(), left()]
LocalFiles.copy = copy
byte_copies.rows_of = lambda *arguments: count(*arguments) + 1
found["counted"] = [refused(), left()]
byte_copies.rows_of = count
LocalFiles.copy = removed
found["removed"] = [refused(), left()]
LocalFiles.copy = replaced
rows(30).write.partitionBy("ds").mode("overwrite").saveAsTable("src.bad", format="parquet")
found["replaced"] = [refused(), left()]
LocalFiles.copy = copy
rows(30).write.partitionBy("ds").mode("overwrite").saveAsTable("src.bad", format="parquet")
found["healed"] = copied("src.bad", "dst.bad")
"""

HADOOP = """
used, hadoop_copy = [], HadoopFiles.copy

def watched(self, source, target):
    used.append([source.partition(":")[0], target.partition(":")[0]])
    return hadoop_copy(self, source, target)

HadoopFiles.copy = watched
columns = {"id": "bigint", "name": "string"}
for name, location in (("here", "file://FOLDER/here"), ("there", "viewfs://test/there"), ("back", "file://FOLDER/back")):
    client.create_table(metastored.table(f"src.{name}", columns, partitioned_by={"ds": "string"}, external=True,
                                         location=location))
here = client.table("src.here")
for ds in ("1", "2 a%2Fb"):
    rows(10).select("id", "name").write.parquet(f"FOLDER/here/ds={ds}")
    client.add_partitions("src.here", [metastored.partition(
        here, [ds.replace("%2F", "/")], location=f"file://FOLDER/here/ds={ds}")])
found["to hadoop"] = copied("src.here", "src.there") + [difference("src.here", "src.there")]
found["from hadoop"] = copied("src.there", "src.back") + [difference("src.here", "src.back")]
found["schemes"] = sorted(map(list, set(map(tuple, used))))
"""


class Copies(NamedTuple):
    found: dict[str, Any]
    server: RunningServer


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    folder = tmp_path_factory.mktemp("data")
    (folder / "mounted").mkdir()
    with running_server(directories="local") as server:
        script = (HEAD + EQUAL + REWRITTEN + VERIFIED + HADOOP).replace("FOLDER", str(folder))
        found = run_spark(
            script.replace("URI", server.uri),
            conf={
                "spark.hadoop.hive.metastore.uris": server.uri,
                "spark.sql.warehouse.dir": server.warehouse,
                # A second name of a local directory, which is used through Hadoop as that of a cluster is.
                "spark.hadoop.fs.viewfs.mounttable.test.link./there": (folder / "mounted").as_uri(),
            },
        )
        yield Copies(found, server)


def contents(copies: Copies, table: str) -> dict[tuple[str, ...], dict[str, str]]:
    """The digests of the visible files of a table, by the values of the partition and their names."""
    with metastored.connect(copies.server.uri, cache=False) as client:
        described = client.table(table)
        descriptors = (
            {tuple(each.values or ()): each.sd for each in client.partitions(table)}
            if described.partitionKeys
            else {(): described.sd}
        )
    found = {}
    for values, sd in descriptors.items():
        folder = Path(local_path((sd or StorageDescriptor()).location or ""))
        found[values] = {
            each.name: hashlib.sha256(each.read_bytes()).hexdigest()
            for each in folder.iterdir()
            if not each.name.startswith((".", "_"))
        }
    return found


@pytest.mark.parametrize("format", ["parquet", "orc"])
def test_files_are_copied_byte_for_byte_with_their_names(copies: Copies, format: str) -> None:
    assert copies.found[f"plain_{format}"] == [50, 2, 0]
    assert copies.found[f"parts_{format}"] == [60, 6, 0]
    for table in (f"plain_{format}", f"parts_{format}"):
        if table != "parts_parquet":
            assert contents(copies, f"dst.{table}") == contents(copies, f"src.{table}")


@pytest.mark.parametrize("table", ["plain_parquet", "plain_orc", "parts_parquet", "parts_orc"])
def test_a_second_copy_has_nothing_to_do(copies: Copies, table: str) -> None:
    assert copies.found[f"{table} again"] == [0, 0]


def test_only_the_files_of_a_changed_partition_are_copied_again(copies: Copies) -> None:
    assert copies.found["changed"] == [7, 2, 0]


def test_an_overwrite_copies_all_files(copies: Copies) -> None:
    assert copies.found["overwritten"] == [67, 8]
    assert contents(copies, "dst.parts_parquet") == contents(copies, "src.parts_parquet")


def test_the_parameters_of_a_copy_have_its_figures_and_the_digest_of_its_files(copies: Copies) -> None:
    with metastored.connect(copies.server.uri, cache=False) as client:
        parameters = client.table("dst.plain_parquet").parameters or {}
    mark = mark_of(parameters)
    assert mark is not None and (mark.source, mark.rows) == ("src.plain_parquet", 50)
    assert mark.checksum.startswith("sha256:")
    assert (parameters["numRows"], parameters["numFiles"]) == ("50", "2")


def test_pyarrow_reads_the_copies(copies: Copies) -> None:
    with metastored.connect(copies.server.uri, cache=False) as client:
        locations = [local_path((each.sd and each.sd.location) or "") for each in client.partitions("dst.parts_orc")]
    tables = [pyarrow.dataset.dataset(each, format="orc").to_table() for each in locations]
    assert sorted(value for table in tables for value in table["id"].to_pylist()) == list(range(60))


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("capitals", [9, 2, 0]),
        ("declared", [3, 1, 0]),
        ("buckets", [90, 6, 0]),
        ("empty", [0, 0, 0]),
        ("old_columns", [2, 2, 0]),
        ("spark_target", [9, 2, 0]),
        ("from a copy", [9, 2, 0]),
    ],
)
def test_files_are_copied_where_all_readers_get_the_same_rows(copies: Copies, table: str, expected: list[int]) -> None:
    assert copies.found[table] == expected


def test_hidden_files_are_not_copied(copies: Copies) -> None:
    with metastored.connect(copies.server.uri, cache=False) as client:
        folder = Path(local_path((client.table("dst.capitals").sd or StorageDescriptor()).location or ""))
    assert {each.name for each in folder.iterdir()} == set(contents(copies, "src.capitals")[()])


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("other_format", 9),
        ("zstd", 9),
        ("defaults", 1),
        ("options", 1),
        ("below", 5),
        ("partition_columns", 2),
        ("large", 9),
    ],
)
def test_rows_are_rewritten_where_bytes_would_not_be_enough(copies: Copies, table: str, rows: int) -> None:
    assert copies.found[table] == [rows, 0, 0]


def test_a_target_with_buckets_is_refused(copies: Copies) -> None:
    expected = "NotSupported: dst.buckets_there exists with buckets, which copies do not write: drop it first"
    assert copies.found["buckets_there"] == expected


def test_files_are_copied_whatever_the_spelling_of_a_partition_key(copies: Copies) -> None:
    assert copies.found["rates"] == [9, 2, 0]


def test_rows_that_belong_to_no_partition_by_its_spelling_are_refused(copies: Copies) -> None:
    message, partitions = copies.found["rates as rows"]
    assert message == "CopyMismatch: rows of src.rates are in none of its partitions: 1.50"
    assert partitions == 0


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("flipped", "CopyMismatch: the copy of file:"),
        ("counted", "CopyMismatch: the copy of ds=0 a%2Fb is not published: its files have "),
        ("removed", "FileNotFoundError: "),
        ("replaced", "its files have changed while they were copied"),
    ],
)
def test_a_copy_that_is_not_equal_is_not_published(copies: Copies, what: str, error: str) -> None:
    message, remaining = copies.found[what]
    assert error in message
    assert remaining == [0, []]


def test_a_copy_is_made_after_one_that_was_refused(copies: Copies) -> None:
    assert copies.found["healed"] == [30, 6]


def test_files_are_copied_between_file_systems_of_hadoop(copies: Copies) -> None:
    assert copies.found["to hadoop"] == [20, 4, 0]
    assert copies.found["from hadoop"] == [20, 4, 0]
    assert copies.found["schemes"] == [["file", "viewfs"], ["viewfs", "file"]]
