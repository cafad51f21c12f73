"""The data of the demo: customers, orders by day, products with vectors, events. Generated, the same in each run."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any, Final

import metastored

DAYS: Final = tuple(f"2024-09-{day:02}" for day in range(1, 8))
CUSTOMERS: Final = 500
ORDERS_A_DAY: Final = 3_000
EVENTS: Final = 10_000
COUNTRIES: Final = ("de", "fr", "it", "nl", "pl", "se")
FRUITS: Final = (
    "apple",
    "cherry",
    "fig",
    "grape",
    "kiwi",
    "lemon",
    "mango",
    "melon",
    "peach",
    "pear",
    "plum",
    "quince",
)
DIMENSIONS: Final = 16


def fill_old_cluster(client: metastored.Client, warehouse: Path) -> int:
    """Writes Parquet files and registers them in the old metastore, as its own jobs would. Returns the rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    chance = random.Random(1)
    client.create_database("shop")
    customers = pa.table(
        {
            "id": pa.array(range(CUSTOMERS), pa.int64()),
            "name": [f"customer {number}" for number in range(CUSTOMERS)],
            "country": [chance.choice(COUNTRIES) for _ in range(CUSTOMERS)],
        }
    )
    client.create_table(
        metastored.table("shop.customers", {"id": "bigint", "name": "string", "country": "string"}, format="parquet")
    )
    pq.write_table(customers, warehouse / "shop.db" / "customers" / "part-0.parquet")
    client.create_table(
        metastored.table(
            "shop.orders",
            {"id": "bigint", "customer": "bigint", "fruit": "string", "euro": "double"},
            partitioned_by={"day": "string"},
            format="parquet",
        )
    )
    for at, day in enumerate(DAYS):
        folder = warehouse / "shop.db" / "orders" / f"day={day}"
        folder.mkdir(parents=True)
        pq.write_table(orders(at, chance), folder / "part-0.parquet")
    client.add_partitions("shop.orders", [{"day": day} for day in DAYS])
    return CUSTOMERS + len(DAYS) * ORDERS_A_DAY


def orders(day: int, chance: random.Random) -> Any:
    """One day's orders as an Arrow table."""
    import pyarrow as pa

    first = day * ORDERS_A_DAY
    return pa.table(
        {
            "id": pa.array(range(first, first + ORDERS_A_DAY), pa.int64()),
            "customer": pa.array([chance.randrange(CUSTOMERS) for _ in range(ORDERS_A_DAY)], pa.int64()),
            "fruit": [chance.choice(FRUITS) for _ in range(ORDERS_A_DAY)],
            "euro": [round(chance.uniform(1, 60), 2) for _ in range(ORDERS_A_DAY)],
        }
    )


def events() -> list[tuple[int, str, str]]:
    """Visits of the new shop: customer, day, fruit that was looked at."""
    chance = random.Random(2)
    return [(chance.randrange(CUSTOMERS), chance.choice(DAYS), chance.choice(FRUITS)) for _ in range(EVENTS)]


def products() -> list[tuple[int, str, list[float]]]:
    """Fruits with a vector each: neighbours in the list are neighbours in the space."""
    return [(number, name, vector(number)) for number, name in enumerate(FRUITS)]


def vector(number: float) -> list[float]:
    """A point on a spiral."""
    angle = number / len(FRUITS) * math.pi
    return [math.cos(angle * (at + 1) / 4) for at in range(DIMENSIONS)]
