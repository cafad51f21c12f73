"""Lists of tables by their types, for a client that sees ACID tables as views. It changes no names, only types."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from metastored.filters.hive.tables import TableField
from metastored.hive.names import decode_catalog_name, encode_catalog_name
from metastored.model import kinds
from metastored.model.acid import TRANSACTIONAL
from metastored.wire.generated.tables import TableMeta
from metastored.wire.structs import replace

Ask = Callable[..., Awaitable[Any]]
"""Calls a method of the metastore, by its name and arguments, and returns its value."""

_PARAMETER: Final = f"{TableField.PARAMETER.value}{TRANSACTIONAL}"
_ACID: Final = " or ".join(f'{_PARAMETER} = "{value}"' for value in ("true", "TRUE", "True"))
_OF_ROWS: Final = (kinds.MANAGED, kinds.EXTERNAL)
"""The types that an ACID table can have."""


async def names_by_type(ask: Ask, database: str | None, pattern: str | None, type: str) -> tuple[str, ...]:
    """What get_tables_by_type returns."""
    listed: tuple[str, ...] = await ask("get_tables_by_type", database, pattern, type)
    if type == kinds.VIEW:
        acid = await _acid_tables(ask, database)
        shown = await ask("get_tables", database, pattern) if acid else ()
        return tuple(sorted({*listed, *acid.intersection(shown)}))
    if type in _OF_ROWS and listed:
        acid = await _acid_tables(ask, database)
        return tuple(each for each in listed if each not in acid)
    return listed


async def metas_by_type(
    ask: Ask, databases: str | None, pattern: str | None, types: tuple[str, ...] | None
) -> tuple[TableMeta, ...]:
    """What get_table_meta returns."""
    wanted = {*types, *_OF_ROWS} if types and kinds.VIEW in types else set(types or ())
    metas: tuple[TableMeta, ...] = await ask("get_table_meta", databases, pattern, tuple(sorted(wanted)) or None)
    catalog = decode_catalog_name(databases).catalog
    acid = {
        (each, name)
        for each in sorted({meta.dbName for meta in metas if meta.tableType in _OF_ROWS and meta.dbName})
        for name in await _acid_tables(ask, encode_catalog_name(catalog, each))
    }
    shown = (replace(each, tableType=kinds.VIEW) if (each.dbName, each.tableName) in acid else each for each in metas)
    return tuple(each for each in shown if not types or each.tableType in types)


async def _acid_tables(ask: Ask, database: str | None) -> frozenset[str]:
    return frozenset(await ask("get_table_names_by_filter", database, _ACID, -1))
