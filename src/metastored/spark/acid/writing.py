"""Writes to transactional tables: single statements, and several statements in one transaction.

    open, write id, lock, snapshot     the client's part
    Spark job into a hidden directory  staging.py
    rename                             publishing.py
    partitions, commit                 here
    numRows, totalSize                 statistics.py

Nothing of a statement is visible before the commit. An error aborts the transaction, and the staged files are removed;
files that were already renamed belong to an aborted write id, which no reader uses and the cleaner removes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from metastored.client._sync.acid import Write
from metastored.client._sync.client import Client
from metastored.client.acid import read_components
from metastored.errors import InvalidInputException, NotSupported, TransactionFailed
from metastored.hive.locations import join
from metastored.hive.names import make_part_name
from metastored.hive.transactions.layout import base
from metastored.model.names import Name, TableName, table_name
from metastored.model.partitions import values_of
from metastored.spark.acid.clauses import Clauses, clauses
from metastored.spark.acid.reading import connected, rows, snapshot_of
from metastored.spark.acid.tables import AcidTable, acid_table, partitions_by_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from metastored.spark.acid.publishing import Locations

TIMEOUT: Final = 60.0
"""Seconds to wait for a lock."""


class Transaction:
    """A transaction on transactional tables: its statements see each other, and others see all of them or none."""

    def __init__(self, spark: SparkSession, client: Client, timeout: float = TIMEOUT) -> None:
        self._spark = spark
        self._client = client
        self._timeout = timeout
        self._transaction = client.transaction()
        self._statements: dict[TableName, int] = {}
        self._overwritten: set[TableName] = set()
        self._staging: list[tuple[str, str]] = []
        self._failed = False

    @property
    def id(self) -> int:
        """The number of the transaction on the server; 0 before its first read or statement, which opens it.

        It is opened as late as that, because whatever others commit while it is open is a conflict.
        """
        return self._transaction.id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None and self._failed:
                raise TransactionFailed(f"transaction {self.id} was aborted: one of its statements failed")
            if not self.id:
                return
            if kind is None and not self._transaction.ended:
                self._transaction.commit()
            elif not self._transaction.ended:
                self._transaction.abort()
        finally:
            self._remove_staging()

    def _remove_staging(self) -> None:
        from metastored.spark.acid.files import files_of

        for location, directory in self._staging:
            files_of(self._spark, location).remove(directory)
        self._staging.clear()

    # Statements

    def read(self, name: Name, where: str | None = None, columns: Sequence[str] | None = None) -> DataFrame:
        """The rows of a table at the snapshot of the transaction, with its own changes."""
        self._check()
        wanted = table_name(name)
        self._transaction.hold(read_components((wanted,)), self._timeout)
        found = self._transaction.snapshot(wanted, keep=True)
        write_ids = snapshot_of(found, wanted)
        visible = write_ids.transactions or self._transaction.visible
        assert visible is not None
        return rows(self._spark, self._client, wanted, write_ids, visible, where, columns)

    def insert(self, name: Name, frame: DataFrame, partition: Mapping[str, Any] | None = None) -> None:
        """Adds the rows of a DataFrame: its columns are matched by name, and those that are missing are null.

        `partition` has constant values of partition keys, which the DataFrame then does not have.
        """
        self._insert(name, frame, partition, overwrite=False)

    def insert_overwrite(self, name: Name, frame: DataFrame, partition: Mapping[str, Any] | None = None) -> None:
        """Replaces all rows of a table; of a partitioned table, those of the partitions that the DataFrame has.

        With values of all keys in `partition`, this partition is replaced even if the DataFrame is empty.
        """
        self._insert(name, frame, partition, overwrite=True)

    def _insert(self, name: Name, frame: DataFrame, partition: Mapping[str, Any] | None, overwrite: bool) -> None:
        with self._statement(name, "overwrite" if overwrite else "insert") as statement:
            from metastored.spark.acid.staging import stage_inserts

            aligned = _aligned(statement.table, frame, partition or {})
            stage_inserts(statement.table, aligned, statement.write.write_id, statement.number, statement.staging)
            statement.publish(overwrite, _constant_partition(statement.table, partition or {}))
            if overwrite:
                self._overwritten.add(statement.table.name)

    def update(self, name: Name, assignments: Mapping[str, Any], where: str | None = None) -> None:
        """Changes the rows for which the condition holds: `{"column": "expression"}`."""
        with self._statement(name, "update") as statement:
            from metastored.spark.acid.changes import update_events

            statement.change(lambda found: update_events(statement.table, found, assignments), where)

    def delete(self, name: Name, where: str | None = None) -> None:
        """Deletes the rows for which the condition holds; all rows without a condition."""
        with self._statement(name, "delete") as statement:
            from metastored.spark.acid.changes import delete_events

            statement.change(lambda found: delete_events(statement.table, found), where)

    def merge(
        self,
        name: Name,
        source: DataFrame,
        on: str,
        matched: Clauses = None,
        not_matched: Clauses = None,
        not_matched_by_source: Clauses = None,
    ) -> None:
        """Merges a source: `on` and all expressions name the two sides `target` and `source`.

        Each of the three is an action (`{"column": "expression"}`, "delete" or "*"), or a list of `When(condition,
        action)`. Raises InvalidOperationException if a row of the target would be changed twice.
        """
        with self._statement(name, "merge") as statement:
            from metastored.spark.acid.changes import evaluated_once, merge_events

            table = statement.table
            tasks = max(1, min(int(self._spark.conf.get("spark.sql.shuffle.partitions", "200") or 200), 4096))
            target = statement.target(None)
            with evaluated_once(source) as once:
                merge = merge_events(
                    table, target, once, on, clauses(matched), clauses(not_matched), clauses(not_matched_by_source),
                    tasks,
                )  # fmt: skip
                try:
                    statement.change_by(merge.events)
                finally:
                    if merge.cached is not None:
                        merge.cached.unpersist()

    # How

    def _check(self) -> None:
        """Opens the transaction before its first use. Raises TransactionFailed if it has ended."""
        if self._failed or self._transaction.ended:
            raise TransactionFailed(f"transaction {self.id} has ended")
        if not self.id:
            self._transaction.__enter__()

    @contextmanager
    def _statement(self, name: Name, operation: str) -> Iterator[_Statement]:
        """A statement with its locks and its snapshot; any error aborts the transaction."""
        self._check()
        try:
            table = acid_table(self._client, name)
            if table.name in self._overwritten:
                raise NotSupported(
                    f"{table.name} was overwritten in this transaction: its new base hides all other rows of the "
                    "transaction. Overwrite it in the last statement, or in a transaction of its own"
                )
            joined = self._client.write(table.name, operation, timeout=self._timeout, transaction=self._transaction)
            with joined as write:
                number = self._statements.get(table.name, 0)
                statement = _Statement(self._spark, self._client, table, write, number)
                self._staging.append((table.location, join(table.location, statement.staging_root)))
                statement.clean()
                yield statement
                self._statements[table.name] = number + statement.used
        except BaseException:
            self._failed = True
            if self.id and not self._transaction.ended:
                self._transaction.abort()
            raise


class _Statement:
    """One statement: its table, its write and its directory for staged files."""

    def __init__(self, spark: SparkSession, client: Client, table: AcidTable, write: Write, number: int) -> None:
        from metastored.spark.acid.publishing import STAGING

        self.table: Final = table
        self.write: Final = write
        self.number: Final = number
        self.used = 1
        self.staging_root: Final = f"{STAGING}{write.transaction.id}"
        self.staging: Final = join(table.location, self.staging_root, str(number))
        self._spark = spark
        self._client = client

    def clean(self) -> None:
        from metastored.spark.acid.files import files_of
        from metastored.spark.acid.publishing import remove_left_staging

        own = self.write.transaction.id
        remove_left_staging(files_of(self._spark, self.table.location), self.table, self.write.visible, own)

    def target(self, where: str | None) -> DataFrame:
        """The rows that the statement may change, with their ids."""
        write = self.write
        return rows(self._spark, self._client, self.table.name, write.snapshot, write.visible, where, row_ids=True)

    def change(self, events: Callable[[DataFrame], DataFrame], where: str | None) -> None:
        self.change_by(events(self.target(where)))

    def change_by(self, events: DataFrame) -> None:
        from metastored.spark.acid.staging import stage_changes

        stage_changes(self.table, events, self.write.write_id, self.number, self.staging)
        self.publish(overwrite=False)

    def publish(self, overwrite: bool, replaced: tuple[str, ...] | None = None) -> None:
        """Renames the staged files, adds new partitions and reports both. `replaced` is emptied if it gets no row."""
        from metastored.spark.acid.files import files_of
        from metastored.spark.acid.publishing import Locations, make_directory, publish
        from metastored.spark.acid.statistics import RowCounts, record

        table, write = self.table, self.write
        files = files_of(self._spark, table.location)
        empty = (() if not table.key_names else replaced) if overwrite else None
        found: list[Locations] = []

        def locate(values: Iterable[tuple[str, ...]], changed: frozenset[tuple[str, ...]]) -> Locations:
            wanted = {*values, *([] if empty is None else [empty])}
            found.append(Locations(table, self._existing(wanted)))
            for each in filter(None, wanted):
                operation = None if overwrite or each in changed else "insert"
                write.wrote(make_part_name(table.key_names, each), operation=operation)
            write.send()
            return found[0]

        done = publish(files, table, self.staging, locate, write.write_id, self.number, overwrite)
        self.used = done.statements
        written = dict(done.files)
        (locations,) = found
        if empty is not None and empty not in written:
            make_directory(files, table, join(locations.of(empty), base(write.write_id).name))
            written[empty] = []
            done.rows[empty] = RowCounts()
        new = [values for values in written if values and values not in locations.existing]
        if new:
            write.add_partitions(new)
            self._check_locations(new, locations)
        for values, paths in written.items():
            write.added_files(*paths, partition=values)
        record(self._spark, self._client, table, write, done.rows, first=self.number == 0)

    def _check_locations(self, new: Iterable[tuple[str, ...]], locations: Locations) -> None:
        """Raises TransactionFailed if another writer has added one of the partitions meanwhile, at another location."""
        from metastored.spark.acid.scan import path_key

        for values, location in self._existing(new).items():
            if path_key(location).rstrip("/") != path_key(locations.of(values)).rstrip("/"):
                name = make_part_name(self.table.key_names, values)
                raise TransactionFailed(
                    f"the partition {name} of {self.table.name} was added meanwhile, at {location}: write again"
                )

    def _existing(self, wanted: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
        """The locations of those of the partitions that exist."""
        names = sorted(make_part_name(self.table.key_names, values) for values in wanted if values)
        return {
            tuple(each.values or ()): (each.sd.location if each.sd is not None else None) or ""
            for each in partitions_by_name(self._client, self.table, names)
        }


def _aligned(table: AcidTable, frame: DataFrame, partition: Mapping[str, Any]) -> DataFrame:
    """A DataFrame with the columns and keys of the table, by name and with their types."""
    from pyspark.sql import functions as F

    from metastored.spark.acid.lengths import stored

    constants = {str(name).lower(): value for name, value in partition.items()}
    unknown = [name for name in constants if name not in {key.lower() for key in table.key_names}]
    if unknown:
        raise InvalidInputException(f"{table.name} has no partition keys {', '.join(unknown)}")
    given = {name.lower(): name for name in frame.columns}
    known = {name.lower() for name in table.field_names}
    extra = [name for lower, name in given.items() if lower not in known or lower in constants]
    if extra:
        raise InvalidInputException(
            f"the DataFrame has columns {', '.join(extra)}, which {table.name} has not: its columns are "
            f"{', '.join(table.field_names)}"
        )
    missing = [name for name in table.key_names if name.lower() not in given and name.lower() not in constants]
    if missing:
        raise InvalidInputException(f"the DataFrame has no values of the partition keys {', '.join(missing)}")
    columns = []
    for field in [*table.columns.fields, *table.keys.fields]:
        lower = field.name.lower()
        if lower in constants:
            value = F.lit(constants[lower])
        elif lower in given:
            value = F.col("`" + given[lower].replace("`", "``") + "`")
        else:
            value = F.lit(None)
        value = value.cast(field.dataType) if field.name in table.key_names else stored(value, field)
        columns.append(value.alias(field.name))
    return frame.select(*columns)


def _constant_partition(table: AcidTable, partition: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The values of a partition whose keys are all constant; None if one of them comes from the rows."""
    if not table.key_names or len(partition) != len(table.key_names):
        return None
    return values_of(str(table.name), table.key_names, partition)


@contextmanager
def transaction(spark: SparkSession, client: Client | None = None, timeout: float = TIMEOUT) -> Iterator[Transaction]:
    """A transaction for several statements, for `with`: committed at the end, aborted on an error.

    Raises TransactionFailed at the end if another transaction has changed the same rows' partitions and was first.
    """
    with connected(spark, client) as used, Transaction(spark, used, timeout) as found:
        yield found


def insert(
    spark: SparkSession,
    name: Name,
    frame: DataFrame,
    client: Client | None = None,
    partition: Mapping[str, Any] | None = None,
) -> None:
    """Adds the rows of a DataFrame to a table, in a transaction of its own: see Transaction.insert."""
    with transaction(spark, client) as found:
        found.insert(name, frame, partition)


def insert_overwrite(
    spark: SparkSession,
    name: Name,
    frame: DataFrame,
    client: Client | None = None,
    partition: Mapping[str, Any] | None = None,
) -> None:
    """Replaces rows by those of a DataFrame: see Transaction.insert_overwrite."""
    with transaction(spark, client) as found:
        found.insert_overwrite(name, frame, partition)


def update(
    spark: SparkSession,
    name: Name,
    assignments: Mapping[str, Any],
    where: str | None = None,
    client: Client | None = None,
) -> None:
    """Changes rows: `update(spark, "db.t", {"amount": "amount * 2"}, "id = 3")`."""
    with transaction(spark, client) as found:
        found.update(name, assignments, where)


def delete(spark: SparkSession, name: Name, where: str | None = None, client: Client | None = None) -> None:
    """Deletes rows: `delete(spark, "db.t", "id = 3")`; without a condition all rows."""
    with transaction(spark, client) as found:
        found.delete(name, where)


def merge(
    spark: SparkSession,
    name: Name,
    source: DataFrame,
    on: str,
    matched: Clauses = None,
    not_matched: Clauses = None,
    not_matched_by_source: Clauses = None,
    client: Client | None = None,
) -> None:
    """Merges a DataFrame into a table: see Transaction.merge."""
    with transaction(spark, client) as found:
        found.merge(name, source, on, matched, not_matched, not_matched_by_source)
