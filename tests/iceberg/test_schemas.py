"""Schemas, partition specs and sort orders: ids, checks, Hive's columns. No server."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.iceberg.errors import BadRequest
from metastored.iceberg.schemas import check_schema, columns_of, fresh, highest_id, ids_by_name, is_same
from metastored.iceberg.specs import bound_spec, check_order, check_spec, is_same_spec


def field(id: int, name: str, type: Any = "long", **more: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "type": type, "required": False, **more}


def struct(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields), **more}


def a_list(id: int, element: Any) -> dict[str, Any]:
    return {"type": "list", "element-id": id, "element": element, "element-required": False}


def a_map(key_id: int, key: Any, value_id: int, value: Any) -> dict[str, Any]:
    return {"type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value": value, "value-required": True}


NESTED = struct(
    field(9, "a", struct(field(8, "x"), field(7, "y", "string"))),
    field(6, "b", a_list(5, struct(field(4, "z", "date")))),
    field(3, "c", a_map(2, "string", 1, "decimal(9, 2)")),
)


def test_fresh_ids_are_given_to_all_fields_of_a_struct_before_those_inside_of_them() -> None:
    assert ids_by_name(fresh(NESTED)) == {
        "a": 1, "b": 2, "c": 3, "a.x": 4, "a.y": 5, "b.element": 6, "b.element.z": 7, "c.key": 8, "c.value": 9,
    }  # fmt: skip


def test_identifier_fields_follow_their_columns() -> None:
    schema = struct(field(5, "a"), field(7, "b"), **{"identifier-field-ids": [7]})
    assert fresh(schema)["identifier-field-ids"] == [2]


def test_unknown_fields_of_a_column_survive() -> None:
    assert fresh(struct(field(5, "a", hint="x")))["fields"] == [field(1, "a", hint="x")]


def test_the_highest_id_may_be_that_of_an_element() -> None:
    assert highest_id(struct(field(1, "a", a_list(12, "int")))) == 12


def test_schemas_are_the_same_if_only_their_ids_differ() -> None:
    one = struct(field(1, "a"), **{"schema-id": 0})
    assert is_same(one, struct(field(1, "a"), **{"schema-id": 4, "identifier-field-ids": []}))
    assert not is_same(one, struct(field(1, "a", doc="other")))


def test_columns_are_shown_to_hive_as_icebergs_hive_catalog_shows_them() -> None:
    types = ["boolean", "int", "long", "float", "double", "date", "time", "timestamp", "timestamptz", "string", "uuid",
             "fixed[16]", "binary", "decimal(9, 2)", "timestamp_ns"]  # fmt: skip
    columns = columns_of(struct(*(field(at, f"c{at}", each) for at, each in enumerate(types))))
    assert [each.type for each in columns] == [
        "boolean", "int", "bigint", "float", "double", "date", "string", "timestamp", "timestamp with local time zone",
        "string", "string", "binary", "binary", "decimal(9,2)", "timestamp",
    ]  # fmt: skip
    assert [each.type for each in columns_of(NESTED)] == [
        "struct<x:bigint,y:string>", "array<struct<z:date>>", "map<string,decimal(9,2)>",
    ]  # fmt: skip


WRONG: dict[str, tuple[Any, str]] = {
    "a type that does not exist": (struct(field(1, "a", "long long")), "does not have"),
    "a decimal that is too wide": (struct(field(1, "a", "decimal(39, 2)")), "does not have"),
    "a type of a newer version": (struct(field(1, "a", "variant")), "from version 3 on, not 2"),
    "an id twice": (struct(field(1, "a"), field(1, "b")), "the field id 1 twice"),
    "a name twice": (struct(field(1, "a"), field(2, "a")), "the column 'a' twice"),
    "no name": (struct({"id": 1, "type": "int", "required": True}), "name of a field"),
    "no list of fields": ({"type": "struct", "fields": 7}, "fields of the schema"),
    "no struct": ({"type": "list"}, "a schema is a struct"),
    "an identifier without a field": (struct(field(1, "a"), **{"identifier-field-ids": [2]}), "identifier field id 2"),
    "an id that is true": (struct({**field(1, "a"), "id": True}), "a whole number was expected"),
    "a type that is a number": (struct(field(1, "a", 5)), "a name, a struct, a list or a map"),
    "a list without an id": (struct(field(1, "a", {"type": "list", "element": "int"})), "element-id"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_schema_is_refused_with(case: str) -> None:
    schema, words = WRONG[case]
    with pytest.raises(BadRequest, match=words):
        check_schema(schema, 2, "the schema")


def spec(*fields: tuple[int, str, str]) -> dict[str, Any]:
    return {"fields": [{"source-id": id, "transform": transform, "name": name} for id, transform, name in fields]}


def test_partition_fields_are_numbered_from_1000_on() -> None:
    schema = struct(field(1, "a"), field(2, "b", "date"))
    bound, last = bound_spec(spec((1, "identity", "a"), (2, "day", "b_day")), schema, 999, [], 0)
    assert [each["field-id"] for each in bound["fields"]] == [1000, 1001]
    assert last == 1001


def test_a_partition_field_that_another_spec_has_keeps_its_id() -> None:
    schema = struct(field(1, "a"), field(2, "b"))
    first, last = bound_spec(spec((1, "bucket[4]", "a_bucket")), schema, 999, [], 0)
    second, last = bound_spec(spec((2, "identity", "b"), (1, "bucket[4]", "other")), schema, last, [first], 1)
    assert [each["field-id"] for each in second["fields"]] == [1001, 1000]


def test_specs_with_the_same_fields_and_names_are_the_same() -> None:
    assert is_same_spec(spec((1, "identity", "a")), {**spec((1, "identity", "a")), "spec-id": 7})
    assert not is_same_spec(spec((1, "identity", "a")), spec((1, "void", "a")))


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (spec((1, "sqrt", "a")), "the transform 'sqrt'"),
        (spec((1, "day", "a"), (1, "day", "a")), "twice"),
        ({"fields": [{"transform": "day", "name": "x"}]}, "source-id"),
        ({"fields": ["x"]}, "not an object"),
    ],
)
def test_a_partition_spec_is_refused(sent: Any, words: str) -> None:
    with pytest.raises(BadRequest, match=words):
        check_spec(sent)


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (spec((5, "identity", "c")), "the field id 5"),
        (spec((2, "identity", "a")), "the identity of 'b', not of 'a'"),
        (spec((1, "bucket[4]", "b")), "the name of a column"),
        (spec((3, "identity", "s")), "is a struct"),
    ],
)
def test_a_partition_spec_is_bound_to_columns_that_can_be_partitioned_by(sent: Any, words: str) -> None:
    schema = struct(field(1, "a"), field(2, "b"), field(3, "s", struct(field(4, "x"))))
    with pytest.raises(BadRequest, match=words):
        bound_spec(sent, schema, 999, [], 0)


@pytest.mark.parametrize("direction", ["up", None, 3])
def test_a_sort_order_is_refused_without_a_direction(direction: Any) -> None:
    with pytest.raises(BadRequest, match="asc or desc"):
        check_order({"fields": [{"source-id": 1, "transform": "identity", "direction": direction,
                                 "null-order": "nulls-first"}]})  # fmt: skip
