"""Which directories of a transactional table a reader uses, at a snapshot. Pure: the caller lists the directory.

The rules are those of Hive's AcidUtils.getAcidState, with Impala's stricter rule for two compactions of one range. A
compaction counts only if its transaction is visible: a reader that is older keeps the directories that the compaction
replaced. The same function therefore serves readers, the compactor and the cleaner, which pass different lists of ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from metastored.hive.transactions.layout import CONVERTED_BASE, Directory, Kind, is_hidden, parse_directory
from metastored.hive.transactions.snapshots import RangeResponse


class NotEnoughHistory(ValueError):
    """The cleaner has removed directories that a reader of this age needs."""


class WriteIds(Protocol):
    """The write ids that a reader or a compactor sees: ValidWriteIdList has these methods."""

    def is_valid(self, write_id: int) -> bool: ...
    def is_aborted(self, write_id: int) -> bool: ...
    def is_valid_base(self, write_id: int) -> bool: ...
    def is_range_valid(self, low: int, high: int) -> RangeResponse: ...
    def is_range_aborted(self, low: int, high: int) -> RangeResponse: ...


class Transactions(Protocol):
    """The transactions that a reader or a compactor sees: ValidTxnList has these methods."""

    def is_valid(self, txn: int) -> bool: ...
    def is_aborted(self, txn: int) -> bool: ...


class File(NamedTuple):
    """A file in a listing."""

    path: str
    """The path relative to the listed directory."""
    size: int


class Listing(NamedTuple):
    """Everything in the directory of a table or a partition."""

    directories: Mapping[str, Sequence[File]]
    """The directories in it, by name, with all files below each; an empty directory has an entry too."""
    files: Sequence[File] = ()
    """The files directly in it."""
    compacted: frozenset[str] = frozenset()
    """The names of bases without a visibility id whose `_metadata_acid` says that a compaction wrote them."""


def listing_of(entries: Iterable[tuple[str, int | None]], compacted: Iterable[str] = ()) -> Listing:
    """From paths relative to the directory, with the sizes of files and None for directories."""
    directories: dict[str, list[File]] = {}
    files: list[File] = []
    for path, size in entries:
        first, slash, _ = path.partition("/")
        if size is None or slash:
            below = directories.setdefault(first, [])
            if size is not None:
                below.append(File(path, size))
        else:
            files.append(File(path, size))
    return Listing(directories, files, frozenset(compacted))


class Resolved(NamedTuple):
    """The parts of a directory, as a snapshot sees them."""

    base: Directory | None
    deltas: tuple[Directory, ...]
    """The directories with rows, in the order of their write ids."""
    delete_deltas: tuple[Directory, ...]
    originals: tuple[File, ...]
    """Files from before the table was transactional, sorted by path."""
    partly_visible: frozenset[str]
    """The names of deltas and delete deltas in which only some write ids are visible: their rows are filtered."""
    obsolete: tuple[Directory, ...]
    """Directories that the base or a compacted delta replaces."""
    obsolete_originals: tuple[File, ...]
    aborted: tuple[Directory, ...]
    """Directories with nothing but rows of aborted transactions, or of an aborted compaction."""

    @property
    def data(self) -> tuple[Directory, ...]:
        """The base, if there is one, and the deltas."""
        return self.deltas if self.base is None else (self.base, *self.deltas)


def data_files(files: Iterable[File]) -> tuple[File, ...]:
    """The files that are data: not hidden, and not empty."""
    return tuple(file for file in files if file.size > 0 and not is_hidden(file.path))


def resolve(listing: Listing, write_ids: WriteIds, transactions: Transactions) -> Resolved:
    """The directories and files that a reader with these ids uses, and those that it does not need.

    Raises NotEnoughHistory if a compacted base exists but is too new for the reader, and nothing older is left.
    """
    aborted: list[Directory] = []
    bases: list[Directory] = []
    working: list[Directory] = []
    originals = list(data_files(listing.files))
    for name in sorted(listing.directories):
        directory = parse_directory(name)
        if directory is None:
            originals += [] if is_hidden(name) else data_files(listing.directories[name])
        elif directory.visibility and not transactions.is_valid(directory.visibility):
            if transactions.is_aborted(directory.visibility):
                aborted.append(directory)
        elif directory.kind is Kind.BASE:
            if write_ids.is_aborted(directory.high) and not _is_compacted(directory, listing):
                aborted.append(directory)
            else:
                bases.append(directory)
        elif write_ids.is_range_aborted(directory.low, directory.high) is RangeResponse.ALL:
            aborted.append(directory)
        elif write_ids.is_range_valid(directory.low, directory.high) is not RangeResponse.NONE:
            working.append(directory)
    originals.sort()
    best = _best_base(bases, listing, write_ids)
    taken, obsolete = _without_replaced(working, best, write_ids)
    obsolete += [each for each in bases if best is not None and each is not best and _older(each, best)]
    return Resolved(
        base=best,
        deltas=tuple(each for each in taken if each.kind is Kind.DELTA),
        delete_deltas=tuple(each for each in taken if each.kind is Kind.DELETE_DELTA),
        originals=() if best is not None else tuple(originals),
        partly_visible=frozenset(
            each.name for each in taken if write_ids.is_range_valid(each.low, each.high) is RangeResponse.SOME
        ),
        obsolete=tuple(obsolete),
        obsolete_originals=tuple(originals) if best is not None else (),
        aborted=tuple(aborted),
    )


def _is_compacted(base: Directory, listing: Listing) -> bool:
    return base.visibility > 0 or base.name in listing.compacted


def _is_usable(base: Directory, listing: Listing, write_ids: WriteIds) -> bool:
    if base.high == CONVERTED_BASE:
        return True
    if _is_compacted(base, listing):
        return write_ids.is_valid_base(base.high)
    return write_ids.is_valid(base.high)


def _rank(base: Directory, listing: Listing) -> tuple[int, bool, int]:
    """Of two bases of one write id, the compacted one is used: it has the rows of the other one."""
    return base.high, _is_compacted(base, listing), base.visibility


def _older(one: Directory, other: Directory) -> bool:
    return (one.high, one.visibility) <= (other.high, other.visibility) or one.high == other.high


def _best_base(bases: Sequence[Directory], listing: Listing, write_ids: WriteIds) -> Directory | None:
    usable = [each for each in bases if _is_usable(each, listing, write_ids)]
    if usable:
        return max(usable, key=lambda each: _rank(each, listing))
    oldest = min(bases, key=lambda each: each.high, default=None)
    if oldest is not None and _is_compacted(oldest, listing):
        raise NotEnoughHistory(
            f"{oldest.name} has rows that this reader must not see, and it is the oldest base: the directories before "
            "its compaction are removed. Start the read again"
        )
    return None


def _order(each: Directory) -> tuple[int, int, int, int, str]:
    """Larger ranges first; delete deltas sort before deltas by their names."""
    return each.low, -each.high, -1 if each.statement is None else each.statement, -each.visibility, each.name


def _without_replaced(
    working: Iterable[Directory], best: Directory | None, write_ids: WriteIds
) -> tuple[list[Directory], list[Directory]]:
    """The deltas to be read, and those whose rows are in the base or in a compacted delta."""
    current = best.high if best is not None and best.high != CONVERTED_BASE else 0
    statement = -1
    previous: Directory | None = None
    taken: list[Directory] = []
    obsolete: list[Directory] = []
    for each in sorted(working, key=_order):
        if each.high > current:
            if write_ids.is_range_valid(current + 1, each.high) is not RangeResponse.NONE:
                taken.append(each)
                current, previous = each.high, each
                statement = -1 if each.statement is None else each.statement
        elif (each.high == current and statement >= 0) or (previous is not None and _is_pair(each, previous)):
            # All statements of one transaction; or a delta and its delete delta.
            taken.append(each)
            previous = each
        else:
            obsolete.append(each)
    return taken, obsolete


def _is_pair(one: Directory, other: Directory) -> bool:
    """Whether they are a delta and a delete delta of the same write ids, by the same compaction."""
    same = (one.low, one.high, one.statement, one.visibility) == (
        other.low, other.high, other.statement, other.visibility,
    )  # fmt: skip
    return same and one.kind is not other.kind
