"""The warehouse's directories, and the jobs that remain after a crash."""

import os
import threading
from collections.abc import Iterable
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from metastored.errors import StoreError
from metastored.service.core.rows import text_field
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import databases, partitions, tables
from metastored.store.objects.partitions import NewPartition
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import TreeStatistics, Warehouse
from metastored.store.warehouse.file_systems import MAX_UNANSWERED, FileSystemTimeout, within
from metastored.store.warehouse.jobs import JobKind
from tests.store.conftest import Opener, make_table
from tests.support.processes import finish_python, start_python


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "warehouse"
    root.mkdir()
    return root


@pytest.fixture
def warehouse(root: Path) -> Warehouse:
    return Warehouse(f"file:{root}")


def test_a_directory_is_made_once_however_it_is_written(warehouse: Warehouse, root: Path) -> None:
    assert warehouse.make(f"file:{root}/db.db/t")
    assert not warehouse.make(f"file://{root}/db.db/t/")
    assert not warehouse.make(f"{root}/db.db/t")
    assert (root / "db.db" / "t").is_dir()
    assert warehouse.exists(f"file://{root}/db.db/t")


def test_percent_signs_and_spaces_are_ordinary_characters(warehouse: Warehouse, root: Path) -> None:
    warehouse.make(f"file:{root}/ds=a%2Fb c")
    assert os.listdir(root) == ["ds=a%2Fb c"]


def test_a_file_at_the_path_of_a_directory_is_named(warehouse: Warehouse, root: Path) -> None:
    (root / "file").touch()
    with pytest.raises(StoreError, match=rf"could not make file:{root}/file/t: .*Not a directory"):
        warehouse.make(f"file:{root}/file/t")


def test_a_file_is_no_directory(warehouse: Warehouse, root: Path) -> None:
    (root / "file").touch()
    with pytest.raises(StoreError, match=r"warehouse/file is a file"):
        warehouse.make(f"file:{root}/file")


def test_a_directory_moves_with_all_that_is_in_it(warehouse: Warehouse, root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "data").write_text("x")
    assert warehouse.move(f"file:{root}/a", f"file:{root}/new/b")
    assert (root / "new" / "b" / "data").read_text() == "x"
    assert not (root / "a").exists()


def test_a_move_needs_an_existing_source_and_a_free_target(warehouse: Warehouse, root: Path) -> None:
    (root / "a").mkdir()
    (root / "b" / "data").mkdir(parents=True)
    with pytest.raises(StoreError, match="exists already"):
        warehouse.move(f"file:{root}/a", f"file:{root}/b")
    assert not warehouse.move(f"file:{root}/nope", f"file:{root}/c")
    with pytest.raises(StoreError, match="different file systems"):
        warehouse.move(f"file:{root}/a", "hdfs://host/b")


def test_a_directory_moves_onto_an_empty_one_and_not_into_it(warehouse: Warehouse, root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "data").write_text("x")
    (root / "b").mkdir()
    assert warehouse.move(f"file:{root}/a", f"file:{root}/b")
    assert os.listdir(root) == ["b"]
    assert os.listdir(root / "b") == ["data"]


def test_remove_empty_removes_only_an_empty_directory(warehouse: Warehouse, root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    assert not warehouse.remove_empty(f"file:{root}/a")
    assert warehouse.remove_empty(f"file:{root}/a/b")
    assert warehouse.remove_empty(f"file:{root}/a")
    assert os.listdir(root) == []


def test_a_directory_is_removed_with_all_that_is_in_it(warehouse: Warehouse, root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "data").touch()
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "kept").touch()
    (root / "a" / "link").symlink_to(root / "elsewhere")
    assert warehouse.remove(f"file:{root}/a")
    assert not warehouse.remove(f"file:{root}/a")
    assert (root / "elsewhere" / "kept").exists()


def test_directories_above_are_removed_too_when_they_become_empty(warehouse: Warehouse, root: Path) -> None:
    for name in ("t/a=1/b=1", "t/a=1/b=2", "t/a=2/b=1"):
        (root / name).mkdir(parents=True)
    assert warehouse.remove(f"file:{root}/t/a=1/b=1", f"file:{root}/t")
    assert sorted(os.listdir(root / "t")) == ["a=1", "a=2"]
    assert warehouse.remove(f"file:{root}/t/a=1/b=2", f"file:{root}/t")
    assert os.listdir(root / "t") == ["a=2"]
    (root / "t" / "a=2" / "b=1").rmdir()
    assert not warehouse.remove(f"file:{root}/t/a=2/b=1", f"file://{root}/t/")
    assert os.listdir(root / "t") == []


def test_a_directory_that_contains_the_warehouse_is_never_removed(warehouse: Warehouse, root: Path) -> None:
    with pytest.raises(StoreError, match=r"the warehouse .* is in it"):
        warehouse.remove(f"file:{root.parent}")
    assert root.exists()


@pytest.mark.parametrize("below", ["", "/data"])
def test_nothing_is_removed_through_a_symbolic_link(
    warehouse: Warehouse, root: Path, tmp_path: Path, below: str
) -> None:
    outside = tmp_path / "outside"
    (outside / "data").mkdir(parents=True)
    (root / "link").symlink_to(outside)
    with pytest.raises(StoreError, match=f"is not removed: {root}/link is a symbolic link"):
        warehouse.remove(f"file:{root}/link{below}")
    assert (root / "link" / "data").exists()


def test_a_warehouse_may_itself_be_reached_through_a_symbolic_link(tmp_path: Path) -> None:
    (tmp_path / "real" / "t").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Warehouse(f"file:{tmp_path}/link").remove(f"file:{tmp_path}/link/t")
    assert os.listdir(tmp_path / "real") == []


@pytest.mark.parametrize("uri", ["file:/", "/", "file:{root}", "file://{root}/", "file:{root}/a/.."])
def test_a_root_is_never_removed(warehouse: Warehouse, root: Path, uri: str) -> None:
    with pytest.raises(StoreError, match="is the root"):
        warehouse.remove(uri.format(root=root))
    assert root.exists()


def test_statistics_count_files_that_are_not_hidden(warehouse: Warehouse, root: Path) -> None:
    for name, size in {"a": 3, "sub/b": 4, "_SUCCESS": 9, ".a.crc": 9, "_tmp/c": 9, "sub/.x/d": 9}.items():
        (root / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "t" / name).write_bytes(b"x" * size)
    assert warehouse.statistics(f"file:{root}/t") == TreeStatistics(2, 7)
    assert warehouse.statistics(f"file:{root}/nope") == TreeStatistics(0, 0)
    assert not warehouse.is_empty(f"file:{root}/t/sub")
    (root / "empty").mkdir()
    assert warehouse.is_empty(f"file:{root}/empty")
    assert warehouse.is_empty(f"file:{root}/nope")


def test_directories_out_of_reach_are_left_alone(root: Path) -> None:
    uri = f"file:{root}/t"
    off = Warehouse(f"file:{root}", "off")
    assert not off.make(uri)
    (root / "t").mkdir()
    (root / "t" / "x").touch()
    assert not off.looks_at(uri)
    assert not off.exists(uri)
    assert off.is_empty(uri)
    assert not off.move(uri, f"file:{root}/b")
    assert not off.remove(uri)
    assert off.statistics(uri) == TreeStatistics(0, 0)
    local = Warehouse(f"file:{root}", "local")
    assert local.looks_at(uri)
    assert not local.looks_at("s3a://bucket/t")
    assert not local.make("s3a://bucket/t")


def test_a_scheme_without_a_driver_names_the_missing_package(root: Path) -> None:
    with pytest.raises(StoreError, match=r"nosuch://host/x has a scheme that fsspec does not know"):
        Warehouse(f"file:{root}", schemes=("nosuch",)).make("nosuch://host/x")


@pytest.mark.parametrize("uri", ["ftp://h/x", "webhdfs://h/x", "memory://w/t", "zip://h/x", "http://h/x", "nosuch:/x"])
def test_a_directory_of_a_scheme_that_is_not_configured_is_never_opened(warehouse: Warehouse, uri: str) -> None:
    for use in (warehouse.make, warehouse.exists, warehouse.is_empty, warehouse.remove, warehouse.statistics):
        with pytest.raises(StoreError, match="not in the setting location_schemes"):
            use(uri)


def test_an_alias_of_the_local_file_system_is_the_local_file_system(warehouse: Warehouse, root: Path) -> None:
    assert warehouse.make(f"local:{root}/t")
    assert (root / "t").is_dir()
    assert warehouse.exists(f"pfile://{root}/t")
    assert Warehouse(f"file:{root}", "local").looks_at(f"local:{root}/t")
    with pytest.raises(StoreError, match="is the root"):
        warehouse.remove(f"local://{root}")


def test_two_colons_in_a_name_do_not_open_another_file_system(root: Path) -> None:
    (root / "kept").mkdir()
    warehouse = Warehouse(f"file:{root}", schemes=("memory",))
    assert not warehouse.remove(f"memory://w/x::file://{root}/kept")
    assert (root / "kept").is_dir()


def test_a_call_to_a_remote_file_system_times_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    before = set(threading.enumerate())
    monkeypatch.setattr(MemoryFileSystem, "isdir", lambda system, path: released.wait())
    with pytest.raises(StoreError, match=r"could not make memory://w/slow: .*did not respond within 0.05 s"):
        Warehouse(f"file:{root}", schemes=("memory",), timeout=0.05).make("memory://w/slow")
    released.set()
    for thread in set(threading.enumerate()) - before:
        thread.join()


def test_calls_that_timed_out_and_still_run_are_limited_in_number() -> None:
    released = threading.Event()
    before = set(threading.enumerate())
    for _ in range(MAX_UNANSWERED):
        with pytest.raises(FileSystemTimeout, match="did not respond"):
            within(0.001, released.wait)
    with pytest.raises(FileSystemTimeout, match="have not returned yet"):
        within(0.001, released.wait)
    released.set()
    for thread in set(threading.enumerate()) - before:
        thread.join()
    assert within(1, lambda: "answer") == "answer"


def test_directories_of_other_schemes_go_through_fsspec(root: Path) -> None:
    warehouse = Warehouse(f"file:{root}", schemes=("memory",))
    memory = fsspec.filesystem("memory")
    assert warehouse.make("memory://w/t")
    assert not warehouse.make("memory://w/t/")
    assert warehouse.is_empty("memory://w/t")
    for name in ("a", "sub/b", "_x", "_y/c"):
        memory.pipe(f"/w/t/{name}", b"123")
    assert warehouse.statistics("memory://w/t") == TreeStatistics(2, 6)
    assert warehouse.move("memory://w/t", "memory://w/u")
    assert (warehouse.exists("memory://w/t"), warehouse.exists("memory://w/u")) == (False, True)
    assert warehouse.statistics("memory://w/u") == TreeStatistics(2, 6)
    memory.makedirs("/w/p/a/b")
    assert warehouse.remove("memory://w/p/a/b", "memory://w/p")
    assert (warehouse.exists("memory://w/p"), warehouse.exists("memory://w/p/a")) == (True, False)
    assert warehouse.remove("memory://w/u")
    assert not warehouse.remove("memory://w/u")


# --- jobs ---


def _add(database: Database, kind: JobKind, source: Path, target: Path | None = None) -> int:
    where = None if target is None else f"file:{target}"
    return database.run(lambda tx: jobs.add(tx, kind, f"file:{source}", where, created=7))


def test_jobs_left_by_a_crash_are_done_and_deleted(database: Database, warehouse: Warehouse, root: Path) -> None:
    for name in ("source", "gone", "moved"):
        (root / name).mkdir()
    _add(database, "move", root / "source", root / "target")
    _add(database, "move", root / "before", root / "moved")
    _add(database, "remove", root / "gone")
    _add(database, "remove", root / "gone before")
    (root / "t" / "a" / "b").mkdir(parents=True)
    _add(database, "remove", root / "t" / "a" / "b", root / "t")
    assert warehouse.finish_jobs(database) == []
    assert sorted(os.listdir(root)) == ["moved", "t", "target"]
    assert os.listdir(root / "t") == []
    assert jobs.all(database.reader()) == []
    assert warehouse.finish_jobs(database) == []


def test_only_the_jobs_that_are_named_are_done(database: Database, warehouse: Warehouse, root: Path) -> None:
    (root / "a").mkdir()
    (root / "b").mkdir()
    first, second = _add(database, "remove", root / "a"), _add(database, "remove", root / "b")
    assert warehouse.finish_jobs(database, [second, second + 100]) == []
    assert os.listdir(root) == ["a"]
    assert [job.id for job in jobs.all(database.reader())] == [first]


def test_a_job_that_fails_stays_with_its_error(database: Database, warehouse: Warehouse, root: Path) -> None:
    for name in ("source", "target", "other"):
        (root / name / "data").mkdir(parents=True)
    id = _add(database, "move", root / "source", root / "target")
    _add(database, "remove", root / "other")
    for attempt, now in ((1, 1000), (2, 5000)):
        (error,) = warehouse.finish_jobs(database, now=now)
        (job,) = jobs.all(database.reader())
        assert (job.id, job.attempts, job.error) == (id, attempt, str(error))
        assert "exists already" in str(error)
    assert sorted(os.listdir(root)) == ["source", "target"]


def test_a_job_that_failed_is_retried_after_pauses_that_get_longer(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    for name in ("source", "target"):
        (root / name / "data").mkdir(parents=True)
    id = _add(database, "move", root / "source", root / "target")
    now, pauses = 1000, []
    for attempts in range(1, 10):
        assert len(warehouse.finish_jobs(database, now=now)) == 1
        (job,) = jobs.all(database.reader())
        assert (job.attempts, job.is_failed) == (attempts, True)
        pauses.append(job.next_attempt - now)
        assert warehouse.finish_jobs(database, now=job.next_attempt - 1) == []
        now = job.next_attempt
    assert pauses == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    assert warehouse.finish_jobs(database, [id], now=now - 1) == []
    (error,) = warehouse.finish_jobs(database, [id], retry=[id], now=now - 1)
    assert (error.id, str(error)) == (id, jobs.all(database.reader())[0].error)


@pytest.mark.parametrize("what", ["base", "partition", "table", "database"])
def test_a_failed_removal_does_not_remove_objects_created_below_since(
    database: Database, warehouse: Warehouse, root: Path, what: str
) -> None:
    (root / "link").symlink_to(root / "a")
    (root / "a").mkdir()
    id = _add(database, "remove", root / "link")
    assert warehouse.finish_jobs(database, now=1000) != []
    (root / "link").unlink()
    (root / "link" / "new").mkdir(parents=True)
    location = f"file:{root}/link/new"

    def create(tx: Transaction) -> None:
        table = make_table(tx)
        body = text_field(2, location) + b"\x00"
        if what == "base":
            partitions.add_base(tx, table, f"{location}/")
        elif what == "partition":
            partitions.insert_many(tx, table, [NewPartition("k=1", ("1",), None, None, location, -1, b"")])
        elif what == "table":
            tables.update(tx, table, type="t", owner="o", last_access=0, write_id=-1, body=body, params={})
        else:
            result = databases.find(tx, "hive", "db")
            assert result is not None
            databases.update(tx, result.id, body)

    database.run(create)
    (error,) = warehouse.finish_jobs(database, [id], retry=[id], now=2000)
    assert "is not removed" in str(error) and "is in it now" in str(error)
    assert (root / "link" / "new").is_dir()


def test_a_server_that_stops_in_a_retry_does_not_make_the_next_one_remove_new_objects(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    (root / "t").symlink_to(root)
    id = _add(database, "remove", root / "t")
    assert warehouse.finish_jobs(database, now=1000) != []
    (root / "t").unlink()
    (root / "t" / "new").mkdir(parents=True)
    database.run(lambda tx: partitions.add_base(tx, make_table(tx), f"file:{root}/t/new/"))
    database.run(lambda tx: jobs.resume(tx, id))
    (error,) = warehouse.finish_jobs(database, now=1001)
    assert "is in it now" in str(error)
    assert (root / "t" / "new").is_dir()


def test_a_removal_that_failed_is_done_when_its_neighbours_have_similar_names(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    (root / "t").symlink_to(root)
    id = _add(database, "remove", root / "t")
    assert warehouse.finish_jobs(database, now=1000) != []
    (root / "t").unlink()
    (root / "t").mkdir()

    def create(tx: Transaction) -> None:
        partitions.add_base(tx, make_table(tx), f"file:{root}/t_2/")

    database.run(create)
    assert warehouse.finish_jobs(database, [id], retry=[id], now=2000) == []
    assert os.listdir(root) == []


def test_a_job_that_is_being_done_is_not_done_by_another(
    database: Database, opener: Opener, warehouse: Warehouse, root: Path
) -> None:
    (root / "a").mkdir()
    id = _add(database, "remove", root / "a")
    other = opener()
    thread = threading.Thread(target=lambda: warehouse.finish_jobs(other))
    with jobs.claimed(database, id) as job:
        assert job is not None
        thread.start()
        thread.join(0.2)
        assert (root / "a").exists()
        database.run(lambda tx: jobs.done(tx, id))
    thread.join()
    assert (root / "a").exists()
    with jobs.claimed(database, id) as job:
        assert job is None


_FINISHER = """
import sys
from pathlib import Path
from metastored.store.engine.database import Database
from metastored.store.engine.opening import open_database
from metastored.store.warehouse.directories import Warehouse
url, data, root = (argument or None for argument in sys.argv[1:])
database = open_database(url, Path(data) if data else None)
print(Warehouse(root).finish_jobs(database))
"""


@pytest.mark.slow
def test_two_servers_may_finish_the_same_jobs_at_once(
    database: Database, opener: Opener, place: tuple[str | None, Path | None], root: Path
) -> None:
    for number in range(30):
        (root / f"a{number}").mkdir()
        (root / f"a{number}" / "data").touch()
        _add(database, "move", root / f"a{number}", root / f"b{number}")
    arguments = (place[0] or "", str(place[1] or ""), f"file:{root}")
    servers = [start_python(_FINISHER, *arguments) for _ in range(3)]
    assert [finish_python(server) for server in servers] == ["[]"] * 3
    assert jobs.all(database.reader()) == []
    assert sorted(os.listdir(root)) == sorted(f"b{number}" for number in range(30))
    assert all((root / f"b{number}" / "data").exists() for number in range(30))


def test_directories_that_a_removal_leaves_empty_go_up_to_the_root(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    (root / "t" / "ds=1" / "h=1").mkdir(parents=True)
    (root / "t" / "ds=2" / "h=1").mkdir(parents=True)
    (root / "t" / "ds=2" / "h=2").mkdir()

    def plan(part: str) -> int:
        source = f"file:{root}/t/{part}"
        return database.run(lambda tx: jobs.add(tx, "remove", source, f"file:{root}/t", created=1))

    assert warehouse.finish_jobs(database, [plan("ds=1/h=1"), plan("ds=2/h=1")]) == []
    assert sorted(os.listdir(root / "t")) == ["ds=2"]
    assert os.listdir(root / "t" / "ds=2") == ["h=2"]
    assert warehouse.finish_jobs(database, [plan("ds=2/h=2")]) == []
    assert os.listdir(root) == ["t"]


def test_jobs_that_are_done_are_deleted_though_another_failed(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    (root / "a").mkdir()
    (root / "b").mkdir()
    (root / "c" / "data").mkdir(parents=True)

    def plan(tx: Transaction) -> list[int]:
        good = jobs.add(tx, "remove", f"file:{root}/a", created=1)
        # The target of this job is not empty, so it fails.
        bad = jobs.add(tx, "move", f"file:{root}/b", f"file:{root}/c", created=1)
        return [good, bad]

    good, bad = database.run(plan)
    (error,) = warehouse.finish_jobs(database, [good, bad])
    assert "exists already" in str(error)
    assert not (root / "a").exists()
    (left,) = jobs.all(database.reader())
    assert (left.id, left.attempts) == (bad, 1)


# --- many removals at once -------------------------------------------------------------------------------------------


def _plan(database: Database, root: Path, names: Iterable[str], below: str | None = "t") -> list[int]:
    """Jobs that remove directories of the warehouse."""
    sources = [f"file:{root}/{name}" for name in names]
    target = None if below is None else f"file:{root}/{below}"
    return database.run(lambda tx: jobs.add_many(tx, "remove", sources, target, created=1))


def test_many_jobs_are_added_at_once_whatever_is_in_their_sources(database: Database) -> None:
    sources = [
        f"file:/w/{name}"
        for name in ("a", "a", 'quo"te', "back\\slash", "\u00e9 \U0001f600", "line\nbreak", "'", "%00")
    ]
    ids = database.run(lambda tx: jobs.add_many(tx, "remove", sources, "file:/w", created=7))
    found = jobs.find_many(database.reader(), ids)
    assert sorted(job.source for job in found) == sorted(sources)
    assert {(job.kind, job.target, job.created, job.attempts, job.next_attempt) for job in found} == {
        ("remove", "file:/w", 7, 0, 0)
    }
    assert ids == sorted(set(ids)) == [job.id for job in found]
    assert jobs.find_many(database.reader(), [ids[0], ids[-1] + 1]) == found[:1]
    assert database.run(lambda tx: jobs.add_many(tx, "remove", [], created=7)) == []


def test_ids_are_divided_at_the_limits_of_their_groups() -> None:
    size, most = jobs.CLAIMED_TOGETHER, jobs.CLAIMED_TOGETHER * jobs.GROUPS_AT_ONCE
    ids = [*range(size - 1, size + 2 * most), 10**6, 10**6 + 1]
    batches = list(jobs.batches(ids))
    assert [id for batch in batches for id in batch] == ids
    groups = [set(map(jobs.group_of, batch)) for batch in batches]
    assert all(len(group) <= jobs.GROUPS_AT_ONCE for group in groups)
    assert sum(map(len, groups)) == len(set().union(*groups))


def test_hundreds_of_directories_are_removed_with_their_content_and_those_above_them(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    names = [f"t/ds={day}/h={hour}" for day in range(40) for hour in range(20)]
    for number, name in enumerate(names):
        (root / name / "deep").mkdir(parents=True)
        if number % 3 == 0:
            (root / name / "deep" / "data").write_text("1")
        elif number % 3 == 1:
            (root / name / "deep").rmdir()
    (root / "t" / "ds=7" / "kept").touch()
    assert warehouse.finish_jobs(database, _plan(database, root, names)) == []
    assert jobs.all(database.reader()) == []
    assert [str(path.relative_to(root)) for path in sorted(root.rglob("*"))] == ["t", "t/ds=7", "t/ds=7/kept"]


def test_of_many_removals_those_through_links_are_refused(
    database: Database, warehouse: Warehouse, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "h=1").mkdir(parents=True)
    (outside / "file").write_text("1")
    for day in range(4):
        (root / "t" / f"ds={day}" / "h=1").mkdir(parents=True)
    (root / "t" / "linked").symlink_to(outside)
    (root / "t" / "ds=0" / "leaf").symlink_to(outside)
    (root / "t" / "ds=1" / "h=1" / "inner").symlink_to(outside)
    (root / "t" / "ds=2" / "file").touch()
    refused = ["t/linked/h=1", "t/ds=0/leaf"]
    ids = _plan(database, root, [*(f"t/ds={day}/h=1" for day in range(4)), "t/ds=2/file", *refused])
    failures = warehouse.finish_jobs(database, ids)
    assert sorted(job.source for job in jobs.all(database.reader())) == sorted(
        f"file:{root}/{name}" for name in refused
    )
    assert all("is a symbolic link" in str(failure) for failure in failures)
    assert sorted(os.listdir(outside)) == ["file", "h=1"]
    assert sorted(os.listdir(root / "t")) == ["ds=0", "linked"]


def test_a_warehouse_behind_a_link_is_emptied(database: Database, tmp_path: Path) -> None:
    (tmp_path / "real" / "t" / "ds=1").mkdir(parents=True)
    (tmp_path / "real" / "t" / "ds=2").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    linked = tmp_path / "linked"
    warehouse = Warehouse(f"file:{linked}")
    assert warehouse.finish_jobs(database, _plan(database, linked, ["t/ds=1", "t/ds=2"])) == []
    assert os.listdir(tmp_path / "real" / "t") == []


def test_removals_never_remove_the_warehouse_or_what_contains_it(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    (root / "t").mkdir()
    sources = [f"file:{root}", f"file:{root.parent}", f"file:{root}/", f"file://{root}", "file:/", f"file:{root}/t"]
    ids = database.run(lambda tx: jobs.add_many(tx, "remove", sources, created=1))
    assert len(warehouse.finish_jobs(database, ids)) == 5
    assert os.listdir(root) == []


def test_directories_outside_of_the_warehouse_are_removed_up_to_that_of_their_table(
    database: Database, warehouse: Warehouse, tmp_path: Path
) -> None:
    table = tmp_path / "elsewhere" / "t"
    for name in ("ds=1/h=1", "ds=1/h=2", "ds=2/h=1"):
        (table / name).mkdir(parents=True)
    sources = [f"file:{table}/ds=1/h=1", f"file:{table}/ds=1/h=2", f"file:{table}/ds=2/h=1"]
    ids = database.run(lambda tx: jobs.add_many(tx, "remove", sources, f"file:{table}", created=1))
    assert warehouse.finish_jobs(database, ids) == []
    assert os.listdir(table) == []


def test_directories_inside_of_each_other_are_removed(database: Database, warehouse: Warehouse, root: Path) -> None:
    names = ["t/a", *(f"t/a/b{number}/c" for number in range(50)), "t/a/b7", "t/d/e", "t/d/e"]
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)
    assert warehouse.finish_jobs(database, _plan(database, root, names)) == []
    assert os.listdir(root / "t") == []


def test_a_directory_that_is_gone_takes_the_empty_ones_above_it_with_it(
    database: Database, warehouse: Warehouse, root: Path
) -> None:
    """A server that stopped had removed the directory, and not those above it."""
    (root / "t" / "ds=1").mkdir(parents=True)
    (root / "t" / "ds=2").mkdir()
    ids = _plan(database, root, ["t/ds=1/h=1", "t/ds=2/h=1", "t/ds=3/h=1", "t/ds=4/x/y"])
    assert warehouse.finish_jobs(database, ids) == []
    assert os.listdir(root / "t") == []


def test_a_removal_that_fails_does_not_keep_others_from_being_done(
    database: Database, warehouse: Warehouse, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"t/ds={day}/h=1" for day in range(8)]
    for name in names:
        (root / name).mkdir(parents=True)
    rmdir = os.rmdir

    def refused(path: str, *, dir_fd: int | None = None) -> None:
        there = os.readlink(f"/proc/self/fd/{dir_fd}") if dir_fd is not None else os.path.dirname(path)
        if there.endswith("ds=3"):
            raise PermissionError(13, "Permission denied", path)
        rmdir(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", refused)
    (failure,) = warehouse.finish_jobs(database, _plan(database, root, names))
    assert "Permission denied" in str(failure)
    (left,) = jobs.all(database.reader())
    assert (left.source, left.attempts) == (f"file:{root}/t/ds=3/h=1", 1)
    assert os.listdir(root / "t") == ["ds=3"]


def test_two_servers_that_run_the_same_jobs_remove_each_directory_once(
    database: Database, opener: Opener, warehouse: Warehouse, root: Path
) -> None:
    """A client creates each directory again when it is gone: a second removal would remove the new one."""
    names = [f"t/ds={day}/h={hour}" for day in range(30) for hour in range(24)]
    for name in names:
        (root / name / "old").mkdir(parents=True)
    ids = _plan(database, root, names)
    done = threading.Event()
    failures: list[Exception] = []

    def again() -> None:
        own = Warehouse(f"file:{root}")
        try:
            if own.finish_jobs(other, ids):
                raise AssertionError("a job failed")
            for job in jobs.all(other.reader()):
                raise AssertionError(f"{job} is left")
            if not done.is_set():
                done.set()
                for name in names:
                    (root / name / "new").mkdir(parents=True, exist_ok=True)
        except Exception as error:
            failures.append(error)

    other = opener()
    threads = [threading.Thread(target=again) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    assert all(os.listdir(root / name) == ["new"] for name in names)


def test_checks_of_many_directories_refuse_what_one_check_refuses(
    warehouse: Warehouse, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside" / "x").mkdir(parents=True)
    (root / "t" / "a").mkdir(parents=True)
    (root / "t" / "leaf").symlink_to(tmp_path / "outside")
    plain = [f"file:{root}/t/a", f"file:{root}/t/missing", f"file:{tmp_path}/outside/x"]
    warehouse.check_all_removable(plain)
    refused = ["t/leaf", "t/leaf/x", "t/leaf/x/y", "", "/", "/.."]
    for name in refused:
        uri = f"file:{root}/{name}".rstrip("/") if not name else f"file:{root}/{name}"
        with pytest.raises(StoreError, match="is not removed"):
            warehouse.check_all_removable([*plain, uri])
        with pytest.raises(StoreError, match="is not removed"):
            warehouse.check_removable(uri)


def test_a_location_without_a_scheme_is_on_the_warehouses_file_system() -> None:
    assert Warehouse("hdfs://nn:8020/warehouse").qualified("/data//t/") == "hdfs://nn:8020/data/t"
    assert Warehouse("file:/warehouse").qualified("s3://bucket/t/") == "s3://bucket/t"
    assert Warehouse("file:/warehouse").qualified("file:///x/../y") == "file:/y"


def test_a_directory_is_emptied(warehouse: Warehouse, root: Path) -> None:
    (root / "t" / "sub").mkdir(parents=True)
    (root / "t" / "f").touch()
    assert warehouse.clear(f"file:{root}/t")
    assert os.listdir(root / "t") == []
