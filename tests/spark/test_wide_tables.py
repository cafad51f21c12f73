"""Many wide tables at once, whose columns are read only if Spark's own schema does not make them unnecessary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import metastored
from metastored.errors import SparkCatalogError
from metastored.model.spark.types import INTEGER, STRING, DecimalType, StructField, StructType
from metastored.model.spark.values import (
    CatalogDatabase,
    CatalogStorage,
    CatalogTable,
    CatalogTableType,
    TableIdentifier,
)
from metastored.spark import ExternalCatalog
from metastored.wire.replies.unread import unread_columns
from metastored.wire.structs import replace as with_fields
from tests.spark.conftest import TEXT, Metastore

DB = "wide"
METADATA_TYPED = "org.apache.hadoop.hive.serde2.MetadataTypedColumnsetSerDe"


def table(name: str, provider: str, *, comment: str = "", decimals: bool = False) -> CatalogTable:
    metadata = {"comment": comment} if comment else {}
    types = (INTEGER, DecimalType(7, 2) if decimals else STRING)
    fields = tuple(StructField(f"Column_{at}", types[at % 2], metadata=metadata) for at in range(150))
    storage = TEXT if provider == "hive" else CatalogStorage()
    return CatalogTable(
        TableIdentifier(name, DB), CatalogTableType.EXTERNAL, storage, StructType(fields), provider=provider
    )


@pytest.fixture(params=[4, pytest.param(12, marks=pytest.mark.soak)])
def names(request: pytest.FixtureRequest, catalog: ExternalCatalog, tmp_path: Path) -> list[str]:
    """The names of tables in every form in which Spark stores a schema: 4 of each; `make soak` has 12."""
    catalog.create_database(CatalogDatabase(DB, location_uri=tmp_path.as_uri()))
    made = []
    for at in range(request.param):
        for kind, one in (
            ("plain", table(f"plain_{at}", "parquet")),
            ("comments", table(f"comments_{at}", "orc", comment="größe " * 12)),
            ("decimals", table(f"decimals_{at}", "parquet", decimals=True)),
            ("only_spark", table(f"only_spark_{at}", "json")),
            ("serde", table(f"serde_{at}", "hive")),
        ):
            located = replace(one.storage, location_uri=(tmp_path / f"{kind}_{at}").as_uri())
            catalog.create_table(replace(one, storage=located))
            made.append(one.identifier.table)
    return made


def test_tables_that_are_read_together_are_those_that_are_read_one_by_one(
    catalog: ExternalCatalog, names: list[str]
) -> None:
    found = {each.identifier.table: each for each in catalog.get_tables_by_name(DB, names)}
    assert found == {each: catalog.get_table(DB, each) for each in names}


def test_a_type_that_spark_cannot_read_is_an_error_in_a_list_too(catalog: ExternalCatalog, names: list[str]) -> None:
    struct = catalog.client.table(f"{DB}.plain_3")
    assert struct.sd is not None and struct.sd.cols is not None
    columns = (*struct.sd.cols[:-1], with_fields(struct.sd.cols[-1], type="uniontype<int,string>"))
    broken = with_fields(struct, tableName="broken", sd=with_fields(struct.sd, cols=columns))
    catalog.client.create_table(broken)
    everything = [*names, "broken"]
    for read in (lambda: catalog.get_table(DB, "broken"), lambda: catalog.get_tables_by_name(DB, everything)):
        with pytest.raises(SparkCatalogError, match="has a column that Spark cannot read") as caught:
            read()
        assert caught.value.condition == "INTERNAL_ERROR_INVALID_HIVE_COLUMN_TYPE"


def test_a_serde_that_depends_on_the_columns_is_the_same_in_a_list(catalog: ExternalCatalog, names: list[str]) -> None:
    struct = catalog.client.table(f"{DB}.plain_3")
    assert struct.sd is not None and struct.sd.serdeInfo is not None
    sd = with_fields(struct.sd, serdeInfo=with_fields(struct.sd.serdeInfo, serializationLib=METADATA_TYPED))
    catalog.client.alter(f"{DB}.plain_3", with_fields(struct, sd=sd))
    found = next(each for each in catalog.get_tables_by_name(DB, names) if each.identifier.table == "plain_3")
    assert found == catalog.get_table(DB, "plain_3")
    assert found.storage.serde == "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


def test_columns_are_unread_only_for_the_caller_that_asked_for_it(
    catalog: ExternalCatalog, names: list[str], metastore: Metastore
) -> None:
    with metastored.connect(metastore.uri, user="ann", cache=True) as client:
        for _ in range(2):  # From the metastore, and from the cache.
            unread = client.with_unread_columns().tables_by_name(DB, tuple(names))
            assert all(unread_columns(each.sd) is not None for each in unread if (each.tableName or "").startswith("p"))
            usual = client.tables_by_name(DB, tuple(names))
            assert [len(each.sd.cols) for each in usual if each.sd and each.sd.cols] == [
                1 if (each.tableName or "").startswith("only") else 150 for each in usual
            ]
