"""A server that is killed in the middle of commits, and metadata files that cannot be written."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from metastored.errors import Error, StoreError, TimeoutExceeded
from metastored.hive.locations import local_path
from metastored.iceberg.errors import CommitUnknown, Unavailable
from metastored.iceberg.files import MetadataFiles
from metastored.iceberg.publishing import NewFiles
from metastored.model.names import TableName
from metastored.store.warehouse.directories import Warehouse
from metastored.structs import Table
from tests.iceberg.rest_server import Rest, iceberg_server, metadata_files, stored

NAME = TableName("", "n", "t")


@pytest.mark.slow
def test_a_table_is_whole_after_the_server_was_killed_while_it_committed(tmp_path: Path) -> None:
    warehouse = f"file:{tmp_path}/warehouse"
    with iceberg_server(tmp_path, warehouse=warehouse) as server:
        rest = Rest(server)
        rest.table(rest.namespace("n"))
        acknowledged: list[str] = []

        def write(writer: int) -> None:
            with suppress(OSError, ValueError):
                for at in range(200):
                    key = f"w{writer}.{at}"
                    if rest.commit("n", "t", {"action": "set-properties", "updates": {key: "x"}}).status == 200:
                        acknowledged.append(key)
                    if len(acknowledged) == 25:
                        os.kill(server.pid, signal.SIGKILL)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, range(4)))
    with iceberg_server(tmp_path, warehouse=warehouse) as server:
        rest = Rest(server)
        loaded = rest.load("n")
        assert set(acknowledged) <= loaded["metadata"]["properties"].keys() and len(acknowledged) >= 25
        row = stored(server, "n")
        assert (row.parameters or {})["metadata_location"] == loaded["metadata-location"]
        # At most the files of the commits that were under way are left over, and each is complete or not referred to.
        log = {entry["metadata-file"].rpartition("/")[2] for entry in loaded["metadata"]["metadata-log"]}
        left = set(metadata_files(row)) - log - {loaded["metadata-location"].rpartition("/")[2]}
        assert len(left) <= 4


class Rows:
    """A catalog whose table is what the test says; the files are real."""

    def __init__(self, folder: Path, row: Table | Error | None) -> None:
        self.files = MetadataFiles(Warehouse(f"file:{folder}"))
        self._row = row

    def row(self, name: TableName) -> Table | None:
        if isinstance(self._row, Error):
            raise self._row
        return self._row


def outcome(folder: Path, row: Table | Error | None, change: Any) -> tuple[Any, bool]:
    """What a commit returns or raises, and whether its file is still there."""
    catalog: Any = Rows(folder, row)
    file = f"file:{folder}/00001-x.metadata.json"
    result: Any = None
    try:
        with NewFiles(catalog) as new:
            new.write(file, {"a": 1})
            result = new.commit([(NAME, file)], change)
    except Error as error:
        result = type(error)
    return result, Path(local_path(file)).exists()


def raising(error: Error) -> Any:
    def change() -> bool:
        raise error

    return change


def pointing(folder: Path) -> Table:
    return Table(parameters={"metadata_location": f"file:{folder}/00001-x.metadata.json"})


def test_the_file_of_a_commit_stays_and_that_of_a_conflict_goes(tmp_path: Path) -> None:
    assert outcome(tmp_path, None, lambda: True) == (True, True)
    assert outcome(tmp_path / "b", None, lambda: False) == (False, False)


def test_a_commit_whose_reply_was_lost_took_effect_if_the_table_says_so(tmp_path: Path) -> None:
    assert outcome(tmp_path, pointing(tmp_path), raising(TimeoutExceeded("late"))) == (True, True)


def test_a_file_stays_while_its_commit_may_still_take_effect(tmp_path: Path) -> None:
    assert outcome(tmp_path, None, raising(TimeoutExceeded("late"))) == (CommitUnknown, True)
    assert outcome(tmp_path / "b", StoreError("down"), raising(StoreError("down"))) == (CommitUnknown, True)


def test_a_commit_that_failed_for_certain_leaves_no_file(tmp_path: Path) -> None:
    assert outcome(tmp_path, None, raising(StoreError("full"))) == (StoreError, False)


def test_a_file_that_cannot_be_written_is_an_error_and_no_file(tmp_path: Path) -> None:
    files = MetadataFiles(Warehouse(f"file:{tmp_path}"))
    (tmp_path / "taken").write_text("x")
    with pytest.raises(Unavailable):
        files.write(f"file:{tmp_path}/taken/00000-x.metadata.json", {})
    files.write(f"file:{tmp_path}/00000-x.metadata.json", {"a": 1})
    with pytest.raises(Unavailable):
        files.write(f"file:{tmp_path}/00000-x.metadata.json", {"a": 2})
    assert json.loads((tmp_path / "00000-x.metadata.json").read_text()) == {"a": 1}
