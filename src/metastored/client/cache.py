"""The metadata cache of a client: replies by method and arguments, each tagged with the names it depends on. No I/O.

An entry is removed when it is too old (TTL), was not used for too long (TTI), is the least recently used above the
capacity, or when an object that it depends on was changed: by this client, or by anybody, if the server has
notification events (`_async/events.py`). That an object does not exist is cached too, for a shorter time. All threads
of a client share the cache.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from metastored.errors import ConfigError
from metastored.hive.names import CatalogNameError, decode_catalog_name, normalize
from metastored.wire.methods import METHODS, Method
from metastored.wire.methods.naming import names_in

Key = tuple[str, bytes]
"""A method and its encoded arguments."""
Tag = tuple[str, str]
"""A database and a table in it; without a table: the database itself and lists of its tables."""

EVERYTHING: Final[Tag] = ("", "")
"""The list of databases, and replies that depend on no particular database."""
ANY_TABLE: Final[Tag] = ("*", "")
"""Lists of tables in all databases."""
OBJECTS: Final = frozenset({"catalog", "database", "table", "function", "constraint"})
"""The objects that are cached. Of partitions only single ones: lists of partitions are long and change often."""
TABLES_PER_DATABASE: Final = 10
"""The capacity for tables is this many times the capacity for databases."""

_GENERAL: Final = (EVERYTHING, ANY_TABLE)
_Name = TypeVar("_Name", Tag, str)


class CacheSettings(NamedTuple):
    """The size of the cache, and how long an entry is valid."""

    enabled: bool = True
    capacity: int = 10_000
    """Entries for databases and catalogs; the least recently used is evicted first."""
    ttl: float = 300.0
    """Seconds after which an entry expires."""
    tti: float = 180.0
    """Seconds without use after which an entry expires."""
    negative_ttl: float = 10.0
    """Seconds for which it is cached that an object does not exist."""
    events_every: float = 30.0
    """Seconds between two polls of the server's notification events, which invalidate what other clients have changed.
    One poll serves all entries and runs beside the calls; while the cache is empty there is none. 0 turns it off."""
    table_capacity: int | None = None
    """Tables, partitions, functions and constraints, each of them counted; None is ten times `capacity`."""

    def checked(self) -> CacheSettings:
        """Returns the settings; raises ConfigError if a value is not possible."""
        for name in ("capacity", "ttl", "tti", "negative_ttl", "events_every", "table_capacity"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ConfigError(f"{name} of the cache is {value}; it cannot be negative")
        return self

    @property
    def tables(self) -> int:
        """The capacity for tables and other objects in databases."""
        return self.capacity * TABLES_PER_DATABASE if self.table_capacity is None else self.table_capacity


class CacheStats(NamedTuple):
    """The current state of a cache, and counts since it was created."""

    entries: int
    hits: int
    misses: int
    negative_hits: int
    """The hits that said that an object does not exist."""
    joined: int
    """Calls that waited for another call with the same arguments."""
    evicted: int
    expired: int
    invalidated: int
    events: int
    """Notification events that were read."""
    databases: int = 0
    """Objects that count towards `capacity`."""
    tables: int = 0
    """Objects that count towards `table_capacity`."""


class Absent(NamedTuple):
    """A cached error: the object does not exist."""

    error: Exception


class _Entry:
    __slots__ = ("created", "limit", "tags", "used", "value")

    def __init__(self, value: Any, tags: frozenset[Tag], now: float, limit: float) -> None:
        self.value = value
        self.tags = tags
        self.created = self.used = now
        self.limit = limit


class _Section:
    """The entries of one kind of object, in the order of their last use."""

    __slots__ = ("capacity", "entries", "size")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.entries: OrderedDict[Key, _Entry] = OrderedDict()
        self.size = 0
        """Objects: an entry with the reply for a thousand tables counts as a thousand."""


class MetadataCache:
    """The cache. `clock` returns seconds and never goes back."""

    def __init__(self, settings: CacheSettings, clock: Callable[[], float]) -> None:
        self.settings: Final = settings.checked()
        self._clock = clock
        self._lock = Lock()
        self._databases, self._tables = _Section(settings.capacity), _Section(settings.tables)
        self._by_tag: dict[Tag, set[Key]] = {}
        self._by_db: dict[str, set[Key]] = {}
        self._changes = 0
        self._hits = self._misses = self._negative = self._joined = 0
        self._evicted = self._expired = self._invalidated = self._events = 0

    def get(self, key: Key) -> Any:
        """The cached reply, an `Absent`, or None."""
        now, entries = self._clock(), self._section(key).entries
        with self._lock:
            entry = entries.get(key)
            if entry is not None and (now - entry.created > entry.limit or now - entry.used > self.settings.tti):
                self._remove(key)
                self._expired += 1
                entry = None
            if entry is None:
                self._misses += 1
                return None
            entry.used = now
            entries.move_to_end(key)
            self._hits += 1
            self._negative += isinstance(entry.value, Absent)
            return entry.value

    def moment(self) -> int:
        """To be read before a reply is fetched: `put` stores the reply only if nothing was invalidated since."""
        return self._changes

    def put(self, key: Key, value: Any, tags: frozenset[Tag], moment: int) -> None:
        """Stores a reply, unless something was invalidated since `moment`."""
        limit = self.settings.negative_ttl if isinstance(value, Absent) else self.settings.ttl
        section = self._section(key)
        with self._lock:
            if moment != self._changes or len(tags) > section.capacity:
                return
            self._remove(key)
            section.entries[key] = _Entry(value, tags, self._clock(), limit)
            section.size += len(tags)
            for tag in tags:
                self._by_tag.setdefault(tag, set()).add(key)
                self._by_db.setdefault(tag[0], set()).add(key)
            while section.size > section.capacity:
                self._remove(next(iter(section.entries)))
                self._evicted += 1

    def changed(self, tags: Iterable[Tag]) -> None:
        """Objects with these names were changed: invalidates entries about them and the lists that contain them."""
        with self._lock:
            self._changes += 1
            for db, table in tags:
                if table:
                    tagged: tuple[Tag, ...] = ((db, table), (db, ""), ANY_TABLE)
                    stale = set().union(*(self._by_tag.get(tag, ()) for tag in tagged))
                elif db:
                    stale = set().union(self._by_db.get(db, ()), *(self._by_tag.get(tag, ()) for tag in _GENERAL))
                else:
                    stale = {*self._databases.entries, *self._tables.entries}
                for key in stale:
                    self._remove(key)
                    self._invalidated += 1

    def clear(self) -> None:
        """Removes all entries."""
        self.changed((EVERYTHING,))

    def in_use(self) -> bool:
        """Whether an entry was used within the last `tti` seconds. Removes the entries that were not."""
        oldest = self._clock() - self.settings.tti
        with self._lock:
            for section in (self._databases, self._tables):
                while section.entries and (key := next(iter(section.entries))) and section.entries[key].used < oldest:
                    self._remove(key)
                    self._expired += 1
            return bool(self._databases.entries or self._tables.entries)

    def joined(self) -> None:
        """Counts a call that waited for another one of the same."""
        with self._lock:
            self._joined += 1

    def saw_events(self, count: int) -> None:
        """Counts notification events that were read."""
        with self._lock:
            self._events += count

    def stats(self) -> CacheStats:
        """The counts since the client was created, and the number of entries."""
        databases, tables = self._databases, self._tables
        with self._lock:
            return CacheStats(
                len(databases.entries) + len(tables.entries), self._hits, self._misses, self._negative, self._joined,
                self._evicted, self._expired, self._invalidated, self._events, databases.size, tables.size,
            )  # fmt: skip

    def _section(self, key: Key) -> _Section:
        return self._databases if METHODS[key[0]].object in ("catalog", "database") else self._tables

    def _remove(self, key: Key) -> None:
        section = self._section(key)
        entry = section.entries.pop(key, None)
        if entry is None:
            return
        section.size -= len(entry.tags)
        for tag in entry.tags:
            _discard(self._by_tag, tag, key)
            _discard(self._by_db, tag[0], key)


def _discard(index: dict[_Name, set[Key]], name: _Name, key: Key) -> None:
    keys = index.get(name)
    if keys is not None:
        keys.discard(key)
        if not keys:
            del index[name]


def is_cacheable(method: Method) -> bool:
    """Whether replies of this method are cached."""
    if method.verb != "read" or method.oneway:
        return False
    return method.object in OBJECTS or (method.object == "partition" and method.cost == "point")


def changes(method: Method) -> bool:
    """Whether a call of this method can make cached replies stale."""
    return method.verb in ("write", "ddl", "grant")


def tags_of(method: Method, args: tuple[Any, ...]) -> frozenset[Tag]:
    """The objects that a call is about. Databases of different catalogs share a tag: this only invalidates too much."""
    dbs: set[str] = set()
    tables: set[str] = set()
    general = EVERYTHING if method.object in ("database", "catalog") else ANY_TABLE
    for role, name in names_in(method, args):
        if not isinstance(name, str):
            continue
        if role == "db":
            try:
                dbs.add(normalize(decode_catalog_name(name).database or ""))
            except CatalogNameError:
                return frozenset({EVERYTHING})  # The server will report what is wrong with the name.
        elif role == "table":
            tables.add(normalize(name))
        elif role == "full_name":
            db, _, table = normalize(name).rpartition(".")
            dbs.add(db.rpartition(".")[2])
            tables.add(table)
        elif role == "pattern" and not dbs:
            return frozenset({general})
    if not dbs:
        return frozenset({EVERYTHING if method.verb != "read" else general})
    if not tables:
        return frozenset((db, "") for db in dbs)
    return frozenset((db, table) for db in dbs for table in tables)


def tags_of_event(kind: str | None, db: str | None, table: str | None, message: str | None) -> frozenset[Tag]:
    """The objects that a notification event says were changed."""
    if not db:
        return frozenset({EVERYTHING})
    db, table = normalize(db), normalize(table or "")
    if kind != "ALTER_TABLE":
        return frozenset({(db, table)})
    # The event has the new name of the table. The old name is only in the message, and not every format shows it.
    before = _BEFORE.search(message or "")
    return frozenset({(db, table), (db, normalize(before[1]) if before else "")})


_BEFORE: Final = re.compile(r'tableObjBeforeJson[\\":{ ]+1[\\":{ ]+str[\\": ]+([^"\\]+)')
