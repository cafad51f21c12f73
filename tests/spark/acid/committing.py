"""A writer that commits statements on an ACID table, one after the other, until it is killed.

    python -m tests.spark.acid.committing '{"uri": …, "table": …, "log": …, "first": 1}'

Statement n inserts three rows (n, 0); statement n + 1 sets their value to 1. The log has a line before and after each
statement: `try 1`, then `done 1`, `failed 1` or `unknown 1`, each with what went wrong.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import metastored
from metastored.errors import CommitUnknown, Error
from tests.spark.acid.killed import session

ROWS = 3
"""Rows of a statement."""


def execute(spark: Any, client: metastored.Client, table: str, number: int) -> None:
    """Odd statements insert rows, even ones update those of the statement before."""
    from metastored.spark import acid

    if number % 2:
        rows = spark.createDataFrame([(number, 0)] * ROWS, "batch bigint, value bigint")
        acid.insert(spark, table, rows, client=client)
    else:
        acid.update(spark, table, {"value": "value + 1"}, f"batch = {number - 1}", client=client)


def main() -> None:
    task = json.loads(sys.argv[1])
    spark = session()
    spark.sparkContext.setLogLevel("OFF")
    with (
        open(task["log"], "a", encoding="utf-8", buffering=1) as log,
        metastored.connect(task["uri"], user="ann", cache=False) as client,
    ):
        for number in range(task["first"], 10_000):
            log.write(f"try {number}\n")
            try:
                execute(spark, client, task["table"], number)
            except CommitUnknown as error:
                log.write(f"unknown {number} {error.transaction}\n")
            except Error as error:
                log.write(f"failed {number} {type(error).__name__}: {str(error)[:200]!r}\n")
                time.sleep(0.05)
            else:
                log.write(f"done {number}\n")


if __name__ == "__main__":
    main()
