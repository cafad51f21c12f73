"""One table on its way: itself, its columns' statistics, its constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.kinds import is_view
from metastored.model.names import DatabaseName, TableName
from metastored.service.tables.constraints import CHECK, DEFAULT, FOREIGN, NOT_NULL, PRIMARY, UNIQUE
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
    """Whether two tables have nothing in common but their name: none can be altered into the other."""
    keys, others = ([key.name for key in each.partitionKeys or ()] for each in (table, there))
    return keys != others or is_view(table) != is_view(there)


def copied(ends: Ends, home: DatabaseName, table: Table) -> Table:
    """The table as the target shall have it: what is of the source's own is left out, its catalog has its new name."""
    metadata = table.creationMetadata
    catalog = ends.catalogs.target(home.catalog_field)
    if metadata is not None:
        used = frozenset(map(ends.catalogs.qualified, metadata.tablesUsed or ()))
        metadata = replace(metadata, catName=catalog or DEFAULT_CATALOG, tablesUsed=used)
    return replace(table, catName=catalog, creationMetadata=metadata, **_NOT_COPIED)


def copy_table(ends: Ends, home: DatabaseName, table: Table, there: Table | None) -> None:
    """The table and its statistics in the target as in the source."""
    name = table.tableName or ""
    of, target = home.table(name), ends.catalogs.home(home).table(name)
    after = copied(ends, home, table)
    ends.tally.saw("view" if is_view(table) else "table")
    columns = columns_of(table) if ends.selection.has("statistics") else []
    if there is None and not ends.writes:
        ends.settle("table", str(target), Action.ADD, lambda: None)
        return
    statistics = ends.source.statistics(of, columns)
    if there is None:
        change = TableChange(target, after, None, tuple(statistics.values()))
        ends.settle("table", str(target), Action.ADD, lambda: ends.writer.put_table(change))
        return
    fields = differences(after, there, ends.writer.stamped)
    new, forgotten, more = changed_statistics(statistics, ends.target.statistics(target, columns) if columns else {})
    if fields or more:
        change = TableChange(target, after, there, new, forgotten)
        ends.settle("table", str(target), Action.ALTER, lambda: ends.writer.put_table(change), fields + more)


def changed_statistics(
    source: Mapping[str, ColumnStatisticsObj], target: Mapping[str, ColumnStatisticsObj]
) -> tuple[list[ColumnStatisticsObj], list[str], list[str]]:
    """What is to be set, the columns whose statistics are to go, and what differs."""
    new: list[ColumnStatisticsObj] = []
    lines: list[str] = []
    for column, one in source.items():
        other = target.get(column)
        fields = ["no statistics in the target"] if other is None else statistics_differences(one, other)
        if fields:
            new.append(one)
            lines += [f"column {column}: {line}" for line in fields]
    forgotten = [column for column in target if column not in source]
    lines += [f"column {column}: statistics in the target only" for column in forgotten]
    return new, forgotten, lines


# --- constraints --------------------------------------------------------------------------------------------------


def copy_constraints(ends: Ends, home: DatabaseName, name: str, *, is_new: bool) -> None:
    """All but foreign keys, which need every table to be there."""
    of = home.table(name)
    target = ends.catalogs.home(home).table(name)
    there = {} if is_new else ends.target.constraints(target)
    _copy(ends, home, target, ends.source.constraints(of), there)


def copy_foreign_keys(ends: Ends, home: DatabaseName, name: str) -> None:
    of = home.table(name)
    target = ends.catalogs.home(home).table(name)
    _copy(ends, home, target, {FOREIGN: ends.source.foreign_keys(of)}, {FOREIGN: ends.target.foreign_keys(target)})


def _copy(
    ends: Ends,
    home: DatabaseName,
    of: TableName,
    source: Mapping[str, Sequence[Any]],
    target: Mapping[str, Sequence[Any]],
) -> None:
    catalog = ends.catalogs.target(home.catalog_field) or (DEFAULT_CATALOG if ends.target.has_catalogs() else None)
    given: dict[str, list[Any]] = {}
    dropped: list[str] = []
    changes: list[tuple[str, Action, list[str]]] = []
    for kind, columns in source.items():
        wanted, there = _by_name(kind, columns), _by_name(kind, target.get(kind, ()))
        ends.tally.saw("constraint", len(wanted))
        for name, new in wanted.items():
            old = there.pop(name, None)
            fields = [] if old is None else differences(tuple(new), tuple(old), ends.writer.stamped)
            if old is not None and not fields:
                continue
            if old is not None:
                dropped.append(name)
            given.setdefault(kind, []).extend(replace(one, catName=catalog) for one in new)
            changes.append((name, Action.ADD if old is None else Action.ALTER, fields))
        for name in there:
            dropped.append(name)
            changes.append((name, Action.DROP, []))
    if ends.writes and (given or dropped):
        ends.writer.put_constraints(of, given, dropped)
    for name, action, fields in changes:
        ends.tally.change("constraint", f"{name} of {of}", action, fields)


def _by_name(kind: str, columns: Sequence[Any]) -> dict[str, list[Any]]:
    """Constraints by their names, each with its columns in their order."""
    found: dict[str, list[Any]] = {}
    for column in sorted(columns, key=lambda one: getattr(one, "key_seq", None) or 0):
        found.setdefault(getattr(column, _NAME_FIELDS[kind]) or "", []).append(column)
    return found
