"""Functions in Spark's external catalog: tests 55 to 67 of Spark's ExternalCatalogSuite."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from metastored.errors import SparkCatalogError
from metastored.model.spark.values import CatalogFunction, FunctionIdentifier, FunctionResource
from metastored.spark import ExternalCatalog

CLASS = "org.example.Func"


def condition(call: Callable[[], object]) -> str:
    with pytest.raises(SparkCatalogError) as caught:
        call()
    return caught.value.condition


def function(name: str, db: str = "mydb", *resources: FunctionResource) -> CatalogFunction:
    return CatalogFunction(FunctionIdentifier(name, db), CLASS, resources)


def test_functions_are_created_and_listed(basic: ExternalCatalog) -> None:
    assert basic.list_functions("db1") == []
    basic.create_function("db1", function("myFunc", "db1"))
    assert basic.list_functions("db1") == ["myfunc"]


def test_a_function_of_a_missing_database_is_not_created(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.create_function("unknown_db", function("f"))) == "SCHEMA_NOT_FOUND"


def test_a_function_that_exists_is_not_created(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.create_function("db2", function("Func1", "db2"))) == "ROUTINE_ALREADY_EXISTS"


def test_a_function_is_dropped(basic: ExternalCatalog) -> None:
    basic.drop_function("db2", "func1")
    assert basic.list_functions("db2") == []


def test_a_missing_function_is_not_dropped(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.drop_function("unknown_db", "func1")) == "SCHEMA_NOT_FOUND"
    assert condition(lambda: basic.drop_function("db2", "unknown_func")) == "ROUTINE_NOT_FOUND"


def test_a_function_is_read(basic: ExternalCatalog) -> None:
    assert basic.get_function("db2", "func1") == function("func1", "db2")
    assert basic.function_exists("db2", "func1")
    assert not basic.function_exists("db2", "unknown_func")


def test_the_resources_of_a_function_are_kept(basic: ExternalCatalog) -> None:
    resources = (
        FunctionResource("jar", "file:/x.jar"),
        FunctionResource("file", "y"),
        FunctionResource("archive", "z"),
    )
    basic.create_function("db1", function("f", "db1", *resources))
    assert basic.get_function("db1", "f").resources == resources
    wrong = function("g", "db1", FunctionResource("egg", "x"))
    assert condition(lambda: basic.create_function("db1", wrong)) == "_LEGACY_ERROR_TEMP_1214"


def test_a_missing_function_is_an_error(basic: ExternalCatalog) -> None:
    assert condition(lambda: basic.get_function("db2", "unknown_func")) == "ROUTINE_NOT_FOUND"
    assert condition(lambda: basic.get_function("unknown_db", "func1")) == "SCHEMA_NOT_FOUND"


def test_a_function_is_renamed(basic: ExternalCatalog) -> None:
    basic.rename_function("db2", "func1", "new_name")
    assert basic.get_function("db2", "new_name") == function("new_name", "db2")
    assert condition(lambda: basic.get_function("db2", "func1")) == "ROUTINE_NOT_FOUND"
    assert condition(lambda: basic.rename_function("db2", "func1", "x")) == "ROUTINE_NOT_FOUND"
    assert condition(lambda: basic.rename_function("unknown_db", "func1", "x")) == "SCHEMA_NOT_FOUND"


def test_a_function_is_not_renamed_onto_another(basic: ExternalCatalog) -> None:
    basic.create_function("db2", function("func2", "db2"))
    assert condition(lambda: basic.rename_function("db2", "func1", "func2")) == "ROUTINE_ALREADY_EXISTS"


def test_the_class_of_a_function_is_changed(basic: ExternalCatalog) -> None:
    basic.alter_function("db2", CatalogFunction(FunctionIdentifier("func1", "db2"), "org.example.Other"))
    assert basic.get_function("db2", "func1").class_name == "org.example.Other"
    assert condition(lambda: basic.alter_function("db2", function("unknown_func"))) == "ROUTINE_NOT_FOUND"


def test_functions_are_listed_by_a_pattern(basic: ExternalCatalog) -> None:
    basic.create_function("db2", function("func2", "db2"))
    basic.create_function("db2", function("not_me", "db2"))
    assert set(basic.list_functions("db2", "*")) == {"func1", "func2", "not_me"}
    assert set(basic.list_functions("db2", "func*")) == {"func1", "func2"}
