"""How long names, filters, patterns and the other texts of the API may be, in characters.

Every parser of this package takes time that grows no faster than its text, and refuses a text that is longer than its
limit here. The limits are far above what clients send and what Hive's own schema can store.
"""

from __future__ import annotations

from typing import Final

MAX_NAME: Final = 1024
"""A catalog, database, table, function, column or principal; Hive's schema has columns of 128 to 767 characters."""
MAX_FULL_NAME: Final = 3 * MAX_NAME
"""Several names in one text: `@catalog#database`, `database.table`."""
MAX_PARTITION_NAME: Final = 64 * 1024
"""`key=value/key=value`; Hive's schema has a column of 767 characters."""
MAX_PARTITION_VALUE: Final = 16 * 1024
"""One value of a partition; Hive's schema has a column of 256 characters."""
MAX_LOCATION: Final = 16 * 1024
"""A URI; Hive's schema has a column of 4,000 characters."""
MAX_PATTERN: Final = 64 * 1024
"""A pattern of names, with all its alternatives."""
MAX_FILTER: Final = 1024 * 1024
"""A filter on partitions or tables. Engines write thousands of values into one."""
MAX_LIKE: Final = 4096
"""The pattern of one LIKE."""
MAX_TYPE: Final = 1024 * 1024
"""The text of a column's type; wide structs are long."""
MAX_SNAPSHOT: Final = 64 * 1024 * 1024
"""A list of transactions or write ids as text. Only its length is bounded here; MAX_IDS bounds the ids in its runs."""
MAX_IDS: Final = 1_000_000
"""The number of ids in the runs of a snapshot: `1-9` is nine."""
MAX_SCHEDULE: Final = 256
"""A cron expression, as long as Hive's schema can store."""


def shortened(text: str, most: int = 60) -> str:
    """The beginning of a text, for an error message about it."""
    return text if len(text) <= most else f"{text[:most]}…"
