"""How many SQL statements the main calls run, on both databases: no call may run one for each row."""

from __future__ import annotations

from pathlib import Path

import pytest

import metastored
from metastored.hive.generation import Generation
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import FieldSchema
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.support.metastore import Metastore
from tests.support.statements import counted_statements

ORDERS = metastored.table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string"})
DAYS = tuple(metastored.partition(ORDERS, [str(day)]) for day in range(1000))


@pytest.fixture(params=[Generation.HIVE_2_3, Generation.HIVE_3_1, Generation.HIVE_4_0], ids=str)
def shop(request: pytest.FixtureRequest, start: Starter, tmp_path: Path) -> Metastore:
    """A metastore with a real warehouse and the partitioned table `shop.orders`."""
    metastore = start(request.param, warehouse=Warehouse(f"file:{tmp_path}/warehouse", "local"))
    metastore.call("create_database", metastored.database("shop"))
    metastore.call("create_table", ORDERS)
    return metastore


def test_get_table_runs_one_statement(shop: Metastore) -> None:
    with counted_statements() as statements:
        assert shop.call("get_table", "shop", "orders").tableName == "orders"
    assert len(statements) == 1, statements


def test_add_partitions_of_a_thousand_runs_at_most_20_statements(shop: Metastore) -> None:
    with counted_statements() as statements:
        assert shop.call("add_partitions", DAYS) == 1000
    assert len(statements) <= 20, statements


def test_alter_partitions_of_a_thousand_runs_at_most_40_statements(shop: Metastore) -> None:
    shop.call("add_partitions", DAYS)
    stored = shop.call("get_partitions", "shop", "orders", -1)
    changed = tuple(replace(part, parameters={**part.parameters, "note": part.values[0]}) for part in stored)
    with counted_statements() as statements:
        shop.call("alter_partitions", "shop", "orders", changed)
    assert len(statements) <= 40, statements
    assert shop.call("get_partition", "shop", "orders", ("7",)).parameters["note"] == "7"


def test_a_rename_runs_at_most_20_statements(shop: Metastore) -> None:
    shop.call("add_partitions", DAYS[:3])
    stored = shop.call("get_table", "shop", "orders")
    shop.clock.forward(60)
    with counted_statements() as statements:
        shop.call("alter_table", "shop", "orders", replace(stored, tableName="sales"))
    assert len(statements) <= 20, statements
    moved = shop.call("get_table", "shop", "sales").sd.location
    assert moved.endswith("/sales") and moved != stored.sd.location


def test_a_rename_into_another_database_runs_at_most_20_statements(shop: Metastore) -> None:
    shop.call("create_database", metastored.database("archive"))
    stored = shop.call("get_table", "shop", "orders")
    shop.clock.forward(60)
    with counted_statements() as statements:
        shop.call("alter_table", "shop", "orders", replace(stored, dbName="archive"))
    assert len(statements) <= 20, statements
    assert "/archive.db/" in shop.call("get_table", "archive", "orders").sd.location


@pytest.mark.slow
def test_alter_partitions_with_new_columns_runs_at_most_40_statements(shop: Metastore) -> None:
    shop.call("add_partitions", DAYS)
    stored = shop.call("get_partitions", "shop", "orders", -1)
    columns = (FieldSchema("id", "string"), FieldSchema("note", "string"))
    with counted_statements() as statements:
        shop.call(
            "alter_partitions", "shop", "orders", tuple(replace(p, sd=replace(p.sd, cols=columns)) for p in stored)
        )
    assert len(statements) <= 40, statements
    assert shop.call("get_partition", "shop", "orders", ("7",)).sd.cols == columns


def test_a_partition_that_is_altered_twice_in_one_call_has_the_last_form(shop: Metastore) -> None:
    shop.call("add_partitions", DAYS[:2])
    stored = shop.call("get_partition", "shop", "orders", ("0",))
    first = replace(stored, sd=replace(stored.sd, cols=(FieldSchema("id", "string"),)))
    second = replace(first, parameters={**stored.parameters, "note": "second"})
    shop.call("alter_partitions", "shop", "orders", (first, second))
    result = shop.call("get_partition", "shop", "orders", ("0",))
    assert result.sd.cols == first.sd.cols
    assert result.parameters["note"] == "second"
    events = shop.call("get_next_notification", NotificationEventRequest(lastEvent=0)).events
    assert [event.eventType for event in events].count("ALTER_PARTITION") == 2
    assert [event.eventId for event in events] == list(range(1, len(events) + 1))
