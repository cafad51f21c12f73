"""Tables as Spark 2.0 and before stored them are read, renamed and get new locations (BackwardCompatibilitySuite).

These versions stored the schema always in parts, and no version.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from metastored.hive.locations import join, local_path
from metastored.model.spark.converting import serde_of_source, to_hive_table
from metastored.model.spark.type_strings import parse_ddl
from metastored.model.spark.types import StructType, schema_to_json
from metastored.model.spark.values import CatalogStorage, CatalogTable, CatalogTableType, TableIdentifier
from metastored.spark import ExternalCatalog
from tests.spark.conftest import TEXT

KEY = "spark.sql.sources.schema"
SIMPLE = parse_ddl("i int")
PARTITIONED = parse_ddl("i int, j int")
EMPTY = parse_ddl("col array<string>")


class Places(NamedTuple):
    default: str
    """Where a managed table is."""
    chosen: str
    """Where an external table is."""


def properties(provider: str, schema: StructType | None, *keys: str) -> dict[str, str]:
    found = {"spark.sql.sources.provider": provider}
    if schema is not None:
        found |= {f"{KEY}.numParts": "1", f"{KEY}.part.0": schema_to_json(schema)}
    if keys:
        found |= {f"{KEY}.numPartCols": str(len(keys))}
        found |= {f"{KEY}.partCol.{at}": key for at, key in enumerate(keys)}
    return found


def hive(schema: StructType, at: Places, *keys: str, external: bool = False) -> CatalogTable:
    return replace(
        spark(schema, {}, CatalogStorage(at.chosen if external else None), external),
        storage=replace(TEXT, location_uri=at.chosen if external else None),
        partition_column_names=keys,
    )


def spark(
    schema: StructType, parameters: dict[str, str], storage: CatalogStorage, external: bool = False
) -> CatalogTable:
    type = CatalogTableType.EXTERNAL if external else CatalogTableType.MANAGED
    return CatalogTable(TableIdentifier("tbl", "default"), type, storage, schema, properties=parameters)


def parquet(location: str | None, path: str) -> CatalogStorage:
    classes = serde_of_source("parquet")
    assert classes is not None
    return CatalogStorage(location, classes.input, classes.output, classes.serde, properties={"path": path})


def placeholder(at: Places) -> str:
    return f"{at.default}-__PLACEHOLDER__"


TABLES: dict[str, tuple[Callable[[Places], CatalogTable], StructType]] = {
    "tbl1, of Hive": (lambda at: hive(SIMPLE, at), SIMPLE),
    "tbl2, of Hive, external": (lambda at: hive(SIMPLE, at, external=True), SIMPLE),
    "tbl3, of Hive, partitioned": (lambda at: hive(PARTITIONED, at, "j"), PARTITIONED),
    "tbl4, json": (
        lambda at: spark(EMPTY, properties("json", SIMPLE), CatalogStorage(properties={"path": at.default})),
        SIMPLE,
    ),
    "tbl5, parquet": (lambda at: spark(SIMPLE, properties("parquet", SIMPLE), parquet(None, at.default)), SIMPLE),
    "tbl6, json, partitioned": (
        lambda at: spark(EMPTY, properties("json", PARTITIONED, "j"), CatalogStorage(properties={"path": at.default})),
        PARTITIONED,
    ),
    "tbl7, json, external": (
        lambda at: spark(
            EMPTY, properties("json", SIMPLE), CatalogStorage(placeholder(at), properties={"path": at.chosen}), True
        ),
        SIMPLE,
    ),
    "tbl8, parquet, external": (
        lambda at: spark(SIMPLE, properties("parquet", SIMPLE), parquet(at.chosen, at.chosen), True),
        SIMPLE,
    ),
    "tbl9, json, external, without a schema": (
        lambda at: spark(
            EMPTY, properties("json", None), CatalogStorage(placeholder(at), properties={"path": at.chosen}), True
        ),
        StructType(),
    ),
}


@pytest.fixture
def places(catalog: ExternalCatalog, tmp_path: Path) -> Places:
    (tmp_path / "chosen").mkdir()
    default = join(catalog.get_database("default").location_uri, "tbl")
    return Places(default, (tmp_path / "chosen").as_uri())


@pytest.mark.parametrize("name", TABLES)
def test_an_old_table_is_read_and_renamed(catalog: ExternalCatalog, places: Places, name: str) -> None:
    make, schema = TABLES[name]
    catalog.client.create_table(to_hive_table(make(places)))
    found = catalog.get_table("default", "tbl")
    assert found.schema == schema
    assert found.create_version == "2.2 or prior"
    external = found.table_type is CatalogTableType.EXTERNAL
    assert local_path(found.location) == local_path(places.chosen if external else places.default)
    catalog.rename_table("default", "tbl", "tbl_renamed")
    renamed = catalog.get_table("default", "tbl_renamed")
    assert renamed.schema == schema
    expected = places.chosen if external else f"{places.default}_renamed"
    assert local_path(renamed.location) == local_path(expected)


@pytest.mark.parametrize("name", [name for name in TABLES if "external" in name])
def test_an_old_external_table_gets_a_new_location(
    catalog: ExternalCatalog, places: Places, tmp_path: Path, name: str
) -> None:
    make, schema = TABLES[name]
    catalog.client.create_table(to_hive_table(make(places)))
    found = catalog.get_table("default", "tbl")
    (tmp_path / "other").mkdir()
    catalog.alter_table(found.with_storage(location_uri=(tmp_path / "other").as_uri()))
    altered = catalog.get_table("default", "tbl")
    assert local_path(altered.location) == str(tmp_path / "other")
    assert altered.schema == schema
