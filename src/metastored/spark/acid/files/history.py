"""Time travel: a table as it was after a write id, as far as its directories still have the rows.

A version is a write id of the table: the rows that all committed write ids up to it have left. A compacted delta keeps
the write id of each row. A base does not: it replaces the directories before it, which the cleaner removes, at a time
that nobody records. A version before a base is therefore refused, even where its directories still exist. Partitions
that were dropped are in no version. No directory is read here beyond its list of names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from metastored.client._sync.client import Client
from metastored.errors import InvalidInputException
from metastored.hive.transactions.layout import CONVERTED_BASE, Directory, Kind, parse_directory
from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidTxnList, ValidWriteIdList
from metastored.model.names import TableName
from metastored.spark.acid.tables import AcidTable, partitions_by_name
from metastored.spark.files import files_of, in_threads


def capped(write_ids: ValidWriteIdList, name: TableName, version: int | None) -> ValidWriteIdList:
    """The write ids up to a version; all of them without one. Raises InvalidInputException for one that is not yet."""
    if version is None:
        return write_ids
    if not 0 <= version <= write_ids.high_watermark:
        raise InvalidInputException(
            f"{name} has no version {version}: its versions are its write ids, and the newest is "
            f"{write_ids.high_watermark}"
        )
    opened = tuple(each for each in write_ids.open if each <= version)
    return ValidWriteIdList(
        write_ids.table,
        version,
        opened,
        tuple(each for each in write_ids.aborted if each <= version),
        opened[0] if opened else NO_OPEN_ID,
        write_ids.transactions,
    )


def check_history(
    spark: Any,
    client: Client,
    table: AcidTable,
    partition_names: Sequence[str] | None,
    version: int,
    now: ValidWriteIdList,
    transactions: ValidTxnList,
) -> None:
    """Raises InvalidInputException if directories of the version may have been removed.

    `partition_names` are those to be read; None means all. `now` are the write ids without a cap.
    """
    locations = [table.location]
    if table.key_names:
        every = partition_names is None
        partitions = (
            client.partitions(table.name) if every else partitions_by_name(client, table, partition_names or ())
        )
        locations = [each.sd.location for each in partitions if each.sd is not None and each.sd.location]

    def one(location: str) -> str | None:
        for entry in files_of(spark, location).entries(location):
            partitions = parse_directory(entry.name) if entry.is_directory else None
            if (
                partitions is not None
                and _is_visible(partitions, now, transactions)
                and _hides(partitions, version, table)
            ):
                return entry.name
        return None

    for location, hidden in zip(locations, in_threads(one, locations), strict=True):
        if hidden is not None:
            raise InvalidInputException(
                f"{table.name} cannot be read at version {version}: {hidden} in {location} has replaced the "
                "directories of earlier versions, which the cleaner removes"
            )


def _is_visible(each: Directory, now: ValidWriteIdList, transactions: ValidTxnList) -> bool:
    if each.visibility:
        return transactions.is_valid(each.visibility)
    return now.is_valid(each.high)


def _hides(each: Directory, version: int, table: AcidTable) -> bool:
    """Whether rows of the version cannot be told from later ones, or may be missing."""
    if each.kind is Kind.BASE:
        return each.high > version and each.high != CONVERTED_BASE
    return table.insert_only and each.low <= version < each.high
