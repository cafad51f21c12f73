"""Which objects use a directory now: asked before a removal that failed is retried, and before clients get keys for the
files of a table.

Locations are inside of bodies, which this package does not decode. A body that contains the location as a text counts
as an object that uses it: `metastored doctor` then lists the removal and it is not done, which loses no data. All
databases, tables and partitions are read, so neither is done for an ordinary call.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from metastored.hive.location_rules import location_key
from metastored.hive.locations import LOCAL_SCHEME
from metastored.store.engine.statements import SQLITE, Statement
from metastored.store.engine.transaction import Transaction

DATABASE, TABLE = "database", "table"
S3 = "s3[an]?"
"""The schemes of one store."""


def _containing(what: str, table: str, column: str, shown: str, owner: str, extra: str = "") -> tuple[str, Statement]:
    """`owner` is the id of the table that uses the directory; 0 for a database."""

    def text(dialect: str) -> str:
        # Of a blob and a text alike.
        position = f"instr({column}, :text)" if dialect == SQLITE else f"position(:text in {column})"
        return f"SELECT {owner}, {shown}, {column} FROM {table} WHERE {position} > 0{extra}"

    return what, Statement(text)


_BODIES = (
    _containing(DATABASE, "databases", "body", "name", "0"),
    _containing(TABLE, "tables", "body", "name", "id"),
)
_TEXTS = (
    _containing("the directory of partitions", "bases", "uri", "uri", "table_id"),
    _containing("partition", "partitions", "suffix", "name", "table_id", " AND base IS NULL"),
)


class Use(NamedTuple):
    """An object whose row contains a location as a text."""

    kind: str
    owner: int
    """The id of the table; 0 for a database."""
    name: str
    body: bytes | None
    """The body of the row; None where the row has a location of its own."""


def occupant(tx: Transaction, uri: str) -> str | None:
    """A database, table or partition whose location is this one or below it; None if there is none."""
    return next((f"{use.kind} {use.name}" for use in uses(tx, uri)), None)


def uses(tx: Transaction, uri: str) -> Iterator[Use]:
    """The databases, tables and partitions that contain a location, or one below it, as a text."""
    scheme, authority, path = location_key(uri)
    spelled = S3 if re.fullmatch(S3, scheme) else re.escape(scheme)
    start = f"{LOCAL_SCHEME}:(//)?" if scheme == LOCAL_SCHEME else f"{spelled}://{re.escape(authority)}"
    # The path ends here or continues with a slash. In a body the byte after a text is below a space.
    pattern = f"{start}{re.escape(path)}(?=/|[\\x00-\\x1f]|\\Z)"
    as_bytes, as_text = re.compile(pattern.encode(), re.IGNORECASE), re.compile(pattern, re.IGNORECASE)
    for kind, statement in _BODIES:
        for owner, name, body in tx.all(statement, text=path.encode()):
            if as_bytes.search(bytes(body)):
                yield Use(kind, owner, name, bytes(body))
    for kind, statement in _TEXTS:
        for owner, name, text in tx.all(statement, text=path):
            if as_text.search(text):
                yield Use(kind, owner, name, None)
