"""Tables in Spark's external catalog: tests 11 to 30, 69 and 72 of Spark's ExternalCatalogSuite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metastored.errors import SparkCatalogError
from metastored.hive.locations import local_path
from metastored.model.names import Name
from metastored.model.spark.types import INTEGER, LONG, STRING, StructType
from metastored.model.spark.values import (
    BucketSpec,
    CatalogDatabase,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from metastored.wire.generated.common import Table
from tests.spark.conftest import TEXT, new_table


def condition(call: Callable[[], object]) -> str:
    with pytest.raises(SparkCatalogError) as caught:
        call()
    return caught.value.condition


def test_an_external_table_is_external(basic: ExternalCatalog, tmp_path: Path) -> None:
    basic.create_table(new_table("external_table1", "db2", tmp_path))
    assert basic.get_table("db2", "external_table1").table_type is CatalogTableType.EXTERNAL


def test_a_table_that_exists_is_not_created(basic: ExternalCatalog, tmp_path: Path) -> None:
    table = new_table("tbl1", "db2", tmp_path)
    assert condition(lambda: basic.create_table(table)) == "TABLE_OR_VIEW_ALREADY_EXISTS"
    basic.create_table(replace(table, properties={"new": "1"}), ignore_if_exists=True)
    assert "new" not in basic.get_table("db2", "tbl1").properties


def test_a_table_of_a_missing_database_is_not_created(basic: ExternalCatalog, tmp_path: Path) -> None:
    assert condition(lambda: basic.create_table(new_table("t", "unknown_db", tmp_path))) == "SCHEMA_NOT_FOUND"


def test_a_table_is_dropped(basic: ExternalCatalog) -> None:
    basic.drop_table("db2", "tbl1")
    assert basic.list_tables("db2") == ["tbl2"]


@pytest.mark.parametrize(("db", "table"), [("unknown_db", "unknown_table"), ("db2", "unknown_table")])
def test_a_missing_table_is_dropped_only_if_that_is_ignored(basic: ExternalCatalog, db: str, table: str) -> None:
    assert condition(lambda: basic.drop_table(db, table)) == "TABLE_OR_VIEW_NOT_FOUND"
    basic.drop_table(db, table, ignore_if_not_exists=True)


def test_a_table_is_renamed(basic: ExternalCatalog) -> None:
    basic.rename_table("db2", "tbl1", "tblone")
    assert set(basic.list_tables("db2")) == {"tblone", "tbl2"}


def test_a_missing_table_is_not_renamed(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.rename_table("unknown_db", "unknown", "x")) == "TABLE_OR_VIEW_NOT_FOUND"
    assert condition(lambda: basic.rename_table("db2", "unknown", "x")) == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_table_is_not_renamed_onto_another(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.rename_table("db2", "tbl1", "tbl2")) == "TABLE_OR_VIEW_ALREADY_EXISTS"


def test_a_rename_keeps_what_another_client_changes_meanwhile(
    basic: ExternalCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, others = basic.client.fresh_table, ["another"]

    def read_before_another(name: Name) -> Table:
        table = read(name)
        if others:
            basic.client.set_parameters(name, by=others.pop())
        return table

    monkeypatch.setattr(basic.client, "fresh_table", read_before_another)
    basic.rename_table("db2", "tbl1", "tblone")
    assert basic.get_table("db2", "tblone").properties["by"] == "another"


def test_the_properties_of_a_table_are_replaced(basic: ExternalCatalog) -> None:
    tbl1 = basic.get_table("db2", "tbl1")
    basic.alter_table(replace(tbl1, properties={"toh": "frem"}))
    found = dict(basic.get_table("db2", "tbl1").properties)
    found.pop("transient_lastDdlTime")
    assert found == {"toh": "frem"}


def test_a_missing_table_is_not_altered(basic: ExternalCatalog, tmp_path: Path) -> None:
    table = new_table("unknown_table", "db2", tmp_path)
    assert condition(lambda: basic.alter_table(table)) == "TABLE_OR_VIEW_NOT_FOUND"


def test_the_schema_of_a_table_is_replaced(basic: ExternalCatalog) -> None:
    schema = StructType().add("col1", INTEGER).add("new_field_2", STRING).add("a", INTEGER).add("b", STRING)
    basic.alter_table_schema("db2", "tbl1", schema)
    assert basic.get_table("db2", "tbl1").schema == schema


def test_partition_columns_must_be_the_last_of_a_new_schema(basic: ExternalCatalog) -> None:
    schema = StructType().add("a", INTEGER).add("b", STRING).add("col1", INTEGER)
    assert condition(lambda: basic.alter_table_schema("db2", "tbl1", schema)) == "INTERNAL_ERROR"


REORDERED = StructType().add("b", LONG).add("a", INTEGER).add("c", STRING)


def reorderable(folder: Path, provider: str) -> CatalogTable:
    schema = StructType().add("a", INTEGER).add("b", LONG).add("c", STRING)
    table = replace(new_table("t", "default", folder, provider), schema=schema, bucket_spec=None)
    return replace(table, partition_column_names=("c",))


def test_data_columns_are_reordered(catalog: ExternalCatalog, tmp_path: Path) -> None:
    """Hive refuses the change of types, so its column stays the one that stands for all."""
    catalog.create_table(reorderable(tmp_path, "json"))
    catalog.alter_table_schema("default", "t", REORDERED)
    assert catalog.get_table("default", "t").schema == REORDERED
    assert catalog.get_raw_table("default", "t").schema.names == ("col", "c")


@pytest.mark.parametrize("provider", ["hive", "parquet"])
def test_a_change_of_columns_that_hive_refuses_is_an_error(
    catalog: ExternalCatalog, tmp_path: Path, provider: str
) -> None:
    catalog.create_table(reorderable(tmp_path, provider))
    assert condition(lambda: catalog.alter_table_schema("default", "t", REORDERED)) == "_LEGACY_ERROR_TEMP_3065"


def test_the_data_schema_of_a_table_is_replaced(basic: ExternalCatalog) -> None:
    basic.alter_table_data_schema("db2", "tbl1", StructType().add("Col1", LONG).add("x", STRING))
    assert basic.get_table("db2", "tbl1").schema.names == ("Col1", "x", "a", "b")


def test_statistics_are_stored_and_removed(basic: ExternalCatalog) -> None:
    assert basic.get_table("db2", "tbl1").stats is None
    basic.alter_table_stats("db2", "tbl1", CatalogStatistics(1))
    assert basic.get_table("db2", "tbl1").stats == CatalogStatistics(1)
    basic.alter_table_stats("db2", "tbl1", CatalogStatistics(2, 3))
    assert basic.get_table("db2", "tbl1").stats == CatalogStatistics(2, 3)
    basic.alter_table_stats("db2", "tbl1", None)
    assert basic.get_table("db2", "tbl1").stats is None


def test_statistics_survive_a_change_of_properties(basic: ExternalCatalog) -> None:
    basic.alter_table_stats("db2", "tbl1", CatalogStatistics(1, 2))
    basic.alter_table(replace(basic.get_table("db2", "tbl1"), properties={"k": "v"}))
    assert basic.get_table("db2", "tbl1").stats == CatalogStatistics(1, 2)


def test_a_table_is_read(basic: ExternalCatalog) -> None:
    assert basic.get_table("db2", "tbl1").identifier == TableIdentifier("tbl1", "db2")


def test_a_missing_table_is_an_error(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.get_table("unknown_db", "unknown_table")) == "TABLE_OR_VIEW_NOT_FOUND"
    assert condition(lambda: basic.get_table("db2", "unknown_table")) == "TABLE_OR_VIEW_NOT_FOUND"


def test_several_tables_are_read_at_once(basic: ExternalCatalog) -> None:
    names = ["tbl1", "tbl2"]
    assert {each.identifier.table for each in basic.get_tables_by_name("db2", names)} == set(names)
    basic.rename_table("db2", "tbl1", "tblone")
    assert {each.identifier.table for each in basic.get_tables_by_name("db2", ["tblone", "tbl2"])} == {"tblone", "tbl2"}


@pytest.mark.parametrize("missing", ["tbl_missing", "砖"])
def test_missing_and_invalid_names_are_left_out(basic: ExternalCatalog, missing: str) -> None:
    assert [each.identifier.table for each in basic.get_tables_by_name("db2", ["tbl1", missing])] == ["tbl1"]


def test_no_names_are_no_tables(basic: ExternalCatalog) -> None:
    assert basic.get_tables_by_name("db2", []) == []


def test_tables_are_listed(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.list_tables("unknown_db")) == "SCHEMA_NOT_FOUND"
    assert basic.list_tables("db1") == []
    assert set(basic.list_tables("db2")) == {"tbl1", "tbl2"}


@pytest.mark.parametrize(("pattern", "names"), [("*", {"tbl1", "tbl2"}), ("tbl*", {"tbl1", "tbl2"}), ("*1", {"tbl1"})])
def test_tables_are_listed_by_a_pattern(basic: ExternalCatalog, pattern: str, names: set[str]) -> None:
    assert set(basic.list_tables("db2", pattern)) == names


def test_views_are_listed_apart(basic: ExternalCatalog) -> None:
    basic.create_table(view("my_view"))
    assert basic.list_views("db2") == ["my_view"]
    assert basic.list_views("db2", "tbl*") == []
    assert "my_view" in basic.list_tables("db2")


@pytest.mark.parametrize("provider", ["hive", "parquet", "json"])
def test_the_case_and_the_nullability_of_columns_are_kept(catalog: ExternalCatalog, provider: str) -> None:
    schema = StructType().add("HelLo", INTEGER, nullable=False).add("WoRLd", INTEGER)
    table = CatalogTable(
        TableIdentifier("tbl", "default"),
        CatalogTableType.MANAGED,
        TEXT if provider == "hive" else CatalogStorage(),
        schema,
        provider=provider,
        partition_column_names=("WoRLd",),
        bucket_spec=BucketSpec(4, ("HelLo",)),
    )
    catalog.create_table(table)
    found = catalog.get_table("default", "tbl")
    assert found.schema == schema
    assert found.partition_column_names == ("WoRLd",)
    assert found.bucket_spec == table.bucket_spec


@pytest.mark.parametrize("provider", ["hive", "parquet", "json"])
def test_the_directory_of_a_managed_table_is_created_renamed_and_removed(
    catalog: ExternalCatalog, tmp_path: Path, provider: str
) -> None:
    catalog.create_database(CatalogDatabase("mydb", location_uri=(tmp_path / "mydb.db").as_uri()))
    table = replace(
        new_table("my_table", "mydb", tmp_path, provider),
        table_type=CatalogTableType.MANAGED,
        storage=TEXT if provider == "hive" else CatalogStorage(),
    )
    catalog.create_table(table)
    assert (tmp_path / "mydb.db" / "my_table").is_dir()
    assert local_path(catalog.get_table("mydb", "my_table").location) == str(tmp_path / "mydb.db" / "my_table")
    catalog.rename_table("mydb", "my_table", "your_table")
    assert not (tmp_path / "mydb.db" / "my_table").exists()
    assert (tmp_path / "mydb.db" / "your_table").is_dir()
    assert local_path(catalog.get_table("mydb", "your_table").location) == str(tmp_path / "mydb.db" / "your_table")
    catalog.drop_table("mydb", "your_table")
    assert not (tmp_path / "mydb.db" / "your_table").exists()


@pytest.mark.parametrize("provider", ["hive", "parquet", "json"])
def test_an_external_table_makes_no_directory_in_its_database(
    catalog: ExternalCatalog, tmp_path: Path, provider: str
) -> None:
    catalog.create_database(CatalogDatabase("mydb", location_uri=(tmp_path / "mydb.db").as_uri()))
    catalog.create_table(new_table("external", "mydb", tmp_path, provider))
    assert list((tmp_path / "mydb.db").iterdir()) == []
    assert local_path(catalog.get_table("mydb", "external").location) == str(tmp_path / "mydb" / "external")


def view(name: str) -> CatalogTable:
    return CatalogTable(
        TableIdentifier(name, "db2"),
        CatalogTableType.VIEW,
        CatalogStorage(),
        StructType().add("Id", INTEGER),
        view_text="SELECT 1 AS Id",
        properties={"view.query.out.numCols": "1", "view.query.out.col.0": "Id"},
    )


def test_a_view_is_read_as_it_was_created(basic: ExternalCatalog) -> None:
    basic.create_table(view("v"))
    found = basic.get_table("db2", "v")
    assert found.table_type is CatalogTableType.VIEW
    assert found.schema == view("v").schema
    assert found.view_text == found.view_original_text == "SELECT 1 AS Id"
    assert found.provider is None
    assert found.properties["view.query.out.col.0"] == "Id"


def test_a_view_is_altered_with_its_schema(basic: ExternalCatalog) -> None:
    basic.create_table(view("v"))
    schema = StructType().add("Id", INTEGER).add("More", STRING)
    basic.alter_table(replace(basic.get_table("db2", "v"), schema=schema, view_text="SELECT 1, 'x'"))
    found = basic.get_table("db2", "v")
    assert found.schema == schema
    assert found.view_text == "SELECT 1, 'x'"
