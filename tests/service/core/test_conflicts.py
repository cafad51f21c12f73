"""Conflicts with other calls: a table that changed since it was read, a directory with a pending job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.service.core.conflicts import ConcurrentChange, locked, locked_at_location, no_pending_job
from metastored.store.engine.migrate import ensure_schema
from metastored.store.objects import tables
from metastored.store.objects.tables import TableRow
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.databases import Database
from metastored.wire.structs import replace
from tests.store.conftest import Opener
from tests.support.metastore import Clock, Metastore
from tests.support.objects import DB, make_table


@pytest.fixture
def metastore(opener: Opener, tmp_path: Path) -> Iterator[Metastore]:
    """One with directories."""
    database = opener()
    ensure_schema(database)
    result = Metastore(database, Clock(), warehouse=Warehouse(tmp_path.as_uri()))
    result.call("create_database", Database(name=DB))
    yield result
    result.close()


def row(metastore: Metastore, name: str = "t") -> TableRow:
    result = tables.find(metastore.database.reader(), "hive", DB, name)
    assert result is not None
    return result


def test_a_renamed_or_dropped_table_is_a_conflict(metastore: Metastore) -> None:
    make_table(metastore)
    seen = row(metastore)
    assert metastore.database.run(lambda tx: locked(tx, seen)) == seen
    table = metastore.call("get_table", DB, "t")
    metastore.call("alter_table", DB, "t", replace(table, tableName="u"))
    with pytest.raises(ConcurrentChange):
        metastore.database.run(lambda tx: locked(tx, seen))
    renamed = row(metastore, "u")
    metastore.call("drop_table", DB, "u", True)
    with pytest.raises(ConcurrentChange):
        metastore.database.run(lambda tx: locked(tx, renamed))


def test_a_change_of_properties_is_a_conflict_only_for_calls_that_read_them(metastore: Metastore) -> None:
    make_table(metastore)
    seen = row(metastore)
    table = metastore.call("get_table", DB, "t")
    metastore.call("alter_table", DB, "t", replace(table, parameters={"k": "v"}))
    current = metastore.database.run(lambda tx: locked_at_location(tx, seen))
    assert current.id == seen.id and current.body != seen.body
    elsewhere = replace(table, sd=replace(table.sd, location=f"{table.sd.location}_elsewhere"))
    metastore.call("alter_table", DB, "t", elsewhere)
    with pytest.raises(ConcurrentChange):
        metastore.database.run(lambda tx: locked_at_location(tx, seen))


def test_only_jobs_above_and_below_a_location_conflict_with_it(metastore: Metastore) -> None:
    own = metastore.database.run(lambda tx: jobs.add(tx, "move", "file:/w/a", "file:/w/b", created=1))
    reader = metastore.database.reader()
    no_pending_job(reader, ["file:/w/c", "file:/w/ab", None])
    no_pending_job(reader, ["file:/w/a"], own=[own])
    for place in ("file:/w", "file:/w/a", "file:/w/b/k=1"):
        with pytest.raises(ConcurrentChange) as caught:
            no_pending_job(reader, [place])
        assert caught.value.jobs == (own,)


def test_a_pending_removal_is_finished_before_the_name_is_reused(metastore: Metastore) -> None:
    make_table(metastore)
    location = metastore.call("get_table", DB, "t").sd.location
    metastore.call("drop_table", DB, "t", False)
    folder = Path(location.removeprefix("file:"))
    (folder / "old").touch()
    metastore.database.run(lambda tx: jobs.add(tx, "remove", location, created=1))
    make_table(metastore)
    assert folder.is_dir() and list(folder.iterdir()) == []
    assert jobs.all(metastore.database.reader()) == []
