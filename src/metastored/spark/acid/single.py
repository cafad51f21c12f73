"""Single statements on transactional tables, each in a transaction of its own, which is repeated after a conflict.

A conflict (TransactionFailed) has left nothing behind: with `retries`, the complete statement is executed again in a
new transaction. A commit whose outcome is unknown is never repeated, nor is a lock that was not given in time.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException, TransactionFailed
from metastored.model.names import Name
from metastored.spark.acid.clauses import Clauses
from metastored.spark.acid.files.counts import Changed
from metastored.spark.acid.reading import TIMEOUT, connected
from metastored.spark.acid.writing import Transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
"""Seconds before a statement is repeated, with jitter: the pause doubles each time."""
RETRIES: Final = 0
Result = TypeVar("Result")


def repeated(run: Callable[[], Result], retries: int) -> Result:
    """The result of a function, which is called again after TransactionFailed, up to `retries` times."""
    if retries < 0:
        raise InvalidInputException(f"retries is a number from 0 on, not {retries}")
    pause = FIRST_PAUSE
    for _ in range(retries):
        try:
            return run()
        except TransactionFailed:
            time.sleep(pause * random.uniform(0.5, 1.0))
            pause = min(2 * pause, LONGEST_PAUSE)
    return run()


@contextmanager
def transaction(spark: SparkSession, client: Client | None = None, timeout: float = TIMEOUT) -> Iterator[Transaction]:
    """A transaction for several statements, for `with`: committed at the end, aborted on an error.

    `timeout` is the number of seconds to wait for a lock. Raises TransactionFailed at the end if another transaction
    has changed the same rows' partitions and was first.
    """
    with connected(spark, client) as used, Transaction(spark, used, timeout) as opened:
        yield opened


def _alone(
    spark: SparkSession, client: Client | None, timeout: float, retries: int, statement: Callable[[Transaction], Result]
) -> Result:
    """The result of a statement in a transaction of its own."""

    def run() -> Result:
        with transaction(spark, client, timeout) as alone:
            return statement(alone)

    return repeated(run, retries)


def insert(
    spark: SparkSession,
    name: Name,
    frame: DataFrame,
    client: Client | None = None,
    partition: Mapping[str, Any] | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> Changed:
    """Adds the rows of a DataFrame to a table, in a transaction of its own: see Transaction.insert.

    `timeout` is the number of seconds to wait for a lock. After a conflict, the statement is executed again up to
    `retries` times; a DataFrame that was read from a table stays at its snapshot.
    """

    return _alone(spark, client, timeout, retries, lambda alone: alone.insert(name, frame, partition))


def insert_overwrite(
    spark: SparkSession,
    name: Name,
    frame: DataFrame,
    client: Client | None = None,
    partition: Mapping[str, Any] | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> Changed:
    """Replaces rows by those of a DataFrame: see Transaction.insert_overwrite, and insert for the other arguments."""

    return _alone(spark, client, timeout, retries, lambda alone: alone.insert_overwrite(name, frame, partition))


def truncate(
    spark: SparkSession,
    name: Name,
    partitions: Sequence[str] | None = None,
    client: Client | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> None:
    """Removes all rows of a table, or of these partitions (`ds=1/h=2`): see Transaction.truncate."""

    _alone(spark, client, timeout, retries, lambda alone: alone.truncate(name, partitions))


def update(
    spark: SparkSession,
    name: Name,
    assignments: Mapping[str, Any],
    where: str | None = None,
    client: Client | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> Changed:
    """Changes rows: `update(spark, "db.t", {"amount": "amount * 2"}, "id = 3")`. Returns their number."""

    return _alone(spark, client, timeout, retries, lambda alone: alone.update(name, assignments, where))


def delete(
    spark: SparkSession,
    name: Name,
    where: str | None = None,
    client: Client | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> Changed:
    """Deletes rows: `delete(spark, "db.t", "id = 3")`; without a condition all rows. Returns their number."""

    return _alone(spark, client, timeout, retries, lambda alone: alone.delete(name, where))


def merge(
    spark: SparkSession,
    name: Name,
    source: DataFrame,
    on: str,
    matched: Clauses = None,
    not_matched: Clauses = None,
    not_matched_by_source: Clauses = None,
    client: Client | None = None,
    *,
    timeout: float = TIMEOUT,
    retries: int = RETRIES,
) -> Changed:
    """Merges a DataFrame into a table: see Transaction.merge. Returns the numbers of rows."""

    return _alone(
        spark,
        client,
        timeout,
        retries,
        lambda alone: alone.merge(name, source, on, matched, not_matched, not_matched_by_source),
    )
