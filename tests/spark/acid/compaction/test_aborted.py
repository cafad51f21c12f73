"""Aborted writes into partitioned tables: their directories are removed, and snapshots no longer list them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.spark.acid.compaction.aborted import Forgotten, forget_aborted
from metastored.spark.files import files_of
from metastored.testing import running_server
from metastored.wire.generated.tables import CreateTableRequest

pytestmark = pytest.mark.slow

DAYS = "shop.days"


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[metastored.Client]:
    with running_server(compat=getattr(request, "param", "3.1")) as server:
        with metastored.connect(server.uri, cache=False, user="ann") as found:
            found.create_database("shop")
            properties = {"transactional": "true", "transactional_properties": "insert_only"}
            table = metastored.table(DAYS, {"id": "int"}, partitioned_by={"ds": "string"}, properties=properties)
            able = ("HIVEMANAGEDINSERTREAD", "HIVEMANAGEDINSERTWRITE")
            found.newest(
                "create_table_req",
                (CreateTableRequest(table=table, processorCapabilities=able),),
                "create_table",
                (table,),
            )
            yield found


def folder(client: metastored.Client) -> Path:
    return Path(local_path(client.table(DAYS).sd.location or ""))  # type: ignore[union-attr]


def write(client: metastored.Client, day: str, abort: bool, known: bool = True) -> int:
    """A write into a partition; one that is aborted early has not told the server which partition."""
    with client.write(DAYS) as writing:
        made = folder(client) / f"ds={day}" / f"delta_{writing.write_id:07d}_{writing.write_id:07d}_0000"
        made.mkdir(parents=True)
        (made / "000000_0").write_bytes(b"x")
        if known:
            writing.add_partitions([(day,)])
            writing.send()
        if abort:
            writing.abort()
    return writing.write_id


def forgotten(client: metastored.Client, grace: float = -10) -> list[Forgotten]:
    return forget_aborted(client, lambda location: files_of(None, location), grace)


def aborted(client: metastored.Client) -> tuple[int, ...]:
    with client.read(DAYS) as read:
        return read.snapshots[DAYS].aborted


def directories(client: metastored.Client) -> list[str]:
    root = folder(client)
    return sorted(str(each.relative_to(root)) for each in root.glob("*/*"))


@pytest.mark.parametrize("client", ["3.1", "4.2"], indirect=True)
def test_aborted_writes_of_unknown_partitions_are_removed_and_forgotten(client: metastored.Client) -> None:
    first = write(client, "1", abort=False)
    early = write(client, "1", abort=True, known=False)
    nowhere = write(client, "2", abort=True, known=False)
    late = write(client, "1", abort=True)
    last = write(client, "3", abort=False)
    assert aborted(client) == (early, nowhere, late)
    (done,) = forgotten(client)
    assert (done.error, done.highest, len(done.removed)) == (None, last, 3)
    kept = {"1": first, "3": last}
    assert directories(client) == [f"ds={day}/delta_{id:07d}_{id:07d}_0000" for day, id in kept.items()]


def test_recent_and_open_writes_stay(client: metastored.Client) -> None:
    recent = write(client, "1", abort=True, known=False)
    assert forgotten(client, grace=3600) == []
    with client.write(DAYS) as writing:
        write(client, "1", abort=True, known=False)
        (done,) = forgotten(client)
        assert done.highest == writing.write_id - 1 == recent
        assert len(directories(client)) == 1
        writing.abort()
