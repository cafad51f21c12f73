"""A snapshot of transactions as a client wrote it: a text of thousands of ids, of which few are ever needed.

Only the ids near the needed ones are parsed. Like Hive's own search, this one relies on ascending lists. No transaction
is opened here.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final, NamedTuple

from metastored.hive.transactions.snapshots import (
    SnapshotSyntaxError,
    ValidTxnList,
    among,
    besides_ids,
    parse_ids,
    shown,
)

SHORT: Final = 2048
"""Characters up to which a snapshot is parsed completely."""
_PLAIN: Final = (b":", b"::", b":::")
"""The separators between the parts of a snapshot without runs of ids."""


class WrittenTxnList:
    """The transactions that a reader sees, with the methods of ValidTxnList."""

    __slots__ = ("_aborted", "_open", "high_watermark")

    def __init__(self, text: str) -> None:
        """Reads `hwm:minOpen:open:aborted`. Every character is checked, but not every id is parsed."""
        self._open: _Ids | tuple[int, ...]
        self._aborted: _Ids | tuple[int, ...]
        if len(text) < SHORT or (colons := besides_ids(text)) not in _PLAIN:
            parsed = ValidTxnList.parse(text)
            self.high_watermark, self._open, self._aborted = parsed.high_watermark, parsed.open, parsed.aborted
            return
        first = text.index(":")
        second = text.index(":", first + 1) if len(colons) > 1 else len(text)
        third = text.index(":", second + 1) if len(colons) > 2 else len(text)
        self.high_watermark = ValidTxnList.parse(text[:second]).high_watermark
        self._open = _Ids(text, second + 1, third)
        self._aborted = _Ids(text, third + 1, len(text))

    def open_among(self, txns: frozenset[int]) -> Set[int]:
        """The transactions among these that it excludes as open."""
        return _among(self._open, txns)

    def aborted_among(self, txns: frozenset[int]) -> Set[int]:
        """The transactions among these that it excludes as aborted."""
        return _among(self._aborted, txns)

    def is_valid(self, txn: int) -> bool:
        one = frozenset((txn,))
        return txn <= self.high_watermark and not self.open_among(one) and not self.aborted_among(one)


class _Ids(NamedTuple):
    """Ascending ids between commas, in a part of a text."""

    text: str
    start: int
    end: int

    def near(self, low: int, high: int) -> str:
        """The ids from one to another, as they are written."""
        return self.text[self._place(low) : self._place(high + 1)].rstrip(",:")

    def _place(self, id: int) -> int:
        """The position of the first id that is not less."""
        text, low, high = self.text, self.start, self.end
        while low < high:
            middle = (low + high) // 2
            start = text.rfind(",", low, middle) + 1 or low
            end = text.find(",", middle, self.end)
            if end < 0:
                end = self.end
            if int(text[start:end]) < id:
                low = end + 1
            else:
                high = start
        return low


def _among(ids: _Ids | tuple[int, ...], requested: frozenset[int]) -> Set[int]:
    if not isinstance(ids, _Ids):
        return among(ids, requested)
    if not requested or ids.start >= ids.end:
        return frozenset()
    try:
        near = ids.near(min(requested), max(requested))
    except ValueError:
        raise SnapshotSyntaxError(f"the text between two commas is not an id in {shown(ids.text)}") from None
    return requested.intersection(parse_ids(near))
