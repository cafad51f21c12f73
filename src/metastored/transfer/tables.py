"""Copies one table: its definition, its column statistics, its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from metastored.hive.constraints import CHECK, DEFAULT, FOREIGN, NOT_NULL, PRIMARY, UNIQUE
from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.kinds import is_view
from metastored.model.names import DatabaseName, TableName
from metastored.transfer.differences import differences, statistics_differences
from metastored.transfer.ends import Ends
from metastored.transfer.report import Action
from metastored.transfer.writing import TableChange
from metastored.wire.generated.common import ColumnStatisticsObj, Table
from metastored.wire.structs import replace

_NAME_FIELDS: Final = {
    **{PRIMARY: "pk_name", UNIQUE: "uk_name", NOT_NULL: "nn_name"},
    **{DEFAULT: "dc_name", CHECK: "dc_name", FOREIGN: "fk_name"},
}
_NOT_COPIED: Final = dict.fromkeys(
    (
        *("privileges", "isStatsCompliant", "colStats", "accessType", "requiredReadCapabilities", "id"),
        *("requiredWriteCapabilities", "fileMetadata", "dictionary", "txnId"),
    )
)


def columns_of(table: Table) -> list[str]:
    """The columns that can have statistics."""
    if is_view(table) or table.sd is None:
        return []
    return [column.name or "" for column in table.sd.cols or ()]


def is_another(table: Table, there: Table) -> bool:
    """Whether two tables of the same name are too different for ALTER: the target is dropped and recreated."""
    keys, others = ([key.name for key in each.partitionKeys or ()] for each in (table, there))
    return keys != others or is_view(table) != is_view(there)


def copied(ends: Ends, db: DatabaseName, table: Table) -> Table:
    """The table for the target: without fields of the source metastore, with the target's catalog name."""
    metadata = table.creationMetadata
    catalog = ends.catalogs.target(db.catalog_field)
    if metadata is not None:
        used = frozenset(map(ends.catalogs.qualified, metadata.tablesUsed or ()))
        metadata = replace(metadata, catName=catalog or DEFAULT_CATALOG, tablesUsed=used)
    return replace(table, catName=catalog, creationMetadata=metadata, **_NOT_COPIED)


def copy_table(ends: Ends, db: DatabaseName, table: Table, there: Table | None) -> None:
    """Makes the table and its statistics in the target equal to the source."""
    name = table.tableName or ""
    source, target = db.table(name), ends.catalogs.target_database(db).table(name)
    after = copied(ends, db, table)
    ends.tally.count("view" if is_view(table) else "table")
    columns = columns_of(table) if ends.selection.has("statistics") else []
    if there is None and not ends.writes:
        ends.settle("table", str(target), Action.ADD, lambda: None)
        return
    statistics = ends.source.statistics(source, columns)
    if there is None:
        change = TableChange(target, after, None, tuple(statistics.values()))
        ends.settle("table", str(target), Action.ADD, lambda: ends.writer.put_table(change))
        return
    fields = differences(after, there, ends.writer.stamped)
    new, dropped_statistics, more = changed_statistics(
        statistics, ends.target.statistics(target, columns) if columns else {}
    )
    if fields or more:
        change = TableChange(target, after, there, new, dropped_statistics)
        ends.settle("table", str(target), Action.ALTER, lambda: ends.writer.put_table(change), fields + more)


def changed_statistics(
    source: Mapping[str, ColumnStatisticsObj], target: Mapping[str, ColumnStatisticsObj]
) -> tuple[list[ColumnStatisticsObj], list[str], list[str]]:
    """The statistics to set, the columns whose statistics are to be dropped, and the differences as lines."""
    new: list[ColumnStatisticsObj] = []
    lines: list[str] = []
    for column, one in source.items():
        other = target.get(column)
        fields = ["no statistics in the target"] if other is None else statistics_differences(one, other)
        if fields:
            new.append(one)
            lines += [f"column {column}: {line}" for line in fields]
    dropped_statistics = [column for column in target if column not in source]
    lines += [f"column {column}: statistics in the target only" for column in dropped_statistics]
    return new, dropped_statistics, lines


# --- constraints --------------------------------------------------------------------------------------------------


def copy_constraints(ends: Ends, db: DatabaseName, name: str, *, is_new: bool) -> None:
    """Copies all constraints except foreign keys, for which all tables must exist."""
    table = db.table(name)
    target = ends.catalogs.target_database(db).table(name)
    there = {} if is_new else ends.target.constraints(target)
    _copy(ends, db, target, ends.source.constraints(table), there)


def copy_foreign_keys(ends: Ends, db: DatabaseName, name: str) -> None:
    table = db.table(name)
    target = ends.catalogs.target_database(db).table(name)
    _copy(ends, db, target, {FOREIGN: ends.source.foreign_keys(table)}, {FOREIGN: ends.target.foreign_keys(target)})


def _copy(
    ends: Ends,
    db: DatabaseName,
    table: TableName,
    source: Mapping[str, Sequence[Any]],
    target: Mapping[str, Sequence[Any]],
) -> None:
    catalog = ends.catalogs.target(db.catalog_field) or (DEFAULT_CATALOG if ends.target.has_catalogs() else None)
    constraints: dict[str, list[Any]] = {}
    dropped: list[str] = []
    changes: list[tuple[str, Action, list[str]]] = []
    for kind, columns in source.items():
        new_constraints, there = _by_name(kind, columns), _by_name(kind, target.get(kind, ()))
        ends.tally.count("constraint", len(new_constraints))
        for name, new in new_constraints.items():
            old = there.pop(name, None)
            fields = [] if old is None else differences(tuple(new), tuple(old), ends.writer.stamped)
            if old is not None and not fields:
                continue
            if old is not None:
                dropped.append(name)
            constraints.setdefault(kind, []).extend(replace(one, catName=catalog) for one in new)
            changes.append((name, Action.ADD if old is None else Action.ALTER, fields))
        for name in there:
            dropped.append(name)
            changes.append((name, Action.DROP, []))
    if ends.writes and (constraints or dropped):
        ends.writer.put_constraints(table, constraints, dropped)
    for name, action, fields in changes:
        ends.tally.change("constraint", f"{name} of {table}", action, fields)


def _by_name(kind: str, columns: Sequence[Any]) -> dict[str, list[Any]]:
    """Constraints by their names, each with its columns in their order."""
    by_name: dict[str, list[Any]] = {}
    for column in sorted(columns, key=lambda one: getattr(one, "key_seq", None) or 0):
        by_name.setdefault(getattr(column, _NAME_FIELDS[kind]) or "", []).append(column)
    return by_name
