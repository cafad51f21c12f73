"""Dates before the Gregorian calendar (15 October 1582) and the first timestamps: what Spark and Hive read from each
other. The table in `docs/concepts/acid.md` is this test's."""

from __future__ import annotations

import datetime
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from metastored.spark import acid
from tests.spark.acid.conftest import Warehouse
from tests.spark.acid.test_hive_writes import WriteIds
from tests.support.hive_acid import READERS, HiveFiles, inserted

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COLUMNS = {"id": "int", "d": "date", "t": "timestamp"}
DAYS = ("0001-01-01", "1500-03-01", "1582-10-04", "1582-10-15", "1900-01-01", "9999-12-31")
ROWS = [(at, day, f"{day} 12:34:56") for at, day in enumerate(DAYS)]


def test_print(spark: Any, warehouse: Warehouse, hive_version: str, tmp_path: Path) -> None:
    name = warehouse.create("t", COLUMNS)
    values = ", ".join(f"({at}, date'{day}', timestamp'{moment}')" for at, day, moment in ROWS)
    acid.insert(spark, name, spark.sql(f"select * from values {values} as v(id, d, t)"), client=warehouse.client)
    files = HiveFiles(hive_version, {"id": "int", "d": "date", "t": "string"})
    files = HiveFiles(hive_version, COLUMNS)
    for reader in READERS:
        files.read(warehouse.path(name), f"{name}:1:9223372036854775807::", reader=reader)
    for reader, found in zip(READERS, files.run(), strict=True):
        print("spark ->", hive_version, reader)
        for row in found.rows: print("   ", row[:3])
    other = warehouse.create("u", COLUMNS)
    with ExitStack() as stack:
        ids = WriteIds(warehouse, other, stack)
        hive = HiveFiles(hive_version, COLUMNS)
        hive.write(warehouse.path(other), [inserted(at, day, moment) for at, day, moment in ROWS], ids.committed())
        hive.run()
        found = acid.read(spark, other, client=warehouse.client).selectExpr("id", "cast(d as string)", "cast(t as string)")
        print(hive_version, "-> spark")
        for row in sorted(found.collect()): print("   ", tuple(row))
        mine = acid.read(spark, name, client=warehouse.client).selectExpr("id", "cast(d as string)", "cast(t as string)")
        print("spark -> spark")
        for row in sorted(mine.collect()): print("   ", tuple(row))
    try:
        print(acid.read(spark, name, client=warehouse.client).collect()[:2])
    except Exception as e: print(type(e), e)
