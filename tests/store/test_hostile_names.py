"""Names of clients are parameters: whatever they contain, they find exactly their own rows, on both databases."""

from functools import partial

import pytest

from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import column_statistics, constraints, events, tables
from metastored.store.objects.constraints import NewConstraint
from metastored.store.objects.events import EventFilter
from metastored.store.security import grants
from tests.store.conftest import make_table

HOSTILE = (
    *("'", "' OR '1' = '1", "'; DROP TABLE tables; --", '"name"', "\\"),
    *(":id", "IN :ids", "%s", "%(id)s", "$1", "?"),
)


@pytest.fixture
def named(database: Database) -> dict[str, int]:
    """The ids of a table for each hostile name, in the database of that name."""
    return {name: database.run(partial(make_table, name=name, db=name)) for name in HOSTILE}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_table_of_any_name_is_found(database: Database, named: dict[str, int], name: str) -> None:
    tx = database.reader()
    found = tables.find(tx, "hive", name, name)
    assert found is not None and found.id == named[name]
    assert [row.id for row in tables.find_many(tx, "hive", name, HOSTILE)] == [named[name]]
    assert tables.names(tx, "hive", name, prefix=name) == [name]
    assert tables.names(tx, "hive", name, type=name) == []
    assert tables.distinct_values(tx, name) == set()


@pytest.mark.parametrize("name", HOSTILE)
def test_events_are_filtered_by_any_name(database: Database, name: str) -> None:
    def append(tx: Transaction) -> None:
        for each in HOSTILE:
            events.append(tx, 0, each, each, each, each, 1, b"")

    database.run(append)
    tx = database.reader()
    exact = EventFilter(cat=name, db=name, tables=(name,), types=(name,))
    assert [event.tbl for event in events.since(tx, 0, event_filter=exact)] == [name]
    assert events.count_since(tx, 0, EventFilter(not_types=(name,))) == len(HOSTILE) - 1


@pytest.mark.parametrize("name", HOSTILE)
def test_constraints_are_found_by_any_name(database: Database, named: dict[str, int], name: str) -> None:
    rows = [NewConstraint("f", each, 0, id, each, 0, id, each) for each, id in named.items()]
    database.run(lambda tx: constraints.insert_many(tx, rows))
    tx = database.reader()
    names = {"database": name, "table": name, "parent_database": name, "parent_table": name}
    assert [row.name for row in constraints.referring(tx, "f", "hive", **names)] == [name]
    assert constraints.referring(tx, name, name, **names) == []
    assert database.run(lambda tx: constraints.delete_on_columns(tx, named[name], [name])) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_grants_and_statistics_take_any_name(database: Database, named: dict[str, int], name: str) -> None:
    on = grants.On(grants.COLUMN, table_id=named[name], column_name=name)
    database.run(lambda tx: grants.insert(tx, on, grants.Grant(name, 1, name, False, 0)))
    tx = database.reader()
    assert [(row.table, row.grant.principal) for row in grants.on(tx, on, name, 1)] == [(name, name)]
    assert column_statistics.of_table(tx, named[name], [name], name) == []
    assert database.run(lambda tx: column_statistics.delete(tx, named[name], columns=[name], engine=name)) == 0
