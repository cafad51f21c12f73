"""Pages of rows that hold locations, to rewrite all of them in one transaction.

A page is bounded, so that the memory does not grow with the number of tables or partitions. Locations are not parsed
here.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from metastored.store.engine.statements import SQLITE, Statement, column_list
from metastored.store.engine.transaction import Transaction
from metastored.store.objects.tables import TableRow

PAGE: Final = 2000
"""Rows of partitions or shapes that are read and written at once."""
TABLES: Final = 200
"""Tables that are read at once; their definitions may be large."""


class Located(NamedTuple):
    """The location of a partition: on a base, or a complete URI in `suffix`."""

    id: int
    name: str
    base: int | None
    suffix: str | None


_PAGE_OF_TABLES = f"""
    SELECT {column_list(*TableRow._fields)} FROM tables WHERE db_id = :db_id AND name > :after
    ORDER BY name LIMIT :limit
"""
_TABLES, _LOCKED_TABLES = Statement(_PAGE_OF_TABLES), Statement(f"{_PAGE_OF_TABLES} FOR UPDATE")
_SHAPES = Statement("SELECT no, sd FROM shapes WHERE table_id = :table_id AND no > :after ORDER BY no LIMIT :limit")
_LOCATED = Statement(
    """
    SELECT id, name, base, suffix FROM partitions
    WHERE table_id = :table_id AND name > :after AND (base IN :bases OR base IS NULL AND suffix IS NOT NULL)
    ORDER BY name LIMIT :limit
    """
)
_COUNT = Statement("SELECT count(*) FROM partitions WHERE table_id = :table_id AND base IN :bases")
_MOVE = Statement(
    "UPDATE partitions SET base = NULL, suffix = :suffix WHERE id = :partition", positions=("suffix", "partition")
)


def each_table(tx: Transaction, db_id: int, *, locked: bool) -> Iterator[TableRow]:
    """The tables of a database in the order of their names; `locked` keeps others from changing them."""
    statement = _LOCKED_TABLES if locked and tx.dialect != SQLITE else _TABLES
    after = ""
    while page := tx.all(statement, db_id=db_id, after=after, limit=TABLES):
        table_rows = [TableRow._make(row) for row in page]
        yield from table_rows
        after = table_rows[-1].name


def each_shape(tx: Transaction, table_id: int) -> Iterator[tuple[int, bytes]]:
    """The shapes of a table with their numbers."""
    after = 0
    while page := tx.all(_SHAPES, table_id=table_id, after=after, limit=PAGE):
        yield from ((number, sd) for number, sd in page)
        after = page[-1][0]


def located_pages(tx: Transaction, table_id: int, bases: Sequence[int]) -> Iterator[list[Located]]:
    """The partitions of a table that are on one of these bases, or on none, in pages."""
    after = ""
    while page := tx.all(_LOCATED, table_id=table_id, bases=tx.list(bases), after=after, limit=PAGE):
        located = [Located._make(row) for row in page]
        yield located
        after = located[-1].name


def count_on(tx: Transaction, table_id: int, bases: Sequence[int]) -> int:
    """How many partitions of a table are on these bases."""
    row = tx.one(_COUNT, table_id=table_id, bases=tx.list(bases))
    assert row is not None  # an aggregate always has a row
    number: int = row[0]
    return number


def move_partitions(tx: Transaction, moves: Sequence[tuple[str, int]]) -> None:
    """Sets locations of partitions; each row is (the complete URI, the partition's id)."""
    tx.many(_MOVE, moves)
