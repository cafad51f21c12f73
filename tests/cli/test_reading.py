"""`ls`, `show`, `partitions` and `stats`: their output in both forms, and their errors."""

from __future__ import annotations

from pathlib import Path

import pytest

import metastored
from metastored.structs import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    LongColumnStatsData,
)
from tests.cli.running import refused, run
from tests.support.in_process import serving_metastore

ABSENT = ("--uri", "thrift://127.0.0.1:1")


def test_ls_lists_the_databases_of_all_catalogs(shop: str) -> None:
    assert run("ls", "--uri", shop).out == (
        "catalog | database\n"
        "--------+---------\n"
        "hive    | default\n"
        "hive    | shop\n"
        "lake    | default\n"
        "lake    | raw\n"
        "(4 rows)\n"
    )


def test_ls_of_a_catalog_lists_its_databases(shop: str) -> None:
    rows = run("ls", "lake", "--uri", shop, "--output", "json").dicts
    assert {"catalog": "lake", "database": "raw"} in rows
    assert {row["catalog"] for row in rows} == {"lake"}


def test_ls_of_a_database_lists_its_tables_with_types_and_comments(shop: str) -> None:
    assert run("ls", "shop", "--uri", shop).out == (
        "table  | type          | comment\n"
        "-------+---------------+-----------------\n"
        "log    | MANAGED_TABLE |\n"
        "orders | MANAGED_TABLE | One row an order\n"
        "spark  | MANAGED_TABLE |\n"
        "(3 rows)\n"
    )
    rows = run("ls", "hive.shop", "--uri", shop, "--output", "json").dicts
    assert rows[1] == {"table": "orders", "type": "MANAGED_TABLE", "comment": "One row an order"}
    assert run("ls", "lake.raw", "--uri", shop, "--output", "json").dicts == []


def test_show_of_a_database(shop: str) -> None:
    done = run("show", "shop", "--uri", shop)
    assert done.code == 0
    assert "Comment        | What is sold" in done.out
    found = run("show", "shop", "--uri", shop, "--output", "json").json["database"]
    assert (found["name"], found["description"]) == ("shop", "What is sold")
    assert run("show", "lake.raw", "--uri", shop, "--output", "json").json["database"]["catalogName"] == "lake"


def test_show_of_a_table_has_columns_format_and_properties(shop: str) -> None:
    done = run("show", "shop.orders", "--uri", shop)
    assert done.code == 0
    for line in ("id ", "the number", "# Partition Information", "format", "parquet", "numRows "):
        assert line in done.out
    found = run("show", "hive.shop.orders", "--uri", shop, "--output", "json").json
    assert [column["name"] for column in found["table"]["sd"]["cols"]] == ["id", "price", "day"]
    assert found["hive"] == {"format": "parquet", "external": False}
    assert found["spark"] == {}


def test_show_of_a_table_of_spark_has_the_schema_that_spark_sees(shop: str) -> None:
    found = run("show", "shop.spark", "--uri", shop, "--output", "json").json
    assert found["spark"] == {
        "provider": "parquet",
        "columns": {"Id": "bigint"},
        "partition_columns": [],
        "created_by": "Spark 4.0.0",
    }
    assert "# As Spark sees it" in run("show", "shop.spark", "--uri", shop).out


def test_show_of_an_acid_table_says_of_which_kind_it_is(shop: str) -> None:
    assert run("show", "shop.log", "--uri", shop, "--output", "json").json["hive"]["acid"] == "insert-only"
    assert "insert-only" in run("show", "shop.log", "--uri", shop).out


def test_show_of_a_partition(shop: str) -> None:
    done = run("show", "shop.orders/ds=2024-01-01/h=2", "--uri", shop)
    assert "Partition" in done.out and "ds=2024-01-01/h=2" in done.out and "/shop.db/orders/" in done.out
    found = run("show", "shop.orders/ds=2024-01-01/h=2", "--uri", shop, "--output", "json").json
    assert found["partition"]["values"] == ["2024-01-01", "2"]


def test_partitions_are_listed_with_location_and_size(shop: str) -> None:
    done = run("partitions", "shop.orders", "--uri", shop)
    assert done.out.splitlines()[0].split(" | ")[0].strip() == "partition"
    assert done.out.endswith("(3 rows)\n")
    rows = run("partitions", "shop.orders", "--uri", shop, "--output", "json").dicts
    assert [row["partition"] for row in rows] == ["ds=2024-01-01/h=1", "ds=2024-01-01/h=2", "ds=2024-01-02/h=1"]
    assert rows[0]["location"].endswith("/ds=2024-01-01/h=1")


def test_partitions_can_be_filtered_and_limited(shop: str) -> None:
    words = ("partitions", "shop.orders", "--uri", shop, "--output", "json")
    rows = run(*words, "--where", "ds = '2024-01-01' and h > 1").dicts
    assert [row["partition"] for row in rows] == ["ds=2024-01-01/h=2"]
    assert len(run(*words, "--limit", "2").dicts) == 2


def test_stats_of_a_table_and_its_columns(shop: str) -> None:
    done = run("stats", "shop.orders", "--uri", shop)
    assert done.out.startswith("shop.orders: 3 rows, 1,234 bytes\ncolumn | type")
    found = run("stats", "shop.orders", "--uri", shop, "--output", "json").json
    assert (found["rows"], found["bytes"], found["files"]) == (3, 1234, None)
    columns = {column["column"]: column for column in found["columns"]}
    assert (columns["id"]["low"], columns["id"]["high"], columns["id"]["distinct"]) == (1, 9, 3)
    assert (columns["price"]["low"], columns["price"]["high"], columns["price"]["nulls"]) == ("1.00", "2.00", 1)
    assert (columns["day"]["low"], columns["day"]["high"]) == ("1970-01-01", "1970-01-02")


def test_stats_of_a_partition_without_any(shop: str) -> None:
    done = run("stats", "shop.orders", "--partition", "ds=2024-01-01/h=1", "--uri", shop)
    assert "ANALYZE TABLE" in done.out
    words = ("stats", "shop.orders", "--partition", "ds=2024-01-01/h=1", "--uri", shop, "--output", "json")
    assert run(*words).json["columns"] == []


def test_stats_of_a_table_whose_partitions_have_statistics_name_the_command_for_one(tmp_path: Path) -> None:
    with serving_metastore(tmp_path) as uri, metastored.connect(uri, cache=False) as client:
        client.create_database("shop")
        client.create_table(metastored.table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string"}))
        client.add_partitions("shop.orders", ["ds=2024-01-01", "ds=a b", "ds=c"])
        assert "ANALYZE TABLE" in run("stats", "shop.orders", "--uri", uri).out
        client.set_statistics(
            ColumnStatistics(
                ColumnStatisticsDesc(isTblLevel=False, dbName="shop", tableName="orders", partName="ds=a b"),
                (ColumnStatisticsObj("id", "bigint", ColumnStatisticsData(longStats=LongColumnStatsData(1, 9, 0, 3))),),
                engine="hive",
            )
        )
        text = run("stats", "shop.orders", "--uri", uri).out
        assert text.endswith(
            "the partitions have statistics of columns, and the table has none of its own: "
            "metastored stats shop.orders --partition 'ds=a b'\n"
        )
        assert "id     | bigint" in run("stats", "shop.orders", "--partition", "ds=a b", "--uri", uri).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("ls", "nothing"), "nothing"),
        (("ls", "no.db"), "catalog no not found"),
        (("show", "nothing"), "nothing"),
        (("show", "shop.nothing"), "nothing"),
        (("show", "shop.orders/ds=1/h=1"), "1"),
        (("show", "shop.orders/x=1"), "ds"),
        (("partitions", "shop.nothing"), "nothing"),
        (("partitions", "orders"), "'orders' does not name a table"),
        (("partitions", "shop.orders", "--where", "ds ="), "ds ="),
        (("stats", "shop.nothing"), "nothing"),
        (("show", "nosuch.table"), "database nosuch not found"),
        (("show", "lake.nosuch.table"), "database lake.nosuch not found"),
        (("show", "lake.default.nothing"), "lake.default.nothing table not found"),
        (("show", "nosuch.table/ds=1"), "database nosuch not found"),
        (("partitions", "nosuch.table"), "database nosuch not found"),
        (("stats", "nosuch.table"), "database nosuch not found"),
        (("sql", "-e", "DESCRIBE nosuch.table"), "database nosuch not found"),
        (("compact", "request", "nosuch.table"), "database nosuch not found"),
        (("stats", "shop.orders", "--partition", "ds=1/h=1"), "1"),
    ],
)
def test_what_does_not_exist_or_cannot_be_read_is_one_sentence(shop: str, words: tuple[str, ...], said: str) -> None:
    refused((*words, "--uri", shop), said)


@pytest.mark.parametrize("words", [("ls",), ("show", "shop"), ("partitions", "shop.orders"), ("stats", "shop.orders")])
def test_a_metastore_that_does_not_answer_is_one_sentence(words: tuple[str, ...]) -> None:
    refused((*words, *ABSENT), "127.0.0.1:1")
