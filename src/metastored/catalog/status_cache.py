"""A cache of table statuses: to convert many tables takes longer than to read them from the cache of the client.

An entry belongs to one object in the cache of the client and is used only for this object. When the client drops the
object and reads the table again, it returns another object, and the entry is replaced.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from threading import Lock

from metastored.catalog.status import TableStatus
from metastored.wire.generated.common import Table


class StatusCache:
    """Statuses by the name of their table. All threads of a catalog share it."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._entries: OrderedDict[tuple[str | None, str | None], tuple[Table, TableStatus]] = OrderedDict()

    def status(self, table: Table, convert: Callable[[Table], TableStatus]) -> TableStatus:
        """`convert(table)`, from the cache if this same object was converted before. Each caller gets its own maps."""
        key = (table.dbName, table.tableName)
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is None or entry[0] is not table:
            entry = (table, convert(table))
            with self._lock:
                self._entries[key] = entry
                while len(self._entries) > self._capacity:
                    self._entries.popitem(last=False)
        status = entry[1]
        return replace(status, options=dict(status.options), properties=dict(status.properties))
