"""Statements on an ACID table as a whole, by their tokens: TRUNCATE, COMPACT, RENAME, DROP PARTITION. Pure.

sqlglot parses some of them only in part, and others not at all. ALTER TABLE of anything else is Spark's. What Hive
refuses on ACID tables is refused here: ORC files of ACID tables have columns by their position, so that the columns
after a dropped one would get each other's values.
"""

from __future__ import annotations

from sqlglot import TokenType

from metastored.model.names import TableName
from metastored.spark.acid.sql.tables import Lookup, name_at
from metastored.spark.acid.sql.values import (
    Compact,
    Definitions,
    DropPartitions,
    Partition,
    RenamePartition,
    RenameTable,
    Truncate,
)
from metastored.spark.source import Source


def definition(source: Source, lookup: Lookup) -> Definitions | None:
    """The plan of such a statement on an ACID table; None for all others.

    Raises AcidStatementError for one that would break the files of the table.
    """
    if source.is_word(0, "TRUNCATE") and source.is_word(1, "TABLE"):
        return _truncate(source, lookup)
    if not (source.is_word(0, "ALTER") and source.is_word(1, "TABLE")):
        return None
    parts, index = name_at(source, 2)
    spec: Partition | None = None
    if source.at(index, TokenType.PARTITION) and source.at(index + 1, TokenType.L_PAREN):
        spec, index = _partition(source, index)
        if spec is None:
            return None
    if source.is_word(index, "COMPACT"):
        return _compact(source, lookup, parts, spec or (), index)
    table = _acid(lookup, parts)
    if table is None:
        return None
    if source.is_word(index, "RENAME") and source.is_word(index + 1, "TO"):
        return _renamed(source, table, spec, index + 2)
    if spec is None and source.is_word(index, "DROP"):
        return _dropped(source, table, index)
    if spec is None and source.is_word(index, "REPLACE") and source.is_word(index + 1, "COLUMNS"):
        raise source.error(
            "REPLACE COLUMNS is not supported on an ACID table: its files have the columns by their position. "
            "Add columns with ADD COLUMNS",
            source.offset(index),
        )
    return None


def _truncate(source: Source, lookup: Lookup) -> Truncate | None:
    parts, index = name_at(source, 2)
    table = _acid(lookup, parts)
    if table is None:
        return None
    spec: Partition | None = ()
    if source.at(index, TokenType.PARTITION):
        spec, index = _partition(source, index)
    if spec is None or index != len(source.tokens):
        raise source.error("write TRUNCATE TABLE t, or TRUNCATE TABLE t PARTITION (key = value)", source.offset(2))
    return Truncate(table, spec)


def _compact(source: Source, lookup: Lookup, parts: tuple[str, ...], spec: Partition, index: int) -> Compact:
    table = _acid(lookup, parts)
    if table is None:
        raise source.error(f"{'.'.join(parts)} is not an ACID table: it has nothing to compact", source.offset(2))
    kind = source.tokens[index + 1].text.lower() if source.at(index + 1, TokenType.STRING) else ""
    if kind not in ("minor", "major") or len(source.tokens) != index + 2:
        raise source.error("write COMPACT 'minor' or COMPACT 'major', and nothing after it", source.offset(index + 1))
    return Compact(table, kind, spec)


def _renamed(
    source: Source, table: TableName, spec: Partition | None, index: int
) -> RenameTable | RenamePartition | None:
    if spec is None:
        parts, end = name_at(source, index)
        if end != len(source.tokens) or not 1 <= len(parts) <= 3:
            raise source.error("write RENAME TO and the new name of the table", source.offset(index))
        return RenameTable(table, parts[-2:])
    to, end = _partition(source, index) if source.at(index, TokenType.PARTITION) else (None, index)
    if to is None or end != len(source.tokens):
        raise source.error("write PARTITION (key = value) RENAME TO PARTITION (key = value)", source.offset(index))
    return RenamePartition(table, spec, to)


def _dropped(source: Source, table: TableName, index: int) -> DropPartitions | None:
    index += 1
    if source.is_word(index, "COLUMN") or source.is_word(index, "COLUMNS"):
        raise source.error(
            "DROP COLUMN is not supported on an ACID table, as in Hive: its files have the columns by their position, "
            "and the columns after it would get wrong values. Create another table and insert the rows",
            source.offset(index),
        )
    if_exists = source.is_word(index, "IF") and source.is_word(index + 1, "EXISTS")
    index += 2 * if_exists
    if not source.at(index, TokenType.PARTITION):
        return None
    specs: list[Partition] = []
    while source.at(index, TokenType.PARTITION):
        spec, index = _partition(source, index)
        if spec is None:
            raise source.error("DROP PARTITION has a value for each key: PARTITION (key = value)", source.offset(index))
        specs.append(spec)
        index += source.at(index, TokenType.COMMA)
    index += source.is_word(index, "PURGE")
    if index != len(source.tokens):
        raise source.error("this part of DROP PARTITION is not supported", source.offset(index))
    return DropPartitions(table, tuple(specs), if_exists)


def _acid(lookup: Lookup, parts: tuple[str, ...]) -> TableName | None:
    """The ACID table of this name; None for other tables and for views."""
    table = lookup({parts}).get(parts) if parts else None
    return None if table is None or table.lance or table.view is not None else table.table


def _partition(source: Source, index: int) -> tuple[Partition | None, int]:
    """`PARTITION (key = value, …)`, and the token after it; None where a key has no value, or another operator."""
    if not source.at(index + 1, TokenType.L_PAREN):
        return None, index
    closing = source.closing(index + 1)
    pairs: list[tuple[str, str]] = []
    if closing == index + 2:
        return None, index
    for start, stop in source.split(index + 2, closing):
        if stop < start + 3 or not source.at(start + 1, TokenType.EQ):
            return None, index
        pairs.append((source.tokens[start].text.lower(), source.constant(start + 2, stop)))
    return tuple(pairs), closing + 1
