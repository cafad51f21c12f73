"""Partitions in Spark's external catalog: tests 31 to 54, 70 and 71 of Spark's ExternalCatalogSuite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from metastored.errors import SparkCatalogError
from metastored.hive.locations import local_path
from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.types import INTEGER, STRING, StructType
from metastored.model.spark.values import (
    CatalogDatabase,
    CatalogStatistics,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from tests.spark.conftest import TEXT, new_table

PART1, PART2, PART3 = {"a": "1", "b": "2"}, {"a": "3", "b": "4"}, {"a": "5", "b": "6"}


def condition(call: Callable[[], object]) -> str:
    with pytest.raises(SparkCatalogError) as caught:
        call()
    return caught.value.condition


def part(**spec: str) -> CatalogTablePartition:
    return CatalogTablePartition(spec)


def placed(location: Path, **spec: str) -> CatalogTablePartition:
    return CatalogTablePartition(spec, CatalogStorage(location.as_uri()))


def specs(parts: list[CatalogTablePartition]) -> list[dict[str, str]]:
    return sorted((dict(each.spec) for each in parts), key=lambda each: sorted(each.items()))


def partitioned(
    catalog: ExternalCatalog, folder: Path, provider: str = "hive", external: bool = False, **names: str
) -> CatalogTable:
    """A table in `mydb`, partitioned by partCol1 and partCol2."""
    one, other = names.get("one", "partCol1"), names.get("other", "partCol2")
    if not catalog.database_exists("mydb"):
        catalog.create_database(CatalogDatabase("mydb", location_uri=(folder / "mydb.db").as_uri()))
    storage = TEXT if provider == "hive" else CatalogStorage()
    if external:
        storage = replace(storage, location_uri=(folder / "external").as_uri())
    table = CatalogTable(
        TableIdentifier("tbl", "mydb"),
        CatalogTableType.EXTERNAL if external else CatalogTableType.MANAGED,
        storage,
        StructType().add("col1", INTEGER).add("col2", STRING).add(one, INTEGER).add(other, STRING),
        provider=provider,
        partition_column_names=(one, other),
    )
    catalog.create_table(table)
    return catalog.get_table("mydb", "tbl")


# --- create ------------------------------------------------------------------------------------------------


def test_partitions_are_created_and_listed(catalog: ExternalCatalog, tmp_path: Path) -> None:
    catalog.create_database(CatalogDatabase("mydb"))
    catalog.create_table(new_table("tbl", "mydb", tmp_path))
    catalog.create_partitions("mydb", "tbl", [part(**PART1), part(**PART2)])
    assert specs(catalog.list_partitions("mydb", "tbl")) == [PART1, PART2]


@pytest.mark.parametrize(("db", "table"), [("does_not_exist", "tbl1"), ("db2", "does_not_exist")])
def test_partitions_of_a_missing_table_are_not_created(basic: ExternalCatalog, db: str, table: str) -> None:
    assert condition(lambda: basic.create_partitions(db, table, [])) == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_partition_that_exists_is_not_created(basic: ExternalCatalog) -> None:
    parts = [part(**PART1)]
    assert condition(lambda: basic.create_partitions("db2", "tbl2", parts)) == "PARTITIONS_ALREADY_EXIST"
    basic.create_partitions("db2", "tbl2", parts, ignore_if_exists=True)
    assert specs(basic.list_partitions("db2", "tbl2")) == [PART1, PART2]


@pytest.mark.parametrize("provider", ["hive", "parquet", "json"])
def test_a_partition_without_a_location_is_in_the_directory_of_its_table(
    catalog: ExternalCatalog, tmp_path: Path, provider: str
) -> None:
    table = partitioned(catalog, tmp_path, provider)
    catalog.create_partitions("mydb", "tbl", [part(partCol1="1", partCol2="2")])
    found = catalog.get_partition("mydb", "tbl", {"partCol1": "1", "partCol2": "2"}).location
    assert local_path(found) == f"{local_path(table.location)}/partCol1=1/partCol2=2"


def test_given_locations_of_a_managed_table_are_created_and_removed(catalog: ExternalCatalog, tmp_path: Path) -> None:
    partitioned(catalog, tmp_path)
    places = [tmp_path / "one", tmp_path / "two"]
    catalog.create_partitions(
        "mydb",
        "tbl",
        [placed(places[0], partCol1="1", partCol2="2"), placed(places[1], partCol1="3", partCol2="4")],
    )
    assert all(each.is_dir() for each in places)
    catalog.drop_partitions("mydb", "tbl", [{"partCol1": "1", "partCol2": "2"}])
    assert not places[0].exists()
    catalog.drop_table("mydb", "tbl")
    assert not places[1].exists()


def test_an_incomplete_spec_is_not_created(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.create_partitions("db2", "tbl2", [part(a="1")])) == "_LEGACY_ERROR_TEMP_3065"


# --- names -------------------------------------------------------------------------------------------------


def test_the_names_of_partitions_are_escaped(basic: ExternalCatalog) -> None:
    basic.create_partitions("db2", "tbl2", [part(a="1", b="%=")])
    assert basic.list_partition_names("db2", "tbl2") == ["a=1/b=%25%3D", "a=1/b=2", "a=3/b=4"]


def test_the_names_of_partitions_are_listed_by_a_partial_spec(basic: ExternalCatalog) -> None:
    basic.create_partitions("db2", "tbl2", [part(a="1", b="%=")])
    assert basic.list_partition_names("db2", "tbl2", {"a": "1"}) == ["a=1/b=%25%3D", "a=1/b=2"]
    assert basic.list_partition_names("db2", "tbl2", {"b": "%="}) == ["a=1/b=%25%3D"]
    assert basic.list_partition_names("db2", "tbl2", {"b": "%25%3D"}) == []


def test_names_have_the_declared_names_of_the_columns(catalog: ExternalCatalog, tmp_path: Path) -> None:
    partitioned(catalog, tmp_path)
    catalog.create_partitions("mydb", "tbl", [part(partCol1="1", PARTCOL2="{x}[y]^~ é")])
    assert catalog.list_partition_names("mydb", "tbl") == ["partCol1=1/partCol2=%7Bx}%5By%5D%5E~ é"]


# --- list --------------------------------------------------------------------------------------------------


def test_partitions_are_listed_by_a_partial_spec(basic: ExternalCatalog) -> None:
    assert specs(basic.list_partitions("db2", "tbl2", {"a": "1"})) == [PART1]
    assert basic.list_partitions("db2", "tbl2", {"a": "unknown"}) == []


def test_an_empty_value_in_a_spec_is_an_error(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.list_partitions("db2", "tbl2", {"a": ""})) == "INTERNAL_ERROR"


@pytest.mark.parametrize("by_filter", [False, True], ids=["listPartitions", "listPartitionsByFilter"])
def test_the_statistics_of_listed_partitions_are_restored(basic: ExternalCatalog, by_filter: bool) -> None:
    old = basic.get_partition("db2", "tbl2", PART1)
    basic.alter_partitions("db2", "tbl2", [replace(old, stats=CatalogStatistics(100, 2))])
    listed = (
        basic.list_partitions_by_filter("db2", "tbl2", "a = 1")
        if by_filter
        else basic.list_partitions("db2", "tbl2", {"a": "1"})
    )
    assert [each.stats for each in listed] == [CatalogStatistics(100, 2)]
    assert not any(key.startswith("spark.sql.") for each in listed for key in each.parameters)


@pytest.mark.parametrize(("one", "other"), [("col1", "col2"), ("Col1", "cOl2")])
def test_a_dot_in_a_value_is_no_wildcard(catalog: ExternalCatalog, tmp_path: Path, one: str, other: str) -> None:
    partitioned(catalog, tmp_path, one=f"p{one}", other=f"p{other}")
    first, second = {f"p{one}": "1", f"p{other}": "i+j"}, {f"p{one}": "1", f"p{other}": "i.j"}
    catalog.create_partitions("mydb", "tbl", [CatalogTablePartition(first), CatalogTablePartition(second)])
    assert specs(catalog.list_partitions("mydb", "tbl", first)) == [first]
    assert specs(catalog.list_partitions("mydb", "tbl", second)) == [second]
    assert catalog.list_partition_names("mydb", "tbl", second) == [f"p{one}=1/p{other}=i.j"]


@pytest.mark.parametrize(
    ("predicates", "found"),
    [
        ([], [PART1, PART2]),
        ("a <= 1", [PART1]),
        ("a = 2", []),
        ("a * 10 IN (30)", [PART2]),
        ("NOT a IN (4)", [PART1, PART2]),
        (["a = 1", "b = '2'"], [PART1]),
        ("a = 1 AND b = '2'", [PART1]),
        (["a = 1", "b = 'x'"], []),
        ("a = 1 OR b = 'x'", [PART1]),
        (pc.field("a") <= 1, [PART1]),
        ([pc.field("a") * 10 == 30, "b = '4'"], [PART2]),
        (["a = 1", pc.field("b") == "4"], []),
    ],
)
def test_partitions_are_listed_by_predicates(
    basic: ExternalCatalog, predicates: list[str], found: list[dict[str, str]]
) -> None:
    assert specs(basic.list_partitions_by_filter("db2", "tbl2", predicates)) == found


@pytest.mark.parametrize("predicate", ["col1 = 2", pc.field("col1") == 2])
def test_only_partition_columns_can_be_in_predicates(basic: ExternalCatalog, predicate: str) -> None:
    found = condition(lambda: basic.list_partitions_by_filter("db2", "tbl2", predicate))
    assert found == "_LEGACY_ERROR_TEMP_1205"


# --- drop --------------------------------------------------------------------------------------------------


def test_partitions_are_dropped(basic: ExternalCatalog) -> None:
    basic.drop_partitions("db2", "tbl2", [PART1])
    assert specs(basic.list_partitions("db2", "tbl2")) == [PART2]
    basic.create_partitions("db2", "tbl2", [part(**PART1)])
    basic.drop_partitions("db2", "tbl2", [PART1, PART2])
    assert basic.list_partitions("db2", "tbl2") == []


def test_a_partial_spec_drops_all_that_match(basic: ExternalCatalog) -> None:
    basic.create_partitions("db2", "tbl2", [part(a="1", b="9")])
    basic.drop_partitions("db2", "tbl2", [{"a": "1"}])
    assert specs(basic.list_partitions("db2", "tbl2")) == [PART2]


@pytest.mark.parametrize(("db", "table"), [("does_not_exist", "tbl1"), ("db2", "does_not_exist")])
def test_partitions_of_a_missing_table_are_not_dropped(basic: ExternalCatalog, db: str, table: str) -> None:
    assert condition(lambda: basic.drop_partitions(db, table, [])) == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_missing_partition_is_dropped_only_if_that_is_ignored(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.drop_partitions("db2", "tbl2", [PART3])) == "PARTITIONS_NOT_FOUND"
    basic.drop_partitions("db2", "tbl2", [PART3], ignore_if_not_exists=True)


# --- get ---------------------------------------------------------------------------------------------------


def test_a_partition_is_read_by_its_spec(basic: ExternalCatalog) -> None:
    assert basic.get_partition("db2", "tbl2", PART1).spec == PART1
    assert basic.get_partition("db2", "tbl2", {"A": "3", "B": "4"}).spec == PART2
    assert condition(lambda: basic.get_partition("db2", "tbl1", PART3)) == "PARTITIONS_NOT_FOUND"
    assert basic.get_partition_option("db2", "tbl1", PART3) is None


@pytest.mark.parametrize(("db", "table"), [("does_not_exist", "tbl1"), ("db2", "does_not_exist")])
def test_a_partition_of_a_missing_table_is_an_error(basic: ExternalCatalog, db: str, table: str) -> None:
    assert condition(lambda: basic.get_partition(db, table, PART1)) == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_partition_is_not_read_by_a_part_of_its_spec(basic: ExternalCatalog) -> None:
    with pytest.raises(SparkCatalogError, match=r"doesn't contain all \(2\) partition columns"):
        basic.get_partition("db2", "tbl2", {"a": "1"})


# --- rename ------------------------------------------------------------------------------------------------


def test_partitions_are_renamed(basic: ExternalCatalog) -> None:
    new = [{"a": "100", "b": "101"}, {"a": "200", "b": "201"}]
    basic.rename_partitions("db2", "tbl2", [PART1, PART2], new)
    assert specs(basic.list_partitions("db2", "tbl2")) == new
    assert condition(lambda: basic.get_partition("db2", "tbl2", PART1)) == "PARTITIONS_NOT_FOUND"
    assert condition(lambda: basic.get_partition("db2", "tbl2", PART2)) == "PARTITIONS_NOT_FOUND"


@pytest.mark.parametrize("provider", ["hive", "parquet"])
def test_a_rename_moves_a_partition_of_a_managed_table(catalog: ExternalCatalog, tmp_path: Path, provider: str) -> None:
    table = partitioned(catalog, tmp_path, provider)
    catalog.create_partitions("mydb", "tbl", [part(partCol1="1", partCol2="2")])
    new = {"partCol1": "3", "partCol2": "4"}
    catalog.rename_partitions("mydb", "tbl", [{"partCol1": "1", "partCol2": "2"}], [new])
    folder = Path(local_path(table.location))
    location = catalog.get_partition("mydb", "tbl", new).location
    assert local_path(location) == str(folder / "partCol1=3" / "partCol2=4")
    assert (folder / "partCol1=3" / "partCol2=4").is_dir()
    assert not (folder / "partcol1=3").exists()


def test_a_rename_does_not_move_a_partition_of_an_external_table(catalog: ExternalCatalog, tmp_path: Path) -> None:
    partitioned(catalog, tmp_path, external=True)
    catalog.create_partitions("mydb", "tbl", [part(partCol1="1", partCol2="2")])
    new = {"partCol1": "3", "partCol2": "4"}
    catalog.rename_partitions("mydb", "tbl", [{"partCol1": "1", "partCol2": "2"}], [new])
    location = catalog.get_partition("mydb", "tbl", new).location
    assert local_path(location) == str(tmp_path / "external" / "partCol1=1" / "partCol2=2")


def test_missing_partitions_are_not_renamed(basic: ExternalCatalog) -> None:
    for db, table in (("does_not_exist", "tbl1"), ("db2", "does_not_exist")):
        found = condition(lambda db=db, table=table: basic.rename_partitions(db, table, [PART1], [PART2]))  # type: ignore[misc]
        assert found == "TABLE_OR_VIEW_NOT_FOUND"
    assert condition(lambda: basic.rename_partitions("db2", "tbl1", [PART1], [PART2])) == "PARTITIONS_NOT_FOUND"


def test_a_partition_is_not_renamed_onto_another(basic: ExternalCatalog) -> None:
    found = condition(lambda: basic.rename_partitions("db2", "tbl2", [PART1], [PART2]))
    assert found == "PARTITIONS_ALREADY_EXIST"


# --- alter -------------------------------------------------------------------------------------------------


def test_partitions_are_altered(basic: ExternalCatalog, tmp_path: Path) -> None:
    old = [basic.get_partition("db2", "tbl2", each) for each in (PART1, PART2)]
    serde = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
    places = [(tmp_path / "new" / str(at)).as_uri() for at in range(2)]
    storages = [CatalogStorage(place, "in", "out", serde, False, {"sep": "|"}) for place in places]
    basic.alter_partitions(
        "db2", "tbl2", [replace(each, storage=storage) for each, storage in zip(old, storages, strict=True)]
    )
    found = [basic.get_partition("db2", "tbl2", each).storage for each in (PART1, PART2)]
    assert [local_path(each.location_uri or "") for each in found] == [str(tmp_path / "new" / str(at)) for at in (0, 1)]
    assert {(each.serde, each.properties["sep"], each.input_format) for each in found} == {(serde, "|", "in")}


def test_a_partition_that_does_not_exist_is_not_altered(basic: ExternalCatalog) -> None:
    unknown = replace(basic.get_partition("db2", "tbl2", PART1), spec=PART3)
    assert condition(lambda: basic.alter_partitions("db2", "tbl2", [unknown])) == "_LEGACY_ERROR_TEMP_3065"


@pytest.mark.parametrize(("db", "table"), [("does_not_exist", "tbl1"), ("db2", "does_not_exist")])
def test_partitions_of_a_missing_table_are_not_altered(basic: ExternalCatalog, db: str, table: str) -> None:
    assert condition(lambda: basic.alter_partitions(db, table, [part(**PART1)])) == "TABLE_OR_VIEW_NOT_FOUND"


# --- directories -------------------------------------------------------------------------------------------


def test_the_directories_of_partitions_are_created_renamed_and_removed(
    catalog: ExternalCatalog, tmp_path: Path
) -> None:
    table = partitioned(catalog, tmp_path)
    folder = Path(local_path(table.location))
    catalog.create_partitions("mydb", "tbl", [part(partCol1="1", partCol2="2"), part(partCol1="3", partCol2="4")])
    assert (folder / "partCol1=1" / "partCol2=2").is_dir()
    assert (folder / "partCol1=3" / "partCol2=4").is_dir()
    catalog.rename_partitions("mydb", "tbl", [{"partCol1": "1", "partCol2": "2"}], [{"partCol1": "5", "partCol2": "6"}])
    assert not (folder / "partCol1=1" / "partCol2=2").exists()
    assert (folder / "partCol1=5" / "partCol2=6").is_dir()
    catalog.drop_partitions("mydb", "tbl", [{"partCol1": "3", "partCol2": "4"}, {"partCol1": "5", "partCol2": "6"}])
    assert not (folder / "partCol1=3" / "partCol2=4").exists()
    assert not (folder / "partCol1=5" / "partCol2=6").exists()
    existing, missing = tmp_path / "existing", tmp_path / "missing"
    existing.mkdir()
    catalog.create_partitions(
        "mydb",
        "tbl",
        [placed(existing, partCol1="7", partCol2="8"), placed(missing, partCol1="9", partCol2="10")],
    )
    assert missing.is_dir()


def test_dropping_a_partition_of_an_external_table_keeps_its_directory(
    catalog: ExternalCatalog, tmp_path: Path
) -> None:
    partitioned(catalog, tmp_path, external=True)
    catalog.create_partitions("mydb", "tbl", [part(partCol1="1", partCol2="2")])
    folder = tmp_path / "external" / "partCol1=1" / "partCol2=2"
    assert folder.is_dir()
    catalog.drop_partitions("mydb", "tbl", [{"partCol1": "1", "partCol2": "2"}])
    assert folder.is_dir()


@pytest.mark.parametrize("predicate", ["c = 'ab'", "c = 'ab   '", "c in ('x', 'ab')", pc.field("c") == "ab"])
def test_blanks_at_the_end_of_a_char_do_not_count(catalog: ExternalCatalog, predicate: Any) -> None:
    """Spark stores the values with blanks up to the length of the type, and finds them without."""
    table = CatalogTable(
        TableIdentifier("chars", "default"), CatalogTableType.MANAGED, CatalogStorage(), parse_ddl("v int, c char(5)"),
        provider="parquet", partition_column_names=("c",), tracks_partitions_in_catalog=True,
    )  # fmt: skip
    catalog.create_table(table)
    catalog.create_partitions("default", "chars", [CatalogTablePartition({"c": text}) for text in ("ab   ", "abc  ")])
    found = catalog.list_partitions_by_filter("default", "chars", [predicate])
    catalog.drop_table("default", "chars")
    assert [each.spec["c"] for each in found] == ["ab   "]
