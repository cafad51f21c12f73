"""The schema that Spark stores in a table's parameters."""

from __future__ import annotations

import json

from metastored.hive.types.spark import SparkColumn
from metastored.hive.types.type_strings import read_type
from metastored.model.columns import columns_of, partitioned_by
from metastored.model.spark_schema import LONGEST, SPARK_SCHEMA, edited, is_schema, schema_parameters, spark_columns
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table

COLUMNS = [
    SparkColumn("Id", read_type("bigint"), "the number", nullable=False),
    SparkColumn("price", read_type("decimal(10,2)"), default="1.5"),
    SparkColumn("ds", read_type("string")),
]
FIELDS = (FieldSchema("id", "bigint"), FieldSchema("price", "decimal(10, 2)"), FieldSchema("ds", "string"))


def test_the_schema_of_a_hive_table_counts_while_it_has_hives_names_and_types() -> None:
    parameters = schema_parameters(COLUMNS, ["ds"])
    assert spark_columns(parameters, FIELDS) == COLUMNS
    assert spark_columns(parameters, FIELDS[:2]) is None
    assert spark_columns(parameters, (*FIELDS[:2], FieldSchema("ds", "int"))) is None
    assert spark_columns(parameters, (*FIELDS[:2], FieldSchema("ds", "no type"))) is None
    assert spark_columns({**parameters, "spark.sql.sources.provider": "parquet"}, ()) == COLUMNS


def test_a_table_that_another_program_altered_has_hives_columns() -> None:
    parameters = schema_parameters(COLUMNS, ["ds"])
    table = Table(sd=StorageDescriptor(cols=FIELDS[:2]), partitionKeys=FIELDS[2:], parameters=parameters)
    assert [(each.name, each.nullable, each.default) for each in columns_of(table)] == [
        ("Id", False, None),
        ("price", True, "1.5"),
        ("ds", True, None),
    ]
    assert partitioned_by(table) == ("ds",)
    altered = Table(sd=StorageDescriptor(cols=FIELDS[:1]), partitionKeys=FIELDS[2:], parameters=parameters)
    assert [(each.name, each.nullable) for each in columns_of(altered)] == [("id", True), ("ds", True)]


def test_a_long_schema_is_stored_in_parts() -> None:
    many = [SparkColumn(f"c{at}", read_type("int"), "x" * 100) for at in range(200)]
    parameters = schema_parameters(many, [])
    assert SPARK_SCHEMA not in parameters and all(map(is_schema, parameters))
    assert all(len(value) <= LONGEST for value in parameters.values())
    fields = tuple(FieldSchema(each.name, "int") for each in many)
    assert spark_columns(parameters, fields) == many


def test_changes_of_columns_are_made_in_the_schema() -> None:
    parameters = {"a": "1", **schema_parameters(COLUMNS, ["ds"])}
    new = SparkColumn("note", read_type("varchar(9)"), nullable=False)
    found = edited(parameters, [], {"price": "cost"}, {"id": "string"}, {"price": "euros"}, [new])
    fields = (
        FieldSchema("id", "string"), FieldSchema("cost", "decimal(10,2)"), FieldSchema("note", "varchar(9)"),
        FieldSchema("ds", "string"),
    )  # fmt: skip
    columns = spark_columns(found, fields)
    assert columns is not None
    assert [(each.name, each.nullable, each.comment, each.default) for each in columns] == [
        ("Id", False, "the number", None),
        ("cost", True, "euros", "1.5"),
        ("note", False, None, None),
        ("ds", True, None, None),
    ]
    dropped = edited(found, ["note"], {}, {}, {}, [])
    assert [each["name"] for each in json.loads(dropped[SPARK_SCHEMA])["fields"]] == ["Id", "cost", "ds"]
    assert dropped["a"] == "1"


def test_parameters_without_a_readable_schema_stay() -> None:
    for parameters in ({"a": "1"}, {SPARK_SCHEMA: "{broken"}, {SPARK_SCHEMA: '{"fields": 7}'}):
        assert edited(parameters, ["x"], {}, {}, {}, []) == parameters
