"""Tables with the fields that a Hive 4 client requests, in databases whose names match a pattern."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import InvalidOperationException, MetaException, UnknownDBException
from metastored.wire.generated.common import GetProjectionsSpec, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.tables import GetTablesRequest
from metastored.wire.structs import replace
from tests.support.metastore import Metastore
from tests.support.objects import DB, make_table
from tests.support.objects import sales_table as table


@pytest.fixture
def tables(hive_4: Metastore) -> Metastore:
    for name in ("t", "u"):
        make_table(hive_4, name, owner="bob")
    hive_4.call("create_database", Database(name="salad", locationUri="file:/nowhere/salad"))
    hive_4.call("create_table", replace(table("t"), dbName="salad"))
    return hive_4


def tables_of(metastore: Metastore, **request: Any) -> tuple[Table, ...]:
    reply: tuple[Table, ...] = metastore.call("get_table_objects_by_name_req", GetTablesRequest(**request)).tables
    return reply


def names(tables: tuple[Table, ...]) -> list[str]:
    return [f"{each.dbName}.{each.tableName}" for each in tables]


def test_a_star_matches_any_database(tables: Metastore) -> None:
    assert names(tables_of(tables, dbName="sal*", tblNames=("t",))) == ["salad.t", "sales.t"]
    assert names(tables_of(tables, dbName="SALA*", tablesPattern="*")) == ["salad.t"]


def test_a_pattern_and_names_must_both_fit(tables: Metastore) -> None:
    assert names(tables_of(tables, dbName=DB, tblNames=("T", "u"), tablesPattern="t*")) == ["sales.t"]


def test_a_missing_database_is_an_error(tables: Metastore) -> None:
    with pytest.raises(UnknownDBException, match=r"Could not find database hive\.nodb: database hive\.nodb"):
        tables_of(tables, dbName="nodb", tablesPattern="*")


def test_only_the_requested_fields_are_returned(tables: Metastore) -> None:
    spec = GetProjectionsSpec(fieldList=("dbName", "tableName", "owner", "sd.location"))
    (only,) = tables_of(tables, dbName=DB, tblNames=("t",), projectionSpec=spec)
    assert (only.dbName, only.tableName, only.owner) == (DB, "t", "bob")
    assert only.sd is not None
    assert only.sd.location == "file:/nowhere/sales.db/t"
    assert (only.sd.cols, only.parameters, only.partitionKeys) == (None, None, None)


def test_a_request_for_a_list_returns_the_complete_table(tables: Metastore) -> None:
    spec = GetProjectionsSpec(fieldList=("tableName", "parameters"))
    (whole,) = tables_of(tables, dbName=DB, tblNames=("t",), projectionSpec=spec)
    assert whole == tables_of(tables, dbName=DB, tblNames=("t",))[0]


def test_unknown_fields_and_patterns_of_parameters_are_refused(tables: Metastore) -> None:
    with pytest.raises(MetaException, match=r"Invalid table fields in the projection spec\[nope\]"):
        tables_of(tables, dbName=DB, tblNames=("t",), projectionSpec=GetProjectionsSpec(fieldList=("nope",)))
    with pytest.raises(InvalidOperationException, match="Include and Exclude Param key are not supported"):
        tables_of(tables, dbName=DB, tblNames=("t",), projectionSpec=GetProjectionsSpec(includeParamKeyPattern="E%"))
