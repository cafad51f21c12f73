"""Partitions by a filter are read as specs, which every Hive has: they are the same as its partitions."""

from __future__ import annotations

from pathlib import Path

import pytest

import metastored
from metastored.model.spark.types import INTEGER, STRING, StructType
from metastored.model.spark.values import (
    CatalogDatabase,
    CatalogStorage,
    CatalogTable,
    CatalogTablePartition,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog

DB = "read_as_specs"
GROUPING = {"hive.hcatalog.partition.spec.grouping.enabled": "true"}
FILTERS = {
    "Region IN (1, 2)": ("(region = 1 or region = 2)", 5),
    "Day = 'b:1'": ('day = "b:1"', 3),
    "Region = 77": ("region = 77", 0),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "hive",
    [
        pytest.param("hive_2_3", marks=pytest.mark.apache),
        pytest.param("hive_3_1", marks=pytest.mark.apache),
        pytest.param("hive_4_0_0", marks=pytest.mark.peers),
        pytest.param("hive_4_0_1", marks=pytest.mark.peers),
        pytest.param("hive_4_1_0", marks=pytest.mark.peers),
    ],
)
def test_specs_of_a_real_hive_have_its_partitions(hive: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Also if the table requests that partitions share storage descriptors."""
    server = request.getfixturevalue(hive)
    with metastored.connect(server.uri, user="ann") as client:
        catalog = ExternalCatalog(client)
        catalog.create_database(CatalogDatabase(DB, location_uri=(server.warehouse / f"{DB}.db").as_uri()))
        columns = StructType().add("Id", INTEGER).add("Day", STRING).add("Region", INTEGER)
        catalog.create_table(
            CatalogTable(
                TableIdentifier("t", DB),
                CatalogTableType.MANAGED,
                CatalogStorage(),
                columns,
                provider="parquet",
                partition_column_names=("Day", "Region"),
                tracks_partitions_in_catalog=True,
            )
        )
        parts = [CatalogTablePartition({"Day": day, "Region": region}) for day in ("b:1", "a 2") for region in "123"]
        elsewhere = CatalogStorage((tmp_path / "elsewhere").as_uri())
        catalog.create_partitions(DB, "t", [*parts, CatalogTablePartition({"Day": "c", "Region": "1"}, elsewhere)])
        for parameters in ({}, GROUPING):
            client.set_parameters(f"{DB}.t", parameters)
            for predicate, (filter, count) in FILTERS.items():
                complete = client.api.get_partitions_by_filter(DB, "t", filter, -1)
                found = catalog.list_partitions_by_filter(DB, "t", predicate)
                assert found == catalog._found(DB, "t").restored(complete)
                assert len(found) == count
        assert not client.capabilities.lacks("get_part_specs_by_filter")
        catalog.drop_database(DB, cascade=True)
