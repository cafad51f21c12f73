"""A table's name as the values of the columns `cat`, `db` and `tbl`, of the tables for transactions. Pure."""

from __future__ import annotations

from typing import Final

from metastored.model.names import TableName

NAMED: Final = "cat = :cat AND db = :db AND tbl = :tbl"
"""The condition on a row that it names the table whose name is bound by `named`."""


def named(table: TableName) -> dict[str, str]:
    """The name as parameters of a statement."""
    return {"cat": table.catalog, "db": table.database, "tbl": table.table}
