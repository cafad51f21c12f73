"""Iceberg's catalogs as handlers: types, partitionings, namespaces, what is shown of a table, and errors."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyiceberg import types as theirs
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema

from metastored.connectors.adapted.handler import Adapted
from metastored.connectors.iceberg.catalog import IcebergSource
from metastored.connectors.iceberg.types import columns_of, partition_spec, schema_of, to_hive, to_iceberg
from metastored.errors import (
    AlreadyExistsException,
    ConversionError,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
    ObjectNotFound,
    TableNotFound,
)
from metastored.hive.types.type_strings import Decimal, HiveType, Primitive, parse_type
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace
from tests.hive.type_trees import trees
from tests.support.driven import connected
from tests.support.iceberg_rest import RestCatalog

SHARED = ("boolean", "int", "bigint", "float", "double", "string", "binary", "date", "timestamp",
          "timestamp with local time zone")  # fmt: skip
shared = trees(st.sampled_from(SHARED).map(Primitive) | st.just(Decimal(12, 3)), unions=False)


# Types


@pytest.mark.slow
@given(shared)
def test_types_that_both_have_come_back(type: HiveType) -> None:
    assume("struct<>" not in str(type))
    assert to_hive(to_iceberg(str(type), "c", count(1))) == type


@pytest.mark.parametrize(
    ("hive", "iceberg"), [("tinyint", "int"), ("smallint", "int"), ("char(3)", "string"), ("varchar(9)", "string")]
)
def test_types_that_iceberg_lacks_are_widened(hive: str, iceberg: str) -> None:
    assert str(to_iceberg(hive, "c", count(1))) == iceberg


@pytest.mark.parametrize(
    "hive", ["uniontype<int>", "interval_day_time", "void", "array<interval_year_month>", "struct<>", "zzz"]
)
def test_types_that_iceberg_cannot_hold_are_refused_with_their_column(hive: str) -> None:
    with pytest.raises(InvalidObjectException, match="column 'c'"):
        to_iceberg(hive, "c", count(1))


@pytest.mark.parametrize(
    ("type", "hive"),
    [
        (theirs.UUIDType(), "string"),
        (theirs.TimeType(), "string"),
        (theirs.FixedType(3), "binary"),
        (theirs.TimestamptzNanoType(), "timestamp with local time zone"),
        (theirs.UnknownType(), "void"),
    ],
)
def test_types_that_hive_lacks_are_shown_as_others(type: theirs.IcebergType, hive: str) -> None:
    assert to_hive(type) == parse_type(hive)


def test_types_that_hive_cannot_show_are_refused() -> None:
    with pytest.raises(ConversionError, match="Hive has no type for Iceberg's geometry"):
        columns_of(Schema(theirs.NestedField(1, "where", theirs.GeometryType(), False)))


# Partitionings


def test_each_transform_is_read() -> None:
    schema = schema_of([FieldSchema("id", "bigint"), FieldSchema("at", "timestamp"), FieldSchema("name", "string")])
    terms = ["Name", "day(at)", "hour( at )", "Month(at)", "years(at)", "bucket(16, id)", "truncate(4,name)"]
    spec = partition_spec([each for each in terms if each != "years(at)"], schema)
    assert [(each.name, str(each.transform)) for each in spec.fields] == [
        ("Name", "identity"),
        ("at_day", "day"),
        ("at_hour", "hour"),
        ("at_month", "month"),
        ("id_bucket", "bucket[16]"),
        ("name_trunc", "truncate[4]"),
    ]


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("missing", "there is no column 'missing'"),
        ("day(missing)", "there is no column 'missing'"),
        ("weekday(at)", "there is no such transform"),
        ("bucket(at)", "'bucket\\(at\\)' in the partitioning"),
    ],
)
def test_partitionings_that_cannot_be_are_refused(term: str, message: str) -> None:
    with pytest.raises(InvalidObjectException, match=message):
        partition_spec([term], schema_of([FieldSchema("at", "timestamp")]))


# A catalog


@pytest.fixture
def place(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "warehouse").mkdir()
    return {
        "type": "sql",
        "uri": f"sqlite:///{tmp_path / 'catalog.db'}",
        "warehouse": (tmp_path / "warehouse").as_uri(),
    }


@pytest.fixture
def client(place: dict[str, str]) -> Iterator[Any]:
    adapted = Adapted(IcebergSource(place, nested=True))
    try:
        with connected("sync", handler=adapted, cache=False) as found:
            found.api.create_database(Database("db", "all", None, {"a": "1"}, ownerName="ann"))
            yield found
    finally:
        adapted.close()


def table_of(name: str = "t", keys: tuple[str, ...] = (), **parameters: str) -> Table:
    sd = StorageDescriptor(cols=(FieldSchema("id", "bigint", "number"), FieldSchema("name", "string")))
    partition_keys = tuple(FieldSchema(key, "string") for key in keys)
    return Table(tableName=name, dbName="db", owner="ann", sd=sd, partitionKeys=partition_keys, parameters=parameters)


def test_a_table_is_shown_as_icebergs_own_hive_catalog_shows_it(client: Any, place: dict[str, str]) -> None:
    client.create_table(table_of(keys=("ds",), comment="x"))
    catalog = SqlCatalog("metastored", **place)
    catalog.load_table("db.t").append(pa.table({"id": [1, 2], "name": ["a", "b"], "ds": ["x", "y"]}))
    catalog.close()
    found = client.table("db.t")
    assert (found.tableType, found.owner, found.partitionKeys) == ("EXTERNAL_TABLE", "ann", ())
    assert [(each.name, each.type, each.comment) for each in found.sd.cols] == [
        ("id", "bigint", "number"),
        ("name", "string", None),
        ("ds", "string", None),
    ]
    parameters = found.parameters
    assert (parameters["table_type"], parameters["EXTERNAL"], parameters["comment"]) == ("ICEBERG", "TRUE", "x")
    assert parameters["metadata_location"].endswith(".metadata.json")
    assert (parameters["numRows"], parameters["numFiles"]) == ("2", "2")
    assert json.loads(parameters["default-partition-spec"])["fields"][0]["name"] == "ds"
    assert list(client.statistics("db.t")) == ["id"]


def test_a_whole_client_of_hives_can_look_around(client: Any) -> None:
    client.create_table(table_of("one"))
    client.create_table(table_of("two", comment="second"))
    api = client.api
    assert api.get_databases("d*") == ("db",)
    assert api.get_databases("@hive#*") == ("db",)
    assert api.get_tables("db", "o*") == ("one",)
    assert api.get_all_tables("@hive#db") == ("one", "two")
    assert api.get_all_tables("missing") == ()
    assert api.get_tables_by_type("db", "*", "VIRTUAL_VIEW") == ()
    assert api.get_tables_by_type("db", "*", None) == ("one", "two")
    metas = api.get_table_meta("*", "*", ("EXTERNAL_TABLE",))
    assert [(each.tableName, each.comments) for each in metas] == [("one", None), ("two", "second")]
    assert [each.tableName for each in api.get_table_objects_by_name("db", ("two", "none"))] == ["two"]
    assert [each.name for each in api.get_fields("db", "one")] == ["id", "name"]
    assert [each.name for each in api.get_schema("db", "one")] == ["id", "name"]
    assert api.get_table("db", "one").tableName == "one"
    assert api.getVersion() == "3.1"
    assert api.set_ugi("ann", ("g",)) == ("g",)
    api.shutdown()
    with pytest.raises(MetaException, match="catalog marker"):
        api.get_database("@broken")


def test_other_forms_of_writes_are_taken_too(client: Any) -> None:
    api = client.api
    api.create_table_with_environment_context(table_of("t"), None)
    api.alter_table("db", "t", client.table("db.t"))
    api.drop_table("db", "t", True)
    api.create_table(table_of("purged"))
    client.drop_table("db.purged", purge=True)
    assert client.tables("db") == ()
    for name in ("t", "purged"):
        with pytest.raises(ObjectNotFound, match=f"db.{name}"):
            client.drop_table(f"db.{name}")


def test_nested_namespaces_are_databases_with_dots(client: Any, place: dict[str, str]) -> None:
    client.api.create_database(Database("outer"))
    client.api.create_database(Database("outer.inner"))
    client.api.create_database(Database("outer.inner.core"))
    assert client.databases() == ("db", "outer", "outer.inner", "outer.inner.core")
    client.create_table(Table(tableName="t", dbName="outer.inner", sd=table_of().sd, parameters={}))
    assert client.tables("outer.inner") == ("t",)
    assert client.table(("outer", "inner", "t")).dbName == "outer.inner"
    assert [each.tableName for each in client.table_objects("outer.inner")] == ["t"]
    source = IcebergSource(place)
    assert source.databases() == ["db", "outer"]
    source.close()


def test_a_table_is_moved_to_another_database_but_stays_where_its_files_are(client: Any) -> None:
    client.api.create_database(Database("other"))
    client.create_table(table_of())
    there = client.table("db.t")
    with pytest.raises(InvalidOperationException, match="an Iceberg table stays where it is"):
        client.alter("db.t", replace(there, sd=replace(there.sd, location="file:///elsewhere")))
    client.alter("db.t", replace(there, dbName="other", tableName="u"))
    assert client.table("other.u").sd.location == there.sd.location
    assert client.tables("db") == ()


def test_changes_that_iceberg_refuses_change_nothing(client: Any) -> None:
    client.create_table(table_of())
    there = client.table("db.t")
    narrower = replace(there.sd, cols=(FieldSchema("id", "string"), FieldSchema("name", "string")))
    with pytest.raises(InvalidOperationException, match=r"db\.t: "):
        client.alter("db.t", replace(there, sd=narrower, parameters={**there.parameters, "x": "1"}))
    assert client.table("db.t") == there
    client.alter("db.t", there)
    assert client.table("db.t").parameters["metadata_location"] == there.parameters["metadata_location"]


def test_a_database_is_changed_only_where_it_differs(client: Any) -> None:
    there = client.database("db")
    assert (there.description, there.ownerName, there.parameters["a"]) == ("all", "ann", "1")
    client.api.alter_database("db", there)
    client.api.alter_database("db", Database("db", "some", None, {"b": "2"}))
    found = client.database("db")
    assert (found.description, found.ownerName, found.parameters.get("a"), found.parameters["b"]) == (
        "some", None, None, "2",
    )  # fmt: skip


def test_errors_are_the_metastores(client: Any) -> None:
    with pytest.raises(AlreadyExistsException):
        client.api.create_database(Database("db"))
    with pytest.raises(NoSuchObjectException, match="no"):
        client.api.alter_database("no", Database("no"))
    with pytest.raises(NoSuchObjectException, match="no"):
        client.api.drop_database("no", True, True)
    with pytest.raises(TableNotFound):
        client.table("no.t")
    with pytest.raises(MetastoreError, match="uniontype"):
        sd = StorageDescriptor(cols=(FieldSchema("u", "uniontype<int>"),))
        client.create_table(Table(tableName="t", dbName="db", sd=sd))


# REST


def test_a_rest_catalog_that_fails_is_named_with_what_it_said(iceberg_rest: RestCatalog) -> None:
    adapted = Adapted(IcebergSource({"type": "rest", "uri": iceberg_rest.uri}))
    try:
        with connected("sync", handler=adapted, cache=False) as client:
            for status in (400, 403):
                with iceberg_rest.failing(status):
                    with pytest.raises(MetastoreError, match=rf"the Iceberg catalog at {iceberg_rest.uri}.*on purpose"):
                        client.databases()
    finally:
        adapted.close()


def test_a_rest_catalog_that_is_not_there_is_said() -> None:
    with pytest.raises(MetaException, match=r"the Iceberg catalog at http://127\.0\.0\.1:1"):
        IcebergSource({"type": "rest", "uri": "http://127.0.0.1:1"})


def test_views_are_shown_with_their_query(iceberg_rest: RestCatalog) -> None:
    adapted = Adapted(IcebergSource({"type": "rest", "uri": iceberg_rest.uri}))
    db = f"views_{uuid.uuid4().hex[:8]}"
    try:
        with connected("sync", handler=adapted, cache=False) as client:
            client.api.create_database(Database(db))
            sd = StorageDescriptor(cols=(FieldSchema("id", "bigint"),))
            view = Table(tableName="v", dbName=db, sd=sd, tableType="VIRTUAL_VIEW", viewOriginalText="select 1")
            client.create_table(view)
            found = client.table(f"{db}.v")
            assert (found.tableType, found.viewOriginalText) == ("VIRTUAL_VIEW", "select 1")
            assert client.api.get_tables_by_type(db, "*", "VIRTUAL_VIEW") == ("v",)
            assert client.statistics(f"{db}.v") == {}
            client.drop_table(f"{db}.v")
            assert client.tables(db) == ()
    finally:
        adapted.close()
