"""Columns of Spark's schemas in Hive's words, and changes of them in a table's parameters."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metastored.errors import ConversionError
from metastored.hive.types.type_strings import HiveType, read_type
from metastored.model.columns import columns_of, partitioned_by
from metastored.model.spark.columns import HIVE_TYPE, edited, hive_type_of, is_schema, schema_parameters, spark_field
from metastored.model.spark.properties import SCHEMA, THRESHOLD, schema_from_properties
from metastored.model.spark.type_strings import parse_ddl, to_ddl
from metastored.model.spark.types import CHAR_VARCHAR, INTEGER, StructField, StructType
from metastored.model.spark.values import BucketSpec
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from tests.hive.type_trees import every_type, names

COLUMNS = StructType(
    (
        spark_field("Id", read_type("bigint"), "the number", nullable=False),
        spark_field("price", read_type("decimal(10,2)"), default="1.5"),
        spark_field("ds", read_type("string")),
    )
)
FIELDS = (FieldSchema("id", "bigint"), FieldSchema("price", "decimal(10, 2)"), FieldSchema("ds", "string"))
comments = st.none() | st.text(min_size=1)
expressions = st.none() | st.sampled_from(["1", "'a, b'", "concat(x, ')')", "(a + b) * 2", "current_date()"])
fields = st.builds(spark_field, names, every_type, comments, st.booleans(), expressions, expressions)


def table(columns: tuple[FieldSchema, ...], parameters: dict[str, str], keys: tuple[FieldSchema, ...] = ()) -> Table:
    return Table(sd=StorageDescriptor(cols=columns), partitionKeys=keys, parameters=parameters)


def shown(found: Table) -> list[tuple[str, bool, str | None]]:
    return [(each.name, each.nullable, each.default) for each in columns_of(found)]


# --- columns -----------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(names, every_type, comments, st.booleans(), expressions, expressions), max_size=4))
def test_every_type_of_hive_comes_back_from_a_schema(
    columns: list[tuple[str, HiveType, str | None, bool, str | None, str | None]],
) -> None:
    found = schema_from_properties(schema_parameters(StructType(tuple(spark_field(*each) for each in columns)), ()))
    assert found is not None
    assert [
        (each.name, hive_type_of(each), each.comment, each.nullable, each.default, each.generated) for each in found
    ] == columns


@given(st.lists(fields, min_size=1, max_size=4))
def test_columns_survive_ddl(columns: list[StructField]) -> None:
    found = parse_ddl(to_ddl(StructType(tuple(columns))))
    for one, other in zip(found, columns, strict=True):
        assert (one.name, one.nullable, one.comment) == (other.name, other.nullable, other.comment)
        assert (one.default, one.generated) == (other.default, other.generated)


def test_a_schema_has_sparks_own_form() -> None:
    schema = StructType(
        (
            spark_field("id", read_type("bigint"), "the number", nullable=False),
            spark_field("codes", read_type("array<char(3)>")),
            spark_field("either", read_type("uniontype<int,varchar(3)>")),
        )
    )
    id, codes, either = json.loads(schema_parameters(schema, ())[SCHEMA])["fields"]
    assert id == {"name": "id", "type": "long", "nullable": False, "metadata": {"comment": "the number"}}
    assert codes["type"] == {"type": "array", "elementType": "string", "containsNull": True}
    assert codes["metadata"] == {CHAR_VARCHAR: "array<char(3)>"}
    assert either["metadata"][HIVE_TYPE] == "uniontype<int,varchar(3)>"
    assert [field["name"] for field in either["type"]["fields"]] == ["tag", "field0", "field1"]


def test_a_column_whose_type_was_changed_has_its_present_type() -> None:
    changed = StructField("c", INTEGER, metadata={HIVE_TYPE: "uniontype<int,string>"})
    assert str(hive_type_of(changed)) == "int"
    with pytest.raises(ConversionError, match="column 'c'"):
        hive_type_of(StructField("c", INTEGER, metadata={HIVE_TYPE: "zzz"}))


# --- tables ------------------------------------------------------------------------------------------------


def test_the_schema_of_a_hive_table_counts_while_it_has_hives_names_and_types() -> None:
    parameters = schema_parameters(COLUMNS, ["ds"])
    expected = [("Id", False, None), ("price", True, "1.5"), ("ds", True, None)]
    assert shown(table(FIELDS[:2], parameters, FIELDS[2:])) == expected
    for others in ((), (FieldSchema("ds", "int"),), (FieldSchema("ds", "no type"),)):
        assert shown(table(FIELDS[:2], parameters, others))[0] == ("id", True, None)
    assert shown(table((), {**parameters, "spark.sql.sources.provider": "parquet"})) == expected


def test_a_table_that_another_program_altered_has_hives_columns() -> None:
    parameters = schema_parameters(COLUMNS, ["ds"])
    assert partitioned_by(table(FIELDS[:2], parameters, FIELDS[2:])) == ("ds",)
    altered = table(FIELDS[:1], parameters, FIELDS[2:])
    assert shown(altered) == [("id", True, None), ("ds", True, None)]
    assert partitioned_by(altered) == ("ds",)


def test_a_hive_table_with_a_type_that_spark_lacks_has_the_schema_in_its_parameters() -> None:
    either = "uniontype<int,timestamp with local time zone>"
    schema = StructType((spark_field("Either", read_type(either), nullable=False),))
    found = columns_of(table((FieldSchema("either", either),), schema_parameters(schema, ())))
    assert [(each.name, each.type, each.nullable) for each in found] == [("Either", either, False)]


def test_a_long_schema_is_stored_in_parts() -> None:
    many = StructType(tuple(spark_field(f"C{at}", read_type("int"), "x" * 100) for at in range(200)))
    parameters = schema_parameters(many, [])
    assert SCHEMA not in parameters and all(map(is_schema, parameters))
    assert all(len(value) <= THRESHOLD for value in parameters.values())
    assert schema_from_properties(parameters) == many


# --- changes -----------------------------------------------------------------------------------------------


def test_changes_of_columns_are_made_in_the_schema() -> None:
    parameters = {"a": "1", **schema_parameters(COLUMNS, ["ds"], BucketSpec(4, ("Id", "price"), ("price",)))}
    new = StructType((spark_field("note", read_type("varchar(9)"), nullable=False),))
    found = edited(parameters, [], {"price": "cost"}, {"id": "string"}, {"price": "euros"}, new)
    schema = schema_from_properties(found)
    assert schema is not None
    assert [(each.name, str(hive_type_of(each)), each.nullable, each.comment, each.default) for each in schema] == [
        ("Id", "string", False, "the number", None),
        ("cost", "decimal(10,2)", True, "euros", "1.5"),
        ("note", "varchar(9)", False, None, None),
        ("ds", "string", True, None, None),
    ]
    assert {key.removeprefix(f"{SCHEMA}."): value for key, value in found.items() if key.startswith(f"{SCHEMA}.")} == {
        "numPartCols": "1", "partCol.0": "ds", "numBuckets": "4", "numBucketCols": "2", "bucketCol.0": "Id",
        "bucketCol.1": "cost", "numSortCols": "1", "sortCol.0": "cost",
    }  # fmt: skip
    dropped = edited(found, ["note"], {}, {}, {}, StructType())
    assert [each["name"] for each in json.loads(dropped[SCHEMA])["fields"]] == ["Id", "cost", "ds"]
    assert dropped["a"] == "1"


def test_a_new_type_replaces_the_declared_one() -> None:
    schema = StructType((spark_field("a", read_type("char(3)")), spark_field("b", read_type("uniontype<int>"))))
    found = edited(schema_parameters(schema, ()), [], {}, {"a": "int", "b": "varchar(5)"}, {}, StructType())
    a, b = json.loads(found[SCHEMA])["fields"]
    assert (a["type"], a["metadata"]) == ("integer", {})
    assert (b["type"], b["metadata"]) == ("string", {CHAR_VARCHAR: "varchar(5)"})


def test_what_hive_lacks_in_other_columns_survives_a_change() -> None:
    ddl = "Aa STRING COLLATE UNICODE_CI, Vv VARIANT, Tt TIMESTAMP_NTZ NOT NULL, Ii INTERVAL DAY"
    found = edited(schema_parameters(parse_ddl(ddl), ()), [], {"ii": "Jj"}, {}, {}, StructType())
    assert schema_from_properties(found) == parse_ddl(ddl.replace("Ii", "Jj"))


def test_parameters_without_a_readable_schema_stay() -> None:
    for parameters in ({"a": "1"}, {SCHEMA: "{broken"}, {SCHEMA: '{"fields": 7}'}, {f"{SCHEMA}.numParts": "2"}):
        assert edited(parameters, ["x"], {}, {}, {}, StructType()) == parameters
