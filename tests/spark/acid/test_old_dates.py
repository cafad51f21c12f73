"""Dates before the Gregorian calendar (15 October 1582): what Spark and Hive read from each other's files.

The table in `docs/concepts/acid.md` has these results, and those of Trino from `test_trino.py`.
"""

from __future__ import annotations

import copy
from contextlib import ExitStack
from typing import Any

import pytest

import metastored
from metastored.errors import InvalidInputException
from metastored.spark import acid
from metastored.spark.acid.sql.guard import guarded
from metastored.testing import RunningServer
from tests.spark.acid.conftest import Warehouse
from tests.spark.acid.test_hive_writes import WriteIds
from tests.support.hive_acid import READERS, HiveFiles, inserted

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"d": "date", "t": "timestamp"}
OLD = ("0001-01-01", "1500-03-01", "1582-10-04")
NEW = ("1582-10-15", "1900-01-01", "9999-12-31")
UNCONVERTED = ("0000-12-30", "1500-03-11", "1582-10-14")
"""What a reader shows that takes the numbers of days as they are. Spark and Hive 4 store those of the Julian calendar,
and convert them; Hive 3.1 and Trino do not."""
CONVERTED = ("0001-01-03", "1500-02-20", "1582-09-24")
"""What a reader shows that converts days which were not stored so."""


def days(*groups: tuple[str, ...]) -> list[tuple[str, str]]:
    """Rows with these days, and noon of them."""
    return sorted((day, f"{day} 12:00:00") for group in groups for day in group)


def frame(spark: Any) -> Any:
    values = ", ".join(f"(date'{day}', timestamp'{noon}')" for day, noon in days(OLD, NEW))
    return spark.sql(f"select * from values {values} as v(d, t)")


def read(spark: Any, warehouse: Warehouse, name: str) -> list[tuple[str, str]]:
    rows = acid.read(spark, name, client=warehouse.client).selectExpr("cast(d as string)", "cast(t as string)")
    return sorted((row[0], row[1]) for row in rows.collect())


@pytest.mark.parametrize("reader", READERS)
def test_hive_4_reads_old_dates_of_spark_and_hive_3_shifts_them(
    spark: Any, warehouse: Warehouse, hive_version: str, reader: str
) -> None:
    name = warehouse.create("t", COLUMNS)
    acid.insert(spark, name, frame(spark), client=warehouse.client)
    assert read(spark, warehouse, name) == days(OLD, NEW)
    files = HiveFiles(hive_version, COLUMNS)
    files.read(warehouse.path(name), f"{name}:1:9223372036854775807::", reader=reader)
    (found,) = files.run()
    # Hive 3.1 shows a year before the year 1 without its era.
    rows = sorted((row[0], row[1].replace("T", " ").replace("0001-12-30", "0000-12-30")) for row in found.rows)
    shown = [(day.replace("0001-12-30", "0000-12-30"), noon) for day, noon in rows]
    assert sorted(shown) == days(UNCONVERTED if hive_version == "3.1.3" else OLD, NEW)


def test_old_dates_of_hive_4_are_read_and_those_of_hive_3_are_shifted(
    spark: Any, warehouse: Warehouse, hive_version: str
) -> None:
    name = warehouse.create("t", COLUMNS)
    with ExitStack() as stack:
        write_id = WriteIds(warehouse, name, stack).committed()
        files = HiveFiles(hive_version, COLUMNS)
        files.write(warehouse.path(name), [inserted(*row) for row in days(OLD, NEW)], write_id)
        files.run()
        assert read(spark, warehouse, name) == days(CONVERTED if hive_version == "3.1.3" else OLD, NEW)


def test_a_time_that_python_cannot_hold_is_named_with_its_column(spark: Any, server: RunningServer) -> None:
    session: Any = guarded(copy.copy(spark), lambda: metastored.connect(server.uri, cache=False))
    query = "select 1 as id, timestamp'0001-01-01 00:00:00' as born"
    with pytest.raises(InvalidInputException, match=r"time in born .*cast\(born as string\)"):
        session.sql(query).collect()
    assert session.sql(query).selectExpr("cast(born as string)").collect()[0][0] == "0001-01-01 00:00:00"
    with pytest.raises(ValueError, match="out of range"):  # Other sessions are as they were.
        spark.sql(query).collect()
