"""Locations that clients send: every call reads them in one way, and stores one form of them."""

from __future__ import annotations

import pytest

from metastored.errors import MetaException
from metastored.hive.generation import Generation
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.objects import bare_storage as storage
from tests.support.objects import make_table
from tests.support.objects import sales_table as table

SPELLINGS = ["/x//y/", "file:/x/y", "file:///x/y", "file:///x/y/", "FILE:/x/y", "file://localhost/x/./y"]
RELATIVE = ["x/y", "./x", "file:x", "//host/x", "file://host/x"]


def partition(location: str | None) -> Partition:
    return Partition(values=("1",), dbName="sales", tableName="t", sd=replace(storage(), location=location))


@pytest.mark.parametrize("sent", SPELLINGS)
def test_every_call_stores_one_form_of_a_location(start: Starter, sent: str) -> None:
    metastore = start(Generation.HIVE_4_0)
    metastore.call("create_database", Database(name="d", locationUri=sent))
    metastore.call("create_database", Database(name="e", locationUri="file:/e"))
    metastore.call("alter_database", "e", Database(name="e", locationUri=sent, managedLocationUri=sent))
    make_table(metastore, "t", keys=("day",))
    metastore.call(
        "create_table", replace(table("u"), sd=replace(storage(), location=sent), tableType="EXTERNAL_TABLE")
    )
    metastore.call("add_partition", partition(sent))
    added = metastore.call("get_partition", "sales", "t", ("1",)).sd.location
    metastore.call("alter_partition", "sales", "t", partition("file:/elsewhere"))
    metastore.call("alter_partition", "sales", "t", partition(sent))
    altered = metastore.call("get_partition", "sales", "t", ("1",)).sd.location
    database = metastore.call("get_database", "e")
    assert [
        metastore.call("get_database", "d").locationUri,
        database.locationUri,
        database.managedLocationUri,
        metastore.call("get_table", "sales", "u").sd.location,
        added,
        altered,
    ] == ["file:/x/y"] * 6


@pytest.mark.parametrize("sent", RELATIVE)
def test_no_new_object_has_a_relative_location(metastore: Metastore, sent: str) -> None:
    make_table(metastore, "t", keys=("day",))
    for method, args in (
        ("create_database", (Database(name="d", locationUri=sent),)),
        ("create_table", (replace(table("u"), sd=replace(storage(), location=sent)),)),
        ("add_partition", (partition(sent),)),
        ("add_partitions", ((partition(sent),),)),
    ):
        with pytest.raises(MetaException):
            metastore.call(method, *args)


def test_a_database_is_below_its_catalog_however_that_location_is_written(metastore: Metastore) -> None:
    metastore.call("create_catalog", CreateCatalogRequest(Catalog(name="spark", locationUri="/x//spark/")))
    metastore.call("create_database", Database(name="d", catalogName="spark"))
    assert metastore.call("get_database", "@spark#d").locationUri == "file:/x/spark/d.db"
