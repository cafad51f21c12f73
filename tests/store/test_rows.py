"""The rows of catalogs, databases, tables, functions, roles and events, on both databases."""

from typing import Any

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.stored import BODY_FORMAT
from metastored.store.engine.transaction import ConstraintViolated
from metastored.store.objects import catalogs, databases, events, functions, tables
from metastored.store.objects.catalogs import CatalogRow
from metastored.store.objects.databases import DatabaseRow
from metastored.store.objects.events import EventRow
from metastored.store.objects.functions import FunctionOfDatabase, FunctionRow
from metastored.store.objects.tables import TableMeta, TableRow
from metastored.store.security import roles
from metastored.store.security.roles import RoleRow
from tests.store.conftest import make_table

BODY = bytes(range(256))


def test_a_catalog_is_found_changed_and_deleted(database: Database) -> None:
    id = database.run(lambda tx: catalogs.insert(tx, "hive", BODY))
    assert catalogs.find(database.reader(), "hive") == CatalogRow(id, "hive", BODY_FORMAT, BODY)
    assert catalogs.find(database.reader(), "Hive") is None
    database.run(lambda tx: catalogs.update(tx, id, b"new"))
    database.run(lambda tx: catalogs.insert(tx, "a", b""))
    assert [row.body for row in catalogs.rows(database.reader())] == [b"", b"new"]
    database.run(lambda tx: catalogs.delete(tx, id))
    assert catalogs.names(database.reader()) == ["a"]


def test_a_database_is_found_changed_and_deleted(database: Database) -> None:
    hive, other = database.run(lambda tx: (catalogs.insert(tx, "hive", b""), catalogs.insert(tx, "other", b"")))
    id = database.run(lambda tx: databases.insert(tx, hive, "db", BODY))
    database.run(lambda tx: databases.insert(tx, other, "db", b"other"))
    database.run(lambda tx: databases.insert(tx, hive, "a", b""))
    assert databases.find(database.reader(), "hive", "db") == DatabaseRow(id, hive, "db", BODY_FORMAT, BODY)
    assert databases.find(database.reader(), "hive", "nope") is None
    assert databases.names(database.reader(), "hive") == ["a", "db"]
    assert [row.name for row in databases.rows(database.reader(), "other")] == ["db"]
    database.run(lambda tx: databases.update(tx, id, b"new"))
    result = databases.find(database.reader(), "hive", "db")
    assert result is not None and result.body == b"new"
    assert database.run(lambda tx: databases.lock(tx, id, exclusive=True))
    database.run(lambda tx: databases.delete(tx, id))
    assert databases.names(database.reader(), "hive") == ["a"]
    assert databases.names(database.reader(), "other") == ["db"]


def test_a_database_with_tables_or_functions_is_not_empty_and_cannot_be_deleted(database: Database) -> None:
    table_id = database.run(make_table)
    row = databases.find(database.reader(), "hive", "db")
    assert row is not None
    assert databases.has_tables(database.reader(), row.id)
    assert not databases.has_functions(database.reader(), row.id)
    with pytest.raises(ConstraintViolated), database.write() as tx:
        databases.delete(tx, row.id)
    database.run(lambda tx: tables.delete(tx, table_id))
    assert databases.is_empty(database.reader(), row.id)
    database.run(lambda tx: functions.insert(tx, row.id, "f", b""))
    assert databases.has_functions(database.reader(), row.id)
    assert not databases.is_empty(database.reader(), row.id)


def _values(**changes: Any) -> dict[str, Any]:
    values = {"type": "VIRTUAL_VIEW", "owner": None, "last_access": 3, "write_id": 2**40, "body": BODY}
    return values | {"params": {}} | changes


def test_a_table_keeps_all_its_columns(database: Database, table_id: int) -> None:
    row = tables.find_by_id(database.reader(), table_id)
    assert row is not None
    id = database.run(lambda tx: tables.insert(tx, row.db_id, "v", **_values(creation_metadata=b"m")))
    expected = TableRow(id, row.db_id, "v", "VIRTUAL_VIEW", None, 3, 2**40, BODY_FORMAT, BODY, b"m", 0)
    assert tables.find(database.reader(), "hive", "db", "v") == expected
    assert tables.find(database.reader(), "hive", "nope", "v") is None
    assert tables.find(database.reader(), "nope", "db", "v") is None
    assert tables.metas(database.reader(), "hive", "db")[1] == TableMeta(
        id, "v", "VIRTUAL_VIEW", None, BODY_FORMAT, BODY
    )


def test_tables_are_listed_by_name_and_type(database: Database) -> None:
    for name in ("c", "a", "b"):
        database.run(lambda tx, name=name: make_table(tx, name))  # type: ignore[misc]
    b = tables.find(database.reader(), "hive", "db", "b")
    assert b is not None
    database.run(lambda tx: tables.update(tx, b.id, **_values()))
    tx = database.reader()
    assert tables.names(tx, "hive", "db") == ["a", "b", "c"]
    assert tables.names(tx, "hive", "db", "MANAGED_TABLE") == ["a", "c"]
    assert [row.name for row in tables.find_many(tx, "hive", "db", ["c", "nope", "a", "a"])] == ["a", "c"]
    assert [row.name for row in tables.rows(tx, "hive", "db")] == ["a", "b", "c"]


def test_an_update_replaces_a_table_and_its_parameters(database: Database, table_id: int) -> None:
    def write(**params: str) -> dict[str, str]:
        database.run(lambda tx: tables.update(tx, table_id, **_values(params=params)))
        return tables.searchable_params(database.reader(), table_id)

    assert write(a="1", b="2", gone="x") == {"a": "1", "b": "2", "gone": "x"}
    assert write(a="1", b="3", new="") == {"a": "1", "b": "3", "new": ""}
    assert write() == {}


def test_long_parameters_are_not_searchable_and_bytes_count(database: Database, table_id: int) -> None:
    params = {"fits": "x" * 255, "long": "x" * 256, "wide": "é" * 128, "k" * 256: "x"}
    database.run(lambda tx: tables.update(tx, table_id, **_values(params=params)))
    assert tables.searchable_params(database.reader(), table_id) == {"fits": "x" * 255}


def test_a_table_is_renamed_within_and_across_databases(database: Database, table_id: int) -> None:
    other = database.run(lambda tx: make_table(tx, "x", "other"))
    target = tables.find_by_id(database.reader(), other)
    assert target is not None
    database.run(lambda tx: tables.rename(tx, table_id, target.db_id, "new"))
    assert tables.names(database.reader(), "hive", "db") == []
    assert tables.names(database.reader(), "hive", "other") == ["new", "x"]
    with pytest.raises(ConstraintViolated), database.write() as tx:
        tables.rename(tx, table_id, target.db_id, "x")


def test_an_id_is_never_used_twice(database: Database, table_id: int) -> None:
    database.run(lambda tx: tables.delete(tx, table_id))
    assert database.run(make_table) > table_id


def test_a_lock_returns_whether_the_row_still_exists(database: Database, table_id: int) -> None:
    with database.write() as tx:
        assert tables.lock(tx, table_id)
        assert tables.lock(tx, table_id, exclusive=False)
    if database.dialect == "postgresql":
        with database.write() as tx:
            assert not tables.lock(tx, table_id + 1)


def test_a_function_is_found_changed_and_deleted(database: Database, table_id: int) -> None:
    row = databases.find(database.reader(), "hive", "db")
    assert row is not None
    id = database.run(lambda tx: functions.insert(tx, row.id, "f", BODY))
    assert functions.find(database.reader(), "hive", "db", "f") == FunctionRow(id, row.id, "f", BODY_FORMAT, BODY)
    database.run(lambda tx: functions.update(tx, id, row.id, "g", b"new"))
    assert functions.names(database.reader(), "hive", "db") == ["g"]
    assert functions.rows(database.reader(), "hive") == [FunctionOfDatabase("db", "g", BODY_FORMAT, b"new")]
    database.run(lambda tx: functions.delete(tx, id))
    assert functions.find(database.reader(), "hive", "db", "g") is None


def test_a_role_is_found_and_deleted(database: Database) -> None:
    database.run(lambda tx: roles.insert(tx, "public", None, 7))
    database.run(lambda tx: roles.insert(tx, "admin", "me", 8))
    assert roles.find(database.reader(), "admin") == RoleRow("admin", "me", 8)
    assert roles.names(database.reader()) == ["admin", "public"]
    database.run(lambda tx: roles.delete(tx, "admin"))
    assert roles.find(database.reader(), "admin") is None


def test_events_are_numbered_without_gaps_even_after_a_failure(database: Database) -> None:
    assert events.current(database.reader()) == 0
    for number in range(1, 4):
        with pytest.raises(KeyError), database.write() as tx:
            assert events.append(tx, 0, "LOST", None, None, None, 1, b"") == number
            raise KeyError
        assert database.run(lambda tx: events.append(tx, 5, "X", "hive", "db", "t", 1, BODY)) == number
    tx = database.reader()
    assert events.current(tx) == 3
    assert events.since(tx, 2) == [EventRow(3, 5, "X", "hive", "db", "t", 1, BODY)]
    assert [event.id for event in events.since(tx, 0, 2)] == [1, 2]
    assert events.since(tx, 3) == []
