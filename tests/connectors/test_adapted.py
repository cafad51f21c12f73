"""A source as a handler: what it lacks, what it raises, and what becomes of what nobody foresaw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from metastored.connectors.adapted.handler import Adapted, Source
from metastored.errors import (
    ConfigError,
    ErrorKind,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    MethodMissing,
    NoSuchObjectException,
    kind_of,
)
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from tests.support.driven import connected


class Tiny(Source):
    """One database with one table, and nothing that can be changed."""

    def __init__(self) -> None:
        self.fails: Exception | None = None
        self.closed = False

    def databases(self) -> Sequence[str]:
        if self.fails is not None:
            raise self.fails
        return ("db",)

    def database(self, name: str) -> Database:
        if name != "db":
            raise NoSuchObjectException(name)
        return Database("db")

    def create_database(self, database: Database) -> None:
        raise InvalidOperationException("only one is there")

    def alter_database(self, name: str, database: Database) -> None:
        raise AssertionError

    def drop_database(self, name: str) -> None:
        raise AssertionError

    def tables(self, db: str) -> Sequence[str]:
        return ("t",)

    def table(self, db: str, name: str) -> Table:
        if name != "t":
            raise NoSuchObjectException(f"{db}.{name} table not found")
        keys = (FieldSchema("ds", "string"),)
        return Table(tableName="t", dbName=db, sd=StorageDescriptor(cols=()), partitionKeys=keys, parameters={})

    def create_table(self, table: Table) -> None:
        raise AssertionError

    def alter_table(self, db: str, name: str, table: Table) -> None:
        raise AssertionError

    def drop_table(self, db: str, name: str, purge: bool) -> None:
        raise AssertionError

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def source() -> Tiny:
    return Tiny()


@pytest.fixture
def client(source: Tiny) -> Iterator[Any]:
    adapted = Adapted(source)
    with connected("sync", handler=adapted, cache=False) as found:
        yield found
    adapted.close()
    assert source.closed


PARTITION = Partition(values=("1",), dbName="db", tableName="t", sd=StorageDescriptor(cols=()))


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.partition_names("db.t"),
        lambda client: client.partition("db.t", ["1"]),
        lambda client: client.add_partitions("db.t", [PARTITION]),
        lambda client: client.api.alter_partition("db", "t", PARTITION),
        lambda client: client.drop_partition("db.t", ["1"]),
        lambda client: client.api.get_all_functions(),
    ],
)
def test_what_a_source_lacks_is_a_method_that_is_not_there(client: Any, ask: Callable[[Any], Any]) -> None:
    with pytest.raises(MethodMissing, match=r"has no \w+( \(.*\))?; ") as told:
        ask(client)
    assert kind_of(told.value) is ErrorKind.NOT_SUPPORTED


def test_tables_that_are_missing_are_left_out_of_a_list(client: Any) -> None:
    assert [each.tableName for each in client.api.get_table_objects_by_name("db", ("none", "t"))] == ["t"]


def test_a_database_with_tables_is_not_dropped(client: Any) -> None:
    with pytest.raises(InvalidOperationException, match="Database db is not empty"):
        client.drop_database("db")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MetaException("too late"), "too late"),
        (InvalidObjectException("not declared there"), "not declared there"),
        (ConfigError("badly set up"), "badly set up"),
        (ZeroDivisionError("on purpose"), "get_all_databases failed: ZeroDivisionError: on purpose"),
    ],
)
def test_every_error_reaches_the_caller_with_its_text(source: Tiny, client: Any, error: Exception, said: str) -> None:
    source.fails = error
    with pytest.raises(MetaException, match=said):
        client.databases()
    source.fails = None
    assert client.databases() == ("db",)
