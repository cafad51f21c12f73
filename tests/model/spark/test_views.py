"""The context of a view's query, and each way in which its properties can be corrupted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from metastored.errors import SparkCatalogError
from metastored.model.spark.types import StructType
from metastored.model.spark.values import CatalogStorage, CatalogTable, CatalogTableType, TableIdentifier

PROPERTIES = {
    "view.catalogAndNamespace.numParts": "2",
    "view.catalogAndNamespace.part.0": "spark_catalog",
    "view.catalogAndNamespace.part.1": "default",
    "view.query.out.numCols": "2",
    "view.query.out.col.0": "Id",
    "view.query.out.col.1": "a.b",
    "view.sqlConfig.spark.sql.ansi.enabled": "true",
    "view.referredTempViewNames": '[["v"],["global_temp","w"]]',
    "view.referredTempFunctionsNames": '["f"]',
    "view.referredTempVariablesNames": '[["system","session","x"]]',
    "view.schemaMode": "COMPENSATION",
}
NAMESPACE = "view.catalogAndNamespace."


def view(changes: dict[str, str | None]) -> CatalogTable:
    properties = {key: value for key, value in (PROPERTIES | changes).items() if value != ""}
    return CatalogTable(
        TableIdentifier("v", "db"), CatalogTableType.VIEW, CatalogStorage(), StructType(),
        properties=properties,  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_context_of_a_view_is_read() -> None:
    found = view({})
    assert found.view_catalog_and_namespace == ("spark_catalog", "default")
    assert found.view_query_column_names == ("Id", "a.b")
    assert found.view_sql_configs == {"spark.sql.ansi.enabled": "true"}
    assert found.view_referred_temp_view_names == (("v",), ("global_temp", "w"))
    assert found.view_referred_temp_function_names == ("f",)
    assert found.view_referred_temp_variable_names == (("system", "session", "x"),)
    assert found.view_schema_mode == "COMPENSATION"


def test_a_view_of_spark_2_names_its_database() -> None:
    found = view({f"{NAMESPACE}numParts": "", "view.default.database": "shop"})
    assert found.view_catalog_and_namespace == ("spark_catalog", "shop")


def test_a_view_without_context_has_none() -> None:
    found = view(dict.fromkeys(PROPERTIES, ""))
    assert found.view_catalog_and_namespace == found.view_query_column_names == ()
    assert found.view_sql_configs == {}
    assert found.view_referred_temp_view_names == found.view_referred_temp_variable_names == ()
    assert found.view_referred_temp_function_names == ()
    assert found.view_schema_mode == "BINDING"


CORRUPTED: dict[str, tuple[dict[str, str | None], Callable[[CatalogTable], object], str]] = {
    "a part of the namespace is missing": (
        {f"{NAMESPACE}part.1": ""}, lambda each: each.view_catalog_and_namespace, "TABLE_NAME_CONTEXT"
    ),
    "a column of the query is missing": (
        {"view.query.out.numCols": "3"}, lambda each: each.view_query_column_names, "VIEW_QUERY_COLUMN_ARITY"
    ),
    "a configuration has no value": (
        {"view.sqlConfig.x": None}, lambda each: each.view_sql_configs, "SQL_CONFIG"
    ),
    "the temporary views are no JSON": (
        {"view.referredTempViewNames": "[["}, lambda each: each.view_referred_temp_view_names, "TEMP_VIEW_REFERENCE"
    ),
    "a temporary view is not an array": (
        {"view.referredTempViewNames": "[1]"}, lambda each: each.view_referred_temp_view_names, "TEMP_VIEW_REFERENCE"
    ),
    "the temporary functions are no array": (
        {"view.referredTempFunctionsNames": "{}"}, lambda each: each.view_referred_temp_function_names,
        "TEMP_FUNCTION_REFERENCE",
    ),
    "a temporary function is not a text": (
        {"view.referredTempFunctionsNames": "[1]"}, lambda each: each.view_referred_temp_function_names,
        "TEMP_FUNCTION_REFERENCE",
    ),
    "a temporary variable is not an array of texts": (
        {"view.referredTempVariablesNames": "[[1]]"}, lambda each: each.view_referred_temp_variable_names,
        "TEMP_VARIABLE_REFERENCE",
    ),
}  # fmt: skip


@pytest.mark.parametrize("state", CORRUPTED)
def test_a_corrupted_view_is_an_error_with_sparks_name(state: str) -> None:
    changes, read, condition = CORRUPTED[state]
    with pytest.raises(SparkCatalogError, match="Corrupted") as caught:
        read(view(changes))
    assert caught.value.condition == f"INTERNAL_ERROR_METADATA_CATALOG.{condition}"


@pytest.mark.parametrize(
    ("changes", "read"),
    [
        ({f"{NAMESPACE}numParts": "two"}, lambda each: each.view_catalog_and_namespace),
        ({"view.query.out.numCols": "-1"}, lambda each: each.view_query_column_names),
        ({"view.schemaMode": "SOMETIMES"}, lambda each: each.view_schema_mode),
    ],
)
def test_a_value_that_spark_does_not_know_is_an_error(
    changes: dict[str, str | None], read: Callable[[CatalogTable], object]
) -> None:
    with pytest.raises(SparkCatalogError) as caught:
        read(view(changes))
    assert caught.value.condition == "INTERNAL_ERROR"
