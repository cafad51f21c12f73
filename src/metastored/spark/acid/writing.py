"""Writes to transactional tables: several statements in one transaction. `single.py` has single statements.

    open, write id, lock, snapshot     the client's part
    Spark job into a hidden directory  staging.py
    rename                             publishing.py
    partitions, commit                 here
    numRows, totalSize                 statistics.py

Nothing of a statement is visible before the commit. An error aborts the transaction, and the staged files are removed;
files that were already renamed belong to an aborted write id, which no reader uses and the cleaner removes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from metastored.client._sync.acid import Write
from metastored.client._sync.client import Client
from metastored.client.acid import read_components
from metastored.errors import NotSupported, TransactionFailed
from metastored.hive.locations import join
from metastored.hive.names import make_part_name, partition_values
from metastored.hive.transactions.layout import base
from metastored.model.names import Name, TableName, table_name
from metastored.spark.acid.clauses import ALL, DELETE, Clauses, When, clauses
from metastored.spark.acid.files.counts import Changed, UpdateCounter, of_delete, of_insert, of_merge, of_update
from metastored.spark.acid.reading import TIMEOUT, rows, snapshot_of
from metastored.spark.acid.rows.defaults import default_values
from metastored.spark.acid.tables import AcidTable, acid_table, partitions_by_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from metastored.spark.acid.files.publishing import Locations
    from metastored.spark.acid.files.statistics import RowCounts
    from metastored.spark.acid.rows.changes import Merge


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
        from metastored.spark.files import files_of

        for location, directory in self._staging:
            files_of(self._spark, location).remove(directory)
        self._staging.clear()

    # Statements

    def read(
        self,
        name: Name,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        version: int | None = None,
    ) -> DataFrame:
        """The rows of a table at the snapshot of the transaction, with its own changes, or as `version` was."""
        self._check()
        wanted = table_name(name)
        self._transaction.hold(read_components((wanted,)), self._timeout)
        seen = self._transaction.snapshot(wanted, keep=True)
        write_ids = snapshot_of(seen, wanted)
        visible = write_ids.transactions or self._transaction.visible
        assert visible is not None
        return rows(self._spark, self._client, wanted, write_ids, visible, where, columns, version=version)

    def insert(self, name: Name, frame: DataFrame, partition: Mapping[str, Any] | None = None) -> Changed:
        """Adds the rows of a DataFrame: its columns are matched by name. Missing ones have their default, or are null.

        `partition` has constant values of partition keys, which the DataFrame then does not have. Values are cast by
        the rules of `spark.sql.storeAssignmentPolicy`. Returns the number of rows.
        """
        return self._insert(name, frame, partition, overwrite=False)

    def insert_overwrite(self, name: Name, frame: DataFrame, partition: Mapping[str, Any] | None = None) -> Changed:
        """Replaces all rows of a table; of a partitioned table, those of the partitions that the DataFrame has.

        With values of all keys in `partition`, this partition is replaced even if the DataFrame is empty.
        """
        return self._insert(name, frame, partition, overwrite=True)

    def _insert(self, name: Name, frame: DataFrame, partition: Mapping[str, Any] | None, overwrite: bool) -> Changed:
        with self._statement(name, "overwrite" if overwrite else "insert") as statement:
            from metastored.spark.acid.files.staging import stage_inserts
            from metastored.spark.acid.rows.aligning import aligned, constant_partition

            table = statement.table
            rows = aligned(table, frame, partition or {}, lambda: default_values(self._client, table.name))
            stage_inserts(table, rows, statement.write.write_id, statement.number, statement.staging)
            replaced = [()] if not table.key_names else constant_partition(table, partition or {})
            done = statement.publish(overwrite, replaced if overwrite else [])
            if overwrite:
                self._overwritten.add(table.name)
            return of_insert(done.values())

    def truncate(self, name: Name, partitions: Sequence[str] | None = None) -> None:
        """Removes all rows of a table, or of these partitions (`ds=1/h=2`), with an empty base.

        The rows are not read, and not counted. Readers at older snapshots still see them.
        """
        with self._statement(name, "overwrite") as statement:
            table = statement.table
            names = self._client.partition_names(table.name) if partitions is None else partitions
            emptied = [tuple(partition_values(each, table.key_names)) for each in names] if table.key_names else [()]
            statement.publish(True, emptied, staged=False)
            self._overwritten.add(table.name)

    def update(self, name: Name, assignments: Mapping[str, Any], where: str | None = None) -> Changed:
        """Changes the rows for which the condition holds: `{"column": "expression"}`. Returns their number.

        Values are cast by the rules of `spark.sql.storeAssignmentPolicy`.
        """
        with self._statement(name, "update") as statement:
            from metastored.spark.acid.rows.changes import update_events

            return of_update(statement.change_by(update_events(statement.table, statement.target(where), assignments)))

    def delete(self, name: Name, where: str | None = None) -> Changed:
        """Deletes the rows for which the condition holds; all rows without a condition. Returns their number."""
        with self._statement(name, "delete") as statement:
            from metastored.spark.acid.rows.changes import delete_events

            return of_delete(statement.change_by(delete_events(statement.table, statement.target(where))))

    def merge(
        self,
        name: Name,
        source: DataFrame,
        on: str,
        matched: Clauses = None,
        not_matched: Clauses = None,
        not_matched_by_source: Clauses = None,
    ) -> Changed:
        """Merges a source: `on` and all expressions name the two sides `target` and `source`.

        Each of the three is an action (`{"column": "expression"}`, `acid.DELETE` or `acid.ALL`), or a list of
        `When(condition, action)`. Values are cast by the rules of `spark.sql.storeAssignmentPolicy`. Returns the
        numbers of rows. Raises InvalidOperationException if a row of the target would be changed twice.
        """
        with self._statement(name, "merge") as statement:
            from metastored.spark.acid.rows.changes import evaluated_once, merge_parts

            table = statement.table
            tasks = max(1, min(int(self._spark.conf.get("spark.sql.shuffle.partitions", "200") or 200), 4096))
            whens = clauses(matched), clauses(not_matched), clauses(not_matched_by_source)
            defaults = default_values(self._client, table.name) if any(map(_may_lack_columns, whens[1])) else {}
            with evaluated_once(source) as once:
                merge = merge_parts(table, statement.target(None), once, on, *whens, tasks, defaults)
                try:
                    return _merged(statement, merge, [*whens[0], *whens[2]], bool(whens[1]))
                finally:
                    for each in merge.cached:
                        each.unpersist()

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
        from metastored.spark.acid.files.publishing import STAGING

        self.table: Final = table
        self.write: Final = write
        self.number: Final = number
        self.used = 1
        self.staging_root: Final = f"{STAGING}{write.transaction.id}"
        self.staging: Final = join(table.location, self.staging_root, str(number))
        self._spark = spark
        self._client = client

    def clean(self) -> None:
        from metastored.spark.acid.files.publishing import remove_left_staging
        from metastored.spark.files import files_of

        own = self.write.transaction.id
        remove_left_staging(files_of(self._spark, self.table.location), self.table, self.write.visible, own)

    def target(self, where: str | None) -> DataFrame:
        """The rows that the statement may change, with their ids."""
        write = self.write
        return rows(self._spark, self._client, self.table.name, write.snapshot, write.visible, where, row_ids=True)

    def change_by(self, events: DataFrame) -> Iterable[RowCounts | None]:
        """Writes the events. Returns the numbers of rows of each partition."""
        from metastored.spark.acid.files.staging import stage_changes

        stage_changes(self.table, events, self.write.write_id, self.number, self.staging)
        return self.publish(overwrite=False).values()

    def publish(
        self, overwrite: bool, emptied: Sequence[tuple[str, ...]] = (), staged: bool = True
    ) -> dict[tuple[str, ...], RowCounts | None]:
        """Renames the staged files, adds new partitions and reports both. Returns the rows of each partition.

        `emptied` are partitions that are replaced even if they get no row. Without `staged`, there are no files.
        """
        from metastored.spark.acid.files.publishing import Locations, Published, make_directory, publish
        from metastored.spark.acid.files.statistics import RowCounts, record
        from metastored.spark.files import files_of

        table, write = self.table, self.write
        files = files_of(self._spark, table.location)
        places: list[Locations] = []

        def locate(values: Iterable[tuple[str, ...]], changed: frozenset[tuple[str, ...]]) -> Locations:
            wanted = {*values, *emptied}
            places.append(Locations(table, self._existing(wanted)))
            for each in filter(None, wanted):
                operation = None if overwrite or each in changed else "insert"
                write.wrote(make_part_name(table.key_names, each), operation=operation)
            write.send()
            return places[0]

        if staged:
            done = publish(files, table, self.staging, locate, write.write_id, self.number, overwrite)
        else:
            locate((), frozenset())
            done = Published({}, {}, 1)
        self.used = done.statements
        written = dict(done.files)
        (locations,) = places
        for empty in emptied:
            if empty not in written:
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
        return done.rows

    def _check_locations(self, new: Iterable[tuple[str, ...]], locations: Locations) -> None:
        """Raises TransactionFailed if another writer has added one of the partitions meanwhile, at another location."""
        from metastored.spark.acid.rows.scan import path_key

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


def _may_lack_columns(when: When) -> bool:
    return when.action != ALL


def _merged(statement: _Statement, merge: Merge, changing: Sequence[When], inserts: bool) -> Changed:
    """Writes a merge, and counts its rows: Spark counts the updated ones if the files cannot tell."""
    from metastored.spark.acid.rows.changes import WHICH, Part, events

    deletes = any(each.action == DELETE for each in changing)
    updates = any(each.action != DELETE for each in changing)
    counter = UpdateCounter() if inserts and updates and deletes else None

    def counted(part: Part) -> DataFrame:
        numbers = [at for at, (_, values) in enumerate(part.clauses) if values is not None]
        if counter is None or part.old is None or not numbers:
            return events(statement.table, part)
        return events(statement.table, part, lambda rows: counter.observe(rows, WHICH, numbers))

    result, *others = map(counted, merge.parts)
    for each in others:
        result = result.unionByName(each)
    rows = statement.change_by(result)
    return of_merge(rows, inserts, updates, deletes, None if counter is None else counter.updated)
