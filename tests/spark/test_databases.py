"""Databases in Spark's external catalog: tests 1 to 10 and 68 of Spark's ExternalCatalogSuite, and its Hive suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import metastored
from metastored.errors import ErrorKind, SparkCatalogError, kind_of
from metastored.hive.locations import canonical, local_path
from metastored.model.spark.values import CatalogDatabase
from metastored.spark import ExternalCatalog


def test_databases_are_created_and_listed(catalog: ExternalCatalog) -> None:
    catalog.create_database(CatalogDatabase("testing"))
    catalog.create_database(CatalogDatabase("testing2"))
    assert set(catalog.list_databases()) == {"default", "testing", "testing2"}
    assert catalog.database_exists("testing")
    assert not catalog.database_exists("does_not_exist")


def test_a_database_has_its_name_and_description(basic: ExternalCatalog) -> None:
    found = basic.get_database("db1")
    assert found.name == "db1"
    assert "db1" in found.description


def test_a_missing_database_is_an_error(basic: ExternalCatalog) -> None:
    with pytest.raises(SparkCatalogError) as caught:
        basic.get_database("db_that_does_not_exist")
    assert caught.value.condition == "SCHEMA_NOT_FOUND"
    assert kind_of(caught.value) is ErrorKind.NOT_FOUND


def test_a_database_that_exists_is_an_error_or_ignored(basic: ExternalCatalog) -> None:
    with pytest.raises(SparkCatalogError) as caught:
        basic.create_database(CatalogDatabase("db1"))
    assert caught.value.condition == "SCHEMA_ALREADY_EXISTS"
    basic.create_database(CatalogDatabase("db1"), ignore_if_exists=True)


def test_all_databases_are_listed(basic: ExternalCatalog) -> None:
    assert set(basic.list_databases()) == {"default", "db1", "db2", "db3"}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("db", set()), ("db*", {"db1", "db2", "db3"}), ("*1", {"db1"}), ("db2", {"db2"})],
)
def test_databases_are_listed_by_a_pattern(basic: ExternalCatalog, pattern: str, names: set[str]) -> None:
    assert set(basic.list_databases(pattern)) == names


def test_an_empty_database_is_dropped(basic: ExternalCatalog) -> None:
    basic.drop_database("db1")
    assert set(basic.list_databases()) == {"default", "db2", "db3"}


def test_a_database_with_functions_or_tables_is_dropped_only_with_cascade(basic: ExternalCatalog) -> None:
    with pytest.raises(SparkCatalogError) as tables_left:
        basic.drop_database("db2")
    assert tables_left.value.condition == "SCHEMA_NOT_EMPTY"
    basic.drop_table("db2", "tbl1")
    basic.drop_table("db2", "tbl2")
    with pytest.raises(SparkCatalogError) as function_left:
        basic.drop_database("db2")
    assert function_left.value.condition == "SCHEMA_NOT_EMPTY"
    basic.drop_database("db2", cascade=True)
    assert set(basic.list_databases()) == {"default", "db1", "db3"}


def test_a_missing_database_is_dropped_only_if_that_is_ignored(basic: ExternalCatalog) -> None:
    with pytest.raises(SparkCatalogError):
        basic.drop_database("db_that_does_not_exist")
    basic.drop_database("db_that_does_not_exist", ignore_if_not_exists=True)


def test_the_properties_of_a_database_are_replaced(basic: ExternalCatalog) -> None:
    db1 = basic.get_database("db1")
    basic.alter_database(replace(db1, properties={"k": "v3", "good": "true"}))
    found = dict(basic.get_database("db1").properties)
    assert found.pop("owner") == db1.properties["owner"]
    assert found == {"k": "v3", "good": "true"}


def test_the_owner_of_a_database_is_a_property(basic: ExternalCatalog) -> None:
    assert basic.get_database("db1").properties["owner"] == "ann"
    basic.create_database(CatalogDatabase("owned", properties={"owner": "bob"}))
    assert basic.get_database("owned").properties == {"owner": "bob"}


def test_a_missing_database_cannot_be_altered(basic: ExternalCatalog) -> None:
    with pytest.raises(SparkCatalogError):
        basic.alter_database(CatalogDatabase("unknown_db"))


def test_a_new_location_of_a_database_is_stored_or_refused(basic: ExternalCatalog, tmp_path: Path) -> None:
    db1 = basic.get_database("db1")
    moved = replace(db1, location_uri=(tmp_path / "moved").as_uri(), properties={"k": "v"})
    try:
        basic.alter_database(moved)
    except SparkCatalogError as error:
        assert error.condition == "_LEGACY_ERROR_TEMP_1219"
        assert basic.get_database("db1").location_uri == db1.location_uri
    else:
        assert canonical(basic.get_database("db1").location_uri) == canonical(moved.location_uri)


def test_the_directory_of_a_database_is_created_and_removed(catalog: ExternalCatalog, tmp_path: Path) -> None:
    folder = tmp_path / "mydb.db"
    catalog.create_database(CatalogDatabase("mydb", location_uri=folder.as_uri()))
    assert folder.is_dir()
    catalog.drop_database("mydb")
    assert not folder.exists()


def test_a_missing_description_is_an_empty_text(catalog: ExternalCatalog) -> None:
    """SPARK-23001."""
    catalog.client.create_database(metastored.database("plain"))
    assert catalog.get_database("plain").description == ""


def test_a_database_without_a_location_is_created_in_sparks_warehouse(catalog: ExternalCatalog, tmp_path: Path) -> None:
    conf = {"spark.hadoop.hive.metastore.uris": catalog.client.uri, "spark.sql.warehouse.dir": str(tmp_path / "house")}
    with ExternalCatalog.from_conf(conf) as other:
        other.create_database(CatalogDatabase("housed"))
        assert local_path(other.get_database("housed").location_uri) == str(tmp_path / "house" / "housed.db")


def test_the_current_database_must_exist(basic: ExternalCatalog) -> None:
    assert basic.current_database == "default"
    basic.set_current_database("db1")
    assert basic.current_database == "db1"
    with pytest.raises(SparkCatalogError):
        basic.set_current_database("unknown_db")
