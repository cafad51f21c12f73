"""Snapshots: which transactions and which write ids a reader may see.

A snapshot is a high watermark and the exceptions below it, open or aborted. Hive passes it around as text
(`hwm:minOpen:open,…:aborted,…`) and in Thrift as a sorted list with a bit set that marks the aborted ones.
No transaction is opened here, and no id is allocated.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

import orjson

from metastored.hive.limits import MAX_IDS, MAX_SNAPSHOT

NO_OPEN_ID = 2**63 - 1
"""The lowest open id when none is open (Java's Long.MAX_VALUE)."""

_LONGEST_ID = 19
_SHOWN = 80


class SnapshotSyntaxError(ValueError):
    """A text that is not a snapshot; the message names the part that could not be read."""


class RangeResponse(Enum):
    """How much of a range of ids is visible."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


# --- the bit set of aborted ids ----------------------------------------------------------------------------


def encode_bits(positions: Iterable[int]) -> bytes:
    """The bytes of a Java BitSet with these bits set: lowest bit first, no zero bytes at the end."""
    ordered = sorted(positions)
    data = bytearray(ordered[-1] // 8 + 1 if ordered else 0)
    for position in ordered:
        data[position >> 3] |= 1 << (position & 7)
    return bytes(data)


def decode_bits(data: bytes) -> list[int]:
    """The positions of the bits set in the bytes of a Java BitSet, ascending."""
    return [at * 8 + bit for at, byte in enumerate(data) if byte for bit in range(8) if byte >> bit & 1]


def _split_by_bits(ids: Sequence[int], aborted_bits: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Open and aborted ids of a Thrift list; bits beyond the list are ignored, as Java does."""
    aborted = {position for position in decode_bits(aborted_bits) if position < len(ids)}
    return (
        tuple(one for position, one in enumerate(ids) if position not in aborted),
        tuple(ids[position] for position in sorted(aborted)),
    )


# --- transactions ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ValidTxnList:
    """The transactions a reader sees: all up to `high_watermark` but `open` and `aborted`, both ascending."""

    high_watermark: int = NO_OPEN_ID
    open: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    min_open: int = NO_OPEN_ID

    @classmethod
    def parse(cls, text: str) -> "ValidTxnList":
        """Read `hwm:minOpen:open:aborted`; empty parts at the end may be missing; no text sees everything."""
        if not text:
            return cls()
        parts = _parts(text, 4)
        return cls(
            high_watermark=_number(parts[0], text),
            min_open=_number(parts[1], text),
            open=parse_ids(parts[2]),
            aborted=parse_ids(parts[3]),
        )

    @classmethod
    def of_reply(
        cls, high_watermark: int, open_txns: Sequence[int], aborted_bits: bytes, own_txn: int | None = None
    ) -> "ValidTxnList":
        """From get_open_txns. With a transaction of its own, the list ends at it and does not exclude it."""
        open_ids, aborted = _split_by_bits(open_txns, aborted_bits)
        if own_txn is not None:
            high_watermark = min(high_watermark, own_txn)
            open_ids = tuple(txn for txn in open_ids if txn < own_txn)
            aborted = tuple(txn for txn in aborted if txn < own_txn)
        return cls(high_watermark, open_ids, aborted, open_ids[0] if open_ids else NO_OPEN_ID)

    def __str__(self) -> str:
        # Hive 4 writes runs of ids as 5-9, which Hive 3.1 cannot read.
        opened, aborted = ",".join(map(str, self.open)), ",".join(map(str, self.aborted))
        return f"{self.high_watermark}:{self.min_open}:{opened}:{aborted}"

    def is_valid(self, txn: int) -> bool:
        return txn <= self.high_watermark and not _contains(self.open, txn) and not _contains(self.aborted, txn)

    def is_aborted(self, txn: int) -> bool:
        return _contains(self.aborted, txn)

    def with_own(self, txn: int) -> "ValidTxnList":
        """The same list for an open transaction: it sees its own writes, and all that was committed at this moment.

        Hive's own clients hide all transactions that began later, even those that were committed before the list was
        read. A writer would then change rows that are no longer the newest ones.
        """
        opened = tuple(each for each in self.open if each != txn)
        return ValidTxnList(self.high_watermark, opened, self.aborted, opened[0] if opened else NO_OPEN_ID)

    def open_among(self, txns: frozenset[int]) -> Set[int]:
        """The transactions among these that it excludes as open."""
        return among(self.open, txns)

    def aborted_among(self, txns: frozenset[int]) -> Set[int]:
        """The transactions among these that it excludes as aborted."""
        return among(self.aborted, txns)


# --- write ids of one table --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ValidWriteIdList:
    """The write ids of `table` (`db.table`, or None where it is not known) that a reader sees."""

    table: str | None
    high_watermark: int = NO_OPEN_ID
    open: tuple[int, ...] = ()
    aborted: tuple[int, ...] = ()
    min_open: int = NO_OPEN_ID
    transactions: "ValidTxnList | None" = None
    """The transactions that a reader sees in the metastore of a remote table: its compactions are named by them."""

    @classmethod
    def parse(cls, text: str) -> "ValidWriteIdList":
        """Read `db.table:hwm:minOpen:open:aborted`; the table may be `null`, empty last parts missing."""
        if not text:
            return cls(None)
        parts = _parts(text, 5)
        return cls(
            table=None if parts[0] == "null" else parts[0],
            high_watermark=_number(parts[1], text),
            min_open=_number(parts[2], text),
            open=parse_ids(parts[3]),
            aborted=parse_ids(parts[4]),
        )

    @classmethod
    def of_reply(
        cls,
        table: str,
        high_watermark: int,
        invalid: Sequence[int],
        min_open: int | None,
        aborted_bits: bytes,
        transactions: str | None = None,
    ) -> "ValidWriteIdList":
        """From the TableValidWriteIds of get_valid_write_ids."""
        open_ids, aborted = _split_by_bits(invalid, aborted_bits)
        lowest = NO_OPEN_ID if min_open is None or not invalid else min_open
        seen = None if transactions is None else ValidTxnList.parse(transactions)
        return cls(table, high_watermark, open_ids, aborted, lowest, seen)

    def __str__(self) -> str:
        table = "null" if self.table is None else self.table
        opened, aborted = ",".join(map(str, self.open)), ",".join(map(str, self.aborted))
        return f"{table}:{self.high_watermark}:{self.min_open}:{opened}:{aborted}"

    def invalid(self) -> tuple[tuple[int, ...], bytes]:
        """The exceptions as Thrift carries them: all of them ascending, and the bit set of those aborted."""
        everyone = tuple(sorted(self.open + self.aborted))
        return everyone, encode_bits(bisect_left(everyone, one) for one in self.aborted)

    def is_valid(self, write_id: int) -> bool:
        return (
            write_id <= self.high_watermark
            and not _contains(self.open, write_id)
            and not _contains(self.aborted, write_id)
        )

    def is_aborted(self, write_id: int) -> bool:
        return _contains(self.aborted, write_id)

    def committed_since(self, earlier: "ValidWriteIdList") -> list[int]:
        """The ids that are visible here and were not visible in an earlier snapshot of the same table, ascending."""
        # The ids that were open come first; those above the mark of the earlier snapshot were allocated later.
        later = range(earlier.high_watermark + 1, self.high_watermark + 1)
        return [each for each in (*earlier.open, *later) if self.is_valid(each)]

    def is_valid_base(self, write_id: int) -> bool:
        """Whether a base up to this id may be read: no id below it was open when the snapshot was taken."""
        return write_id < self.min_open and write_id <= self.high_watermark

    def is_range_valid(self, low: int, high: int) -> RangeResponse:
        """How many of the ids low..high are visible.

        A range below every exception counts as ALL, even past the mark.
        """
        if low > self.high_watermark:
            return RangeResponse.NONE
        lowest = min(self.open[:1] + self.aborted[:1], default=None)
        if lowest is not None and lowest > high:
            return RangeResponse.ALL
        hidden = max(0, high - self.high_watermark)
        hidden += _count(self.open, low, high) + _count(self.aborted, low, high)
        return _response(visible=high - low + 1 - hidden, total=high - low + 1)

    def is_range_aborted(self, low: int, high: int) -> RangeResponse:
        """How many of the ids low..high were aborted."""
        return _response(visible=_count(self.aborted, low, high), total=high - low + 1)


_TABLE_SEPARATOR = "$"


def parse_write_id_lists(text: str) -> tuple[int, dict[str, ValidWriteIdList]]:
    """Read `txn$list$list`: a transaction id and the snapshot of each table it reads."""
    txn, *lists = text.split(_TABLE_SEPARATOR)
    parsed = [ValidWriteIdList.parse(one) for one in lists]
    return _number(txn, text), {one.table: one for one in parsed if one.table is not None}


def format_write_id_lists(txn: int, lists: Iterable[ValidWriteIdList]) -> str:
    """Write what `parse_write_id_lists` reads."""
    return _TABLE_SEPARATOR.join([str(txn), *map(str, lists)])


# --- shared ------------------------------------------------------------------------------------------------


def _response(visible: int, total: int) -> RangeResponse:
    if visible <= 0:
        return RangeResponse.NONE
    return RangeResponse.ALL if visible == total else RangeResponse.SOME


def _contains(ids: Sequence[int], id: int) -> bool:
    position = bisect_left(ids, id)
    return position < len(ids) and ids[position] == id


def among(ids: Sequence[int], requested: frozenset[int]) -> Set[int]:
    """The requested ids among ascending ids."""
    if not ids or not requested:
        return frozenset()
    return requested.intersection(ids[bisect_left(ids, min(requested)) : bisect_right(ids, max(requested))])


def _count(ids: Sequence[int], low: int, high: int) -> int:
    return bisect_right(ids, high) - bisect_left(ids, low)


def _parts(text: str, count: int) -> list[str]:
    parts = text.split(":")
    if not count - 2 <= len(parts) <= count:
        raise SnapshotSyntaxError(
            f"{shown(text)} has {len(parts)} parts; a snapshot has {count - 2} to {count}, between colons"
        )
    return parts + [""] * (count - len(parts))


def shown(text: str) -> str:
    """The beginning of a text, for an error."""
    return repr(text) if len(text) <= _SHOWN else f"{text[:_SHOWN]!r}…"


def _number(text: str, text_for_error: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST_ID:
        raise SnapshotSyntaxError(f"{shown(text)} is not an id in {shown(text_for_error)}")
    return int(text)


_DIGITS = b"0123456789,"


def besides_ids(text: str) -> bytes:
    """The characters of a text other than digits and commas."""
    return text.encode("utf-8", "surrogateescape").translate(None, _DIGITS)


def parse_ids(text: str) -> tuple[int, ...]:
    """Ids and runs of them, between commas; ascending."""
    if not text:
        return ()
    if len(text) > MAX_SNAPSHOT:
        raise SnapshotSyntaxError(f"{shown(text)} has {len(text)} characters; at most {MAX_SNAPSHOT} are accepted")
    # Most lists have no runs, and thousands of ids: they are checked and read at once.
    if not besides_ids(text):
        with suppress(orjson.JSONDecodeError):  # Leading zeros, or nothing between two commas.
            return tuple(sorted(orjson.loads(f"[{text}]")))
    ids: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low = _number(first, text)
        high = _number(last, text) if dash else low
        if high < low or len(ids) + high - low >= MAX_IDS:
            raise SnapshotSyntaxError(f"{part!r} is not a run of at most {MAX_IDS} ascending ids in {shown(text)}")
        ids.extend(range(low, high + 1))
    return tuple(sorted(ids))
