"""Whether the directory of a table has files of other objects. All rows are read for it, so no ordinary call asks.

Clients whose requests to S3 are signed ask often, so results are cached until the database changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from metastored.hive.locations import LocationError, is_under
from metastored.model.names import TableName
from metastored.service.core import rows
from metastored.store.engine.database import Database as Store
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import tables
from metastored.store.warehouse.occupied import DATABASE, S3, Use, uses
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database

MOST: Final = 10_000
"""Results that are cached."""


class Sharing:
    """Results of `is_shared`, each for one version of the database. Threads share it."""

    def __init__(self, database: Store) -> None:
        self._database: Final = database
        self._version: int | None = None
        self._results: dict[tuple[TableName, str], bool] = {}

    def is_shared(self, name: TableName, location: str) -> bool:
        """Whether anything but this table has its location at this one or below it."""
        version = self._database.version()
        if version != self._version or len(self._results) > MOST:
            # First the results, then their version: a thread that reads the new version must not get old results.
            self._results = {}
            self._version = version
        results, key = self._results, (name, location)
        if key not in results:
            with self._database.read() as tx:
                results[key] = is_shared(tx, name, location)
        return results[key]


def is_shared(tx: Transaction, name: TableName, location: str) -> bool:
    """Whether anything but this table, which need not exist, has its location at this one or below it."""
    row = tables.find(tx, *name)
    own = None if row is None else row.id
    return any(use.owner != own and _is_there(use, location) for use in uses(tx, location))


def _is_there(use: Use, location: str) -> bool:
    return use.body is None or any(_is_at_or_below(each, location) for each in _locations(use.kind, use.body))


def _locations(kind: str, body: bytes) -> Iterator[str]:
    """The locations of a database or table; other texts in its row, such as parameters, are not."""
    if kind == DATABASE:
        database = rows.read_body(Database, body)
        yield from (each for each in (database.locationUri, database.managedLocationUri) if each)
    else:
        sd = rows.read_body(Table, body).sd
        if sd is not None and sd.location:
            yield sd.location


def _is_at_or_below(inner: str, outer: str) -> bool:
    try:
        return is_under(_with_one_scheme(inner), _with_one_scheme(outer))
    except LocationError:  # An import may have stored a text that is not a location.
        return False


def _with_one_scheme(location: str) -> str:
    """Hadoop has several schemes for one S3."""
    return re.sub(f"{S3}:", "s3:", location, count=1) if re.match(f"{S3}:", location) else location
