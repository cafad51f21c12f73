"""What is stored of statistics, in metastores with the rules of Hive 3.1 and of Hive 4. Spark is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

import metastored
from metastored.model.names import table_name
from metastored.model.spark.types import AtomicType
from metastored.spark.statistics.files import DataFiles
from metastored.spark.statistics.hive_form import to_hive
from metastored.spark.statistics.spark_form import to_spark
from metastored.spark.statistics.storing import (
    FINGERPRINT,
    Analyzed,
    Writer,
    is_current,
    store_partitioned_table,
    store_partitions,
    store_table,
    stored_sketches,
)
from metastored.spark.statistics.summaries import ColumnBuilder, Kind, Summary
from metastored.testing import running_server

pytestmark = pytest.mark.slow

FILES = DataFiles(1, 100, "abc")
COLUMNS = {"id": "bigint", "ts": "timestamp"}


@pytest.fixture(scope="module", params=["3.1", "4.0"])
def client(request: pytest.FixtureRequest) -> Iterator[metastored.Client]:
    with running_server(compat=request.param) as server, metastored.connect(server.uri) as connected:
        connected.create_database("d")
        yield connected


def counted(kind: Kind, array: pa.Array) -> Summary:
    builder = ColumnBuilder(kind)
    builder.add(array)
    return builder.built()


IDS = counted(Kind.INTEGER, pa.array([1, 2, None]))
STAMPS = counted(Kind.TIMESTAMP, pa.array([1_500_000, None, None], pa.timestamp("us", "UTC")))


def analyzed(client: metastored.Client) -> Analyzed:
    newest = client.capabilities.version() >= (4, 0)
    columns = (
        to_hive("id", "bigint", IDS, timestamps=newest, histogram=b"kll" if newest else None),
        to_hive("ts", "timestamp", STAMPS, timestamps=newest),
    )
    return Analyzed(3, FILES, tuple(each for each in columns if each is not None))


def created(client: metastored.Client, name: str, **options: Any) -> Writer:
    client.create_table(metastored.table(name, COLUMNS, format="orc", external=True, **options))
    return Writer(client, table_name(name), None)


def test_a_table_gets_column_statistics_and_parameters(client: metastored.Client) -> None:
    writer = created(client, "d.t")
    store_table(writer, analyzed(client), {"id": to_spark("id", AtomicType("long"), IDS)})
    data = {name: each.statsData for name, each in client.statistics("d.t").items()}
    ids, stamps = data["id"], data["ts"]
    assert ids is not None and ids.longStats is not None
    assert (ids.longStats.lowValue, ids.longStats.highValue, ids.longStats.numNulls) == (1, 2, 1)
    assert stamps is not None
    bounds = stamps.timestampStats or stamps.longStats
    assert bounds is not None and bounds.numNulls == 2
    parameters = client.table("d.t").parameters or {}
    assert is_current(parameters, FILES, ["ID", "ts"])
    assert (parameters["numRows"], parameters["spark.sql.statistics.colStats.id.max"]) == ("3", "2")


def test_partitions_get_their_own_and_the_table_the_sketches_of_all(client: metastored.Client) -> None:
    writer = created(client, "d.p", partitioned_by={"ds": "string"})
    client.add_partitions("d.p", [["a"], ["b"]])
    assert IDS.sketch is not None
    store_partitioned_table(writer, (6, 200), {"id": to_spark("id", AtomicType("long"), IDS)}, {"id": IDS.sketch})
    store_partitions(writer, client.table("d.p"), {"ds=a": analyzed(client)})
    first, second = client.partitions("d.p")
    assert is_current(first.parameters or {}, FILES, ["id"])
    assert not is_current(second.parameters or {}, FILES, ["id"])
    assert sorted(client.partition_statistics("d.p", ["ds=a"])["ds=a"]) == ["id", "ts"]
    assert stored_sketches(client.table("d.p").parameters or {}) == {"id": IDS.sketch}


def test_statistics_of_other_files_are_no_longer_accurate(client: metastored.Client) -> None:
    writer = created(client, "d.changed")
    store_table(writer, analyzed(client), {})
    only = analyzed(client)._replace(files=DataFiles(2, 200, "def"), columns=analyzed(client).columns[:1])
    store_table(writer, only, {})
    parameters = client.table("d.changed").parameters or {}
    assert parameters[FINGERPRINT] == "def"
    assert is_current(parameters, only.files, ["id"])
    assert not is_current(parameters, only.files, ["ts"])
    assert not is_current(parameters, FILES, ["id"])
