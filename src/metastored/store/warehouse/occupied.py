"""Whether an object uses a directory now: checked before a removal that failed is retried.

Locations are inside of bodies, which this package does not decode. A body that contains the location as a text counts
as an object that uses it: `metastored doctor` then lists the removal and it is not done, which loses no data. All
databases, tables and partitions are read, so only failed jobs are checked.
"""

import re
from collections.abc import Iterator

import sqlalchemy as sa

from metastored.hive.location_rules import location_key
from metastored.hive.locations import LOCAL_SCHEME
from metastored.store.engine import schema
from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.engine.transaction import Transaction


def _containing(what: str, table: sa.Table, column: str, shown: str, extra: str = "") -> tuple[str, Statement]:
    def build(dialect: str) -> sa.TextClause:
        # Of a blob and a text alike.
        position = f"instr({column}, :text)" if dialect == SQLITE else f"position(:text in {column})"
        return sa.text(f"SELECT {shown}, {column} FROM {table.name} WHERE {position} > 0{extra}")

    return what, Statement(build)


_BODIES = (
    _containing("database", schema.databases, "body", "name"),
    _containing("table", schema.tables, "body", "name"),
)
_TEXTS = (
    _containing("the directory of partitions", schema.bases, "uri", "uri"),
    _containing("partition", schema.partitions, "suffix", "name", " AND base IS NULL"),
)


def occupant(tx: Transaction, uri: str) -> str | None:
    """A database, table or partition whose location is this one or below it; None if there is none."""
    return next(_occupants(tx, uri), None)


def _occupants(tx: Transaction, uri: str) -> Iterator[str]:
    scheme, authority, path = location_key(uri)
    start = f"{LOCAL_SCHEME}:(//)?" if scheme == LOCAL_SCHEME else f"{re.escape(scheme)}://{re.escape(authority)}"
    # The path ends here or continues with a slash. In a body the byte after a text is below a space.
    pattern = f"{start}{re.escape(path)}(?=/|[\\x00-\\x1f]|\\Z)"
    as_bytes, as_text = re.compile(pattern.encode(), re.IGNORECASE), re.compile(pattern, re.IGNORECASE)
    for what, statement in _BODIES:
        for name, body in tx.all(statement, text=path.encode()):
            if as_bytes.search(bytes(body)):
                yield f"{what} {name}"
    for what, statement in _TEXTS:
        for name, text in tx.all(statement, text=path):
            if as_text.search(text):
                yield f"{what} {name}"
