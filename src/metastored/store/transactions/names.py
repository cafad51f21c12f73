"""A table's name as the values of the columns `cat`, `db` and `tbl`, of the tables for transactions. Pure."""

from __future__ import annotations

from metastored.model.names import TableName


def named(table: TableName) -> dict[str, str]:
    """The name as parameters of a statement."""
    return {"cat": table.catalog, "db": table.database, "tbl": table.table}
