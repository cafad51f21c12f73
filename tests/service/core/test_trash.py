"""Removed data in the trash: which data is moved there, and for how long. On SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.errors import MetaException
from metastored.store.engine.migrate import ensure_schema
from metastored.store.warehouse import jobs
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import EnvironmentContext
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import DropPartitionsRequest, RequestPartsSpec
from metastored.wire.generated.tables import DropTableRequest
from metastored.wire.structs import replace
from tests.store.conftest import Opener
from tests.support.metastore import Clock, Metastore
from tests.support.objects import DB, add_partitions, make_table
from tests.support.objects import bare_storage as storage
from tests.support.objects import sales_table as table

PURGE = EnvironmentContext({"ifPurge": "TRUE"})
KEEP = EnvironmentContext({"ifPurge": "false"})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "w"


@pytest.fixture
def metastore(opener: Opener, root: Path) -> Iterator[Metastore]:
    """A metastore that keeps removed data for three days."""
    database = opener()
    ensure_schema(database)
    result = Metastore(database, Clock(), warehouse=Warehouse(f"file:{root}", trash_days=3))
    result.call("create_database", Database(name=DB))
    yield result
    result.close()


def _filled(metastore: Metastore, root: Path, name: str = "t", **options: object) -> Path:
    """A table with a file in it."""
    make_table(metastore, name, **options)  # type: ignore[arg-type]
    file = root / f"{DB}.db" / name / "file"
    file.touch()
    return file


def _in_trash(root: Path) -> list[str]:
    """The files in the trash, below `Current` or the checkpoint."""
    result = sorted((root / ".Trash").rglob("file*"))
    return ["/" + str(path).partition(f"/.Trash/Current{root}/")[2] for path in result]


def test_the_data_of_a_dropped_table_is_moved_to_hadoops_trash(metastore: Metastore, root: Path) -> None:
    file = _filled(metastore, root)
    metastore.call("drop_table", DB, "t", True)
    assert not file.parent.exists()
    assert (root / ".Trash" / "Current" / str(file)[1:]).is_file()
    assert jobs.all(metastore.database.reader()) == []


def test_data_of_the_same_path_is_kept_beside_the_earlier_data(metastore: Metastore, root: Path) -> None:
    for _ in range(2):
        _filled(metastore, root)
        metastore.call("drop_table", DB, "t", True)
    assert len(_in_trash(root)) == 2


def test_data_of_databases_partitions_and_truncated_tables_is_moved_too(metastore: Metastore, root: Path) -> None:
    make_table(metastore, keys=("k",))
    add_partitions(metastore, "t", "1", "2")
    for number in (1, 2):
        (root / f"{DB}.db" / "t" / f"k={number}" / "file").touch()
    metastore.call("drop_partition", DB, "t", ("1",), True)
    metastore.call("truncate_table", DB, "t", None)
    assert _in_trash(root) == [f"/{DB}.db/t/k=1/file", f"/{DB}.db/t/k=2/file"]
    _filled(metastore, root, "u")
    metastore.call("drop_database", DB, True, True)
    assert f"/{DB}.db/u/file" in _in_trash(root)


def test_a_call_that_purges_leaves_nothing_in_the_trash(metastore: Metastore, root: Path) -> None:
    _filled(metastore, root)
    metastore.call("drop_table_with_environment_context", DB, "t", True, PURGE)
    _filled(metastore, root)
    metastore.call("drop_table_req", DropTableRequest("hive", DB, "t", True, PURGE))
    make_table(metastore, keys=("k",))
    for number in range(3):
        add_partitions(metastore, "t", str(number))
        (root / f"{DB}.db" / "t" / f"k={number}" / "file").touch()
    metastore.call("drop_partition_with_environment_context", DB, "t", ("0",), True, PURGE)
    metastore.call("drop_partition_by_name_with_environment_context", DB, "t", "k=1", True, PURGE)
    spec = RequestPartsSpec(names=("k=2",))
    metastore.call("drop_partitions_req", DropPartitionsRequest(DB, "t", spec, True, environmentContext=PURGE))
    assert _in_trash(root) == []
    _filled(metastore, root, "u")
    metastore.call("drop_table_with_environment_context", DB, "u", True, KEEP)
    assert _in_trash(root) == [f"/{DB}.db/u/file"]


@pytest.mark.parametrize("parameter", ["auto.purge", "skip.trash"])
def test_a_table_that_purges_itself_leaves_nothing_in_the_trash(
    metastore: Metastore, root: Path, parameter: str
) -> None:
    _filled(metastore, root, parameters={parameter: "TRUE"})
    metastore.call("truncate_table", DB, "t", None)
    (root / f"{DB}.db" / "t" / "file").touch()
    metastore.call("drop_table", DB, "t", True)
    assert _in_trash(root) == []


def test_without_delete_data_nothing_is_moved(metastore: Metastore, root: Path) -> None:
    file = _filled(metastore, root)
    metastore.call("drop_table", DB, "t", False)
    assert file.exists() and _in_trash(root) == []


def test_no_location_in_the_trash_can_be_used(metastore: Metastore, root: Path) -> None:
    with pytest.raises(MetaException, match="is in the trash"):
        metastore.call("create_table", replace(table(), sd=replace(storage(), location=f"file:{root}/.Trash/Current")))


def test_data_in_the_trash_is_removed_after_its_days(metastore: Metastore, root: Path) -> None:
    _filled(metastore, root)
    metastore.call("drop_table", DB, "t", True)
    metastore.reap()
    assert [path.name for path in (root / ".Trash").iterdir()] == ["231114221320"]
    metastore.clock.forward(3 * 86400 - 1)
    metastore.reap()
    assert len(list((root / ".Trash").rglob("file"))) == 1
    metastore.clock.forward(1)
    metastore.reap()
    assert list((root / ".Trash").iterdir()) == []


def test_checkpoints_are_made_once_a_day(metastore: Metastore, root: Path) -> None:
    for name in ("t", "u", "v"):
        _filled(metastore, root, name)
        metastore.call("drop_table", DB, name, True)
        metastore.reap()
        metastore.clock.forward(12 * 3600)
    assert sorted(path.name for path in (root / ".Trash").iterdir()) == ["231114221320", "231115221320"]


def test_files_in_the_trash_that_are_no_checkpoints_stay(metastore: Metastore, root: Path) -> None:
    _filled(metastore, root)
    metastore.call("drop_table", DB, "t", True)
    (root / ".Trash" / "mine").mkdir()
    metastore.clock.forward(100 * 86400)
    for _ in range(2):
        metastore.reap()
        metastore.clock.forward(100 * 86400)
    metastore.reap()
    assert [path.name for path in (root / ".Trash").iterdir()] == ["mine"]
