"""A metastore that cannot reach its tables' directories: `--directories off`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.wire.generated.common import FieldSchema, SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace
from tests.support.client import Client
from tests.support.forks import running_server

SD = StorageDescriptor(cols=(FieldSchema("a", "int"),), serdeInfo=SerDeInfo(None, "serde", {}))
KEYS = (FieldSchema("k", "string"),)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("off") / "warehouse"


@pytest.fixture(scope="module")
def client(warehouse: Path) -> Iterator[Client]:
    with (
        running_server(directories="off", warehouse=f"file:{warehouse}") as server,
        Client(server.host, server.port) as client,
    ):
        client.call("create_database", Database("d"))
        yield client


def test_nothing_is_made_for_databases_tables_and_partitions(client: Client, warehouse: Path) -> None:
    client.call("create_table", Table("made", "d", sd=SD, partitionKeys=KEYS))
    part = client.call("add_partition", Partition(("1",), "d", "made", sd=SD))
    assert part.sd.location == f"file:{warehouse}/d.db/made/k=1"
    assert not warehouse.exists()


def test_nothing_is_moved_when_a_table_is_renamed_but_its_location_follows(client: Client, warehouse: Path) -> None:
    client.call("create_table", Table("old", "d", sd=SD, partitionKeys=KEYS))
    client.call("append_partition", "d", "old", ("1",))
    client.call("alter_table", "d", "old", replace(client.call("get_table", "d", "old"), tableName="new"))
    assert client.call("get_table", "d", "new").sd.location == f"file:{warehouse}/d.db/new"
    assert client.call("get_partition", "d", "new", ("1",)).sd.location == f"file:{warehouse}/d.db/new/k=1"


def test_nothing_is_removed_when_a_table_is_dropped(client: Client, warehouse: Path) -> None:
    client.call("create_table", Table("kept", "d", sd=SD))
    data = warehouse / "d.db" / "kept"
    data.mkdir(parents=True)
    (data / "f").touch()
    client.call("drop_table", "d", "kept", True)
    assert (data / "f").exists()


def test_no_statistics_are_made_up(client: Client) -> None:
    client.call("create_table", Table("counted", "d", sd=replace(SD, location="s3://bucket/counted")))
    result = client.call("get_table", "d", "counted")
    client.call("alter_table", "d", "counted", replace(result, parameters={**result.parameters, "k": "v"}))
    assert set(client.call("get_table", "d", "counted").parameters) == {"k", "transient_lastDdlTime"}


def test_partitions_are_exchanged_without_their_data(client: Client, warehouse: Path) -> None:
    client.call("create_table", Table("one", "d", sd=SD, partitionKeys=KEYS))
    client.call("create_table", Table("two", "d", sd=SD, partitionKeys=KEYS))
    client.call("append_partition", "d", "one", ("1",))
    (moved,) = client.call("exchange_partitions", {"k": "1"}, "d", "one", "d", "two")
    assert moved.sd.location == f"file:{warehouse}/d.db/two/k=1"
    assert client.call("get_partition_names", "d", "one", -1) == ()
    assert client.call("get_partition_names", "d", "two", -1) == ("k=1",)
