"""The rows of column statistics: of tables, and of partitions. Bodies are not decoded here.

The numbers of a row are also in its body; they are columns so that the database can aggregate them. Rows of tables and
of partitions differ only in their owner. Every change of the statistics of partitions sets a new stamp of their table.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound, in_list
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import tables


class NewStatistics(NamedTuple):
    """One column's statistics, to be written. `owner` is the id of its table or partition."""

    owner: int
    column_name: str
    engine: str
    type: str
    kind: str
    last_analyzed: int
    low: int | None
    high: int | None
    double_low: float | None
    double_high: float | None
    nulls: int | None
    distincts: int | None
    average_length: float | None
    max_length: int | None
    trues: int | None
    falses: int | None
    body: bytes
    bit_vector: bytes | None
    histogram: bytes | None


class StatisticsRow(NamedTuple):
    """One column's statistics. `owner` is the name of the table or partition."""

    owner: str
    column_name: str
    type: str
    kind: str
    last_analyzed: int
    fmt: int
    body: bytes
    bit_vector: bytes | None
    histogram: bytes | None


class Numbers(NamedTuple):
    """The numbers of one column's statistics in one partition, whose name is `owner`."""

    owner: str
    column_name: str
    type: str
    kind: str
    low: int | None
    high: int | None
    double_low: float | None
    double_high: float | None
    nulls: int | None
    distincts: int | None
    average_length: float | None
    max_length: int | None
    trues: int | None
    falses: int | None


class Totals(NamedTuple):
    """One column's statistics over several partitions. The densities are averages of (high - low) / distincts."""

    column_name: str
    type: str
    kind: str
    partitions: int
    low: int | None
    high: int | None
    double_low: float | None
    double_high: float | None
    nulls: int | None
    most_distincts: int | None
    all_distincts: int | None
    average_length: float | None
    max_length: int | None
    trues: int | None
    falses: int | None
    density: float | None
    double_density: float | None


_t, _p = schema.table_statistics, schema.partition_statistics
_tables, _partitions = schema.tables.c, schema.partitions.c
_SHOWN = ("column_name", "type", "kind", "last_analyzed", "fmt", "body")
_SKETCHES = ("bit_vector", "histogram")
_NUMBERS = ("low", "high", "double_low", "double_high", "nulls", "distincts", "average_length", "max_length")
_WRITTEN = (
    *("column_name", "engine", "type", "kind", "last_analyzed", *_NUMBERS, "trues", "falses"),
    *("fmt", "body", *_SKETCHES),
)
_OF_TABLE = _t.c.table_id == sa.bindparam("table_id")
_NAMED = sa.and_(_partitions.table_id == sa.bindparam("table_id"), in_list(_partitions.name, "names"))
_JOINED = schema.partitions.join(_p, _p.c.partition_id == _partitions.id)


def _engine(table: sa.Table) -> sa.ColumnElement[bool]:
    return table.c.engine == sa.bindparam("engine")


def _columns(table: sa.Table) -> sa.ColumnElement[bool]:
    return in_list(table.c.column_name, "columns")


# --- reading ------------------------------------------------------------------------------------------------


@lru_cache
def _read(of_partitions: bool, sketches: bool) -> Statement:
    table = _p if of_partitions else _t
    null: sa.ColumnElement[Any] = sa.literal_column("NULL")
    shown = [*(table.c[name] for name in _SHOWN), *(table.c[name] if sketches else null for name in _SKETCHES)]
    if of_partitions:
        query = sa.select(_partitions.name, *shown).select_from(_JOINED).where(_NAMED)
        query = query.order_by(_partitions.name, _p.c.column_name)
    else:
        source = schema.tables.join(_t, _t.c.table_id == _tables.id)
        query = sa.select(_tables.name, *shown).select_from(source).where(_OF_TABLE).order_by(_t.c.column_name)
    return Statement(query.where(_engine(table), _columns(table)))


def of_table(
    tx: Transaction, table_id: int, columns: Sequence[str], engine: str, *, sketches: bool = False
) -> list[StatisticsRow]:
    """The statistics of a table's columns, as far as they exist.

    Without `sketches`, without bit vectors and histograms.
    """
    result = tx.all(_read(False, sketches), table_id=table_id, columns=tx.list(columns), engine=engine)
    return list(map(StatisticsRow._make, result))


def of_partitions(
    tx: Transaction,
    table_id: int,
    names: Sequence[str],
    columns: Sequence[str],
    engine: str,
    *,
    sketches: bool = False,
) -> list[StatisticsRow]:
    """The statistics of the columns of partitions, as far as they exist, sorted by the partition's name."""
    result = tx.all(
        _read(True, sketches), table_id=table_id, names=tx.list(names), columns=tx.list(columns), engine=engine
    )
    return list(map(StatisticsRow._make, result))


_NUMBERS_OF_PARTITIONS = Statement(
    sa.select(_partitions.name, *(_p.c[name] for name in Numbers._fields[1:]))
    .select_from(_JOINED)
    .where(_NAMED, _engine(_p), _columns(_p))
    .order_by(_partitions.name)
)


def numbers(tx: Transaction, table_id: int, names: Sequence[str], columns: Sequence[str], engine: str) -> list[Numbers]:
    """The numbers alone, sorted by the partition's name: a tenth of the work for a hundred thousand of them."""
    result = tx.all(
        _NUMBERS_OF_PARTITIONS, table_id=table_id, names=tx.list(names), columns=tx.list(columns), engine=engine
    )
    return list(map(Numbers._make, result))


def _totals() -> sa.Select[Any]:
    c, f = _p.c, sa.func
    whole = sa.BigInteger()

    def density(high: sa.ColumnElement[Any], low: sa.ColumnElement[Any]) -> sa.ColumnElement[Any]:
        spread: sa.ColumnElement[Any] = sa.cast(high, sa.Double()) - sa.cast(low, sa.Double())
        return f.avg(spread / f.nullif(c.distincts, sa.literal_column("0")))

    return (
        sa.select(
            *(c.column_name, c.type, c.kind, f.count()),
            *(f.min(c.low), f.max(c.high), f.min(c.double_low), f.max(c.double_high)),
            *(sa.cast(f.sum(c.nulls), whole), f.max(c.distincts), sa.cast(f.sum(c.distincts), whole)),
            *(f.max(c.average_length), f.max(c.max_length)),
            *(sa.cast(f.sum(c.trues), whole), sa.cast(f.sum(c.falses), whole)),
            *(density(c.high, c.low), density(c.double_high, c.double_low)),
        )
        .select_from(_JOINED)
        .where(_NAMED, _engine(_p), _columns(_p))
        .group_by(c.column_name, c.type, c.kind)
    )


_TOTALS = Statement(_totals())
_COMPLETE = Statement(
    sa.select(sa.func.count()).select_from(
        sa.select(_p.c.partition_id)
        .select_from(_JOINED)
        .where(_NAMED, _engine(_p), _columns(_p))
        .group_by(_p.c.partition_id)
        .having(sa.func.count() == sa.bindparam("wanted"))
        .subquery()
    )
)


def totals(tx: Transaction, table_id: int, names: Sequence[str], columns: Sequence[str], engine: str) -> list[Totals]:
    """The columns' statistics aggregated over these partitions, by column, type and kind."""
    result = tx.all(_TOTALS, table_id=table_id, names=tx.list(names), columns=tx.list(columns), engine=engine)
    return list(map(Totals._make, result))


def complete(tx: Transaction, table_id: int, names: Sequence[str], columns: Sequence[str], engine: str) -> int:
    """How many of these partitions have statistics of all these columns."""
    row = tx.one(
        _COMPLETE,
        table_id=table_id,
        names=tx.list(names),
        columns=tx.list(columns),
        engine=engine,
        wanted=len(columns),
    )
    assert row is not None
    number: int = row[0]
    return number


_COLUMNS_OF_TABLE = Statement(sa.select(_t.c.column_name).distinct().where(_OF_TABLE).order_by(_t.c.column_name))
_COLUMNS_OF_PARTITION = Statement(
    sa.select(_p.c.column_name).distinct().select_from(_JOINED).where(_NAMED).order_by(_p.c.column_name)
)


def columns_of(tx: Transaction, table_id: int, partition: str | None = None) -> list[str]:
    """The columns of which a table, or one of its partitions, has statistics, of any engine."""
    if partition is None:
        result = tx.all(_COLUMNS_OF_TABLE, table_id=table_id)
    else:
        result = tx.all(_COLUMNS_OF_PARTITION, table_id=table_id, names=tx.list([partition]))
    return [name for (name,) in result]


# --- writing ------------------------------------------------------------------------------------------------


@lru_cache
def _write(of_partitions: bool) -> tuple[Statement, Statement]:
    table, owner = (_p, "partition_id") if of_partitions else (_t, "table_id")
    key = (owner, "column_name", "engine")
    delete = sa.delete(table).where(*(table.c[name] == sa.bindparam(name) for name in key))
    positions = (owner, *_WRITTEN)
    insert = sa.insert(table).values(bound(*positions)).inline()
    return Statement(delete, positions=key), Statement(insert, positions=positions)


def write_of_table(tx: Transaction, rows: Sequence[NewStatistics], *, fmt: int = schema.BODY_FORMAT) -> None:
    """Replaces the statistics of the same columns of a table, which must be locked."""
    _replace(tx, rows, fmt, of_partitions=False)


def write_of_partitions(
    tx: Transaction, table_id: int, rows: Sequence[NewStatistics], *, fmt: int = schema.BODY_FORMAT
) -> None:
    """Replaces the statistics of the same columns of partitions of one table, which must be locked."""
    if rows:
        _replace(tx, rows, fmt, of_partitions=True)
        tables.set_statistics_stamp(tx, table_id)


def _replace(tx: Transaction, rows: Sequence[NewStatistics], fmt: int, *, of_partitions: bool) -> None:
    delete, insert = _write(of_partitions)
    tx.many(delete, [row[:3] for row in rows])
    tx.many(insert, [(*row[:16], fmt, *row[16:]) for row in rows])


@lru_cache
def _delete(of_partitions: bool, columns: bool, engine: bool) -> Statement:
    table = _p if of_partitions else _t
    of_named = _p.c.partition_id.in_(sa.select(_partitions.id).where(_NAMED))
    statement = sa.delete(table).where(of_named if of_partitions else _OF_TABLE)
    if columns:
        statement = statement.where(_columns(table))
    if engine:
        statement = statement.where(_engine(table))
    return Statement(statement)


def delete(
    tx: Transaction,
    table_id: int,
    *,
    partitions: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    engine: str | None = None,
) -> int:
    """Deletes statistics of a table or of some of its partitions: of some columns or all, of one engine or any.

    Returns how many there were.
    """
    params: dict[str, Any] = {"table_id": table_id}
    if partitions is not None:
        params["names"] = tx.list(partitions)
    if columns is not None:
        params["columns"] = tx.list(columns)
    if engine is not None:
        params["engine"] = engine
    deleted = tx.run(_delete(partitions is not None, columns is not None, engine is not None), **params)
    if deleted and partitions is not None:
        tables.set_statistics_stamp(tx, table_id)
    return deleted


_OF_ALL_PARTITIONS = _p.c.partition_id.in_(
    sa.select(_partitions.id).where(_partitions.table_id == sa.bindparam("table_id"))
)
_FORGET_TABLE = Statement(sa.delete(_t).where(_OF_TABLE, _columns(_t)))
_FORGET_PARTITIONS = Statement(sa.delete(_p).where(_OF_ALL_PARTITIONS, _columns(_p)))


def forget_columns(tx: Transaction, table_id: int, columns: Sequence[str], *, of_partitions: bool) -> int:
    """Deletes the statistics of columns that a table, or all of its partitions, no longer have."""
    statement = _FORGET_PARTITIONS if of_partitions else _FORGET_TABLE
    deleted = tx.run(statement, table_id=table_id, columns=tx.list(columns))
    if deleted and of_partitions:
        tables.set_statistics_stamp(tx, table_id)
    return deleted
