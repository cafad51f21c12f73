"""A metastore in the test process, with a few objects of every kind, which the commands' tests only read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest
from metastored.wire.generated.common import (
    ColumnStatistics,
    ColumnStatisticsData,
    ColumnStatisticsDesc,
    ColumnStatisticsObj,
    Date,
    DateColumnStatsData,
    Decimal,
    DecimalColumnStatsData,
    LongColumnStatsData,
)
from tests.support.in_process import serving_metastore

SPARK = {
    "spark.sql.sources.provider": "parquet",
    "spark.sql.create.version": "4.0.0",
    "spark.sql.sources.schema": '{"type":"struct","fields":['
    '{"name":"Id","type":"long","nullable":true,"metadata":{}}]}',
}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands do not inherit settings from the environment of the test run."""
    for name in [name for name in os.environ if name.startswith("METASTORED_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="package")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a metastore with the database `shop`, which tests do not change."""
    with serving_metastore(tmp_path_factory.mktemp("shop")) as uri:
        with metastored.connect(uri, cache=False) as client:
            _fill(client)
        yield uri


def _fill(client: metastored.Client) -> None:
    client.create_database(metastored.database("shop", comment="What is sold"))
    columns = {"id": ("bigint", "the number"), "price": "decimal(9,2)", "day": "date"}
    properties = {"numRows": "3", "totalSize": "1234", "numFiles": "-1"}
    client.create_table(
        metastored.table(
            "shop.orders",
            columns,
            partitioned_by={"ds": "string", "h": "int"},
            comment="One row an order",
            properties=properties,
        )
    )
    client.add_partitions("shop.orders", ["ds=2024-01-01/h=1", "ds=2024-01-01/h=2", "ds=2024-01-02/h=1"])
    client.create_table(metastored.table("shop.spark", {"id": "bigint"}, properties=SPARK))
    acid = {"transactional": "true", "transactional_properties": "insert_only"}
    client.create_table(metastored.table("shop.log", {"id": "int"}, format="textfile", properties=acid))
    location = Path("/nowhere/lake").as_uri()
    client.api.create_catalog(CreateCatalogRequest(Catalog("lake", "Another catalog", location)))
    client.create_database(metastored.database("lake.raw"))
    client.set_statistics(
        ColumnStatistics(
            ColumnStatisticsDesc(isTblLevel=True, dbName="shop", tableName="orders"),
            (
                _column("id", "bigint", ColumnStatisticsData(longStats=LongColumnStatsData(1, 9, 0, 3))),
                _column(
                    "price",
                    "decimal(9,2)",
                    ColumnStatisticsData(
                        decimalStats=DecimalColumnStatsData(Decimal(b"\x64", 2), Decimal(b"\x00\xc8", 2), 1, 2)
                    ),
                ),
                _column("day", "date", ColumnStatisticsData(dateStats=DateColumnStatsData(Date(0), Date(1), 0, 2))),
            ),
            engine="hive",
        )
    )


def _column(name: str, type: str, data: ColumnStatisticsData) -> ColumnStatisticsObj:
    return ColumnStatisticsObj(name, type, data)
