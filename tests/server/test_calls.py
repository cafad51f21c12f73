"""What the log says about a call."""

from __future__ import annotations

from typing import Any

import pytest

from skep.server.calls import describe, subject
from skep.wire.generated.databases import Database
from skep.wire.generated.partitions import Partition
from skep.wire.generated.tables import GetTableRequest, Table
from skep.wire.message import Call
from skep.wire.methods import METHODS


@pytest.mark.parametrize(
    ("method", "args", "expected"),
    [
        ("getName", (), ""),
        ("get_all_tables", ("sales",), "sales"),
        ("get_table", ("sales", "orders"), "sales.orders"),
        ("get_table_req", (GetTableRequest(dbName="sales", tblName="orders"),), "sales.orders"),
        ("create_table", (Table(dbName="sales", tableName="orders"),), "sales.orders"),
        ("create_database", (Database(name="sales"),), "sales"),
        ("add_partitions", ((Partition(dbName="sales", tableName="orders"),),), "sales.orders"),
        ("get_table", (None, None), ""),
    ],
)
def test_the_object_of_a_call_is_found_among_its_arguments(method: str, args: tuple[Any, ...], expected: str) -> None:
    assert subject(Call(METHODS[method], args)) == expected


def test_a_call_is_described_by_method_object_and_time() -> None:
    call = Call(METHODS["get_table"], ("sales", "orders"))
    assert describe(call, 1.2345) == "get_table sales.orders took 1.234 s"
    assert describe(Call(METHODS["getName"], ()), 2) == "getName took 2.000 s"
