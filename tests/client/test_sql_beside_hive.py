"""Statements executed here and by the driver of Hive 3.1.3 at the same server: stored objects and layouts compared.

Hive also executes the printed SHOW CREATE TABLE of our tables. One Java process does all of Hive's part. DROP PARTITION
is not among the statements: on the Java here, Hive fails before it calls the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.model.spark.properties import HIVE_STATISTICS
from metastored.wire.structs import replace
from tests.client.test_sql_shows import TABLES, definition
from tests.support.apache import MissingPeer
from tests.support.forks import running_server
from tests.support.hive_driver import run_hive

pytestmark = [pytest.mark.apache, pytest.mark.peers, pytest.mark.slow]

DEFINED = {
    "text": ["CREATE TABLE {} (a INT COMMENT 'it\\'s', b STRING) COMMENT 'sold'"],
    "orc": ["CREATE TABLE {} (a BIGINT) PARTITIONED BY (ds STRING, h INT) STORED AS ORC TBLPROPERTIES ('k' = 'v')"],
    "parquet": ["CREATE EXTERNAL TABLE {} (a DECIMAL(10, 2), b VARCHAR(5), c CHAR(3)) STORED AS PARQUET"],
    "avro": ["CREATE TABLE {} (a ARRAY<INT>, b MAP<STRING, INT>, c STRUCT<x: INT, y: STRING>) STORED AS AVRO"],
    "rcfile": ["CREATE TABLE {} (a DATE, b TIMESTAMP) STORED AS RCFILE"],
    "sequencefile": ["CREATE TABLE {} (a DOUBLE, b BINARY) STORED AS SEQUENCEFILE"],
    "delimited": ["CREATE TABLE {} (a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' ESCAPED BY '\\\\' "
                  "COLLECTION ITEMS TERMINATED BY '|' MAP KEYS TERMINATED BY ':' NULL DEFINED AS 'x'"],
    "a serde": ["CREATE TABLE {} (a STRING) ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.OpenCSVSerde' "
                "WITH SERDEPROPERTIES ('separatorChar' = ';')"],
    "buckets": ["CREATE TABLE {} (a INT, b INT) CLUSTERED BY (a) SORTED BY (b DESC) INTO 4 BUCKETS STORED AS ORC"],
    "columns": ["CREATE TABLE {} (a INT, b INT)", "ALTER TABLE {} ADD COLUMNS (c STRING COMMENT 'new')",
                "ALTER TABLE {} CHANGE COLUMN a id BIGINT COMMENT 'number' AFTER b"],
    "replaced": ["CREATE TABLE {} (a INT, b INT)", "ALTER TABLE {} REPLACE COLUMNS (x STRING, y INT)"],
    "properties": ["CREATE TABLE {} (a INT) TBLPROPERTIES ('gone' = '1')",
                   "ALTER TABLE {} SET TBLPROPERTIES ('k' = 'v')", "ALTER TABLE {} UNSET TBLPROPERTIES ('gone')"],
    "a format": ["CREATE TABLE {} (a INT)", "ALTER TABLE {} SET FILEFORMAT ORC"],
    "serde properties": ["CREATE TABLE {} (a INT)", "ALTER TABLE {} SET SERDEPROPERTIES ('field.delim' = '|')"],
    "an owner": ["CREATE TABLE {} (a INT)", "ALTER TABLE {} SET OWNER USER carol"],
    "alike": ["CREATE TABLE {}_from (a INT COMMENT 'x') PARTITIONED BY (b INT) STORED AS ORC",
             "CREATE TABLE {} LIKE {}_from"],
    "a view": ["CREATE TABLE {}_from (a INT, b STRING)", "CREATE VIEW {} AS SELECT a, b FROM {}_from",
               "ALTER VIEW {} SET TBLPROPERTIES ('k' = 'v')"],
    "renamed": ["CREATE TABLE {}_old (a INT) STORED AS ORC", "ALTER TABLE {}_old RENAME TO {}"],
    "partitions": ["CREATE TABLE {} (a INT) PARTITIONED BY (ds STRING, h INT)",
                   "ALTER TABLE {} ADD IF NOT EXISTS PARTITION (ds = '1', h = 1) PARTITION (ds = '1', h = 2)",
                   "ALTER TABLE {} ADD PARTITION (ds = 'a b', h = 3)",
                   "ALTER TABLE {} PARTITION (ds = '1', h = 2) RENAME TO PARTITION (ds = '2', h = 7)"],
    "exchanged": ["CREATE TABLE {}_from (a INT) PARTITIONED BY (ds STRING)", "CREATE TABLE {} LIKE {}_from",
                  "ALTER TABLE {}_from ADD PARTITION (ds = '1') PARTITION (ds = '2')",
                  "ALTER TABLE {} EXCHANGE PARTITION (ds = '1') WITH TABLE {}_from"],
    "constraints": ["CREATE TABLE {} (a INT, b INT, CONSTRAINT {}_pk PRIMARY KEY (a) DISABLE NOVALIDATE RELY)",
                    "ALTER TABLE {} ADD CONSTRAINT {}_u UNIQUE (b) DISABLE NOVALIDATE"],
}  # fmt: skip
"""Statements; `{}` is the table, and {}_pk a name with it."""
ONLY_HIVE = {*HIVE_STATISTICS, "bucketing_version", "last_modified_by", "last_modified_time", "transient_lastDdlTime",
             "SORTBUCKETCOLSPREFIX"}  # fmt: skip
"""Parameters that Hive's client adds, times, and numbers of files, which Hive's client asks the server not to count."""
ONLY_OURS = ("view.", "spark.")
"""By these parameters Spark reads our views."""
SHOWN = (
    "SHOW TABLES IN ours", "SHOW PARTITIONS ours.partitions", "SHOW COLUMNS IN ours.orc", "SHOW VIEWS IN ours",
    "SHOW CREATE TABLE ours.orc",
    "SHOW CREATE TABLE ours.delimited", "SHOW CREATE TABLE ours.buckets", "DESCRIBE FORMATTED ours.orc",
)  # fmt: skip
AGAIN = {case: f"c{number}" for number, case in enumerate(TABLES)
         if not case.startswith("spark") and case not in ("a handler", "a serde", "json", "constraints")}  # fmt: skip
"""Tables of ours that Hive makes again; the handler and the serde are no classes of Hive, and Hive 3 has no CHECK
without a column."""


class Found(NamedTuple):
    errors: dict[str, str]
    ours: dict[str, Any]
    hives: dict[str, Any]
    shown: dict[str, tuple[list[str] | str, Any]]
    before: dict[str, Any]
    after: dict[str, Any]


def named(case: str) -> str:
    return case.replace(" ", "_")


def stored(client: Any, database: str, case: str) -> dict[str, Any]:
    """The table with its partitions and keys, without what differs by its database and by the time."""
    name = f"{database}.{named(case)}"
    table = client.fresh_table(name)
    parameters = {
        key: value for key, value in table.parameters.items() if key not in ONLY_HIVE and not key.startswith(ONLY_OURS)
    }
    keys = client.api.get_primary_keys(metastored.structs.PrimaryKeysRequest(database, named(case), "hive")).primaryKeys
    request = metastored.structs.UniqueConstraintsRequest("hive", database, named(case))
    unique = client.api.get_unique_constraints(request).uniqueConstraints
    partitions = client.partition_names(name) if table.partitionKeys else ()
    return {
        "table": replace(
            table,
            dbName="",
            createTime=0,
            lastAccessTime=0,
            id=None,
            parameters=parameters,
            sd=normal(table.sd, database),
            viewOriginalText=(table.viewOriginalText or "").replace(f"{database}.", ""),
            viewExpandedText=None,
        ),
        "keys": [(each.column_name, each.pk_name[1:], each.enable_cstr, each.rely_cstr) for each in keys],
        "unique": [(each.column_name, each.uk_name[1:]) for each in unique],
        "partitions": {
            part: normal(
                client.partition(name, tuple(value.partition("=")[2] for value in part.split("/"))).sd, database
            )
            for part in partitions
            if "%" not in part
        },
        "names": partitions,
    }


def normal(sd: Any, database: str) -> Any:
    """What Hive's client sets to empty values is the same as what is absent."""
    if sd.location is None:  # A view has no files: which classes would read them does not matter.
        sd = replace(sd, inputFormat=None, outputFormat=None, serdeInfo=metastored.structs.SerDeInfo())
    serde = replace(sd.serdeInfo, name=None)
    location = None if sd.location is None else sd.location.replace(f"/{database}.db/", "/")
    return replace(
        sd, location=location, serdeInfo=serde, compressed=False, skewedInfo=None, storedAsSubDirectories=None,
        parameters=sd.parameters or {}, bucketCols=tuple(sd.bucketCols or ()), sortCols=tuple(sd.sortCols or ()),
        numBuckets=sd.numBuckets,
    )  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    folder = tmp_path_factory.mktemp("hive")
    with (
        running_server(compat="3.1") as server,
        metastored.connect(server.uri, user="root", cache=False) as client,
    ):
        client.sql("CREATE DATABASE ours; CREATE DATABASE hives; CREATE DATABASE again")
        for case, statements in DEFINED.items():
            for statement in statements:
                client.sql(statement.replace("{}", f"ours.{named(case)}").replace(f"ours.{named(case)}_pk", "x_pk")
                           .replace(f"ours.{named(case)}_u ", "x_u "))  # fmt: skip
        texts: dict[str, str] = {}
        before = {}
        for case, name in AGAIN.items():
            client.sql(f"CREATE TABLE again.{name} {definition(case, folder)}")
            before[case] = client.fresh_table(f"again.{name}")
            texts[case] = client.sql(f"SHOW CREATE TABLE again.{name}").rows[0][0] or ""
            client.sql(f"DROP TABLE again.{name}")
        asked = [
            (case, statement.replace("{}", f"hives.{named(case)}").replace(f"hives.{named(case)}_pk", "y_pk")
             .replace(f"hives.{named(case)}_u ", "y_u "))
            for case, statements in DEFINED.items() for statement in statements
        ]  # fmt: skip
        asked += [*texts.items(), *((statement, statement) for statement in SHOWN)]
        try:
            results = run_hive(server.uri, server.warehouse, Path(folder), [statement for _, statement in asked])
        except MissingPeer as reason:
            pytest.skip(str(reason))
        answers = dict(zip([case for case, _ in asked], results, strict=True))
        errors = {
            statement: result for (_, statement), result in zip(asked, results, strict=True) if isinstance(result, str)
        }
        yield Found(
            errors,
            {case: stored(client, "ours", case) for case in DEFINED if client.table_exists(f"ours.{named(case)}")},
            {case: stored(client, "hives", case) for case in DEFINED if client.table_exists(f"hives.{named(case)}")},
            {statement: (answers[statement], client.sql(statement)) for statement in SHOWN},
            before,
            {case: client.fresh_table(f"again.{name}") for case, name in AGAIN.items()
             if client.table_exists(f"again.{name}")},
        )  # fmt: skip


def test_hive_executes_every_statement(found: Found) -> None:
    assert found.errors == {}


@pytest.mark.parametrize("case", DEFINED)
def test_the_stored_objects_are_the_same(found: Found, case: str) -> None:
    ours, hives = found.ours[case], found.hives[case]
    for part in ("names", "partitions", "unique", "keys", "table"):
        assert ours[part] == hives[part], part


@pytest.mark.parametrize("case", AGAIN)
def test_hive_makes_the_same_table_by_the_printed_statement(found: Found, case: str) -> None:
    before, after = found.before[case], found.after[case]
    assert normal(after.sd, "again") == normal(before.sd, "again")
    assert (after.partitionKeys, after.tableType) == (before.partitionKeys, before.tableType)
    shown = [{key: value for key, value in each.parameters.items() if key not in ONLY_HIVE} for each in (before, after)]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("statement", SHOWN)
def test_the_layout_is_hives_word_for_word(found: Found, statement: str) -> None:
    hives, ours = found.shown[statement]
    assert isinstance(hives, list), hives
    printed = "\n".join("\t".join(value or "" for value in row) for row in ours.rows)
    assert compared(printed.split("\n")) == compared(hives)


def compared(lines: list[str]) -> list[str]:
    """Without blanks at the ends of columns, and without numbers of files, which Hive shows for tables that have none.

    Hive 3 writes the name behind CREATE TABLE in one pair of backquotes and columns of buckets in none, and it always
    has properties there.
    """
    hidden = {*ONLY_HIVE, "numPartitions"}
    found = [" ".join(line.split()).replace("`", "").rstrip(",)") for line in lines]
    return [line for line in found if not hidden & set(re.findall(r"\w+", line)) and line != "TBLPROPERTIES ("]
