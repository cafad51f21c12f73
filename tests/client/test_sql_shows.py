"""SHOW and DESCRIBE: Hive's layouts, and SHOW CREATE TABLE, whose output makes the same table again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.errors import DatabaseNotFound, InvalidOperationException, MetastoreError, StatementError, TableNotFound
from metastored.model.spark.properties import HIVE_STATISTICS
from metastored.wire.structs import replace
from tests.support.driven import connected
from tests.support.in_process import serving_metastore


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving_metastore(tmp_path_factory.mktemp("shows")) as uri:
        yield uri


@pytest.fixture
def client(uri: str, half: str) -> Iterator[Any]:
    with connected(half, uri, user="ann") as found:
        found.sql(
            """
            DROP DATABASE IF EXISTS shop CASCADE;
            CREATE DATABASE shop;
            CREATE TABLE shop.orders (id BIGINT COMMENT 'number', price DECIMAL(10,2)) COMMENT 'sold'
                PARTITIONED BY (ds STRING, h INT) STORED AS ORC TBLPROPERTIES ('a' = 'b');
            ALTER TABLE shop.orders ADD PARTITION (ds = '1', h = 1) PARTITION (ds = '1', h = 10)
                PARTITION (ds = '2', h = 2);
            CREATE VIEW shop.v AS SELECT id FROM shop.orders;
            CREATE FUNCTION shop.f AS 'org.example.F' USING JAR 'file:///f.jar'
            """
        )
        yield found


def listed(client: Any, text: str) -> list[Any]:
    return [row[0] for row in client.sql(text).rows]


def test_tables_views_columns_and_functions_are_listed_in_hives_layout(client: Any) -> None:
    assert client.sql("SHOW TABLES IN shop").columns == ("tab_name",)
    assert listed(client, "SHOW TABLES IN shop LIKE 'o*'") == ["orders"]
    assert listed(client, "SHOW VIEWS FROM shop") == ["v"]
    assert client.sql("SHOW COLUMNS IN shop.orders").columns == ("field",)
    assert listed(client, "SHOW COLUMNS FROM orders IN shop LIKE 'i*|d*'") == ["id", "ds"]
    assert listed(client, "SHOW FUNCTIONS IN shop") == ["shop.f"]
    assert "hive" in listed(client, "SHOW CATALOGS")
    assert listed(client, "SHOW CATALOGS LIKE 'h*'") == ["hive"]


@pytest.mark.parametrize(
    "text", ["SHOW TABLES IN nosuch", "SHOW VIEWS IN nosuch", "SHOW FUNCTIONS IN nosuch", "SHOW COLUMNS IN nosuch.t"]
)
def test_a_database_that_does_not_exist_is_an_error_and_no_empty_list(client: Any, text: str) -> None:
    with pytest.raises(MetastoreError, match="nosuch"):
        client.sql(text)


def test_a_missing_database_has_its_own_error(client: Any) -> None:
    with pytest.raises(DatabaseNotFound):
        client.sql("SHOW TABLES IN nosuch")
    with pytest.raises(TableNotFound):
        client.sql("SHOW CREATE TABLE shop.nosuch")


def test_partitions_are_filtered_by_values_and_by_conditions(client: Any) -> None:
    assert listed(client, "SHOW PARTITIONS shop.orders WHERE h > 1 AND ds < '2'") == ["ds=1/h=10"]
    assert listed(client, "SHOW PARTITIONS shop.orders PARTITION (ds = '1') WHERE h = 1") == ["ds=1/h=1"]
    with pytest.raises(InvalidOperationException, match="is not partitioned"):
        client.sql("SHOW PARTITIONS shop.v")


def test_properties_are_listed_all_or_one(client: Any) -> None:
    result = client.sql("SHOW TBLPROPERTIES shop.orders")
    assert result.columns == ("prpt_name", "prpt_value")
    assert ("a", "b") in result.rows and ("comment", "sold") in result.rows
    assert client.sql("SHOW TBLPROPERTIES shop.orders ('a')").rows == (("a", "b"),)
    ((_, text),) = client.sql("SHOW TBLPROPERTIES shop.orders ('nosuch')").rows
    assert text == "Table shop.orders does not have property: nosuch"


def test_table_extended_has_hives_lines(client: Any) -> None:
    rows = listed(client, "SHOW TABLE EXTENDED IN shop LIKE 'orders'")
    assert rows[0] == "tableName:orders"
    assert "columns:struct columns { i64 id, decimal(10,2) price}" in rows
    assert "partitionColumns:struct partition_columns { string ds, i32 h}" in rows
    (location,) = [row for row in listed(client, "SHOW TABLE EXTENDED IN shop LIKE orders PARTITION (ds='1', h=1)")
                   if row.startswith("location:")]  # fmt: skip
    assert location.endswith("/orders/ds=1/h=1")


def test_describe_formatted_has_hives_layout(client: Any) -> None:
    rows = client.sql("DESCRIBE FORMATTED shop.orders").rows
    assert rows[:3] == (
        ("# col_name            ", "data_type           ", "comment             "),
        ("id", "bigint", "number"),
        ("price", "decimal(10,2)", ""),
    )
    headings = [row[0] for row in rows if row[0].startswith("# ")]
    assert [each for each in headings if "col_name" not in each] == [
        "# Partition Information",
        "# Detailed Table Information",
        "# Storage Information",
    ]
    facts = {row[0].strip(): row[1] for row in rows}
    assert (facts["Database:"], facts["Owner:"], facts["Table Type:"]) == ("shop", "ann", "MANAGED_TABLE")
    assert facts["SerDe Library:"].endswith("OrcSerde") and facts["Compressed:"] == "No"
    assert ("", "a", "b") in rows


def test_one_column_is_described(client: Any) -> None:
    assert client.sql("DESCRIBE shop.orders ID").rows == (("id", "bigint", "number"),)
    assert client.sql("DESC TABLE shop.orders `ds`").rows == (("ds", "string", None),)
    with pytest.raises(InvalidOperationException, match="its columns are id, price, ds, h"):
        client.sql("DESCRIBE shop.orders nosuch")
    with pytest.raises(StatementError, match=r"use metastored stats shop\.orders"):
        client.sql("DESCRIBE FORMATTED shop.orders id")


def test_a_partition_is_described_in_both_layouts(client: Any) -> None:
    rows = client.sql("DESCRIBE FORMATTED shop.orders PARTITION (ds = '1', h = 1)").rows
    facts = {row[0].strip(): row[1] for row in rows}
    assert facts["Partition Value:"] == "[1, 1]" and facts["Location:"].endswith("ds=1/h=1")
    spark = {row[0]: row[1] for row in client.sql("DESC EXTENDED shop.orders PARTITION (h = 1, ds = '1')").rows}
    assert spark["Partition Values"] == "[ds=1, h=1]"


def test_views_functions_and_catalogs_are_described(client: Any) -> None:
    facts = {row[0].strip(): row[1] for row in client.sql("DESCRIBE FORMATTED shop.v").rows}
    assert facts["Original Query:"] == "SELECT id FROM shop.orders" and "Location:" not in facts
    assert listed(client, "DESCRIBE FUNCTION EXTENDED shop.f")[:3] == [
        *("Function: shop.f", "Class: org.example.F", "JAR: file:///f.jar")
    ]
    assert dict(client.sql("DESCRIBE CATALOG hive").rows)["Catalog Name"] == "hive"


def test_locks_transactions_and_compactions_have_hives_columns(client: Any, uri: str) -> None:
    with metastored.connect(uri, user="bob") as bob, bob.transaction(), bob.lock("shop.orders", type="shared_read"):
        (lock,) = client.sql("SHOW LOCKS shop.orders").dicts()
        assert (lock["database"], lock["table"], lock["lock_state"], lock["lock_type"], lock["user"]) == (
            *("shop", "orders", "ACQUIRED", "SHARED_READ", "bob"),
        )
        assert [row["user"] for row in client.sql("SHOW TRANSACTIONS").dicts()] == ["bob"]
    assert client.sql("SHOW TRANSACTIONS").columns == (
        *("txnid", "state", "startedtime", "lastheartbeattime", "user", "host"),
    )
    assert client.sql("SHOW COMPACTIONS").columns[:4] == ("compactionid", "dbname", "tabname", "partname")
    assert client.sql("SHOW LOCKS").rows == ()


# --- SHOW CREATE TABLE ----------------------------------------------------------------------------------------

TABLES = {
    "one column": "(a INT)",
    "every type": "(a TINYINT, b SMALLINT, c INT, d BIGINT, e FLOAT, f DOUBLE, g DECIMAL(38, 10), h STRING, i CHAR(3), "
    "j VARCHAR(5), k BOOLEAN, l BINARY, m DATE, n TIMESTAMP, o ARRAY<INT>, p MAP<STRING, ARRAY<INT>>, "
    "q STRUCT<a: INT, b: STRUCT<c: STRING>>)",
    "comments": "(a INT COMMENT 'it''s \\\\ a \\n line; -- no end') COMMENT 'x'';--' "
    "PARTITIONED BY (b INT COMMENT '`')",
    "odd names": "(`a b` INT, `select` INT, `x``y` INT)",
    "parquet": "(a INT) PARTITIONED BY (b STRING, c DATE) STORED AS PARQUET",
    "avro": "(a INT) STORED AS AVRO",
    "json": "(a INT) STORED AS JSONFILE",
    "rcfile": "(a INT) STORED AS RCFILE",
    "sequencefile": "(a INT) STORED AS SEQUENCEFILE",
    "delimited": "(a INT, b ARRAY<INT>) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t' ESCAPED BY '\\\\' "
    "COLLECTION ITEMS TERMINATED BY '|' MAP KEYS TERMINATED BY ':' LINES TERMINATED BY '\\n' NULL DEFINED AS ''",
    "control characters": "(a INT) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\u0001'",
    "a serde": "(a STRING) ROW FORMAT SERDE 'a.B' WITH SERDEPROPERTIES ('k' = 'v') "
    "STORED AS INPUTFORMAT 'i' OUTPUTFORMAT 'o'",
    "a handler": "(a STRING) ROW FORMAT SERDE 'a.B' STORED BY 'a.Handler'",
    "buckets": "(a INT, b INT) CLUSTERED BY (a, b) SORTED BY (a DESC, b) INTO 3 BUCKETS",
    "properties": "(a INT) TBLPROPERTIES ('k' = 'it''s', 'x.y' = '')",
    "constraints": "(a INT NOT NULL, b INT DEFAULT 5, c STRING DEFAULT 'x', CONSTRAINT pk_t PRIMARY KEY (a) DISABLE "
    "NOVALIDATE RELY, CONSTRAINT u_t UNIQUE (b, c) DISABLE NOVALIDATE, CONSTRAINT c_t CHECK (b > (1 + 2)))",
    "spark": "(Id BIGINT NOT NULL, Name STRING COMMENT 'n', ds DATE) USING parquet PARTITIONED BY (ds) COMMENT 'c'",
    "spark options": "(a STRING) USING csv OPTIONS ('header' = 'true', 'sep' = ';') TBLPROPERTIES ('k' = 'v')",
    "spark types": "(a CHAR(3), b VARCHAR(5), c STRUCT<X: INT, Y: ARRAY<STRING>>, d DECIMAL(5, 1)) USING orc",
    "spark buckets": "(a INT, b INT) USING parquet CLUSTERED BY (a) SORTED BY (b) INTO 8 BUCKETS",
    "spark only": "(a TIMESTAMP_NTZ, b INT) USING json",
    "spark external": "(a INT) USING parquet LOCATION 'file://{folder}/it%27s'",
    "spark defaults": "(a INT DEFAULT 5, b STRING DEFAULT 'x') USING parquet",
}


def definition(case: str, folder: Path) -> str:
    """What follows CREATE TABLE and a name; a table of its own location has it in the folder."""
    return TABLES[case].replace("{folder}", str(folder))


def comparable(table: Any) -> Any:
    """Without times, numbers, and what the server finds in a directory that exists already."""
    ignored = {*HIVE_STATISTICS, "transient_lastDdlTime"}
    parameters = {key: value for key, value in table.parameters.items() if key not in ignored}
    return replace(table, createTime=0, id=None, parameters=parameters)


@pytest.mark.parametrize("case", [*TABLES, *(f"external: {case}" for case in ("one column", "parquet", "constraints"))])
def test_the_printed_statement_makes_the_same_table_again(client: Any, tmp_path: Path, case: str) -> None:
    kind = "EXTERNAL " if case.startswith("external: ") else ""
    client.sql(f"CREATE {kind}TABLE shop.t {definition(case.removeprefix('external: '), tmp_path)}")
    before = client.fresh_table("shop.t")
    request = metastored.structs.AllTableConstraintsRequest("shop", "t", "hive")
    keys = client.api.get_all_table_constraints(request).allTableConstraints
    ((text,),) = client.sql("SHOW CREATE TABLE shop.t").rows
    client.sql("DROP TABLE shop.t")
    client.sql(text)
    assert comparable(client.fresh_table("shop.t")) == comparable(before)
    again = client.api.get_all_table_constraints(request).allTableConstraints
    assert [len(each or ()) for each in again] == [len(each or ()) for each in keys]
    assert client.sql("SHOW CREATE TABLE shop.t").rows == ((text,),)


def test_the_printed_statement_of_a_view_makes_it_again(client: Any) -> None:
    client.sql("CREATE VIEW shop.w (day STRING COMMENT 'd', n BIGINT) COMMENT 'c' TBLPROPERTIES ('k' = 'v') AS "
               "SELECT ds AS day, count(*) AS n FROM shop.orders WHERE ds <> ';' GROUP BY ds")  # fmt: skip
    for name in ("shop.v", "shop.w"):
        before = client.fresh_table(name)
        ((text,),) = client.sql(f"SHOW CREATE TABLE {name}").rows
        client.sql(f"DROP VIEW {name}")
        client.sql(text)
        assert comparable(client.fresh_table(name)) == comparable(before)


def test_the_printed_statement_has_hives_form(client: Any) -> None:
    ((text,),) = client.sql("SHOW CREATE TABLE shop.orders").rows
    lines = text.split("\n")
    assert lines[:4] == [
        "CREATE TABLE `shop`.`orders`(",
        "  `id` bigint COMMENT 'number', ",
        "  `price` decimal(10,2))",
        "COMMENT 'sold'",
    ]
    assert "PARTITIONED BY ( " in lines and "STORED AS INPUTFORMAT " in lines


def test_nothing_that_somebody_stored_becomes_another_statement(client: Any) -> None:
    view = replace(
        metastored.table("shop.x", {"a": "int"}),
        tableType="VIRTUAL_VIEW",
        viewOriginalText="SELECT 1; DROP TABLE shop.orders",
        viewExpandedText="SELECT 1; DROP TABLE shop.orders",
    )
    client.create_table(view)
    with pytest.raises(InvalidOperationException, match=r"no statement makes shop\.x again"):
        client.sql("SHOW CREATE TABLE shop.x")


@pytest.mark.parametrize(
    "condition",
    [
        "a > 1)) TBLPROPERTIES ('EXTERNAL' = 'TRUE') --",
        "a > 1), CHECK (a > 2",
        "a > 1)) CLUSTERED BY (a) INTO 3 BUCKETS --",
        "a > 1), b INT, CHECK (1 = 1",
        "a > 1)); DROP TABLE shop.orders; --",
    ],
)
def test_a_condition_adds_no_clause_to_the_printed_statement(client: Any, condition: str) -> None:
    client.sql("CREATE TABLE shop.c (a INT)")
    check = metastored.structs.SQLCheckConstraint(
        catName="hive", table_db="shop", table_name="c", column_name="a", check_expression=condition, dc_name="x",
        enable_cstr=True, validate_cstr=False, rely_cstr=False,
    )  # fmt: skip
    client.api.add_check_constraint(metastored.structs.AddCheckConstraintRequest((check,)))
    with pytest.raises(InvalidOperationException, match=r"no statement makes shop\.c again"):
        client.sql("SHOW CREATE TABLE shop.c")


@pytest.mark.parametrize("default", ["5 COMMENT 'x'", "5 NOT NULL", "5), (b INT", "5, b INT"])
def test_a_default_adds_nothing_to_the_printed_statement(client: Any, default: str) -> None:
    client.sql("CREATE TABLE shop.c (a INT)")
    row = metastored.structs.SQLDefaultConstraint(
        catName="hive", table_db="shop", table_name="c", column_name="a", default_value=default, dc_name="x",
        enable_cstr=True, validate_cstr=False, rely_cstr=False,
    )  # fmt: skip
    client.api.add_default_constraint(metastored.structs.AddDefaultConstraintRequest((row,)))
    with pytest.raises(InvalidOperationException, match=r"no statement makes shop\.c again"):
        client.sql("SHOW CREATE TABLE shop.c")


def test_a_printed_database_is_made_again(client: Any) -> None:
    client.sql(
        r"CREATE DATABASE lent COMMENT 'it\'s ours; DROP DATABASE shop' WITH DBPROPERTIES ('a' = 'b\nc', 'x' = '1')"
    )
    before = client.database("lent")
    (((printed,),)) = client.sql("SHOW CREATE DATABASE lent").rows
    assert printed.splitlines()[:3] == ["CREATE DATABASE `lent`", "COMMENT", r"  'it\'s ours; DROP DATABASE shop'"]
    client.sql("DROP DATABASE lent")
    client.sql(printed)
    again = client.database("lent")
    client.sql("DROP DATABASE lent")
    kept = ("name", "description", "locationUri", "parameters")
    assert [getattr(again, each) for each in kept] == [getattr(before, each) for each in kept]
    with pytest.raises(metastored.errors.NoSuchObjectException):
        client.sql("SHOW CREATE SCHEMA nosuch")


def test_a_remote_table_has_a_statement_of_its_own(client: Any) -> None:
    client.sql(
        "CREATE REMOTE DATABASE IF NOT EXISTS far WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://127.0.0.1:1')"
    )
    with pytest.raises(metastored.errors.Error):
        client.sql("SHOW CREATE TABLE far.t")
    with pytest.raises(metastored.errors.Error):
        client.sql("SHOW CREATE DATABASE far")
    client.sql("DROP REMOTE DATABASE far")
