"""Compares two metastores without the code under test: all their replies, as plain values."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from metastored.client._sync.client import Client
from metastored.wire.generated.constraints import ForeignKeysRequest, PrimaryKeysRequest
from metastored.wire.structs import names, replace
from tests.support.forks import run_command


def metastored(*words: str, timeout: float = 300) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, until it ends."""
    return run_command(*words, timeout=timeout)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "metastored", *words]


def environment() -> dict[str, str]:
    """Without settings from the environment of the test run."""
    return {name: value for name, value in os.environ.items() if not name.startswith("METASTORED_")}


def everything(client: Client, prefix: str, *, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """All replies of a metastore about databases that begin with `prefix`, by request.

    `without` are fields (`Table.createTime`) that are left out. Catalogs are not looked at: 2.3 has none.
    """
    found: dict[str, Any] = {}

    def keep(key: str, value: Any) -> None:
        found[key] = _plain(value, without)

    for db in sorted(client.databases(f"{prefix}*")):
        keep(f"database {db}", client.database(db))
        for function in client.api.get_functions(db, "*"):
            keep(f"function {db}.{function}", client.api.get_function(db, function))
        for table in client.table_objects(db):
            name = f"{db}.{table.tableName}"
            is_materialized = table.tableType == "MATERIALIZED_VIEW"
            keep(f"table {name}", client.table(name) if is_materialized else table)
            columns = [column.name or "" for column in (table.sd and table.sd.cols) or ()]
            is_view = table.tableType == "VIRTUAL_VIEW"
            keep(f"statistics {name}", {} if is_view else client.statistics(name, columns))
            keep(f"key {name}", client.api.get_primary_keys(PrimaryKeysRequest(db, table.tableName)))
            foreign = ForeignKeysRequest(foreign_db_name=db, foreign_tbl_name=table.tableName)
            keep(f"foreign {name}", client.api.get_foreign_keys(foreign))
            if table.partitionKeys:
                parts = {part.values: part for part in client.partitions(name)}
                keep(f"partitions {name}", parts)
                some = client.partition_names(name)[:200]
                keep(f"partition statistics {name}", client.partition_statistics(name, some, columns))
    return found


def _plain(value: Any, without: frozenset[str]) -> Any:
    cls: Any = type(value)
    if isinstance(value, tuple) and hasattr(cls, "SPEC"):
        absent = [name for name in names(cls) if f"{cls.__name__}.{name}" in without]
        return tuple(_plain(each, without) for each in (replace(value, **dict.fromkeys(absent)) if absent else value))
    if isinstance(value, tuple):
        return tuple(_plain(each, without) for each in value)
    if isinstance(value, dict):
        return {key: _plain(each, without) for key, each in value.items()}
    return value


def unequal(one: dict[str, Any], other: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The differences by request; of the partitions of a table only the first difference."""
    found = {}
    for key in one.keys() | other.keys():
        mine, theirs = one.get(key), other.get(key)
        if mine == theirs:
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict):
            part = next(each for each in {**mine, **theirs} if mine.get(each) != theirs.get(each))
            mine, theirs = mine.get(part), theirs.get(part)
        found[key] = (mine, theirs)
    return found
