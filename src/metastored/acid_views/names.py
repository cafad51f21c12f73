"""The names of the tables that a view reads: `orders$rows$w6t0`. Pure.

Such a table is not stored anywhere: its name has all that is needed to answer for it, so that any worker and any server
can. The name is that of the ACID table, what the files have in them, and the snapshot: the write ids and transactions
that are visible. Different snapshots have different names, so what Spark keeps in memory about one never shows another.
Names come from clients: whatever does not parse is the name of an ordinary table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from metastored.hive.transactions.snapshots import NO_OPEN_ID, ValidTxnList, ValidWriteIdList

MAX_LENGTH: Final = 4000
"""Of a name. A snapshot with more exceptions is not shown."""

_IDS: Final = r"(?:\d{1,18}(?:-\d{1,18})?(?:_\d{1,18}(?:-\d{1,18})?)*)"
_NAME: Final = re.compile(
    rf"(?P<table>.+)\$(?P<content>rows|deletes|plain)\$"
    rf"w(?P<high>\d{{1,18}})(?:o(?P<open>{_IDS}))?(?:a(?P<aborted>{_IDS}))?"
    rf"t(?P<visible>\d{{1,18}})(?:o(?P<running>{_IDS}))?",
    re.DOTALL | re.ASCII,
)
_MAX_IDS: Final = 100_000
"""In a name: `1-999999999` is short, and must not become a list."""


class Content(Enum):
    """What the files of such a table have in them."""

    ROWS = "rows"
    """Rows with their ids; of an insert-only table, rows."""
    DELETES = "deletes"
    """The ids of deleted rows."""
    PLAIN = "plain"
    """Rows without ids, from before the table was transactional."""


class Snapshot(NamedTuple):
    """What a reader sees of a table."""

    write_ids: ValidWriteIdList
    transactions: ValidTxnList
    """Only compactions are named by them."""

    def __str__(self) -> str:
        hidden = tuple(sorted({*self.transactions.open, *self.transactions.aborted}))
        return f"{shown(self.write_ids)}t{self.transactions.high_watermark}{_marked('o', hidden)}"


class FileTable(NamedTuple):
    """A table that is files of a snapshot of an ACID table."""

    table: str
    content: Content
    snapshot: Snapshot

    @property
    def name(self) -> str:
        return f"{self.table}${self.content.value}${self.snapshot}"


def shown(write_ids: ValidWriteIdList) -> str:
    """Write ids as a name has them."""
    return f"w{write_ids.high_watermark}{_marked('o', write_ids.open)}{_marked('a', write_ids.aborted)}"


def parse(name: str) -> FileTable | None:
    """What a name stands for; None for the name of an ordinary table."""
    if "$" not in name or len(name) > MAX_LENGTH:
        return None
    match = _NAME.fullmatch(name.lower())
    if match is None:
        return None
    try:
        opened, aborted, running = (_numbers(match[group]) for group in ("open", "aborted", "running"))
    except ValueError:
        return None
    write_ids = ValidWriteIdList(None, int(match["high"]), opened, aborted, opened[0] if opened else NO_OPEN_ID)
    transactions = ValidTxnList(int(match["visible"]), running, (), running[0] if running else NO_OPEN_ID)
    return FileTable(match["table"], Content(match["content"]), Snapshot(write_ids, transactions))


def narrowed(write_ids: ValidWriteIdList, transactions: ValidTxnList, compactions: Sequence[int]) -> Snapshot:
    """The snapshot of a reader, with no more of it than decides: other transactions must not change its name.

    `compactions` are the transactions in the names of the table's directories. One that appears later is hidden: it is
    above the highest of these, or it was running.
    """
    visible = max((each for each in compactions if transactions.is_valid(each)), default=0)
    hidden = tuple(sorted(each for each in (*transactions.open, *transactions.aborted) if each < visible))
    ids = ValidWriteIdList(None, write_ids.high_watermark, write_ids.open, write_ids.aborted, write_ids.min_open)
    return Snapshot(ids, ValidTxnList(visible, hidden, (), hidden[0] if hidden else NO_OPEN_ID))


def _marked(mark: str, ids: Sequence[int]) -> str:
    """Ascending ids: `o3_5-7`; nothing where there are none."""
    runs: list[list[int]] = []
    for each in ids:
        if runs and each == runs[-1][1] + 1:
            runs[-1][1] = each
        else:
            runs.append([each, each])
    shown = (str(low) if low == high else f"{low}-{high}" for low, high in runs)
    return mark + "_".join(shown) if runs else ""


def _numbers(text: str | None) -> tuple[int, ...]:
    """The ids of a text. Raises ValueError if they do not ascend, or are too many."""
    ids: list[int] = []
    for run in (text or "").split("_") if text else ():
        low, _, high = run.partition("-")
        first, last = int(low), int(high or low)
        if (ids and first <= ids[-1]) or last < first or last - first + len(ids) >= _MAX_IDS:
            raise ValueError(text)
        ids.extend(range(first, last + 1))
    return tuple(ids)
