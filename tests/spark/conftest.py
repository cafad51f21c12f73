"""Metastores for Spark's external catalog, each started once a session, and the catalog that Spark's own tests use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import metastored
from metastored.model.spark.types import INTEGER, STRING, StructType
from metastored.model.spark.values import (
    BucketSpec,
    CatalogDatabase,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from metastored.structs import Function, FunctionType, PrincipalType
from metastored.testing import running_server

TEXT = CatalogStorage(
    input_format="org.apache.hadoop.mapred.TextInputFormat",
    output_format="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
    serde="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe",
)


class Metastore(NamedTuple):
    uri: str
    warehouse: str


@pytest.fixture(
    scope="session",
    params=["metastored", pytest.param("hive_2_3", marks=(pytest.mark.apache, pytest.mark.slow))],
)
def metastore(request: pytest.FixtureRequest) -> Iterator[Metastore]:
    if request.param == "metastored":
        with running_server() as server:
            yield Metastore(server.uri, server.warehouse)
    else:
        hive = request.getfixturevalue("hive_2_3")
        yield Metastore(hive.uri, hive.warehouse.as_uri())


PATIENCE = 600.0
"""Seconds: other tests may have left a database with thousands of partitions, which Hive drops in minutes."""


@pytest.fixture
def catalog(metastore: Metastore) -> Iterator[ExternalCatalog]:
    """A catalog of an empty metastore."""
    with metastored.connect(metastore.uri, user="ann", timeout=PATIENCE) as client:
        empty(client)
        yield ExternalCatalog(client)
        empty(client)


def empty(client: metastored.Client) -> None:
    for name in client.databases():
        if name != "default":
            client.drop_database(name, cascade=True)
    for name in client.tables("default"):
        client.drop_table(("default", name))


@pytest.fixture
def basic(catalog: ExternalCatalog, tmp_path: Path) -> ExternalCatalog:
    """Spark's newBasicCatalog: db1, db2 with tbl1, tbl2 (a=1/b=2, a=3/b=4) and func1, and db3."""
    for name in ("db1", "db2", "db3"):
        catalog.create_database(new_database(name))
    for name in ("tbl1", "tbl2"):
        catalog.create_table(new_table(name, "db2", tmp_path))
    tbl2 = catalog.client.table("db2.tbl2")
    catalog.client.add_partitions(
        "db2.tbl2", [metastored.partition(tbl2, values) for values in (("1", "2"), ("3", "4"))]
    )
    catalog.client.api.create_function(
        Function("func1", "db2", "org.example.Func", "ann", PrincipalType.USER, 0, FunctionType.JAVA, ())
    )
    return catalog


def new_database(name: str) -> CatalogDatabase:
    return CatalogDatabase(name, f"{name} description")


def new_table(name: str, db: str, folder: Path, provider: str = "hive") -> CatalogTable:
    """Spark's newTable: external, partitioned by a and b, in four buckets."""
    location = (folder / db / name).as_uri()
    return CatalogTable(
        TableIdentifier(name, db),
        CatalogTableType.EXTERNAL,
        CatalogStorage(location, *TEXT_CLASSES),
        StructType().add("col1", INTEGER).add("col2", STRING).add("a", INTEGER).add("b", STRING),
        provider=provider,
        partition_column_names=("a", "b"),
        bucket_spec=BucketSpec(4, ("col1",)),
    )


TEXT_CLASSES = (TEXT.input_format, TEXT.output_format, TEXT.serde)
