"""Decisions of compaction: which directories are compacted, into which ones, when, and which are removed. Pure.

    initiator   `needed`        compares the sizes and the number of directories with Hive's thresholds
    worker      `compaction`    what a minor or a major compaction reads, and the names of its results
    cleaner     `is_free`, `removable`   what no reader can need any more

A minor compaction merges all deltas into one delta and one delete delta. A major compaction writes a base without the
deleted rows. Both stop below the lowest open write id, so that no later commit belongs into their results. Nothing is
listed, read or removed here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from metastored.hive.transactions.layout import Directory, base, delete_delta, delta
from metastored.hive.transactions.resolution import File, Listing, Resolved, Transactions, data_files, resolve
from metastored.hive.transactions.snapshots import NO_OPEN_ID, RangeResponse, ValidTxnList, ValidWriteIdList

NO_AUTO_COMPACTION: Final = "no_auto_compaction"
"""The parameter of a table that the initiator leaves alone; its name is in any case."""
THRESHOLD_PREFIX: Final = "compactorthreshold."
"""The prefix of thresholds among the parameters of a table."""


class CompactionKind(Enum):
    """The numbers of Thrift's CompactionType."""

    MINOR = 1
    MAJOR = 2


# --- the write ids that a compaction uses --------------------------------------------------------------------


class CompactorWriteIds(ValidWriteIdList):
    """Hive's ValidCompactorWriteIdList: all write ids up to `high_watermark` are committed or aborted."""

    __slots__ = ()

    @classmethod
    def of(cls, snapshot: ValidWriteIdList, highest: int | None = None) -> CompactorWriteIds:
        """The ids of a snapshot below its lowest open one, and up to `highest` if it is given."""
        mark = min(snapshot.high_watermark, min(snapshot.open, default=NO_OPEN_ID) - 1, snapshot.min_open - 1)
        if highest is not None:
            mark = min(mark, highest)
        return cls(snapshot.table, mark, (), tuple(each for each in snapshot.aborted if each <= mark))

    def is_range_valid(self, low: int, high: int) -> RangeResponse:
        """A directory is compacted completely or not at all."""
        return RangeResponse.NONE if high > self.high_watermark else ValidWriteIdList.is_range_valid(self, low, high)


# --- the worker ----------------------------------------------------------------------------------------------


class Compaction(NamedTuple):
    """What a compaction reads and writes."""

    kind: CompactionKind
    base: Directory | None
    originals: tuple[File, ...]
    deltas: tuple[Directory, ...]
    delete_deltas: tuple[Directory, ...]
    result: Directory | None
    """The directory of the rows; None if there are none to write."""
    delete_result: Directory | None
    """The directory of delete events, of a minor compaction."""
    aborted: tuple[int, ...]
    """The write ids whose rows are left out."""


def compaction(
    kind: CompactionKind, resolved: Resolved, write_ids: CompactorWriteIds, transaction: int
) -> Compaction | None:
    """What to do in a directory; None if a compaction would change nothing (Hive's `isEnoughToCompact`)."""
    deltas, deletes = resolved.deltas, resolved.delete_deltas
    count = len(deltas) + len(deletes)
    if kind is CompactionKind.MAJOR:
        if not resolved.originals and count + (resolved.base is not None) < 2:
            return None
        result = base(write_ids.high_watermark, transaction)
        return Compaction(
            kind, resolved.base, resolved.originals, deltas, deletes, result, None, write_ids.aborted
        )  # fmt: skip
    if count < 2 or (count == 2 and len(deltas) == 1):
        return None
    low = min(each.low for each in (*deltas, *deletes))
    high = max(each.high for each in (*deltas, *deletes))
    return Compaction(
        kind,
        None,
        (),
        deltas,
        deletes,
        delta(low, high, visibility=transaction) if deltas else None,
        delete_delta(low, high, visibility=transaction) if deletes else None,
        tuple(each for each in write_ids.aborted if low <= each <= high),
    )


# --- the initiator -------------------------------------------------------------------------------------------


class Thresholds(NamedTuple):
    """Hive's thresholds, with its defaults."""

    deltas: int = 10
    """More deltas than this are compacted (hive.compactor.delta.num.threshold)."""
    ratio: float = 0.1
    """Deltas that are larger than this part of the base are compacted (hive.compactor.delta.pct.threshold)."""
    aborted: int = 1000
    """More aborted write ids with files than this are compacted (hive.compactor.abortedtxn.threshold)."""


_NAMES: Final = {
    "hive.compactor.delta.num.threshold": "deltas",
    "hive.compactor.delta.pct.threshold": "ratio",
    "hive.compactor.abortedtxn.threshold": "aborted",
}


def thresholds_of(parameters: Mapping[str, str], defaults: Thresholds) -> Thresholds:
    """The thresholds of a table: its own (`compactorthreshold.hive.compactor.…`) before the defaults.

    Raises ValueError for a value that is not a number.
    """
    numbers = {
        field: (float if field == "ratio" else int)(parameters[THRESHOLD_PREFIX + name])
        for name, field in _NAMES.items()
        if THRESHOLD_PREFIX + name in parameters
    }
    return defaults._replace(**numbers)  # type: ignore[arg-type]


def is_left_alone(parameters: Mapping[str, str]) -> bool:
    """Whether the owner of a table has turned automatic compaction off."""
    return any(key.lower() == NO_AUTO_COMPACTION and value.lower() == "true" for key, value in parameters.items())


def needed(resolved: Resolved, listing: Listing, thresholds: Thresholds) -> CompactionKind | None:
    """The compaction that a table or a partition needs now; None if it needs none."""
    if len({each.high for each in resolved.aborted if not each.visibility}) > thresholds.aborted:
        return CompactionKind.MAJOR
    base_size = sum(file.size for file in resolved.originals)
    if resolved.base is not None:
        base_size = _size(listing, resolved.base)
    deltas = (*resolved.deltas, *resolved.delete_deltas)
    delta_size = sum(_size(listing, each) for each in deltas)
    if base_size and delta_size / base_size > thresholds.ratio:
        return CompactionKind.MAJOR
    if len(deltas) <= thresholds.deltas:
        return None
    return CompactionKind.MINOR if base_size else CompactionKind.MAJOR


def _size(listing: Listing, directory: Directory) -> int:
    return sum(file.size for file in data_files(listing.directories.get(directory.name, ())))


# --- the cleaner ---------------------------------------------------------------------------------------------


def is_free(next_txn_id: int | None, min_open_txn: int) -> bool:
    """Whether the old files of a compaction have no readers any more.

    A reader of them opened its transaction before the compaction was committed: `next_txn_id` is the highest
    transaction at that time.
    """
    return not next_txn_id or next_txn_id < min_open_txn


def cleaner_transactions(transactions: ValidTxnList) -> ValidTxnList:
    """The transactions that all readers see: those below the lowest open one."""
    if transactions.min_open == NO_OPEN_ID:
        return transactions
    mark = transactions.min_open - 1
    return ValidTxnList(mark, (), tuple(each for each in transactions.aborted if each <= mark))


class Removable(NamedTuple):
    """What the cleaner removes from a directory."""

    directories: tuple[str, ...]
    files: tuple[str, ...]
    """Files from before the table was transactional, by their path in the directory."""


def removable(listing: Listing, write_ids: CompactorWriteIds, transactions: Transactions) -> Removable:
    """Directories and files that newer ones replace for all readers, and those of aborted transactions."""
    resolved = resolve(listing, write_ids, transactions)
    directories = {each.name for each in (*resolved.obsolete, *resolved.aborted)}
    return Removable(tuple(sorted(directories)), tuple(file.path for file in resolved.obsolete_originals))


STAGING_PREFIX: Final = "_tmp_compact_"
"""Directories in which workers write, with the id of their transaction. Readers skip them."""


def abandoned(listing: Listing, is_open: Transactions) -> tuple[str, ...]:
    """Staging directories of compactions whose transactions have ended: `is_open` is the present list."""
    names = []
    for name in listing.directories:
        number = name.removeprefix(STAGING_PREFIX)
        if number != name and number.isdigit() and (is_open.is_valid(int(number)) or is_open.is_aborted(int(number))):
            names.append(name)
    return tuple(sorted(names))
