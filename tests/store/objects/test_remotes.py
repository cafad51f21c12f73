"""The rows of definitions: they follow their object, and their number tells of every change."""

from __future__ import annotations

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import catalogs, databases, remotes, tables
from metastored.store.objects.remotes import Of
from tests.store.conftest import make_table


def test_a_definition_has_the_present_names_of_its_table(database: Database, table_id: int) -> None:
    database.run(lambda tx: remotes.insert(tx, Of(table_id=table_id), b"x"))
    (row,) = remotes.all(database.reader())
    assert (row.catalog, row.database, row.table, row.body) == ("hive", "db", "t", b"x")

    def rename(tx: Transaction) -> None:
        found = tables.find(tx, "hive", "db", "t")
        assert found is not None
        tables.rename(tx, found.id, found.db_id, "u")

    database.run(rename)
    assert [row.table for row in remotes.all(database.reader())] == ["u"]


def test_a_definition_is_deleted_with_its_object(database: Database, table_id: int) -> None:
    def define(tx: Transaction) -> tuple[int, int]:
        catalog = catalogs.insert(tx, "c", b"")
        home = databases.insert(tx, catalog, "far", b"")
        remotes.insert(tx, Of(table_id=table_id), b"t")
        remotes.insert(tx, Of(db_id=home), b"d")
        remotes.insert(tx, Of(cat_id=catalog), b"c")
        return catalog, home

    catalog, home = database.run(define)
    assert [(row.catalog, row.database, row.table) for row in remotes.all(database.reader())] == [
        ("c", None, None),
        ("c", "far", None),
        ("hive", "db", "t"),
    ]
    database.run(lambda tx: tables.delete(tx, table_id))
    database.run(lambda tx: databases.delete(tx, home))
    database.run(lambda tx: catalogs.delete(tx, catalog))
    assert remotes.all(database.reader()) == []


def test_an_object_has_one_definition(database: Database, table_id: int) -> None:
    database.run(lambda tx: remotes.insert(tx, Of(table_id=table_id), b"x"))
    with pytest.raises(ConstraintViolated):
        database.run(lambda tx: remotes.insert(tx, Of(table_id=table_id), b"y"))
    found = remotes.find(database.reader(), Of(table_id=table_id))
    assert found is not None and found.body == b"x"
    assert remotes.find(database.reader(), Of(db_id=999)) is None


def test_every_change_gives_another_number_and_other_writes_do_not(database: Database, table_id: int) -> None:
    numbers = [remotes.version(database.reader())]
    database.run(lambda tx: remotes.insert(tx, Of(table_id=table_id), b"x"))
    numbers.append(remotes.version(database.reader()))
    id = remotes.all(database.reader())[0].id
    database.run(lambda tx: remotes.update(tx, id, b"y"))
    numbers.append(remotes.version(database.reader()))
    assert len(set(numbers)) == 3
    database.run(lambda tx: make_table(tx, "other"))
    assert remotes.version(database.reader()) == numbers[-1]


def test_remote_tables_of_a_database_are_found(database: Database, table_id: int) -> None:
    found = databases.find(database.reader(), "hive", "db")
    assert found is not None and not remotes.has_tables(database.reader(), found.id)
    database.run(lambda tx: remotes.insert(tx, Of(table_id=table_id), b"x"))
    assert remotes.has_tables(database.reader(), found.id)
