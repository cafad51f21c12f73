"""Log lines about calls."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.server.calls import describe, subject
from metastored.wire.generated import STRUCTS
from metastored.wire.message import Call
from metastored.wire.methods import METHODS
from metastored.wire.structs import names


def struct(kind: str, **fields: Any) -> Any:
    cls = STRUCTS[kind]
    return tuple.__new__(cls, [fields.get(each) for each in names(cls)])


@pytest.mark.parametrize(
    ("method", "args", "expected"),
    [
        ("getName", (), ""),
        ("get_all_tables", ("sales",), "sales"),
        ("get_table", ("sales", "orders"), "sales.orders"),
        ("get_table_req", (struct("GetTableRequest", dbName="sales", tblName="orders"),), "sales.orders"),
        ("create_table", (struct("Table", dbName="sales", tableName="orders"),), "sales.orders"),
        ("create_database", (struct("Database", name="sales"),), "sales"),
        ("add_partitions", ((struct("Partition", dbName="sales", tableName="orders"),),), "sales.orders"),
        ("get_table", (None, None), ""),
    ],
)
def test_the_object_of_a_call_is_found_among_its_arguments(method: str, args: tuple[Any, ...], expected: str) -> None:
    assert subject(Call(METHODS[method], args)) == expected


def test_a_call_is_described_by_method_object_and_time() -> None:
    call = Call(METHODS["get_table"], ("sales", "orders"))
    assert describe(call, 1.2345) == "get_table sales.orders took 1.234 s"
    assert describe(Call(METHODS["getName"], ()), 2) == "getName took 2.000 s"
