"""Transactional tables of Hive on Spark: read and written at snapshots, in transactions. Needs no jar.

acid.read(spark, "db.t", where="ds = '2024-01-01'")       the rows as they are now
with acid.snapshot(spark) as s: s.read("db.t")            many tables at one moment
acid.insert(spark, "db.t", frame)                         one statement: insert_overwrite, update, delete, merge
with acid.transaction(spark) as t: t.insert("db.t", …)    several statements in one transaction
df.writeStream.foreachBatch(acid.sink("db.t"))            a stream, exactly once

Importing this package does not import pyspark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metastored.spark.acid.clauses import ALL, DELETE, When
    from metastored.spark.acid.files.counts import Changed
    from metastored.spark.acid.reading import Snapshot, read, snapshot
    from metastored.spark.acid.single import delete, insert, insert_overwrite, merge, transaction, truncate, update
    from metastored.spark.acid.streams import sink
    from metastored.spark.acid.views import drop_view, view
    from metastored.spark.acid.writing import Transaction

__all__ = [
    "ALL",
    "DELETE",
    "Changed",
    "Snapshot",
    "Transaction",
    "When",
    "delete",
    "drop_view",
    "insert",
    "insert_overwrite",
    "merge",
    "read",
    "sink",
    "snapshot",
    "transaction",
    "truncate",
    "update",
    "view",
]

_HOMES = {
    "ALL": "clauses",
    "DELETE": "clauses",
    "Changed": "files.counts",
    "Snapshot": "reading",
    "Transaction": "writing",
    "When": "clauses",
    "delete": "single",
    "drop_view": "views",
    "insert": "single",
    "insert_overwrite": "single",
    "merge": "single",
    "read": "reading",
    "sink": "streams",
    "snapshot": "reading",
    "transaction": "single",
    "truncate": "single",
    "update": "single",
    "view": "views",
}
"""The modules of the names. They are imported when they are used: `sql` and `compaction` need only a few of them."""


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
