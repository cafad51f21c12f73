"""The objects of a call are read by the roles of its fields, for every method."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.model.names import DatabaseName, TableName
from metastored.model.objects import Located, objects_of
from metastored.wire.generated.common import CreationMetadata, SQLForeignKey, Table
from metastored.wire.generated.constraints import AddForeignKeyRequest
from metastored.wire.generated.locks import LockComponent, LockRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.tables import GetTablesRequest
from metastored.wire.generated.transactions import GetValidWriteIdsRequest
from metastored.wire.structs import replace
from tests.gate.conftest import call_of, table


def named(*names: str) -> tuple[TableName, ...]:
    """Tables from `db.t` or `cat.db.t`."""
    found = []
    for name in names:
        *catalog, database, last = name.split(".")
        found.append(TableName(catalog[0] if catalog else "hive", database, last))
    return tuple(found)


@pytest.mark.parametrize(
    ("name", "args", "tables"),
    [
        ("get_table", ("D", "T"), named("d.t")),
        ("get_table", ("@spark#D", "T"), named("spark.d.t")),
        ("get_table_objects_by_name", ("d", ("t1", "t2")), named("d.t1", "d.t2")),
        (
            "get_table_objects_by_name_req",
            (GetTablesRequest(dbName="d", tblNames=("t1", "t2"), catName="c"),),
            named("c.d.t1", "c.d.t2"),
        ),
        ("create_table", (table("t", "o"),), named("d.t")),
        ("alter_table", ("d", "t", Table(tableName="u", dbName="e", catName="c")), named("d.t", "c.e.u")),
        ("exchange_partition", ({}, "d1", "t1", "d2", "t2"), named("d1.t1", "d2.t2")),
        (
            "add_foreign_key",
            (
                AddForeignKeyRequest(
                    foreignKeyCols=(
                        SQLForeignKey(pktable_db="p", pktable_name="pk", fktable_db="f", fktable_name="fk"),
                    )
                ),
            ),
            named("p.pk", "f.fk"),
        ),
        ("add_partitions", ((Partition(dbName="d", tableName="t"),) * 3,), named("d.t")),
        ("get_valid_write_ids", (GetValidWriteIdsRequest(fullTableNames=("d.t", "e.u")),), named("d.t", "e.u")),
        (
            "lock",
            (LockRequest(component=(LockComponent(dbname="d", tablename="t"), LockComponent(dbname="e"))),),
            named("d.t"),
        ),
        ("get_all_tables", ("d",), ()),
        ("get_table", (None, "t"), ()),
        ("get_table", ("@broken", "t"), ()),
    ],
)
def test_tables_belong_to_the_database_beside_them(
    name: str, args: tuple[Any, ...], tables: tuple[TableName, ...]
) -> None:
    assert objects_of(call_of(name, *args)).tables == tables


def test_databases_are_found_once() -> None:
    request = LockRequest(component=(LockComponent(dbname="d", tablename="t"), LockComponent(dbname="D")))
    assert objects_of(call_of("lock", request)).databases == (DatabaseName("hive", "d"),)


def test_the_sources_of_a_view_are_not_changed_objects() -> None:
    sources = CreationMetadata(catName="hive", dbName="d", tblName="v", tablesUsed=frozenset({"e.t"}))
    objects = objects_of(call_of("create_table", replace(table("v", "o"), creationMetadata=sources)))
    assert objects.tables == named("d.v")
    assert set(objects.sources) == set(named("d.v", "e.t"))
    assert objects.databases == (DatabaseName("hive", "d"),)


def test_a_location_belongs_to_the_nearest_table() -> None:
    call = call_of("create_table", table("t", "o", location="file:/x"))
    assert objects_of(call).locations == (Located("file:/x", named("d.t")[0]),)
    empty = replace(table("t", "o"), sd=None)
    assert objects_of(call_of("create_table", empty)).locations == ()
