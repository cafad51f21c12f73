"""`repair`: partitions that are in the storage and not in the metastore are added, those without a directory dropped.

Nothing is removed from the storage. Partitions are added and dropped in batches; after a crash the next run does what
is left. In a transactional table only directories with committed rows become partitions.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from metastored.client._sync.client import Client
from metastored.client._sync.metadata import BATCH
from metastored.errors import ApplicationError, InvalidInputException
from metastored.hive.locations import is_local, local_path
from metastored.hive.statistics.basic import KEEP_STATISTICS, NUM_FILES, TOTAL_SIZE
from metastored.hive.transactions.layout import CONVERTED_BASE, parse_directory
from metastored.hive.transactions.resolution import Listing, NotEnoughHistory, resolve
from metastored.model.acid import is_transactional
from metastored.model.makers import partition
from metastored.model.names import Name, TableName, table_name
from metastored.model.partitions import name_of
from metastored.model.spark.properties import PARTITION_PROVIDER, PARTITIONS_IN_CATALOG, PROVIDER
from metastored.spark.acid.reading import connected, snapshot_of
from metastored.spark.files import files_of, in_threads, list_location
from metastored.spark.partition_directories import Found, HadoopDirectories, Key, find, measure, spread
from metastored.spark.session_metastore import metastore_of
from metastored.spark.table_data import data_location, partitions_named
from metastored.wire.generated.common import Table
from metastored.wire.generated.partitions import DropPartitionsRequest, Partition, RequestPartsSpec
from metastored.wire.generated.transactions import MaxAllocatedTableWriteIdRequest, SeedTableWriteIdsRequest
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("metastored.repair")

Mode = Literal["add", "drop", "sync"]
MODES: Final = ("add", "drop", "sync")


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The names of the partitions that a repair added and dropped."""

    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def repair(spark: SparkSession, name: Name, mode: Mode = "add", client: Client | None = None) -> RepairResult:
    """Makes the partitions of a table in the metastore those of its directory.

    `mode` is `add` (directories without a partition), `drop` (partitions without a directory) or `sync` (both). Without
    `client`, the metastore of the session is used. Raises InvalidInputException, before anything is changed, for a
    table without partition keys, for a directory whose name no partition can have, and for a drop while the table's
    own directory does not exist.
    """
    if mode not in MODES:
        raise InvalidInputException(f"the mode of a repair is one of {', '.join(MODES)}, not {mode!r}")
    wanted = table_name(name)
    with connected(spark, client) as used:
        table = used.fresh_table(wanted)
        if not table.partitionKeys:
            raise InvalidInputException(f"{wanted} has no partition keys: there is nothing to repair")
        run = _Repair(spark, used, wanted, table)
        run.check_location(mode)
        directories = run.find()
        with run.locked():
            result = run.make_same(directories, mode)
        run.track_partitions()
    if metastore_of(spark) is not None:
        with suppress(Exception):  # The session may have another catalog; its own cache is all that this is about.
            spark.catalog.refreshTable(f"`{wanted.database}`.`{wanted.table}`")
    return result


class _Repair:
    def __init__(self, spark: Any, client: Client, name: TableName, table: Table) -> None:
        self._spark = spark
        self._client = client
        self._name = name
        self._table = table
        self._location = data_location(table)
        self._transaction: Any = None

    def check_location(self, mode: Mode) -> None:
        """Raises InvalidInputException for a drop if the table's directory is missing: perhaps it is not mounted."""
        if mode != "add" and not self._exists([self._location])[0]:
            raise InvalidInputException(
                f"the directory of {self._name}, {self._location}, does not exist: all partitions would be dropped. "
                "Drop the table, or create the directory"
            )

    def find(self) -> dict[str, Found]:
        keys = [Key((each.name or "").lower(), each.type or "") for each in self._table.partitionKeys or ()]
        return find(self._spark, self._location, keys)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The changes of a transactional table are made in a transaction, with the table locked, as Hive's are."""
        if not is_transactional(self._table.parameters):
            yield
            return
        with self._client.transaction() as transaction, transaction.lock(self._name, type="exclusive"):
            self._transaction = transaction
            yield

    def make_same(self, directories: dict[str, Found], mode: Mode) -> RepairResult:
        existing = set(self._client.partition_names(self._name))
        added: Sequence[str] = ()
        dropped: Sequence[str] = ()
        if mode in ("add", "sync"):
            added = self._add({name: each for name, each in directories.items() if name not in existing})
        if mode in ("drop", "sync"):
            dropped = self._drop(sorted(existing.difference(directories)))
        return RepairResult(tuple(added), tuple(dropped))

    # --- add -----------------------------------------------------------------------------------------------

    def _add(self, missing: dict[str, Found]) -> list[str]:
        if self._transaction is not None:
            missing = self._committed(missing)
        names = list(missing)
        sizes: list[tuple[int, int] | None] = [None] * len(names)
        if names and is_local(self._location):
            sizes = list(spread(self._spark, measure, [local_path(each.location) for each in missing.values()]))

        def add(at: int) -> None:
            batch = zip(names[at : at + BATCH], sizes[at : at + BATCH], strict=True)
            made = [self._made(missing[name], size) for name, size in batch]
            self._client.add_partitions(self._name, made, if_not_exists=True)

        # One batch is made while the metastore writes another.
        in_threads(add, range(0, len(names), BATCH), threads=2)
        return names

    def _made(self, directory: Found, size: tuple[int, int] | None) -> Partition:
        # With these numbers the metastore does not list the directory again.
        counted = {} if size is None else {NUM_FILES: str(size[0]), TOTAL_SIZE: str(size[1])}
        return partition(self._table, directory.values, location=directory.location, properties=counted)

    def _committed(self, missing: dict[str, Found]) -> dict[str, Found]:
        """Those of the directories that have committed rows, or nothing at all."""
        locations = [each.location for each in missing.values()]
        listings = in_threads(lambda each: list_location(files_of(self._spark, each), each), locations)
        self._allocate(locations, listings)
        snapshots = self._transaction.snapshot(self._name)
        write_ids = snapshot_of(snapshots, self._name)
        kept = {}
        for (name, directory), listing in zip(missing.items(), listings, strict=True):
            try:
                resolved = resolve(listing, write_ids, self._transaction.visible)
            except NotEnoughHistory as error:
                raise InvalidInputException(f"{directory.location} cannot become a partition: {error}") from error
            if resolved.data or resolved.originals or not listing.directories:
                kept[name] = directory
            else:
                log.info("%s is not a partition of %s: it has no committed rows", directory.location, self._name)
        return kept

    def _allocate(self, locations: Sequence[str], listings: Sequence[Listing]) -> None:
        """Lets the table's write ids begin after those in the directories, if it has none: it was copied here.

        Raises InvalidInputException if the table has write ids and a directory has a higher one.
        """
        highest, where = 0, ""
        for location, listing in zip(locations, listings, strict=True):
            for name in listing.directories:
                directory = parse_directory(name)
                if directory is not None and directory.high != CONVERTED_BASE and directory.high > highest:
                    highest, where = directory.high, f"{location}/{name}"
                if directory is not None and directory.visibility > self._transaction.id:
                    raise InvalidInputException(
                        f"{location}/{name} was written by transaction {directory.visibility}, which this metastore "
                        "has not opened yet: it belongs to another metastore"
                    )
        if not highest:
            return
        table = self._name
        try:
            request = MaxAllocatedTableWriteIdRequest(table.database_field, table.table)
            allocated = self._client.api.get_max_allocated_table_write_id(request).maxWriteId or 0
        except ApplicationError:  # Hive before 4.
            return
        if allocated == 0:
            self._client.api.seed_write_id(SeedTableWriteIdsRequest(table.database_field, table.table, highest))
        elif highest > allocated:
            raise InvalidInputException(
                f"{where} has a write id above {allocated}, the highest of {table}: it belongs to another table"
            )

    # --- drop ----------------------------------------------------------------------------------------------

    def _drop(self, unseen: Sequence[str]) -> list[str]:
        """Drops those of the partitions whose directories, which may be anywhere, do not exist."""
        partitions = partitions_named(self._client, self._name, unseen) if unseen else []
        exists = self._exists([(each.sd and each.sd.location) or "" for each in partitions])
        names = [
            name_of(self._table, each.values or ())
            for each, there in zip(partitions, exists, strict=True)
            if not there and each.sd is not None and each.sd.location
        ]
        for at in range(0, len(names), BATCH):
            request = DropPartitionsRequest(
                self._name.database,
                self._name.table,
                RequestPartsSpec(names=tuple(names[at : at + BATCH])),
                deleteData=False,
                ifExists=True,
                needResult=False,
                catName=self._name.catalog_field,
            )
            self._client.api.drop_partitions_req(request)
        return names

    def _exists(self, locations: Sequence[str]) -> list[bool]:
        """Whether each directory exists. Errors of a file system are raised: its partitions are not dropped."""
        return in_threads(lambda each: bool(each) and _exists(self._spark, each), locations)

    def track_partitions(self) -> None:
        """Tells Spark that the partitions of one of its own tables are in the metastore, as MSCK REPAIR TABLE does."""
        parameters = self._table.parameters or {}
        if PROVIDER in parameters and parameters.get(PARTITION_PROVIDER) != PARTITIONS_IN_CATALOG:
            self._client.change_table(
                self._name,
                lambda table: replace(
                    table, parameters={**(table.parameters or {}), PARTITION_PROVIDER: PARTITIONS_IN_CATALOG}
                ),
                environment=KEEP_STATISTICS,
            )


def _exists(spark: Any, location: str) -> bool:
    if not is_local(location):
        return HadoopDirectories(spark, location).exists(location)
    try:
        os.stat(local_path(location))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
