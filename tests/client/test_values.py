"""The oddities of real metastores, each with what becomes of it: section by section, one test or more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from metastored.client.naming import TableName, database_field, named, table_name
from metastored.client.outcomes import question
from metastored.client.retry import Retry
from metastored.client.values import TableFormat, decimal, legible, location, moment, origin, seconds, text
from metastored.errors import (
    AlreadyExistsException,
    ConfigError,
    ConnectError,
    ConnectionLost,
    ConversionError,
    DatabaseNotFound,
    ErrorKind,
    InvalidInputException,
    InvalidObjectException,
    MetaException,
    NoSuchObjectException,
    ObjectAlreadyExists,
    ObjectNotFound,
    RemoteProtocolError,
    TableNotFound,
    TimeoutExceeded,
    kind_of,
)
from metastored.hive.names import escape, partition_name_to_vals, unescape
from metastored.wire import binary
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.client.handlers import table_of


def test_texts_that_are_not_utf8_are_kept_and_can_be_shown() -> None:
    table = binary.decode(Table, binary.encode(Table(tableName="t")).replace(b"t", b"\xe9", 1))
    assert table.tableName == "\udce9"
    assert b"\xe9" in binary.encode(table)
    assert legible(table.tableName) == "é"
    assert legible("плохо") == "плохо"
    assert legible("\udcef\udcf0", "cp1251") == "пр"


@pytest.mark.parametrize("value", [None, "", "  ", "\t"])
def test_empty_texts_stand_for_null(value: str | None) -> None:
    assert text(value) is None
    assert location(value) is None


def test_texts_with_content_are_left_as_they_are() -> None:
    assert text(" a ") == " a "


def test_times_are_seconds_in_utc() -> None:
    assert moment(1_700_000_000) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert moment("1700000000") == moment(1_700_000_000)
    assert [moment(value) for value in (None, 0, -1, "")] == [None] * 4
    there = datetime(2023, 11, 15, 0, 13, 20, tzinfo=timezone(timedelta(hours=2)))
    assert seconds(there) == 1_700_000_000
    with pytest.raises(ConversionError, match="has no time zone"):
        seconds(datetime(2023, 11, 14))
    for wrong in ("soon", 10**20):
        with pytest.raises(ConversionError, match="not a time"):
            moment(wrong)


@pytest.mark.parametrize("value", ["a=b", "a/b", "100%", "it's", 'say "hi"', "x:y?*[]{^", "\t", "naïve", "a b", "}"])
def test_values_of_partitions_go_into_names_and_come_back(value: str) -> None:
    assert unescape(escape(value)) == value
    assert partition_name_to_vals(f"k={escape(value)}") == [value]


def test_locations_have_one_form() -> None:
    assert location("hdfs://nn//a///b/") == "hdfs://nn/a/b"
    assert location("s3a://bucket/a/") == "s3a://bucket/a"
    assert location("file:/x") == location("file:///x")
    with pytest.raises(ConversionError, match="not a location"):
        location("file:x")


@pytest.mark.parametrize(
    ("type", "expected"),
    [("decimal(10,2)", (10, 2)), ("decimal( 10 , 2 )", (10, 2)), ("DECIMAL(5)", (5, 0)), ("decimal", (10, 0))],
)
def test_decimals_in_all_their_spellings(type: str, expected: tuple[int, int]) -> None:
    assert decimal(type) == expected


@pytest.mark.parametrize("type", ["int", "decimal(", "decimal(a,b)", ""])
def test_what_is_no_decimal_is_refused(type: str) -> None:
    with pytest.raises(ConversionError):
        decimal(type)


@pytest.mark.parametrize(
    ("parameters", "expected", "writer"),
    [
        ({}, TableFormat.HIVE, None),
        ({"table_type": "ICEBERG", "metadata_location": "s3://x"}, TableFormat.ICEBERG, None),
        ({"table_type": "iceberg"}, TableFormat.ICEBERG, None),
        ({"storage_handler": "org.apache.iceberg.mr.hive.HiveIcebergStorageHandler"}, TableFormat.ICEBERG, None),
        ({"spark.sql.sources.provider": "delta"}, TableFormat.DELTA, None),
        ({"delta.minReaderVersion": "1"}, TableFormat.DELTA, None),
        ({"spark.sql.sources.provider": "hudi"}, TableFormat.HUDI, None),
        ({"hoodie.table.name": "t"}, TableFormat.HUDI, None),
        ({"table_type": "lance"}, TableFormat.LANCE, None),
        ({"spark.sql.sources.provider": "parquet", "spark.sql.create.version": "3.5.6"}, TableFormat.HIVE, "spark"),
        ({"trino_version": "476", "presto_version": "x"}, TableFormat.HIVE, "trino"),
        ({"presto_version": "0.290"}, TableFormat.HIVE, "presto"),
    ],
)
def test_whose_table_it_is(parameters: dict[str, str], expected: TableFormat, writer: str | None) -> None:
    found = origin(Table(parameters=parameters))
    assert (found.format, found.writer) == (expected, writer)
    assert found.metadata_location == parameters.get("metadata_location")
    assert found.provider == parameters.get("spark.sql.sources.provider")


def test_a_hudi_table_is_told_by_its_input_format() -> None:
    sd = StorageDescriptor(inputFormat="org.apache.hudi.hadoop.HoodieParquetInputFormat")
    assert origin(Table(sd=sd, parameters=None)).format is TableFormat.HUDI


# Names, and errors that say them


def test_names_of_tables_and_databases() -> None:
    assert table_name("db.t") == TableName(None, "db", "t")
    assert table_name("cat.db.t") == TableName("cat", "db", "t")
    assert table_name(("db", "a.b")) == TableName(None, "db", "a.b")
    assert table_name("cat.db.t").db_field == "@cat#db"
    assert str(table_name("cat.db.t")) == "cat.db.t"
    assert database_field("db") == "db"
    assert database_field("cat.db") == "@cat#db"
    for wrong in ("t", "a..b", "a.b.c.d", ""):
        with pytest.raises(InvalidInputException, match=r"database\.table"):
            table_name(wrong)
    with pytest.raises(InvalidInputException):
        database_field("")


@pytest.mark.parametrize(
    ("method", "args", "error", "expected", "said"),
    [
        ("get_database", ("nodb",), NoSuchObjectException("nodb"), DatabaseNotFound, "database nodb not found"),
        ("get_table", ("d", "t"), NoSuchObjectException("hive.d.t table not found"), TableNotFound, "hive.d.t table"),
        ("get_partition", ("d", "t", ("1",)), NoSuchObjectException("d.t table not found"), TableNotFound, "d.t"),
        (
            "get_partitions_by_filter",
            ("d", "t", "ds = '1'", -1),
            NoSuchObjectException("Specified catalog.database.table does not exist : hive.d.t"),
            TableNotFound,
            "hive.d.t",
        ),
        ("get_function", ("d", "f"), NoSuchObjectException("no"), ObjectNotFound, "function d.f: no"),
        ("create_role", (None,), NoSuchObjectException("x"), NoSuchObjectException, "x"),
        (
            "add_partition",
            (None,),
            AlreadyExistsException("there"),
            AlreadyExistsException,
            "there",
        ),
        (
            "append_partition_by_name",
            ("d", "t", "ds=1"),
            AlreadyExistsException("there"),
            ObjectAlreadyExists,
            "partition d.t ds=1: there",
        ),
        ("get_table", ("d", "t"), MetaException("other"), MetaException, "other"),
    ],
)
def test_errors_name_the_object(
    method: str, args: tuple[object, ...], error: MetaException, expected: type, said: str
) -> None:
    found = named(error, METHODS[method], args)
    assert type(found) is expected
    assert said in str(found)


def test_errors_that_name_an_object_can_be_copied() -> None:
    import pickle

    for error in (TableNotFound("table", "a.b"), ObjectAlreadyExists("table", "a.b")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.object, again.name, str(again)) == (type(error), "table", "a.b", str(error))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DatabaseNotFound("database", "d"), ErrorKind.NOT_FOUND),
        (ObjectAlreadyExists("table", "t"), ErrorKind.ALREADY_EXISTS),
        (InvalidObjectException("x"), ErrorKind.INVALID_ARGUMENT),
        (ConfigError("x"), ErrorKind.INVALID_ARGUMENT),
        (ConversionError("x"), ErrorKind.INVALID_ARGUMENT),
        (MetaException("x"), ErrorKind.EXTERNAL),
        (ConnectError("x"), ErrorKind.EXTERNAL),
    ],
)
def test_each_error_belongs_in_one_of_five_drawers(error: MetaException, kind: ErrorKind) -> None:
    assert kind_of(error) is kind


# Repeating


def test_waits_double_and_are_spread() -> None:
    retry = Retry()
    assert [retry.delay(attempt, 0.0) for attempt in (1, 2, 3)] == [0.1, 0.2, 0.4]
    assert retry.delay(1, 1.0) == pytest.approx(0.05)


@pytest.mark.parametrize("wrong", [Retry(attempts=0), Retry(first_delay=-1), Retry(jitter=2)])
def test_ways_to_repeat_that_cannot_be_are_refused(wrong: Retry) -> None:
    with pytest.raises(ConfigError, match="attempts from 1"):
        wrong.checked()


def test_only_transport_failures_are_repeated_and_only_where_it_does_no_harm() -> None:
    retry = Retry()
    read, create, opens = METHODS["get_table"], METHODS["create_table"], METHODS["open_txns"]
    assert retry.again(read, ConnectionLost(), 1, True)
    assert retry.again(create, ConnectionLost(), 1, True)
    assert not retry.again(opens, ConnectionLost(), 1, True)
    assert retry.again(opens, ConnectError(), 1, False)
    assert not retry.again(read, ConnectionLost(), 3, True)
    assert not retry.again(read, TimeoutExceeded(), 1, True)
    assert not retry.again(read, RemoteProtocolError(), 1, True)


def test_every_way_to_write_a_table_or_a_partition_has_a_question() -> None:
    table = table_of("d", "t")
    from metastored.wire.generated.databases import CreateDatabaseRequest, Database, DropDatabaseRequest
    from metastored.wire.generated.partitions import Partition
    from metastored.wire.generated.tables import AlterTableRequest, CreateTableRequest, DropTableRequest

    part = Partition(values=("1",), dbName="d", tableName="t")
    asked = {
        "create_table": (table,),
        "create_table_req": (CreateTableRequest(table=table),),
        "create_table_with_environment_context": (table, None),
        "alter_table": ("d", "t", table),
        "alter_table_req": (AlterTableRequest(dbName="d", tableName="t", table=table),),
        "drop_table": ("d", "t", True),
        "drop_table_req": (DropTableRequest(dbName="d", tableName="t"),),
        "create_database": (Database(name="d"),),
        "create_database_req": (CreateDatabaseRequest(databaseName="d"),),
        "drop_database": ("d", True, True),
        "drop_database_req": (DropDatabaseRequest(name="d"),),
        "add_partition": (part,),
        "add_partition_with_environment_context": (part, None),
        "add_partitions": ((part,),),
        "append_partition_by_name": ("d", "t", "ds=1"),
        "drop_partition_by_name": ("d", "t", "ds=1", True),
    }
    for name, args in asked.items():
        found = question(METHODS[name], args)
        assert found is not None, name
        assert found.db == "d", name
    for name, nothing in (("create_role", (None,)), ("add_partitions", ((),)), ("alter_table", ("d", "t", None))):
        assert question(METHODS[name], nothing) is None
    created = question(METHODS["create_table"], (table,))
    assert created is not None
    assert created.took_effect(replace(table, parameters={"numFiles": "0"}))
    assert not created.took_effect(None)
    added = question(METHODS["add_partition"], (part,))
    assert added is not None
    assert added.result([part]) is part
