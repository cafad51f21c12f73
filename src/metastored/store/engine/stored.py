"""Constants of the stored rows, for the modules that write and read them. It imports nothing and opens no database."""

from typing import Final

__all__ = [
    "BODY_FORMAT",
    "COMPACTION_COUNTER",
    "EVENT_COUNTER",
    "FIRST_COUNTERS",
    "LOCK_COUNTER",
    "PARAM_BYTES",
    "REMOTES_COUNTER",
    "SQLITE_STATISTICS",
    "TOKEN_COUNTER",
    "TXN_COUNTER",
    "VALUE_COLUMNS",
    "VERSION_COUNTER",
]

BODY_FORMAT: Final = 1
"""The encoding of bodies that this version writes; a later one converts bodies with a lower number."""

VALUE_COLUMNS: Final = ("v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8")
"""The columns of a partition's first values. Later keys are only in its name and body."""

PARAM_BYTES: Final = 255
"""Parameters with a longer key or value are only in the table's body, not in `table_params`."""

EVENT_COUNTER: Final = "event"
VERSION_COUNTER: Final = "version"
TXN_COUNTER: Final = "txn"
LOCK_COUNTER: Final = "lock"
COMPACTION_COUNTER: Final = "compaction"
TOKEN_COUNTER: Final = "token"
REMOTES_COUNTER: Final = "remotes"
FIRST_COUNTERS: Final = tuple(
    (name, 0)
    for name in (
        *(EVENT_COUNTER, VERSION_COUNTER, TXN_COUNTER, LOCK_COUNTER, COMPACTION_COUNTER, TOKEN_COUNTER),
        REMOTES_COUNTER,
    )
)
"""Rows that every database has from its creation."""

SQLITE_STATISTICS: Final = (
    ("partitions", "sqlite_autoindex_partitions_1", "1000000 10000 1"),
    ("partitions", "partitions_values", "1000000 10000 100 1"),
    ("partitions", "partitions_ids", "1000000 10000 1"),
    ("table_statistics", "table_statistics", "1000000 50 2 1"),
    ("partition_statistics", "partition_statistics", "1000000 50 2 1"),
)
"""Statistics of the tables for SQLite's planner: rows, then rows for each further column of the index.

Without them it assumes ten partitions in a table, and reads all of them instead of several parts of an index.
"""
