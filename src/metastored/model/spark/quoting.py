"""Names of columns and tables in Spark's SQL. Pure."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name in backticks: whatever signs it has, it ends with them."""
    return "`" + name.replace("`", "``") + "`"
