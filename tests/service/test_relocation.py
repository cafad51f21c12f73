"""Stored locations after a directory was moved: which are rewritten, which are not, and that it is all or none."""

from __future__ import annotations

import tracemalloc
from functools import partial

import pytest

from metastored.errors import StoreError
from metastored.hive.generation import Generation
from metastored.service.relocation import Moved, relocate
from metastored.store.engine.database import Database as Store
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import partitions, tables
from metastored.store.objects.partitions import NewPartition
from metastored.store.warehouse import jobs, relocation
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest, GetCatalogRequest
from metastored.wire.generated.common import FieldSchema, SerDeInfo, SkewedInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore

OLD, NEW = "file:/old/wh", "s3a://bucket/wh"


def storage(location: str | None, **serde: str) -> StorageDescriptor:
    return StorageDescriptor(
        cols=(FieldSchema("a", "int"),), location=location, serdeInfo=SerDeInfo(parameters=serde), parameters={}
    )


def create_database(metastore: Metastore, name: str = "sales", location: str = f"{OLD}/sales.db") -> None:
    metastore.call("create_database", Database(name=name, locationUri=location))


def create_table(metastore: Metastore, name: str, sd: StorageDescriptor, **parameters: str) -> None:
    table = Table(
        tableName=name,
        dbName="sales",
        sd=sd,
        partitionKeys=(FieldSchema("day", "string"),),
        tableType="EXTERNAL_TABLE",
        parameters={"EXTERNAL": "TRUE", **parameters},
    )
    metastore.call("create_table", table)


def add(metastore: Metastore, table: str, **locations: str | None) -> None:
    """Partitions by their day, at these locations; None is the usual one."""
    parts = tuple(
        Partition(values=(day,), dbName="sales", tableName=table, sd=storage(location))
        for day, location in locations.items()
    )
    metastore.call("add_partitions", parts)


def location(metastore: Metastore, table: str) -> str:
    result: str = metastore.call("get_table", "sales", table).sd.location
    return result


def places(metastore: Metastore, table: str) -> dict[str, str]:
    result = metastore.call("get_partitions", "sales", table, -1)
    return {part.values[0]: part.sd.location for part in result}


def test_a_database_and_its_tables_move_together(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    result = relocate(metastore.database, OLD, NEW)
    assert metastore.call("get_database", "sales").locationUri == f"{NEW}/sales.db"
    assert location(metastore, "t") == f"{NEW}/sales.db/t"
    assert result.databases == [Moved("hive.sales", f"{OLD}/sales.db", f"{NEW}/sales.db")]
    assert result.tables == [Moved("hive.sales.t", f"{OLD}/sales.db/t", f"{NEW}/sales.db/t")]


def test_catalogs_move_with_their_default_databases(metastore: Metastore) -> None:
    metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="spark", locationUri=f"{OLD}/spark")))
    result = relocate(metastore.database, OLD, NEW)
    assert metastore.call("get_catalog", GetCatalogRequest("spark")).catalog.locationUri == f"{NEW}/spark"
    assert metastore.call("get_database", "@spark#default").locationUri == f"{NEW}/spark"
    assert [each.name for each in result.catalogs] == ["spark"]


def test_the_managed_location_of_a_database_moves_too(start: Starter) -> None:
    metastore = start(Generation.HIVE_4_0)
    database = Database(name="sales", locationUri="file:/elsewhere/sales", managedLocationUri=f"{OLD}/managed/sales")
    metastore.call("create_database", database)
    relocate(metastore.database, OLD, NEW)
    result = metastore.call("get_database", "sales")
    assert (result.locationUri, result.managedLocationUri) == ("file:/elsewhere/sales", f"{NEW}/managed/sales")


def test_partitions_move_however_their_locations_are_stored(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    add(
        metastore,
        "t",
        usual=None,
        renamed=f"{OLD}/sales.db/t/another",
        apart=f"{OLD}/apart/x",
        outside="file:/old/wh2/x",
    )
    result = relocate(metastore.database, OLD, NEW)
    assert places(metastore, "t") == {
        "usual": f"{NEW}/sales.db/t/day=usual",
        "renamed": f"{NEW}/sales.db/t/another",
        "apart": f"{NEW}/apart/x",
        "outside": "file:/old/wh2/x",
    }
    assert (result.partitions, result.tables[0].partitions) == (3, 3)


def test_only_partitions_move_when_a_directory_below_their_table_does(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    add(metastore, "t", **{"1": None, "10": None, "2": f"{OLD}/sales.db/t/day=1/inner"})
    result = relocate(metastore.database, f"{OLD}/sales.db/t/day=1", "file:/archive/one")
    assert places(metastore, "t") == {
        "1": "file:/archive/one",
        "10": f"{OLD}/sales.db/t/day=10",
        "2": "file:/archive/one/inner",
    }
    assert location(metastore, "t") == f"{OLD}/sales.db/t"
    assert result.tables == [Moved("hive.sales.t", None, None, partitions=2)]


@pytest.mark.parametrize("stored", ["file:///old/wh/t", "file:/old//wh/t", "file:/old/wh/t/"])
def test_every_spelling_of_a_directory_is_matched(metastore: Metastore, stored: str) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t", path=stored))
    relocate(metastore.database, "file:///old/wh/", NEW)
    table = metastore.call("get_table", "sales", "t")
    assert table.sd.serdeInfo.parameters["path"].rstrip("/") == f"{NEW}/t"


@pytest.mark.parametrize("other", ["file:/old/wh2", "file:/old/whale/t", "file:/old", "hdfs:/old/wh/t"])
def test_a_directory_with_a_longer_name_is_another_one(metastore: Metastore, other: str) -> None:
    create_database(metastore, location="file:/away")
    create_table(metastore, "t", storage(other, path=other))
    add(metastore, "t", one=None, two=f"{other}/apart")
    result = relocate(metastore.database, OLD, NEW)
    assert result.nothing
    assert location(metastore, "t") == other


def test_properties_that_hold_locations_are_rewritten_in_tables_and_partitions(metastore: Metastore) -> None:
    create_database(metastore)
    sd = storage(f"{OLD}/t", path=f"{OLD}/t", other=f"{OLD}/t")
    create_table(metastore, "t", sd, **{"avro.schema.url": f"{OLD}/t.avsc", "comment": f"was {OLD}"})
    part = Partition(values=("1",), dbName="sales", tableName="t", sd=storage(None, Path=f"{OLD}/t/day=1"))
    metastore.call("add_partition", part)
    result = relocate(metastore.database, OLD, NEW)
    table = metastore.call("get_table", "sales", "t")
    assert table.sd.serdeInfo.parameters == {"path": f"{NEW}/t", "other": f"{OLD}/t"}
    assert table.parameters["avro.schema.url"] == f"{NEW}/t.avsc"
    assert table.parameters["comment"] == f"was {OLD}"
    actual = metastore.call("get_partition", "sales", "t", ("1",))
    assert actual.sd.serdeInfo.parameters == {"Path": f"{NEW}/t/day=1"}
    assert result.properties == 3


def test_the_caller_names_further_properties(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t", other=f"{OLD}/t"))
    relocate(metastore.database, OLD, NEW, properties=["other"])
    assert metastore.call("get_table", "sales", "t").sd.serdeInfo.parameters["other"] == f"{NEW}/t"


def test_a_rewritten_property_is_found_by_a_filter(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t"), **{"avro.schema.url": f"{OLD}/t.avsc"})
    relocate(metastore.database, OLD, "file:/new")
    with metastore.database.read() as tx:
        assert list(tables.values_of(tx, "hive", "sales", "avro.schema.url").values()) == ["file:/new/t.avsc"]


def test_an_iceberg_table_keeps_its_metadata_location_and_is_reported(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t"), metadata_location=f"{OLD}/t/metadata/1.json")
    result = relocate(metastore.database, OLD, NEW)
    assert result.iceberg == ["hive.sales.t"]
    assert metastore.call("get_table", "sales", "t").parameters["metadata_location"] == f"{OLD}/t/metadata/1.json"


def test_the_metadata_location_is_rewritten_when_it_is_named(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t"), metadata_location=f"{OLD}/t/metadata/1.json")
    result = relocate(metastore.database, OLD, NEW, properties=["metadata_location"])
    assert result.iceberg == []
    assert metastore.call("get_table", "sales", "t").parameters["metadata_location"] == f"{NEW}/t/metadata/1.json"


def test_directories_of_skewed_values_move(metastore: Metastore) -> None:
    create_database(metastore)
    skewed = SkewedInfo(("a",), (("1",),), {("1",): f"{OLD}/t/a=1"})
    create_table(metastore, "t", replace(storage(f"{OLD}/t"), skewedInfo=skewed))
    relocate(metastore.database, OLD, NEW)
    result = metastore.call("get_table", "sales", "t").sd.skewedInfo
    assert result.skewedColValueLocationMaps == {("1",): f"{NEW}/t/a=1"}


def test_a_dry_run_reports_the_same_and_writes_nothing(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t", path=f"{OLD}/sales.db/t"))
    add(metastore, "t", one=None, two=f"{OLD}/two")
    before = (metastore.database.version(), places(metastore, "t"))
    planned = relocate(metastore.database, OLD, NEW, dry_run=True)
    assert (metastore.database.version(), places(metastore, "t")) == before
    assert location(metastore, "t") == f"{OLD}/sales.db/t"
    assert relocate(metastore.database, OLD, NEW) == planned
    assert planned.partitions == 2


def test_a_second_run_finds_nothing(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t"))
    relocate(metastore.database, OLD, NEW)
    assert relocate(metastore.database, OLD, NEW).nothing


def test_a_directory_can_move_below_itself(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    add(metastore, "t", one=None, two=f"{OLD}/two")
    relocate(metastore.database, OLD, f"{OLD}/deeper")
    assert places(metastore, "t") == {"one": f"{OLD}/deeper/sales.db/t/day=one", "two": f"{OLD}/deeper/two"}


def test_write_ids_and_owners_of_tables_stay(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/t"))
    with metastore.database.read() as tx:
        before = tables.find(tx, "hive", "sales", "t")
    relocate(metastore.database, OLD, NEW)
    with metastore.database.read() as tx:
        after = tables.find(tx, "hive", "sales", "t")
    assert before is not None and after is not None
    assert after._replace(body=b"") == before._replace(body=b"")


def test_a_failure_in_the_last_table_leaves_everything_as_it_was(metastore: Metastore) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    add(metastore, "t", one=None, two=f"{OLD}/two")
    create_table(metastore, "z", storage(f"{OLD}/sales.db/z"))
    before = places(metastore, "t")

    def written_by_a_later_version(tx: Transaction) -> None:
        row = tables.find(tx, "hive", "sales", "z")
        assert row is not None
        kept = {name: getattr(row, name) for name in ("type", "owner", "last_access", "write_id", "body")}
        tables.update(tx, row.id, **kept, params={}, fmt=99)

    metastore.database.run(written_by_a_later_version)
    with pytest.raises(StoreError, match="stored in format 99"):
        relocate(metastore.database, OLD, NEW)
    assert places(metastore, "t") == before
    assert metastore.call("get_database", "sales").locationUri == f"{OLD}/sales.db"


@pytest.mark.parametrize("pending", [f"{OLD}/t", OLD, "file:/old"])
def test_it_waits_for_directories_that_are_still_to_be_removed(metastore: Metastore, pending: str) -> None:
    create_database(metastore)
    metastore.database.run(lambda tx: jobs.add(tx, "remove", pending, created=0))
    with pytest.raises(StoreError, match="still to be moved or removed"):
        relocate(metastore.database, OLD, NEW)


# --- many partitions ------------------------------------------------------------------------------------------


def fill(store: Store, count: int) -> None:
    """Partitions of hive.sales.t, half of them on its base and half by complete URIs."""
    with store.read() as tx:
        row = tables.find(tx, "hive", "sales", "t")
    assert row is not None
    table_id = row.id

    def write(first: int, last: int, tx: Transaction) -> None:
        base = partitions.add_base(tx, table_id, f"{OLD}/sales.db/t/")
        shape = partitions.add_shape(tx, table_id, b"")
        new = [
            NewPartition(
                f"day={number:08d}",
                (f"{number:08d}",),
                shape,
                None if number % 2 else base,
                f"{OLD}/apart/{number}" if number % 2 else None,
                -1,
                b"",
            )
            for number in range(first, last)
        ]
        partitions.insert_many(tx, table_id, new)

    for first in range(0, count, 10_000):
        store.run(partial(write, first, min(first + 10_000, count)))


def peak_of_relocation(metastore: Metastore, old: str, new: str) -> tuple[int, int]:
    """(partitions that were rewritten, bytes of memory at most)."""
    tracemalloc.start()
    try:
        result = relocate(metastore.database, old, new)
        return result.partitions, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check_bounded(metastore: Metastore, small: int, large: int) -> None:
    create_database(metastore)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    fill(metastore.database, small)
    few, first = peak_of_relocation(metastore, OLD, NEW)
    relocate(metastore.database, NEW, OLD)
    metastore.call("drop_table", "sales", "t", False)
    create_table(metastore, "t", storage(f"{OLD}/sales.db/t"))
    fill(metastore.database, large)
    many, second = peak_of_relocation(metastore, OLD, NEW)
    assert (few, many) == (small, large)
    print(f"{few:,} partitions: {first:,} bytes; {many:,} partitions: {second:,} bytes")
    assert second < first * 1.5


@pytest.mark.slow
def test_memory_does_not_grow_with_the_partitions(metastore: Metastore) -> None:
    check_bounded(metastore, 6 * relocation.PAGE, 18 * relocation.PAGE)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_a_million_partitions_are_rewritten_in_bounded_memory(metastore: Metastore) -> None:
    check_bounded(metastore, 50_000, 1_000_000)
