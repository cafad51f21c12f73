"""Directory jobs that fail: what they block, the errors of clients, and the cost of a call beside many of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from metastored.errors import MetaException
from metastored.service.core.conflicts import ConcurrentChange, no_pending_job
from metastored.store.engine.migrate import ensure_schema
from metastored.store.engine.transaction import Transaction
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.databases import Database
from tests.store.conftest import Opener
from tests.support.metastore import Clock, Metastore
from tests.support.objects import DB, add_partitions, make_table


@pytest.fixture
def metastore(opener: Opener, tmp_path: Path) -> Iterator[Metastore]:
    """One with directories."""
    database = opener()
    ensure_schema(database)
    result = Metastore(database, Clock(), warehouse=Warehouse(f"file:{tmp_path}/w"))
    result.call("create_database", Database(name=DB))
    yield result
    result.close()


def _left_undone(metastore: Metastore, folder: Path) -> int:
    """A job as a drop leaves it that could not remove a directory: here because it is a link now."""
    folder.parent.mkdir(exist_ok=True)
    folder.symlink_to("/")
    id = metastore.database.run(lambda tx: jobs.add(tx, "remove", f"file:{folder}", created=1))
    assert len(metastore.service.warehouse.finish_jobs(metastore.database, [id], now=metastore.clock())) == 1
    return id


def _job(metastore: Metastore) -> jobs.JobRow:
    (job,) = jobs.all(metastore.database.reader())
    return job


def test_the_reason_is_reported_at_once_and_after_one_attempt(metastore: Metastore, tmp_path: Path) -> None:
    _left_undone(metastore, tmp_path / "w" / f"{DB}.db" / "t")
    for attempts in (2, 3):
        with pytest.raises(MetaException, match=r"db/t is a symbolic link.*metastored doctor"):
            make_table(metastore)
        assert _job(metastore).attempts == attempts


def test_a_pending_job_that_fails_is_reported_by_the_first_call_that_needs_it(
    metastore: Metastore, tmp_path: Path
) -> None:
    folder = tmp_path / "w" / f"{DB}.db" / "t"
    folder.symlink_to("/")
    metastore.database.run(lambda tx: jobs.add(tx, "remove", f"file:{folder}", created=1))
    with pytest.raises(MetaException, match="symbolic link"):
        make_table(metastore)
    assert _job(metastore).attempts == 1


def test_a_failed_job_blocks_no_directory_above_or_below(metastore: Metastore, tmp_path: Path) -> None:
    make_table(metastore, keys=("k",))
    home = tmp_path / "w" / f"{DB}.db"
    _left_undone(metastore, home / "t" / "k=1")
    below = metastore.database.run(lambda tx: jobs.add(tx, "remove", f"file:{home.parent}", created=1))
    make_table(metastore, "u")
    add_partitions(metastore, "t", "2")
    metastore.call("create_database", Database("other"))
    assert (home / "u").is_dir() and (home / "t" / "k=2").is_dir()
    with pytest.raises(MetaException, match="symbolic link"):
        add_partitions(metastore, "t", "1")
    failed = {job.id: job for job in jobs.all_failed(metastore.database.reader())}
    assert "is the root" in (failed[below].error or "")


def test_when_the_cause_is_gone_the_next_call_succeeds(metastore: Metastore, tmp_path: Path) -> None:
    folder = tmp_path / "w" / f"{DB}.db" / "t"
    _left_undone(metastore, folder)
    folder.unlink()
    make_table(metastore)
    assert folder.is_dir()
    assert jobs.all(metastore.database.reader()) == []


def test_a_table_that_was_created_below_a_failed_removal_is_not_removed_with_it(
    metastore: Metastore, tmp_path: Path
) -> None:
    home = tmp_path / "w" / "gone.db"
    id = _left_undone(metastore, home)
    home.unlink()
    home.mkdir()
    metastore.call("create_database", Database("new", locationUri=f"file:{home}/new"))
    metastore.clock.forward(86400)
    (error,) = metastore.service.warehouse.finish_jobs(metastore.database, now=metastore.clock())
    assert (error.id, "database new is in it now" in str(error)) == (id, True)
    assert (home / "new").is_dir()


# --- what it costs --------------------------------------------------------------------------------------------------


def _calls(work: Callable[[], object]) -> int:
    """How many Python functions are called."""
    number = 0

    def count(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal number
        number += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return number


def test_a_call_with_many_locations_beside_many_jobs_costs_their_sum_and_not_their_product(
    metastore: Metastore,
) -> None:
    def add(tx: Transaction, first: int, last: int) -> None:
        for number in range(first, last):
            jobs.add(tx, "remove", f"file:/w/old.db/t/k={number}", created=1)

    def cost(locations: int) -> int:
        places = [f"file:/w/new.db/t/k={number}" for number in range(locations)]
        return _calls(lambda: no_pending_job(metastore.database.reader(), places))

    metastore.database.run(lambda tx: add(tx, 0, 200))
    small = cost(200)
    metastore.database.run(lambda tx: add(tx, 200, 800))
    assert cost(800) < 6 * small  # The product would be 16 times as much.


def test_without_jobs_a_location_costs_nothing(metastore: Metastore) -> None:
    def cost(locations: int) -> int:
        places = [f"file:/w/new.db/t/k={number}" for number in range(locations)]
        return _calls(lambda: no_pending_job(metastore.database.reader(), places))

    assert cost(1000) < 2 * cost(10)


def test_a_job_conflicts_with_every_location_around_it_and_with_no_other(metastore: Metastore) -> None:
    move = metastore.database.run(lambda tx: jobs.add(tx, "move", "file:/w/a/x", "s3a://b/y", created=1))
    reader = metastore.database.reader()
    no_pending_job(reader, ["file:/w/a/x2", "file:/w/b", "s3a://c/y", "hdfs:/w/a/x"])
    for place, needed in (
        ("file:///w/a/x/", [move]),
        ("local:/w/a/x", [move]),
        ("S3A://B/y", [move]),
        ("file:/", []),
        ("file:/w/a", []),
        ("file:/w/a/x/k=1/l=2", []),
        ("s3a://b", []),
    ):
        with pytest.raises(ConcurrentChange) as caught:
            no_pending_job(reader, ["file:/w/b", place])
        assert (caught.value.jobs, sorted(caught.value.needed)) == ((move,), needed)
