"""Pages of rows that hold locations, to rewrite all of them in one transaction.

A page is bounded, so that the memory does not grow with the number of tables or partitions. Locations are not parsed
here.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import SQLITE, Statement, in_list, limited
from metastored.store.engine.transaction import Transaction
from metastored.store.objects.tables import TableRow

PAGE: Final = 2000
"""Rows of partitions or shapes that are read and written at once."""
TABLES: Final = 200
"""Tables that are read at once; their definitions may be large."""

_t, _p, _s, _b = schema.tables.c, schema.partitions.c, schema.shapes.c, schema.bases.c


class Located(NamedTuple):
    """The location of a partition: on a base, or a complete URI in `suffix`."""

    id: int
    name: str
    base: int | None
    suffix: str | None


def _tables(locked: bool) -> Statement:
    columns = sa.select(*(_t[field] for field in TableRow._fields))
    page = columns.where(_t.db_id == sa.bindparam("db_id"), _t.name > sa.bindparam("after")).order_by(_t.name)
    # SQLite has no row locks, and its dialect writes none.
    return Statement(limited(page.with_for_update() if locked else page))


_TABLES, _LOCKED_TABLES = _tables(False), _tables(True)
_SHAPES = Statement(
    limited(
        sa.select(_s.no, _s.sd)
        .where(_s.table_id == sa.bindparam("table_id"), _s.no > sa.bindparam("after"))
        .order_by(_s.no)
    )
)
_LOCATED = Statement(
    limited(
        sa.select(_p.id, _p.name, _p.base, _p.suffix)
        .where(
            _p.table_id == sa.bindparam("table_id"),
            _p.name > sa.bindparam("after"),
            sa.or_(in_list(_p.base, "bases"), sa.and_(_p.base.is_(None), _p.suffix.is_not(None))),
        )
        .order_by(_p.name)
    )
)
_COUNT = Statement(
    sa.select(sa.func.count())
    .select_from(schema.partitions)
    .where(_p.table_id == sa.bindparam("table_id"), in_list(_p.base, "bases"))
)
_MOVE = Statement(
    sa.update(schema.partitions)
    .values(base=sa.null(), suffix=sa.bindparam("suffix"))
    .where(_p.id == sa.bindparam("partition")),
    positions=("suffix", "partition"),
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
