"""Column statistics of Iceberg tables that pyiceberg wrote: nulls and bounds of manifests, and when there are none."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.table.statistics import BlobMetadata, StatisticsFile

from metastored.connectors.iceberg import statistics
from metastored.connectors.registry import Connectors
from metastored.errors import NoSuchObjectException
from metastored.hive.locations import local_path
from metastored.model.iceberg.manifests import entries
from metastored.model.remotes.endpoints import Endpoint
from metastored.structs import Date, DateColumnStatsData, DoubleColumnStatsData, LongColumnStatsData
from metastored.wire.generated.statistics import PartitionsStatsRequest, TableStatsRequest
from metastored.wire.message import Call, Session
from metastored.wire.methods import METHODS
from tests.iceberg.avro_files import container, field

SCHEMA = pa.schema([
    ("id", pa.int64()), ("price", pa.float64()), ("day", pa.date32()), ("at", pa.timestamp("us")),
    ("sum", pa.decimal128(9, 2)), ("name", pa.string()), ("empty", pa.int32()),
])  # fmt: skip


def rows(*ids: int | None) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "id": number,
                "price": None if number is None else number / 2,
                "day": None if number is None else date(2024, 1, number),
                "at": None if number is None else datetime(2024, 1, 1, 0, 0, number, 500_000),
                "sum": None if number is None else Decimal(number).scaleb(-2),
                "name": str(number),
                "empty": None,
            }
            for number in ids
        ],
        SCHEMA,
    )


class Lake:
    def __init__(self, folder: Path) -> None:
        (folder / "warehouse").mkdir()
        self.uri = f"sqlite:///{folder / 'catalog.db'}"
        self.catalog = SqlCatalog("lake", uri=self.uri, warehouse=(folder / "warehouse").as_uri())
        self.catalog.create_namespace("sales")
        self.orders: Table = self.catalog.create_table("sales.orders", SCHEMA)

    def ask(self, name: str, *args: Any, path: str | None = None) -> Any:
        """Through the catalog, or through the path of the table's metadata."""
        keys = {"iceberg.catalog.type": "sql", "iceberg.catalog.uri": self.uri, "iceberg.catalog.name": "lake"}
        if path is not None:
            keys = {"iceberg.table.path": path}
        method = METHODS[name]

        async def test() -> Any:
            handler: Any = Connectors().connect(Endpoint("iceberg", tuple(sorted(keys.items()))))
            try:
                return (await handler.handle(Call(method, args), Session())).value(method)
            finally:
                await handler.close()

        return _run(test())

    def statistics(self, *columns: str, path: str | None = None) -> dict[str, Any]:
        request = TableStatsRequest("sales", "orders", columns)
        found = self.ask("get_table_statistics_req", request, path=path).tableStats
        return {each.colName: next(data for data in each.statsData if data is not None) for each in found}


def _run(test: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(test)


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Lake]:
    found = Lake(tmp_path)
    yield found
    found.catalog.close()


def test_nulls_and_bounds_are_those_of_all_data_files(lake: Lake) -> None:
    lake.orders.append(rows(3, None, 5))
    lake.orders.append(rows(1, 4))
    found = lake.statistics("ID", "price", "day", "at", "sum", "empty")
    assert found["id"] == LongColumnStatsData(1, 5, 1, 0)
    assert found["price"] == DoubleColumnStatsData(0.5, 2.5, 1, 0)
    assert found["day"] == DateColumnStatsData(Date(19723), Date(19727), 1, 0)
    assert found["at"] == LongColumnStatsData(1704067201, 1704067205, 1, 0), "seconds"
    assert (found["sum"].lowValue.unscaled, found["sum"].highValue.unscaled) == (b"\x01", b"\x05")
    assert found["empty"] == LongColumnStatsData(None, None, 5, 0)


def test_a_table_at_a_path_has_the_same_statistics(lake: Lake) -> None:
    lake.orders.append(rows(1, 2))
    assert lake.statistics("id", path=lake.orders.metadata_location) == {"id": LongColumnStatsData(1, 2, 0, 0)}


def test_text_has_no_statistics_for_its_lengths_are_not_in_manifests(lake: Lake) -> None:
    lake.orders.append(rows(1, 2))
    assert lake.statistics("name") == {}
    with pytest.raises(NoSuchObjectException, match="columnName=name do not exist"):
        lake.ask("get_table_column_statistics", "sales", "orders", "name")


def test_a_table_without_rows_has_none(lake: Lake) -> None:
    assert lake.statistics("id") == {}


def test_distinct_values_are_those_of_a_statistics_file_of_the_current_snapshot(lake: Lake) -> None:
    lake.orders.append(rows(1, 2, 2))
    snapshot = lake.orders.metadata.current_snapshot()
    assert snapshot is not None
    sketch = {"type": "apache-datasketches-theta-v1", "snapshot-id": snapshot.snapshot_id, "sequence-number": 1}
    blob = BlobMetadata.model_validate({**sketch, "fields": [1], "properties": {"ndv": "2"}})
    described = {"statistics-path": "s", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}
    file = StatisticsFile.model_validate(
        {**described, "snapshot-id": snapshot.snapshot_id, "blob-metadata": [blob.model_dump(by_alias=True)]}
    )
    with lake.orders.update_statistics() as update:
        update.set_statistics(file)
    assert lake.statistics("id") == {"id": LongColumnStatsData(1, 2, 0, 2)}
    lake.orders.append(rows(9))
    assert lake.statistics("id") == {"id": LongColumnStatsData(1, 9, 0, 0)}, "the file is of an older snapshot"


def test_a_table_of_too_many_manifests_has_none(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "MAX_MANIFESTS", 1)
    lake.orders.append(rows(1))
    assert lake.statistics("id")
    lake.orders.append(rows(2))
    assert lake.statistics("id") == {}


@pytest.mark.parametrize("kind", ["manifest", "list"])
@pytest.mark.parametrize("damage", ["cut", "garbage", "lengths"])
def test_a_table_with_a_broken_manifest_has_none_and_shows_no_memory(
    lake: Lake, caplog: pytest.LogCaptureFixture, kind: str, damage: str
) -> None:
    """pyiceberg's own decoder returns memory of the process for a text that is longer than the file."""
    lake.orders.append(rows(1, 2))
    snapshot = lake.orders.current_snapshot()
    assert snapshot is not None
    place = snapshot.manifest_list if kind == "list" else snapshot.manifests(lake.orders.io)[0].manifest_path
    path = Path(local_path(place))
    data = path.read_bytes()
    text = {"type": "record", "name": "r", "fields": [field("path", 500 if kind == "list" else 100, "string", False)]}
    longer = container(text, [{"path": "x"}]).replace(b"\x02x", b"\xfe\x7f")
    path.write_bytes({"cut": data[:-40], "garbage": bytes(len(data)), "lengths": longer + bytes(len(data))}[damage])
    assert lake.statistics("id", "price") == {}
    assert "a manifest cannot be read" in caplog.text


def test_a_column_whose_bounds_have_another_length_has_none(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.orders.append(rows(1, 2))

    def shorter(*args: Any) -> list[Any]:
        number = lake.orders.schema().find_field("id").field_id
        return [entry._replace(file=entry.file._replace(lower_bounds={number: b"abc"})) for entry in entries(*args)]

    monkeypatch.setattr(statistics, "entries", shorter)
    assert lake.statistics("id") == {}


def test_a_table_of_manifests_that_are_too_large_has_none(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.orders.append(rows(1, 2))
    monkeypatch.setattr(statistics, "MAX_BYTES", 100)
    assert lake.statistics("id") == {}


def test_a_table_has_no_partitions_to_aggregate(lake: Lake) -> None:
    lake.orders.append(rows(1))
    found = lake.ask("get_aggr_stats_for", PartitionsStatsRequest("sales", "orders", ("id",), ("day=1",)))
    assert (found.colStats, found.partsFound) == ((), 0)
