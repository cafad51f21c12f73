"""Structs as plain dicts and back."""

from __future__ import annotations

import json

import pytest

from metastored.errors import InvalidInputException
from metastored.model.makers import partition, table
from metastored.model.plain import from_dict, to_dict
from metastored.wire.generated.common import FieldSchema, PrincipalPrivilegeSet, PrivilegeGrantInfo, Table
from metastored.wire.generated.partitions import Partition

ORDERS = table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string"}, bucketed_by=("id", 2))


def test_fields_that_are_not_set_are_omitted() -> None:
    assert to_dict(FieldSchema("id", "bigint")) == {"name": "id", "type": "bigint"}


def test_a_table_becomes_json_and_a_table_again() -> None:
    plain = json.loads(json.dumps(to_dict(ORDERS)))
    assert plain["sd"]["cols"] == [{"name": "id", "type": "bigint"}]
    assert from_dict(Table, plain) == ORDERS


def test_a_partition_comes_back() -> None:
    made = partition(ORDERS, {"ds": "1"})
    assert from_dict(Partition, to_dict(made)) == made


def test_structs_in_maps_of_lists_come_back() -> None:
    privileges = PrincipalPrivilegeSet(userPrivileges={"ann": (PrivilegeGrantInfo("SELECT", 7),)})
    assert to_dict(privileges) == {"userPrivileges": {"ann": [{"privilege": "SELECT", "createTime": 7}]}}
    assert from_dict(PrincipalPrivilegeSet, to_dict(privileges)) == privileges


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(InvalidInputException, match="FieldSchema has no field tpye; it has name, type, comment"):
        from_dict(FieldSchema, {"name": "id", "tpye": "bigint"})


def test_a_value_that_is_no_struct_is_refused() -> None:
    with pytest.raises(InvalidInputException, match="is not a struct"):
        to_dict(("a", "b"))
    with pytest.raises(InvalidInputException, match="is not a struct"):
        from_dict(tuple, {})
    with pytest.raises(InvalidInputException, match="a Table is made from a dict, not from 'x'"):
        from_dict(Table, "x")  # type: ignore[arg-type]
