"""Names in the SQL of Hive and Spark. Pure."""

from __future__ import annotations


def backquoted(name: str) -> str:
    """A name in backquotes: whatever signs it has, it ends with them."""
    return "`" + name.replace("`", "``") + "`"
