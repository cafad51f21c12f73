"""Columns of Lance tables are added, altered and dropped, and metadata is set; the metastore's columns follow."""

from __future__ import annotations

from typing import Any

import lance_namespace as ns
import pyarrow
import pytest

from metastored.lance.arrow import schema_of, type_of
from tests.support.lance import POINTS, Space

pytestmark = pytest.mark.slow


def dataset(space: Space) -> Any:
    import lance

    return lance.dataset(namespace_client=space.namespace, table_id=space.id("points"))


def columns(space: Space) -> dict[str, str]:
    """The columns in the metastore."""
    table = space.namespace.client.table((space.name, "points"))
    return {column.name: column.type for column in table.sd.cols}


def add(space: Space, *entries: dict[str, Any]) -> int:
    request = {"id": space.id("points"), "new_columns": list(entries)}
    version: int = space.namespace.alter_table_add_columns(request).version
    return version


def alter(space: Space, *entries: dict[str, Any]) -> int:
    request = {"id": space.id("points"), "alterations": list(entries)}
    version: int = space.namespace.alter_table_alter_columns(request).version
    return version


def drop(space: Space, *names: str) -> int:
    request = ns.AlterTableDropColumnsRequest(id=space.id("points"), columns=list(names))
    version: int = space.namespace.alter_table_drop_columns(request).version
    return version


def test_a_column_is_added_with_values_of_an_expression(space: Space) -> None:
    space.create("points")
    assert add(space, {"name": "twice", "expression": "id * 2"}, {"name": "one", "expression": "1"}) == 2
    assert dataset(space).to_table(columns=["twice"])["twice"].to_pylist() == [2, 4, 6]
    assert columns(space)["twice"] == "bigint"
    assert list(columns(space)) == ["id", "name", "vector", "twice", "one"]


def test_a_column_is_renamed_and_cast(space: Space) -> None:
    space.create("points", POINTS.set_column(0, "id", POINTS["id"].cast(pyarrow.int32())))
    assert alter(space, {"path": "id", "rename": "number", "data_type": {"type": "int64"}}) == 2
    assert dataset(space).schema.field("number").type == pyarrow.int64()
    assert columns(space) == {"number": "bigint", "name": "string", "vector": "array<float>"}


def test_a_cast_that_hive_refuses_is_made_and_the_columns_in_the_metastore_stay(space: Space) -> None:
    space.create("points")
    assert alter(space, {"path": "id", "data_type": {"type": "int32"}}) == 2
    assert dataset(space).schema.field("id").type == pyarrow.int32()
    assert columns(space)["id"] == "bigint"


def test_columns_are_dropped(space: Space) -> None:
    space.create("points")
    assert drop(space, "name", "vector") == 2
    assert dataset(space).schema.names == ["id"]
    assert columns(space) == {"id": "bigint"}


def test_metadata_of_the_schema_is_merged(space: Space) -> None:
    space.create("points")
    for metadata in ({"a": "1", "b": "1"}, {"b": "2"}):
        request = ns.UpdateTableSchemaMetadataRequest(id=space.id("points"), metadata=metadata)
        found = space.namespace.update_table_schema_metadata(request).metadata
    assert found == {"a": "1", "b": "2"}
    described = space.namespace.describe_table(
        ns.DescribeTableRequest(id=space.id("points"), load_detailed_metadata=True)
    )
    assert described.metadata == {"a": "1", "b": "2"}


def test_metadata_of_a_column_is_set_deleted_and_replaced(space: Space) -> None:
    space.create("points")

    def update(metadata: dict[str, str | None], replace: bool = False) -> Any:
        entry = {"path": "id", "metadata": metadata, "replace": replace}
        return space.namespace.update_field_metadata({"id": space.id("points"), "updates": [entry]}).fields

    assert update({"unit": "m", "note": "x"}) == {"id": {"unit": "m", "note": "x"}}
    assert update({"note": None}) == {"id": {"unit": "m"}}
    assert update({"kind": "k"}, replace=True) == {"id": {"kind": "k"}}
    assert dataset(space).schema.field("id").metadata == {b"kind": b"k"}


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda s: drop(s, "nope"), ns.TableColumnNotFoundError, "nope"),
        (lambda s: drop(s), ns.InvalidInputError, "columns is empty"),
        (lambda s: add(s), ns.InvalidInputError, "new_columns is empty"),
        (lambda s: add(s, {"name": "id", "expression": "1"}), ns.InvalidInputError, "a column id already"),
        (lambda s: add(s, {"name": "x"}), ns.InvalidInputError, "expression"),
        (lambda s: add(s, {"name": "x", "expression": "nope + 1"}), ns.TableColumnNotFoundError, "nope"),
        (lambda s: add(s, {"name": "x", "computed": "id + 1"}), ns.UnsupportedOperationError, "does not run"),
        (lambda s: alter(s, {"path": "nope", "rename": "x"}), ns.TableColumnNotFoundError, "nope"),
        (lambda s: alter(s, {"path": "id"}), ns.InvalidInputError, "needs rename"),
        (lambda s: alter(s, {"path": "id", "data_type": {"type": "number"}}), ns.InvalidInputError, "not a type"),
        (lambda s: alter(s), ns.InvalidInputError, "alterations is empty"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(
    space: Space, call: Any, kind: type[Exception], said: str
) -> None:
    space.create("points")
    with pytest.raises(kind, match=said):
        call(space)
    assert dataset(space).version == 1


def test_a_declared_table_without_data_has_no_columns_to_change(space: Space) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("points")))
    with pytest.raises(ns.InvalidTableStateError, match="declared and has no data"):
        drop(space, "id")


@pytest.mark.parametrize(
    "type",
    [
        pyarrow.int8(),
        pyarrow.uint64(),
        pyarrow.float16(),
        pyarrow.float32(),
        pyarrow.float64(),
        pyarrow.string(),
        pyarrow.large_string(),
        pyarrow.binary(),
        pyarrow.binary(4),
        pyarrow.date32(),
        pyarrow.timestamp("us"),
        pyarrow.decimal128(20, 4),
        pyarrow.list_(pyarrow.float32(), 16),
        pyarrow.list_(pyarrow.int64()),
        pyarrow.large_list(pyarrow.string()),
    ],
    ids=str,
)
def test_a_type_is_read_as_it_is_described(type: pyarrow.DataType) -> None:
    described = schema_of(pyarrow.schema([pyarrow.field("c", type)])).to_dict()["fields"][0]["type"]
    assert type_of(described) == type
