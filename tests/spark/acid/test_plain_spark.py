"""Spark itself, with nothing but the address of a metastore, reads ACID tables through views, and cannot harm them.

The tables are written by metastored's own statements in a session that knows ACID, which also says what their rows are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
import metastored.spark
from metastored.hive.locations import local_path
from metastored.hive.names import DEFAULT_PARTITION
from metastored.hive.transactions.compaction import CompactionKind
from metastored.model.names import table_name
from metastored.spark import acid
from metastored.spark.acid.compaction.cleaner import clean
from metastored.spark.acid.compaction.queue import entries, request
from metastored.spark.acid.compaction.worker import work
from metastored.spark.files import files_of
from metastored.testing import running_server
from metastored.wire.generated.common import FieldSchema
from metastored.wire.structs import replace
from tests.spark.acid.conftest import FULL, INSERT_ONLY, PLAIN, Warehouse, WrittenOnce, new_warehouse, write_original
from tests.support.apache import MissingPeer
from tests.support.hive_acid import READERS, HiveFiles, comparable
from tests.support.spark import GENERATED, SPARK_3_5, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

VERSIONS = ("4.3", "3.5")

ODD = "a/b=c+d %,}é"
COLUMNS = {"id": "int", "name": "string"}
FAILS = "fails"
"""The name of a table that no view can show."""


class Seen(NamedTuple):
    """What plain Spark sees, and what is right."""

    expected: dict[str, list[str]]
    """The rows of each table, as texts."""
    found: dict[str, Any]
    """By version: what the program below returns."""
    warehouse: Warehouse
    rows: dict[str, list[Any]]
    """The rows of each table, by `metastored.spark`."""
    files: dict[str, list[str]]
    """The files of each table that it read."""


def texts(rows: list[Any]) -> list[str]:
    return sorted(str(tuple(row)) for row in rows)


class Maker:
    """Makes tables of many shapes."""

    def __init__(self, spark: Any, warehouse: Warehouse, written_once: WrittenOnce) -> None:
        self.spark = spark
        self.warehouse = warehouse
        self.written_once = written_once

    def sql(self, text: str) -> None:
        statement = text.replace("@", f"{self.warehouse.database}.")
        metastored.spark.sql(self.spark, statement, client=self.warehouse.client).collect()

    def history(self, name: str, *more: str) -> None:
        """Rows that are inserted, changed and deleted."""
        with self.written_once.statements("history of buckets" if name == "bucketed" else "history"):
            self.sql(f"INSERT INTO @{name} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
            self.sql(f"UPDATE @{name} SET name = 'z' WHERE id = 2")
            self.sql(f"DELETE FROM @{name} WHERE id = 3")
        for each in more:
            self.sql(each)

    def compact(self, name: str, kind: CompactionKind, partition: str | None = None) -> None:
        client = self.warehouse.client
        id = request(client, table_name(f"{self.warehouse.database}.{name}"), partition, kind, "test")
        done = work(self.spark, client, "test-1")
        assert done is not None and (done.id, done.outcome) == (id, "compacted")

    def shapes(self) -> None:
        make = self.warehouse.create
        make("changed", COLUMNS)
        self.history("changed")
        make("parted", COLUMNS, keys={"day": "string", "n": "int"})
        self.sql("INSERT INTO @parted VALUES (1, 'a', 'x', 1), (3, 'c', NULL, NULL), (4, 'd', 'x', 2)")
        self.sql(f"INSERT INTO @parted VALUES (2, 'b', '{ODD}', 2)")
        self.sql("DELETE FROM @parted WHERE id = 4")
        self.sql("UPDATE @parted SET name = 'z' WHERE id IN (2, 3)")
        make("bucketed", COLUMNS, buckets=("id", 3))
        self.history("bucketed", "INSERT INTO @bucketed SELECT id, 'many' FROM range(10, 40)")
        make("evolved", COLUMNS)
        self.history("evolved")
        self.widen("evolved", FieldSchema("more", "bigint"))
        self.sql("INSERT INTO @evolved VALUES (9, 'n', 7)")
        make("lengths", {"c": "char(4)", "v": "varchar(4)"})
        self.sql("INSERT INTO @lengths VALUES ('a', 'b'), ('abcd', 'abcd'), (NULL, NULL)")
        make("nested", {"row": "struct<a:int,bucket:int>", "bucket": "int", "operation": "string"})
        self.sql("INSERT INTO @nested VALUES (named_struct('a', 1, 'bucket', 5), 7, 'x'), (NULL, NULL, NULL)")
        self.sql("DELETE FROM @nested WHERE bucket IS NULL")
        self.converted("converted", deletes=False)
        self.converted(FAILS, deletes=True)
        make("compacted", COLUMNS)
        self.history("compacted")
        self.compact("compacted", CompactionKind.MAJOR)
        self.sql("INSERT INTO @compacted VALUES (8, 'h')")
        self.sql("DELETE FROM @compacted WHERE id = 1")
        self.sql("DELETE FROM @compacted WHERE id = 2")
        self.compact("compacted", CompactionKind.MINOR)
        make("empty", COLUMNS, keys={"day": "date"})
        make("emptied", COLUMNS)
        self.history("emptied", "TRUNCATE TABLE @emptied")
        make("replaced", COLUMNS)
        self.history("replaced", "INSERT OVERWRITE @replaced VALUES (7, 'only')")
        for format in ("orc", "parquet", "textfile"):
            make(f"only_{format}", COLUMNS, keys={"day": "date"}, properties=INSERT_ONLY, format=format)
            self.sql(f"INSERT INTO @only_{format} VALUES (1, 'a', DATE'2024-01-01'), (2, NULL, DATE'2024-01-02')")
            self.sql(f"INSERT INTO @only_{format} VALUES (3, 'c', DATE'2024-01-01')")
        make("elsewhere", COLUMNS, keys={"day": "string"})
        full = f"{self.warehouse.database}.elsewhere"
        place = self.warehouse.path(full) / "some where,else"
        odd = metastored.partition(self.warehouse.client.table(full), ["odd"], location=str(place))
        self.warehouse.client.add_partitions(full, [odd])
        self.sql("INSERT INTO @elsewhere VALUES (1, 'a', 'odd'), (2, 'b', 'usual'), (3, 'c', 'usual')")
        self.sql("DELETE FROM @elsewhere WHERE id = 2")
        make("ended", COLUMNS)
        self.history("ended")

    def widen(self, name: str, column: FieldSchema) -> None:
        """Adds a column, which older files do not have."""
        client = self.warehouse.client
        table = client.fresh_table(f"{self.warehouse.database}.{name}")
        assert table.sd is not None
        wider = replace(table, sd=replace(table.sd, cols=(*(table.sd.cols or ()), column)))
        client.api.alter_table(self.warehouse.database, name, wider)

    def converted(self, name: str, *, deletes: bool) -> None:
        """A table that had files before it was transactional."""
        full = self.warehouse.create(name, COLUMNS, properties=PLAIN)
        old = self.spark.sql("SELECT CAST(id AS int) AS id, 'old' AS name FROM range(3)")
        write_original(old, self.warehouse.path(full) / "000000_0")
        client = self.warehouse.client
        table = client.table(full)
        transactional = replace(table, parameters={**(table.parameters or {}), **FULL})
        client.api.alter_table(self.warehouse.database, name, transactional)
        self.sql(f"INSERT INTO @{name} VALUES (9, 'new')")
        if deletes:
            self.sql(f"DELETE FROM @{name} WHERE id = 1")


PROGRAM = """
db, names, fails = {db!r}, {names!r}, {fails!r}
spark.sparkContext.setLogLevel("OFF")
spark.sql(f"USE {{db}}")

def outcome(work):
    try:
        return work()
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

def texts(frame):
    return sorted(str(tuple(row)) for row in frame.collect())

def files(frame):
    frame.collect()
    counts = []
    def walk(plan):
        if "Scan" in plan.nodeName():
            counts.append(plan.metrics().get("numFiles").get().value())
        if plan.nodeName() == "AdaptiveSparkPlan":
            walk(plan.executedPlan())
        elif "QueryStage" in plan.nodeName():
            walk(plan.plan())
        else:
            children = plan.children().iterator()
            while children.hasNext():
                walk(children.next())
    walk(frame._jdf.queryExecution().executedPlan())
    return counts

one = spark.createDataFrame([(1, "x")], "id int, name string")
changes = {{
    statement: outcome(lambda statement=statement: spark.sql(statement).collect() and None)
    for statement in [
        "INSERT INTO changed VALUES (1, 'a')", "INSERT OVERWRITE changed VALUES (1, 'a')", "TRUNCATE TABLE changed",
        "DROP VIEW changed", "DROP TABLE changed", "ALTER VIEW changed AS SELECT 1", "ALTER VIEW changed RENAME TO c2",
        "CREATE OR REPLACE VIEW changed AS SELECT 1 AS x", "ALTER VIEW changed SET TBLPROPERTIES ('a' = 'b')",
        "MSCK REPAIR TABLE parted", "ANALYZE TABLE changed COMPUTE STATISTICS", f"DROP DATABASE {{db}} CASCADE",
        "ALTER TABLE parted ADD PARTITION (day = 'q', n = 1)", "ALTER TABLE changed ADD COLUMNS (q int)",
        "CREATE TABLE changed (id int) USING parquet", "CREATE TABLE changed USING parquet AS SELECT 1 AS id",
    ]
}}
changes["insertInto"] = outcome(lambda: one.write.insertInto("changed"))
changes["saveAsTable, append"] = outcome(lambda: one.write.mode("append").saveAsTable("changed"))
changes["saveAsTable, overwrite"] = outcome(lambda: one.write.mode("overwrite").saveAsTable("changed"))
changes["writeTo"] = outcome(lambda: one.writeTo("changed").append())
result = {{
    "version": spark.version,
    "rows": {{name: outcome(lambda name=name: texts(spark.table(name))) for name in names}},
    "count": spark.table("changed").count(),
    "fails": outcome(lambda: spark.sql(f"SELECT count(*) FROM {{fails}}").collect()),
    "filtered": files(spark.sql("SELECT id FROM parted WHERE day = 'x' AND n = 1")),
    "all": files(spark.sql("SELECT id FROM parted")),
    "typed": texts(spark.sql("SELECT id, n + 1 FROM parted WHERE n > 1")),
    "queries": texts(spark.sql(
        "WITH c AS (SELECT id FROM changed) SELECT a.id FROM c a JOIN parted p ON a.id = p.id WHERE EXISTS "
        "(SELECT 1 FROM bucketed b WHERE b.id = a.id)"
    )),
    "described": [str(tuple(row)) for row in spark.sql("DESCRIBE EXTENDED changed").collect()],
    "views": sorted(row["viewName"] for row in spark.sql("SHOW VIEWS").collect()),
    "tables": sorted(each.name for each in spark.catalog.listTables()),
    "changes": changes,
    "after": texts(spark.table("changed")),
}}
"""


@pytest.fixture(scope="module")
def seen(spark: Any, written_once: WrittenOnce) -> Iterator[Seen]:
    with running_server(acid_views_port=0) as server, metastored.connect(server.uri, user="ann") as client:
        with new_warehouse(client) as warehouse:
            Maker(spark, warehouse, written_once).shapes()
            names = [name for name in client.tables(warehouse.database) if name != FAILS]
            open_write = client.write(f"{warehouse.database}.ended")
            with open_write:
                frames = {name: acid.read(spark, f"{warehouse.database}.{name}", client=client) for name in names}
                rows = {name: frame.collect() for name, frame in frames.items()}
                files = {name: [local_path(uri) for uri in frames[name].inputFiles()] for name in names}
                expected = {name: texts(each) for name, each in rows.items()}
                found = {}
                for version in VERSIONS:
                    found[version] = run_spark(
                        PROGRAM.format(db=warehouse.database, names=names, fails=FAILS),
                        conf={
                            "spark.hadoop.hive.metastore.uris": f"thrift://127.0.0.1:{server.acid_views_port}",
                            **GENERATED,
                        },
                        python=str(SPARK_3_5 / "bin/python") if version == "3.5" else sys.executable,
                    )
            yield Seen(expected, found, warehouse, rows, files)


def of(seen: Seen, version: str) -> Any:
    assert seen.found[version]["version"].startswith(version)
    return seen.found[version]


FULL_ACID = ["changed", "parted", "bucketed", "evolved", "lengths", "nested", "converted", "compacted", "empty",
             "emptied", "replaced", "elsewhere", "ended"]  # fmt: skip
INSERT_ONLY_SHAPES = ["only_orc", "only_parquet", "only_textfile"]
SHAPES = [*FULL_ACID, *INSERT_ONLY_SHAPES]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("version", VERSIONS)
def test_plain_spark_reads_the_rows(seen: Seen, version: str, shape: str) -> None:
    assert of(seen, version)["rows"][shape] == seen.expected[shape]


@pytest.mark.parametrize("version", VERSIONS)
def test_all_shapes_are_compared_and_have_rows_where_they_should(seen: Seen, version: str) -> None:
    assert sorted(of(seen, version)["rows"]) == sorted(SHAPES)
    assert [name for name in SHAPES if not seen.expected[name]] == ["empty", "emptied"]
    assert of(seen, version)["count"] == 2


HIVE = "4.0.1"
"""Hive 3.1 cannot read directories of compactions."""
DIRECTORIES = "directories"
READS = [(shape, reader) for shape in FULL_ACID for reader in READERS if (shape, reader) != ("converted", "batch")]
"""Tables and Hive's readers. For batches of files without ids Hive needs the plan of a query, which there is not."""


class Place(NamedTuple):
    """The directory of a table, or of a partition with these values."""

    shape: str
    path: Path
    values: tuple[str, ...]
    write_ids: str
    transactions: str
    columns: dict[str, str]


def places(warehouse: Warehouse, shape: str) -> list[Place]:
    client, full = warehouse.client, f"{warehouse.database}.{shape}"
    with client.read(full) as snapshot:
        ids = str(snapshot.snapshots[full]), str(snapshot.visible)
    table = client.table(full)
    assert table.sd is not None
    columns = {each.name or "": each.type or "" for each in table.sd.cols or ()}
    if not table.partitionKeys:
        return [Place(shape, warehouse.path(full), (), *ids, columns)]
    return [
        Place(shape, Path(local_path(each.sd.location or "")), tuple(each.values or ()), *ids, columns)
        for each in client.partitions(full)
        if each.sd is not None
    ]


@pytest.fixture(scope="module")
def by_hive(seen: Seen) -> dict[tuple[str, str], list[Any]]:
    """By table and reader of Hive's: the rows, or, of an insert-only table, the directories that Hive reads."""
    files = HiveFiles(HIVE, {})
    asked = [
        (reader, place)
        for shape, reader in (*READS, *((shape, DIRECTORIES) for shape in INSERT_ONLY_SHAPES))
        for place in places(seen.warehouse, shape)
    ]
    for reader, place in asked:
        if reader == DIRECTORIES:
            files.directories(place.path, place.write_ids, place.transactions)
        else:
            files.read(
                place.path, place.write_ids, reader=reader, transactions=place.transactions, columns=place.columns
            )
    try:
        answers = files.run()
    except MissingPeer as reason:
        pytest.skip(str(reason))
    found: dict[tuple[str, str], list[Any]] = {}
    for (reader, place), each in zip(asked, answers, strict=True):
        if reader == DIRECTORIES:
            rows: list[Any] = [str(place.path / directory) for directory in each]
        else:
            rows = [(*(row[:-1] if reader == "row" else row), *place.values) for row in each.rows]
        found.setdefault((place.shape, reader), []).extend(rows)
    return found


@pytest.mark.peers
@pytest.mark.parametrize(("shape", "reader"), READS)
def test_hives_own_readers_find_the_same_rows(seen: Seen, by_hive: Any, shape: str, reader: str) -> None:
    table = seen.warehouse.client.table(f"{seen.warehouse.database}.{shape}")
    keys = {each.name for each in table.partitionKeys or ()}
    expected = [
        tuple(as_hive_has_it(value, name in keys) for name, value in row.asDict(recursive=False).items())
        for row in seen.rows[shape]
    ]
    assert sorted(by_hive.get((shape, reader), []), key=repr) == sorted(expected, key=repr)


def as_hive_has_it(value: Any, is_key: bool) -> Any:
    """A value of a column, or of a partition key: in the metastore those are texts."""
    return comparable(value) if not is_key else DEFAULT_PARTITION if value is None else str(value)


@pytest.mark.peers
@pytest.mark.parametrize("shape", INSERT_ONLY_SHAPES)
def test_hive_selects_the_same_directories_of_an_insert_only_table(seen: Seen, by_hive: Any, shape: str) -> None:
    assert sorted(by_hive[shape, DIRECTORIES]) == sorted({str(Path(path).parent) for path in seen.files[shape]})


@pytest.mark.parametrize("version", VERSIONS)
def test_a_table_that_cannot_be_shown_fails_with_a_sentence(seen: Seen, version: str) -> None:
    said = of(seen, version)["fails"]
    assert "is an ACID table that cannot be shown as a view" in said and "metastored.spark.sql" in said


@pytest.mark.parametrize("version", VERSIONS)
def test_only_files_of_the_partitions_that_match_are_read(seen: Seen, version: str) -> None:
    assert sum(of(seen, version)["filtered"]) == 1
    assert sum(of(seen, version)["all"]) > 5
    assert of(seen, version)["typed"] == ["(2, 3)"]


@pytest.mark.parametrize("version", VERSIONS)
def test_tables_are_joined_and_used_in_subqueries(seen: Seen, version: str) -> None:
    assert of(seen, version)["queries"] == ["(1,)", "(2,)"]


@pytest.mark.parametrize("version", VERSIONS)
def test_describe_says_what_the_view_is(seen: Seen, version: str) -> None:
    assert any("an ACID table, shown as a view" in line for line in of(seen, version)["described"])
    assert of(seen, version)["tables"] == of(seen, version)["views"] == sorted([*SHAPES, FAILS])


@pytest.mark.parametrize("version", VERSIONS)
def test_no_statement_and_no_writer_changes_an_acid_table(seen: Seen, version: str) -> None:
    changes = of(seen, version)["changes"]
    assert {name: said for name, said in changes.items() if not isinstance(said, str)} == {}
    assert of(seen, version)["after"] == seen.expected["changed"]


READER = """
import metastored.spark
from metastored.spark.acid.sql.guard import guarded
from metastored.spark.session_metastore import session_client

spark.sparkContext.setLogLevel("OFF")
query = "SELECT count(*), count(DISTINCT g), max(g) FROM {db}.t"
plain = {{"Spark": lambda: spark.sql(query)}}
session = guarded(spark.newSession(), lambda: session_client(spark))
of_metastored = {{"a session": lambda: session.sql(query), "a statement": lambda: metastored.spark.sql(session, query)}}
readers = of_metastored if {of_metastored} else plain
result = [[name, *reader().collect()[0]] for _ in range({times}) for name, reader in readers.items()]
"""


@pytest.mark.parametrize("times", [6, pytest.param(12, marks=pytest.mark.soak)])
@pytest.mark.parametrize("of_metastored", [False, True], ids=["plain Spark", "a session of metastored"])
def test_a_reader_sees_whole_transactions_beside_a_writer_compactions_and_a_cleaner(
    spark: Any, written_once: WrittenOnce, of_metastored: bool, times: int
) -> None:
    """Each transaction gives all rows, in two partitions, the next number. The view is made anew for each query.

    There are six queries; twelve in `make soak`.

    Both use the same port: the server shows the view to those who look the table up as Spark does.
    """
    with running_server(acid_views="on") as server, metastored.connect(server.uri, user="ann") as client:
        with new_warehouse(client) as warehouse, ThreadPoolExecutor(1) as pool:
            made = Maker(spark, warehouse, written_once)
            warehouse.create("t", {"id": "int", "g": "int"}, keys={"day": "string"})
            made.sql("INSERT INTO @t VALUES (1, 0, 'a'), (2, 0, 'a'), (3, 0, 'b'), (4, 0, 'b')")
            reading = pool.submit(
                run_spark,
                READER.format(
                    db=warehouse.database, times=times // 2 if of_metastored else times, of_metastored=of_metastored
                ),
                conf={"spark.hadoop.hive.metastore.uris": server.uri},
            )
            written = 0
            while not reading.done():
                written += 1
                made.sql(f"UPDATE @t SET g = {written}")
                if written % 3 == 0:
                    made.compact("t", CompactionKind.MAJOR if written % 2 else CompactionKind.MINOR, "day=a")
                    clean(client, lambda location: files_of(spark, location))
            seen = [tuple(each) for each in reading.result()]
    assert {(rows, numbers) for _, rows, numbers, _ in seen} == {(4, 1)}
    assert len({name for name, *_ in seen}) == (2 if of_metastored else 1)
    newest = [number for *_, number in seen]
    assert newest == sorted(newest) and newest[-1] <= written


def test_the_files_of_a_view_stay_for_the_time_that_is_set(spark: Any, written_once: WrittenOnce) -> None:
    with running_server(acid_views_port=0) as server, metastored.connect(server.uri, user="ann") as client:
        with new_warehouse(client) as warehouse:
            made = Maker(spark, warehouse, written_once)
            warehouse.create("t", COLUMNS)
            made.history("t")
            before = warehouse.files(f"{warehouse.database}.t")
            made.compact("t", CompactionKind.MAJOR)
            assert clean(client, lambda location: files_of(spark, location)) == []
            assert set(before) <= set(warehouse.files(f"{warehouse.database}.t"))
            (entry,) = [each for each in entries(client) if each.state == "ready for cleaning"]
            assert entry.committed is not None and entry.committed > 0
