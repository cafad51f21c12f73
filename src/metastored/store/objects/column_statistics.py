"""The rows of column statistics: of tables, and of partitions. Bodies are not decoded here.

The numbers of a row are also in its body; they are columns so that the database can aggregate them. Rows of tables and
of partitions differ only in their owner. Every change of the statistics of partitions sets a new stamp of their table.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from metastored.store.engine.statements import Statement, column_list, insert_into
from metastored.store.engine.stored import BODY_FORMAT
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


_SHOWN = ("column_name", "type", "kind", "last_analyzed", "fmt", "body")
_SKETCHES = ("bit_vector", "histogram")
_NUMBERS = ("low", "high", "double_low", "double_high", "nulls", "distincts", "average_length", "max_length")
_WRITTEN = (
    *("column_name", "engine", "type", "kind", "last_analyzed", *_NUMBERS, "trues", "falses"),
    *("fmt", "body", *_SKETCHES),
)
_OF_PARTITIONS = "partitions p JOIN partition_statistics s ON s.partition_id = p.id"
_NAMED = "p.table_id = :table_id AND p.name IN :names"
_COLUMNS = "s.engine = :engine AND s.column_name IN :columns"


# --- reading ------------------------------------------------------------------------------------------------


@lru_cache
def _read(of_partitions: bool, sketches: bool) -> Statement:
    shown = f"{column_list(*_SHOWN, of='s')}, {column_list(*_SKETCHES, of='s') if sketches else 'NULL, NULL'}"
    if of_partitions:
        return Statement(
            f"""
            SELECT p.name, {shown} FROM {_OF_PARTITIONS}
            WHERE {_NAMED} AND {_COLUMNS} ORDER BY p.name, s.column_name
            """
        )
    return Statement(
        f"""
        SELECT t.name, {shown} FROM tables t JOIN table_statistics s ON s.table_id = t.id
        WHERE s.table_id = :table_id AND {_COLUMNS} ORDER BY s.column_name
        """
    )


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
    f"""
    SELECT p.name, {column_list(*Numbers._fields[1:], of="s")} FROM {_OF_PARTITIONS}
    WHERE {_NAMED} AND {_COLUMNS} ORDER BY p.name
    """
)


def numbers(tx: Transaction, table_id: int, names: Sequence[str], columns: Sequence[str], engine: str) -> list[Numbers]:
    """The numbers alone, sorted by the partition's name: a tenth of the work for a hundred thousand of them."""
    result = tx.all(
        _NUMBERS_OF_PARTITIONS, table_id=table_id, names=tx.list(names), columns=tx.list(columns), engine=engine
    )
    return list(map(Numbers._make, result))


def _density(low: str, high: str) -> str:
    spread = f"CAST({high} AS DOUBLE PRECISION) - CAST({low} AS DOUBLE PRECISION)"
    return f"avg(({spread}) / nullif(s.distincts, 0))"


_TOTALS = Statement(
    f"""
    SELECT s.column_name, s.type, s.kind, count(*),
        min(s.low), max(s.high), min(s.double_low), max(s.double_high),
        CAST(sum(s.nulls) AS BIGINT), max(s.distincts), CAST(sum(s.distincts) AS BIGINT),
        max(s.average_length), max(s.max_length),
        CAST(sum(s.trues) AS BIGINT), CAST(sum(s.falses) AS BIGINT),
        {_density("s.low", "s.high")}, {_density("s.double_low", "s.double_high")}
    FROM {_OF_PARTITIONS}
    WHERE {_NAMED} AND {_COLUMNS}
    GROUP BY s.column_name, s.type, s.kind
    """
)
_COMPLETE = Statement(
    f"""
    SELECT count(*) FROM (
        SELECT s.partition_id FROM {_OF_PARTITIONS}
        WHERE {_NAMED} AND {_COLUMNS}
        GROUP BY s.partition_id HAVING count(*) = :wanted
    ) AS complete
    """
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


_COLUMNS_OF_TABLE = Statement(
    "SELECT DISTINCT column_name FROM table_statistics WHERE table_id = :table_id ORDER BY column_name"
)
_COLUMNS_OF_PARTITION = Statement(
    f"SELECT DISTINCT s.column_name FROM {_OF_PARTITIONS} WHERE {_NAMED} ORDER BY s.column_name"
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
    table, owner = ("partition_statistics", "partition_id") if of_partitions else ("table_statistics", "table_id")
    return (
        Statement(
            f"DELETE FROM {table} WHERE {owner} = :{owner} AND column_name = :column_name AND engine = :engine",
            positions=(owner, "column_name", "engine"),
        ),
        Statement(insert_into(table, owner, *_WRITTEN), positions=(owner, *_WRITTEN)),
    )


def write_of_table(tx: Transaction, rows: Sequence[NewStatistics], *, fmt: int = BODY_FORMAT) -> None:
    """Replaces the statistics of the same columns of a table, which must be locked."""
    _replace(tx, rows, fmt, of_partitions=False)


def write_of_partitions(
    tx: Transaction, table_id: int, rows: Sequence[NewStatistics], *, fmt: int = BODY_FORMAT
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
    if of_partitions:
        text = f"DELETE FROM partition_statistics WHERE partition_id IN (SELECT p.id FROM partitions p WHERE {_NAMED})"
    else:
        text = "DELETE FROM table_statistics WHERE table_id = :table_id"
    if columns:
        text += " AND column_name IN :columns"
    if engine:
        text += " AND engine = :engine"
    return Statement(text)


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


_FORGET_TABLE = Statement("DELETE FROM table_statistics WHERE table_id = :table_id AND column_name IN :columns")
_FORGET_PARTITIONS = Statement(
    """
    DELETE FROM partition_statistics
    WHERE partition_id IN (SELECT id FROM partitions WHERE table_id = :table_id) AND column_name IN :columns
    """
)


def forget_columns(tx: Transaction, table_id: int, columns: Sequence[str], *, of_partitions: bool) -> int:
    """Deletes the statistics of columns that a table, or all of its partitions, no longer have."""
    statement = _FORGET_PARTITIONS if of_partitions else _FORGET_TABLE
    deleted = tx.run(statement, table_id=table_id, columns=tx.list(columns))
    if deleted and of_partitions:
        tables.set_statistics_stamp(tx, table_id)
    return deleted
