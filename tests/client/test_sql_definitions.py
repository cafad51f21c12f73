"""Catalogs, databases, tables, views, partitions and functions by statements, and the objects that are stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.errors import (
    AlreadyExistsException,
    DatabaseNotFound,
    InvalidInputException,
    InvalidOperationException,
    MetastoreError,
    NoSuchObjectException,
    ObjectNotFound,
    TableNotFound,
)
from metastored.model.spark.reading import spark_table
from metastored.model.spark.type_strings import catalog_string
from metastored.model.spark.values import CatalogStorage
from metastored.spark.external_catalog import ExternalCatalog
from tests.support.driven import connected
from tests.support.in_process import serving_metastore
from tests.support.postgres import shared_postgres

CHANGED = "transient_lastDdlTime"
ORDERS = (
    "CREATE TABLE shop.orders (id BIGINT COMMENT 'number', Price DECIMAL(10, 2)) COMMENT 'what was sold' "
    "PARTITIONED BY (ds STRING, h INT) STORED AS PARQUET TBLPROPERTIES ('a' = 'b')"
)


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def uri(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ExitStack() as stack:
        settings: dict[str, Any] = {}
        if request.param == "postgresql":
            settings["database_url"] = stack.enter_context(shared_postgres().database())
        yield stack.enter_context(serving_metastore(tmp_path_factory.mktemp("definitions"), **settings))


@pytest.fixture
def client(uri: str, half: str) -> Iterator[Any]:
    with connected(half, uri, user="ann") as found:
        found.sql("DROP DATABASE IF EXISTS shop CASCADE; CREATE DATABASE shop")
        yield found


def columns(client: Any, name: str) -> list[tuple[str, str]]:
    return [(each.name, each.type) for each in client.fresh_table(name).sd.cols]


# --- databases ------------------------------------------------------------------------------------------------


def test_a_database_is_created_changed_and_dropped(client: Any) -> None:
    client.sql("CREATE DATABASE IF NOT EXISTS d COMMENT 'mine' WITH DBPROPERTIES ('a' = 'b', 'c' = 'd')")
    with pytest.raises(AlreadyExistsException):
        client.sql("CREATE DATABASE d")
    client.sql("CREATE DATABASE IF NOT EXISTS d")
    client.sql("ALTER DATABASE d SET DBPROPERTIES ('e' = 'f'); ALTER DATABASE d UNSET DBPROPERTIES ('a')")
    client.sql("ALTER DATABASE d SET OWNER ROLE keepers; COMMENT ON DATABASE d IS 'ours'")
    found = client.database("d")
    assert (found.description, found.parameters) == ("ours", {"c": "d", "e": "f"})
    assert (found.ownerName, found.ownerType) == ("keepers", metastored.structs.PrincipalType.ROLE)
    with pytest.raises(InvalidOperationException, match="has no property 'a'"):
        client.sql("ALTER DATABASE d UNSET DBPROPERTIES ('a')")
    client.sql("DROP DATABASE d; DROP DATABASE IF EXISTS d")
    with pytest.raises(DatabaseNotFound):
        client.sql("DROP DATABASE d")


def test_a_database_with_tables_is_dropped_only_with_cascade(client: Any) -> None:
    client.sql(ORDERS)
    with pytest.raises(InvalidOperationException, match="not empty"):
        client.sql("DROP DATABASE shop")
    client.sql("DROP DATABASE shop CASCADE")
    assert "shop" not in client.databases()


def test_a_catalog_is_created_moved_and_dropped(client: Any, tmp_path: Path) -> None:
    client.sql(f"CREATE CATALOG lake LOCATION 'file://{tmp_path}' COMMENT 'c'")
    client.sql(f"CREATE CATALOG IF NOT EXISTS lake LOCATION 'file://{tmp_path}'")
    client.sql("CREATE DATABASE lake.d; USE lake.d; CREATE TABLE t (id INT)")
    assert client.sql("SHOW TABLES IN lake.d").rows == (("t",),)
    client.sql("DROP DATABASE lake.d CASCADE; DROP DATABASE IF EXISTS lake.default CASCADE; DROP CATALOG lake")
    client.sql("DROP CATALOG IF EXISTS lake")


# --- tables ---------------------------------------------------------------------------------------------------


def test_a_table_is_stored_as_hive_stores_it(client: Any) -> None:
    client.sql(ORDERS)
    table = client.table("shop.orders")
    assert [(each.name, each.type, each.comment) for each in table.sd.cols] == [
        ("id", "bigint", "number"),
        ("price", "decimal(10,2)", None),
    ]
    assert [(each.name, each.type) for each in table.partitionKeys] == [("ds", "string"), ("h", "int")]
    assert (table.owner, table.tableType) == ("ann", "MANAGED_TABLE")
    assert table.parameters["comment"] == "what was sold" and table.parameters["a"] == "b"
    assert table.sd.serdeInfo.serializationLib.endswith("ParquetHiveSerDe")
    with pytest.raises(AlreadyExistsException):
        client.sql(ORDERS)
    client.sql(ORDERS.replace("TABLE", "TABLE IF NOT EXISTS", 1))


def test_the_format_is_text_unless_a_statement_says_otherwise(client: Any, tmp_path: Path) -> None:
    client.sql(
        "CREATE EXTERNAL TABLE shop.log (a STRING, b ARRAY<INT>) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' "
        f"COLLECTION ITEMS TERMINATED BY '|' NULL DEFINED AS 'NULL' LOCATION 'file://{tmp_path}'"
    )
    table = client.table("shop.log")
    assert (table.tableType, table.sd.location) == ("EXTERNAL_TABLE", f"file:{tmp_path}")
    assert table.sd.inputFormat == "org.apache.hadoop.mapred.TextInputFormat"
    assert table.sd.serdeInfo.parameters == {
        "field.delim": "\t",
        "serialization.format": "\t",
        "collection.delim": "|",
        "serialization.null.format": "NULL",
    }
    client.sql("CREATE TABLE shop.x (a INTEGER) ROW FORMAT SERDE 'a.B' WITH SERDEPROPERTIES ('k' = 'v')")
    assert client.table("shop.x").sd.serdeInfo.serializationLib == "a.B"
    assert columns(client, "shop.x") == [("a", "int")]


def test_buckets_and_constraints_are_stored(client: Any) -> None:
    client.sql("CREATE TABLE shop.people (id INT, PRIMARY KEY (id) DISABLE NOVALIDATE RELY)")
    client.sql(
        "CREATE TABLE shop.t (id INT NOT NULL, who INT DEFAULT 7, CONSTRAINT mine UNIQUE (id) DISABLE NOVALIDATE, "
        "FOREIGN KEY (who) REFERENCES shop.people (id) DISABLE NOVALIDATE, CHECK (id > 0)) "
        "CLUSTERED BY (id) SORTED BY (who DESC) INTO 4 BUCKETS"
    )
    table = client.table("shop.t")
    assert (table.sd.numBuckets, table.sd.bucketCols) == (4, ("id",))
    assert [(each.col, each.order) for each in table.sd.sortCols] == [("who", 0)]
    request = metastored.structs.AllTableConstraintsRequest("shop", "t", "hive")
    found = client.api.get_all_table_constraints(request).allTableConstraints
    assert [each.column_name for each in found.notNullConstraints] == ["id"]
    assert [each.default_value for each in found.defaultConstraints] == ["7"]
    assert [(each.column_name, each.uk_name) for each in found.uniqueConstraints] == [("id", "mine")]
    assert [each.pktable_name for each in found.foreignKeys] == ["people"]
    assert [each.check_expression for each in found.checkConstraints] == ["id > 0"]
    client.sql("ALTER TABLE shop.t DROP CONSTRAINT mine; ALTER TABLE shop.t ADD CONSTRAINT pk PRIMARY KEY (id) DISABLE")
    found = client.api.get_all_table_constraints(request).allTableConstraints
    assert not found.uniqueConstraints and [each.pk_name for each in found.primaryKeys] == ["pk"]
    with pytest.raises(InvalidOperationException, match="names nosuch, which is not a column"):
        client.sql("ALTER TABLE shop.t ADD CONSTRAINT pk2 UNIQUE (nosuch)")


USING = {
    "parquet, partitioned": "(id BIGINT, Name STRING COMMENT 'x', ds DATE) USING parquet PARTITIONED BY (ds)",
    "json, which Hive cannot read": "(id BIGINT NOT NULL, at TIMESTAMP) USING json OPTIONS (multiLine true)",
    "char and varchar": "(a CHAR(3), b VARCHAR(5), c STRUCT<x: INT, y: ARRAY<STRING>>) USING orc COMMENT 'c'",
    "buckets": "(a INT, b INT) USING parquet CLUSTERED BY (a) SORTED BY (b) INTO 8 BUCKETS TBLPROPERTIES ('k' = 'v')",
    "a type that Hive lacks": "(a TIMESTAMP_NTZ) USING parquet",
}


@pytest.mark.parametrize("case", USING)
def test_a_table_with_using_is_stored_as_sparks_catalog_stores_it(client: Any, uri: str, case: str) -> None:
    client.sql(f"CREATE TABLE shop.t {USING[case]}")
    ours = client.fresh_table("shop.t")
    with metastored.connect(uri, user="ann") as other:
        catalog = ExternalCatalog(other)
        read = catalog.get_table("shop", "t")
        catalog.drop_table("shop", "t")
        kept = {key: value for key, value in read.storage.properties.items() if key != "serialization.format"}
        properties = {key: value for key, value in read.properties.items() if key != CHANGED}
        catalog.create_table(
            replace(read, storage=CatalogStorage(properties=kept), properties=properties, create_time=0)
        )
        theirs = other.fresh_table("shop.t")
    assert (ours.sd, ours.partitionKeys, ours.tableType) == (theirs.sd, theirs.partitionKeys, theirs.tableType)
    assert unchanging(ours) == unchanging(theirs)


def unchanging(table: Any) -> dict[str, str]:
    return {key: value for key, value in table.parameters.items() if key != CHANGED}


def test_an_external_table_with_using_has_its_location_in_path_too(client: Any, tmp_path: Path) -> None:
    client.sql(f"CREATE TABLE shop.t (a INT) USING json LOCATION 'file://{tmp_path}/here'")
    table = client.table("shop.t")
    assert (table.tableType, table.sd.location) == ("EXTERNAL_TABLE", f"file:{tmp_path}/here")
    assert table.sd.serdeInfo.parameters["path"] == f"file:{tmp_path}/here"
    client.sql(f"ALTER TABLE shop.t SET LOCATION 'file://{tmp_path}/there'")
    assert client.fresh_table("shop.t").sd.serdeInfo.parameters["path"] == f"file://{tmp_path}/there"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CREATE TABLE shop.t (a INT, A STRING)", "has the column a twice"),
        ("CREATE TABLE shop.t (a frobnicate)", "which Hive does not have"),
        ("CREATE TABLE shop.t", "at least one column"),
        ("CREATE TABLE shop.t (a INT) STORED AS nosuch", "unknown format"),
        ("CREATE TABLE shop.t (a INT) STORED AS ICEBERG", "metadata of its own"),
        ("CREATE TABLE shop.t (a INT) STORED BY 'a.B'", "ROW FORMAT SERDE"),
        ("CREATE TABLE shop.t (a INT) USING delta", "create it by Spark"),
        ("CREATE TABLE shop.t (a INT) USING parquet PARTITIONED BY (b)", "is not a column"),
        ("CREATE TABLE shop.t (a INT) PARTITIONED BY (b)", "needs a type"),
        ("CREATE EXTERNAL TABLE shop.t (a INT) USING parquet", "needs LOCATION"),
        ("CREATE TABLE shop.t (a INT) TBLPROPERTIES ('spark.sql.x' = 'y')", "are Spark's own"),
        ("CREATE TABLE shop.t (a INT, PRIMARY KEY (b))", "names b, which is not a column"),
    ],
)
def test_a_table_that_cannot_be_made_is_refused_and_nothing_is_stored(client: Any, text: str, said: str) -> None:
    with pytest.raises(MetastoreError, match=said):
        client.sql(text)
    assert client.tables("shop") == ()


def test_a_table_in_a_missing_database_is_refused(client: Any) -> None:
    for text in ("CREATE TABLE nosuch.t (a INT)", "CREATE TABLE nosuch.t (a INT) USING parquet"):
        with pytest.raises(MetastoreError, match="nosuch"):
            client.sql(text)


def test_create_like_copies_columns_and_format(client: Any, tmp_path: Path) -> None:
    client.sql(ORDERS)
    client.sql(f"CREATE EXTERNAL TABLE shop.copy LIKE shop.orders LOCATION 'file://{tmp_path}'")
    copy = client.table("shop.copy")
    assert columns(client, "shop.copy") == columns(client, "shop.orders")
    assert (copy.tableType, copy.sd.location, "a" in copy.parameters) == ("EXTERNAL_TABLE", f"file:{tmp_path}", False)


def test_a_table_is_altered(client: Any) -> None:
    client.sql(ORDERS)
    client.sql(
        "USE shop; ALTER TABLE orders SET TBLPROPERTIES ('c' = 'd'); ALTER TABLE orders UNSET TBLPROPERTIES ('a')"
    )
    client.sql("ALTER TABLE shop.orders ADD COLUMNS (note STRING COMMENT 'n') CASCADE")
    client.sql("ALTER TABLE shop.orders CHANGE note remark VARCHAR(20) COMMENT 'r'")
    assert columns(client, "shop.orders") == [("id", "bigint"), ("price", "decimal(10,2)"), ("remark", "varchar(20)")]
    client.sql("ALTER TABLE shop.orders RENAME COLUMN remark TO r; ALTER TABLE shop.orders DROP COLUMN r")
    client.sql("ALTER TABLE shop.orders RENAME COLUMN price TO r")
    client.sql("COMMENT ON COLUMN shop.orders.r IS 'what'; COMMENT ON TABLE shop.orders IS NULL")
    client.sql("ALTER TABLE shop.orders SET OWNER USER bob; ALTER TABLE shop.orders SET SERDEPROPERTIES ('x' = 'y')")
    table = client.fresh_table("shop.orders")
    assert [(each.name, each.comment) for each in table.sd.cols] == [("id", "number"), ("r", "what")]
    assert (table.owner, table.parameters["c"], "a" in table.parameters) == ("bob", "d", False)
    assert "comment" not in table.parameters and table.sd.serdeInfo.parameters["x"] == "y"
    client.sql("ALTER TABLE shop.orders REPLACE COLUMNS (one BIGINT); ALTER TABLE shop.orders RENAME TO shop.sales")
    assert columns(client, "shop.sales") == [("one", "bigint")]
    with pytest.raises(TableNotFound):
        client.sql("ALTER TABLE shop.orders SET TBLPROPERTIES ('c' = 'd')")


def test_a_column_is_moved_behind_another_and_to_the_front(client: Any) -> None:
    client.sql("CREATE TABLE shop.t (a INT, b INT, c INT)")
    client.sql("ALTER TABLE shop.t CHANGE a a INT AFTER b; ALTER TABLE shop.t CHANGE COLUMN c c INT FIRST")
    assert [name for name, _ in columns(client, "shop.t")] == ["c", "b", "a"]


def test_a_change_of_columns_is_made_in_sparks_schema_too(client: Any) -> None:
    client.sql("CREATE TABLE shop.t (Id INT, x STRING, ds STRING) USING parquet PARTITIONED BY (ds)")
    client.sql("ALTER TABLE shop.t ADD COLUMNS (y DOUBLE); ALTER TABLE shop.t CHANGE id id BIGINT COMMENT 'big'")
    client.sql("ALTER TABLE shop.t DROP COLUMN x")
    found = spark_table(client.fresh_table("shop.t"))
    assert found is not None
    assert [(each.name, catalog_string(each.data_type)) for each in found.schema] == [
        ("id", "bigint"),
        ("y", "double"),
        ("ds", "string"),
    ]
    with pytest.raises(InvalidOperationException, match="Spark keeps the order"):
        client.sql("ALTER TABLE shop.t CHANGE id id BIGINT AFTER y")


def test_a_managed_table_of_sparks_is_renamed_with_its_path(client: Any) -> None:
    client.sql("CREATE TABLE shop.t (id INT) USING parquet; ALTER TABLE shop.t RENAME TO shop.u")
    table = client.fresh_table("shop.u")
    assert table.sd.location.endswith("/shop.db/u")
    assert table.sd.serdeInfo.parameters["path"].endswith("/shop.db/u")


def test_an_alter_that_cannot_be_made_changes_nothing(client: Any) -> None:
    client.sql(ORDERS)
    before = client.fresh_table("shop.orders")
    for text, said in {
        "ADD COLUMNS (id INT)": "twice",
        "ADD COLUMNS (x nosuch)": "does not have",
        "CHANGE nosuch x INT": "no column nosuch; its columns are id, price",
        "CHANGE ds x STRING": "is a partition key",
        "DROP COLUMNS (id, price)": "at least one",
        "UNSET TBLPROPERTIES ('nosuch')": "no property 'nosuch'",
        "SET TBLPROPERTIES ('spark.sql.sources.provider' = 'x')": "Spark's own",
        "RENAME TO other.catalog.t": "stays in its catalog",
    }.items():
        with pytest.raises(MetastoreError, match=said):
            client.sql(f"ALTER TABLE shop.orders {text}")
    assert client.fresh_table("shop.orders") == before


def test_a_change_of_another_client_meanwhile_is_kept(client: Any, uri: str) -> None:
    client.sql(ORDERS)
    with metastored.connect(uri) as other:
        for number in range(5):
            other.set_parameters("shop.orders", {f"theirs{number}": "1"})
            client.sql(f"ALTER TABLE shop.orders SET TBLPROPERTIES ('ours{number}' = '1')")
    found = client.fresh_table("shop.orders").parameters
    assert sum(key.startswith(("ours", "theirs")) for key in found) == 10


# --- partitions -----------------------------------------------------------------------------------------------


def test_partitions_are_added_renamed_moved_and_dropped(client: Any, tmp_path: Path) -> None:
    client.sql(ORDERS)
    client.sql(
        "ALTER TABLE shop.orders ADD PARTITION (ds = '1', h = 1) "
        f"PARTITION (h = 2, ds = '1') LOCATION 'file://{tmp_path}/p'"
    )
    assert client.partition_names("shop.orders") == ("ds=1/h=1", "ds=1/h=2")
    with pytest.raises(AlreadyExistsException):
        client.sql("ALTER TABLE shop.orders ADD PARTITION (ds = '1', h = 1)")
    client.sql("ALTER TABLE shop.orders ADD IF NOT EXISTS PARTITION (ds = '1', h = 1) PARTITION (ds = '2', h = 10)")
    client.sql("ALTER TABLE shop.orders PARTITION (ds = '1', h = 1) RENAME TO PARTITION (ds = '3', h = 3)")
    client.sql(f"ALTER TABLE shop.orders PARTITION (ds = '3', h = 3) SET LOCATION 'file://{tmp_path}/q'")
    assert client.partition("shop.orders", ("3", "3")).sd.location == f"file:{tmp_path}/q"
    assert client.partition("shop.orders", ("1", "2")).sd.location == f"file:{tmp_path}/p"
    client.sql("ALTER TABLE shop.orders DROP PARTITION (h > 9), PARTITION (ds = '3')")
    assert client.partition_names("shop.orders") == ("ds=1/h=2",)
    client.sql("ALTER TABLE shop.orders DROP IF EXISTS PARTITION (ds = 'nosuch')")
    with pytest.raises(ObjectNotFound, match="ds = nosuch"):
        client.sql("ALTER TABLE shop.orders DROP PARTITION (ds = '1'), PARTITION (ds = 'nosuch')")
    assert client.partition_names("shop.orders") == ("ds=1/h=2",)


def test_values_of_partitions_are_data_and_never_conditions(client: Any) -> None:
    client.sql("CREATE TABLE shop.t (a INT) PARTITIONED BY (ds STRING)")
    hostile = "x' or '1' = '1"
    client.add_partitions("shop.t", [(hostile,), ("keep",), ("back\\slash",)])
    quoted = hostile.replace("'", "''")
    client.sql(f"ALTER TABLE shop.t DROP PARTITION (ds = '{quoted}')")
    assert len(client.partition_names("shop.t")) == 2
    client.sql(r"ALTER TABLE shop.t DROP PARTITION (ds = 'back\\slash')")
    assert client.partition_names("shop.t") == ("ds=keep",)


def test_a_partition_needs_values_of_all_keys(client: Any) -> None:
    client.sql(ORDERS)
    for text in (
        "ADD PARTITION (ds = '1')",
        "ADD PARTITION (ds = '1', h = 1, x = 2)",
        "PARTITION (ds = '1') RENAME TO PARTITION (ds = '2')",
    ):
        with pytest.raises(InvalidInputException, match="is partitioned by"):
            client.sql(f"ALTER TABLE shop.orders {text}")
    with pytest.raises(InvalidOperationException, match="no partition key x; its partition keys are ds, h"):
        client.sql("ALTER TABLE shop.orders DROP PARTITION (x = 1)")
    client.sql("CREATE TABLE shop.flat (a INT)")
    with pytest.raises(InvalidOperationException, match="is not partitioned"):
        client.sql("ALTER TABLE shop.flat ADD PARTITION (ds = '1')")


def test_truncate_is_for_managed_tables_that_are_not_acid(client: Any) -> None:
    client.sql(ORDERS + "; ALTER TABLE shop.orders ADD PARTITION (ds = '1', h = 1)")
    client.sql("TRUNCATE TABLE shop.orders; TRUNCATE TABLE shop.orders PARTITION (ds = '1')")
    assert client.partition_names("shop.orders") == ("ds=1/h=1",)
    client.sql("CREATE EXTERNAL TABLE shop.far (a INT); CREATE TRANSACTIONAL TABLE shop.acid (a INT) STORED AS ORC")
    client.sql("CREATE VIEW shop.v AS SELECT * FROM shop.far")
    for name, said in {"far": "external table", "acid": "ACID table", "v": "is a view"}.items():
        with pytest.raises(InvalidOperationException, match=said):
            client.sql(f"TRUNCATE TABLE shop.{name}")
    with pytest.raises(ObjectNotFound):
        client.sql("TRUNCATE TABLE shop.orders PARTITION (ds = 'nosuch')")


# --- dropping -------------------------------------------------------------------------------------------------


def test_tables_and_views_are_dropped_by_their_own_statements(client: Any) -> None:
    client.sql("CREATE TABLE shop.t (a INT); CREATE VIEW shop.v AS SELECT a FROM shop.t")
    for text, said in {"DROP TABLE shop.v": "use DROP VIEW", "DROP VIEW shop.t": "use DROP TABLE"}.items():
        with pytest.raises(InvalidOperationException, match=said):
            client.sql(text)
    client.sql("DROP VIEW shop.v; DROP TABLE shop.t PURGE; DROP TABLE IF EXISTS shop.t; DROP VIEW IF EXISTS shop.v")
    for text in ("DROP TABLE shop.t", "DROP VIEW shop.v"):
        with pytest.raises(NoSuchObjectException):
            client.sql(text)


def test_if_exists_holds_beside_others_who_drop_the_same_objects(uri: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    def drop(number: int) -> None:
        with metastored.connect(uri) as client:
            for each in range(20):
                client.sql(f"CREATE DATABASE IF NOT EXISTS race; CREATE TABLE IF NOT EXISTS race.t{each} (a INT)")
                client.sql(f"DROP TABLE IF EXISTS race.t{each}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(drop, range(4)))
    with metastored.connect(uri) as client:
        assert client.tables("race") == ()
        client.sql("DROP DATABASE race")


# --- views and functions --------------------------------------------------------------------------------------


def test_a_view_stores_its_query_and_the_columns_of_its_table(client: Any) -> None:
    client.sql(ORDERS)
    client.sql("CREATE VIEW shop.v (number COMMENT 'n', day) AS SELECT id, ds FROM orders WHERE h > 1", database="shop")
    view = client.table("shop.v")
    assert [(each.name, each.type, each.comment) for each in view.sd.cols] == [
        ("number", "bigint", "n"),
        ("day", "string", None),
    ]
    assert (view.tableType, view.viewOriginalText) == ("VIRTUAL_VIEW", "SELECT id, ds FROM orders WHERE h > 1")
    assert view.parameters["view.catalogAndNamespace.part.1"] == "shop"
    client.sql("CREATE OR REPLACE VIEW shop.v AS SELECT * FROM shop.orders; ALTER VIEW shop.v RENAME TO shop.w")
    assert columns(client, "shop.w")[-1] == ("h", "int")
    client.sql("ALTER VIEW shop.w AS SELECT price AS cost FROM shop.orders")
    assert columns(client, "shop.w") == [("cost", "decimal(10,2)")]


def test_a_view_of_another_query_needs_the_types_of_its_columns(client: Any) -> None:
    client.sql(ORDERS)
    query = "SELECT ds AS day, count(*) AS number FROM shop.orders GROUP BY ds"
    with pytest.raises(InvalidOperationException, match="write them with their types"):
        client.sql(f"CREATE VIEW shop.v AS {query}")
    client.sql(f"CREATE VIEW shop.v (day STRING, number BIGINT) AS {query}")
    assert client.table("shop.v").viewExpandedText == query
    with pytest.raises(InvalidInputException, match="begins with SELECT"):
        client.sql("CREATE VIEW shop.w (a INT) AS DROP TABLE shop.orders")
    with pytest.raises(InvalidInputException, match="does not name its column number: write SELECT … AS number"):
        client.sql("CREATE VIEW shop.w (number BIGINT) AS SELECT count(*) FROM shop.orders")
    with pytest.raises(InvalidOperationException, match="is a table"):
        client.sql("CREATE OR REPLACE VIEW shop.orders (a INT) AS SELECT 1 AS a")
    with pytest.raises(InvalidOperationException, match="no column nosuch"):
        client.sql("CREATE VIEW shop.w AS SELECT nosuch FROM shop.orders")


def test_a_function_is_created_and_dropped(client: Any) -> None:
    client.sql("CREATE FUNCTION shop.f AS 'org.example.F' USING JAR 'file:///f.jar', FILE 'file:///f.txt'")
    found = client.api.get_function("shop", "f")
    assert (found.className, [each.uri for each in found.resourceUris]) == (
        "org.example.F",
        ["file:///f.jar", "file:///f.txt"],
    )
    with pytest.raises(AlreadyExistsException):
        client.sql("CREATE FUNCTION shop.f AS 'x'")
    client.sql("CREATE FUNCTION IF NOT EXISTS shop.f AS 'x'; DROP FUNCTION shop.f; DROP FUNCTION IF EXISTS shop.f")
    with pytest.raises(NoSuchObjectException):
        client.sql("DROP FUNCTION shop.f")
