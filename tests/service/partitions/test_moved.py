"""The locations of partitions after their table was renamed, and the directory that is removed with an archived one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import MetaException, MetastoreError
from metastored.store.engine.migrate import ensure_schema
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.store.conftest import Opener
from tests.support.metastore import Clock, Metastore
from tests.support.objects import DB, add_partitions, make_table
from tests.support.objects import bare_storage as storage


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The directory of the database."""
    return tmp_path / "w" / f"{DB}.db"


@pytest.fixture
def metastore(opener: Opener, home: Path) -> Iterator[Metastore]:
    database = opener()
    ensure_schema(database)
    result = Metastore(database, Clock(), warehouse=Warehouse(f"file:{home.parent}"))
    result.call("create_database", Database(name=DB))
    yield result
    result.close()


def _partition(value: str, location: str, **parameters: str) -> Partition:
    sd = replace(storage(), location=location)
    return Partition(values=(value,), dbName=DB, tableName="t", sd=sd, parameters=parameters)


def _located(metastore: Metastore, location: str) -> None:
    result = metastore.call("get_table", DB, "t")
    metastore.call("alter_table", DB, "t", replace(result, sd=replace(result.sd, location=location)))


def _rename(metastore: Metastore, new: str = "u") -> None:
    metastore.call("alter_table", DB, "t", replace(metastore.call("get_table", DB, "t"), tableName=new))


def _place(metastore: Metastore, value: str, name: str = "u") -> Any:
    return metastore.call("get_partition", DB, name, (value,)).sd.location


def test_partitions_stored_by_their_complete_location_follow_a_renamed_table(metastore: Metastore, home: Path) -> None:
    make_table(metastore, keys=("k",))
    _located(metastore, f"file:{home}/elsewhere")
    # Not below the table now, so that they are stored by their complete location.
    for value, place in (("1", "t/k=1"), ("2", "t"), ("3", "t_2/k=3"), ("4", "t/deep/k=4")):
        metastore.call("add_partition", _partition(value, f"file:{home}/{place}"))
    _located(metastore, f"file:{home}/t")
    add_partitions(metastore, "t", "5")
    (home / "t" / "k=1" / "file").touch()
    _rename(metastore)
    assert _place(metastore, "1") == f"file:{home}/u/k=1"
    assert _place(metastore, "2") == f"file:{home}/u"
    assert _place(metastore, "3") == f"file:{home}/t_2/k=3"
    assert _place(metastore, "4") == f"file:{home}/u/deep/k=4"
    assert _place(metastore, "5") == f"file:{home}/u/k=5"
    assert (home / "u" / "k=1" / "file").exists()


def test_a_base_that_only_begins_alike_stays_where_it_is(metastore: Metastore, home: Path) -> None:
    make_table(metastore, keys=("k",))
    _located(metastore, f"file:{home}/t_2")
    add_partitions(metastore, "t", "1")
    _located(metastore, f"file:{home}/t")
    _rename(metastore)
    assert _place(metastore, "1") == f"file:{home}/t_2/k=1"


def test_they_are_where_they_were_if_the_rename_is_rolled_back(
    metastore: Metastore, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_table(metastore, keys=("k",))
    _located(metastore, f"file:{home}/elsewhere")
    metastore.call("add_partition", _partition("1", f"file:{home}/t/k=1"))
    _located(metastore, f"file:{home}/t")
    add_partitions(metastore, "t", "2")

    def fail(*args: object) -> bool:
        raise OSError("no")

    monkeypatch.setattr("os.rename", fail)
    with pytest.raises(MetastoreError, match="failed to move data"):
        _rename(metastore)
    assert [_place(metastore, value, "t") for value in "12"] == [f"file:{home}/t/k=1", f"file:{home}/t/k=2"]


def test_partitions_of_a_directory_with_the_same_prefix_are_listed_by_their_complete_location(
    metastore: Metastore, home: Path
) -> None:
    make_table(metastore, keys=("k",), parameters={"hive.hcatalog.partition.spec.grouping.enabled": "true"})
    metastore.call("add_partitions", (_partition("1", f"file:{home}/t/k=1"), _partition("2", f"file:{home}/t_2/k=2")))
    shared, listed = metastore.call("get_partitions_pspec", DB, "t", -1)
    assert [part.relativePath for part in shared.sharedSDPartitionSpec.partitions] == ["/k=1"]
    assert [part.sd.location for part in listed.partitionList.partitions] == [f"file:{home}/t_2/k=2"]


# --- archives -------------------------------------------------------------------------------------------------------


def _archived(metastore: Metastore, home: Path, original: str | None = None) -> None:
    """A partition as Hive's ARCHIVE leaves it."""
    make_table(metastore, keys=("k",))
    add_partitions(metastore, "t", "1")
    (home / "t" / "k=1" / "data.har").mkdir()
    (home / "t" / "k=1" / "data.har" / "part-0").touch()
    parameters = {"is_archived": "true", "original_location": original or f"file:{home}/t/k=1"}
    archive = f"har://file-localhost{home}/t/k=1/data.har"
    metastore.call("alter_partition", DB, "t", _partition("1", archive, **parameters))


def test_an_archived_partition_is_dropped_with_its_original_directory(metastore: Metastore, home: Path) -> None:
    _archived(metastore, home)
    metastore.call("drop_partition", DB, "t", ("1",), True)
    assert list((home / "t").iterdir()) == []


def test_an_archived_partition_of_a_renamed_table_is_dropped_with_its_directory(
    metastore: Metastore, home: Path
) -> None:
    _archived(metastore, home)
    _rename(metastore)
    assert _place(metastore, "1") == f"har://file-localhost{home}/u/k=1/data.har"
    metastore.call("drop_partition", DB, "u", ("1",), True)
    assert list((home / "u").iterdir()) == []


@pytest.mark.parametrize("elsewhere", ["secret", "t/../secret", "t_2", "t"])
def test_the_original_location_counts_only_below_the_table(metastore: Metastore, home: Path, elsewhere: str) -> None:
    (home / "secret").mkdir()
    (home / "t_2").mkdir()
    _archived(metastore, home, f"file:{home}/{elsewhere}")
    metastore.call("drop_partition", DB, "t", ("1",), True)
    assert (home / "secret").exists() and (home / "t_2").exists() and (home / "t").exists()


def test_an_archive_that_is_nowhere_below_the_table_is_not_removed(metastore: Metastore, home: Path) -> None:
    make_table(metastore, keys=("k",))
    add_partitions(metastore, "t", "1")
    (home / "secret").mkdir()
    parameters = {"is_archived": "true", "original_location": f"file:{home}/secret"}
    metastore.call("alter_partition", DB, "t", _partition("1", f"har:{home}/secret/data.har", **parameters))
    with pytest.raises(MetaException, match="not below the table's directory"):
        metastore.call("drop_partition", DB, "t", ("1",), True)
    assert (home / "secret").exists()
    metastore.call("drop_partition", DB, "t", ("1",), False)
