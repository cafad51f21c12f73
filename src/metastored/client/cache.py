"""What a client remembers of a metastore: answers by their question, each with the names it is about. No I/O here.

An answer is forgotten when it is too old (TTL), unused for too long (TTI), the least used of too many, or when
something it names was changed: by this client, or by anybody, where the server's notification events say so. That
something does not exist is remembered too, for a shorter time. All threads of a client share it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from metastored.errors import ConfigError
from metastored.hive.names import CatalogNameError, decode_catalog_name, normalize
from metastored.wire.methods import Method
from metastored.wire.naming import names_in

Key = tuple[str, bytes]
"""A method and its encoded arguments."""
Tag = tuple[str, str]
"""A database and a table in it; without a table, the database itself and lists of what is in it."""

EVERYTHING: Final[Tag] = ("", "")
"""The list of databases, and whatever names none."""
ANY_TABLE: Final[Tag] = ("*", "")
"""Lists of tables in all databases."""
OBJECTS: Final = frozenset({"catalog", "database", "table", "function", "constraint"})
"""What is remembered; of partitions only single ones, since lists of them are long and change often."""


_GENERAL: Final = (EVERYTHING, ANY_TABLE)
_Name = TypeVar("_Name", Tag, str)


class CacheSettings(NamedTuple):
    """How much is remembered, and for how long."""

    enabled: bool = True
    capacity: int = 10_000
    """Answers; the least recently used makes room."""
    ttl: float = 300.0
    """Seconds after which an answer is asked for again."""
    tti: float = 180.0
    """Seconds without use after which it is forgotten."""
    negative_ttl: float = 10.0
    """Seconds for which it is remembered that something does not exist."""
    events_every: float = 1.0
    """Seconds between two looks at the server's notification events; 0 never looks."""

    def checked(self) -> CacheSettings:
        for name in ("capacity", "ttl", "tti", "negative_ttl", "events_every"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} of the cache is {getattr(self, name)}; it cannot be negative")
        return self


class CacheStats(NamedTuple):
    """A cache as it is now, and what it has done so far."""

    entries: int
    hits: int
    misses: int
    negative_hits: int
    """Of the hits, those that said that something does not exist."""
    joined: int
    """Questions that were answered by another's fetch that was under way."""
    evicted: int
    expired: int
    invalidated: int
    events: int
    """Notification events that were looked at."""


class _Entry:
    __slots__ = ("created", "limit", "tags", "used", "value")

    def __init__(self, value: Any, tags: frozenset[Tag], now: float, limit: float) -> None:
        self.value = value
        self.tags = tags
        self.created = self.used = now
        self.limit = limit


class Absent(NamedTuple):
    """A remembered error: what was asked for does not exist."""

    error: Exception


class MetadataCache:
    """The memory itself. `clock` gives seconds that only grow."""

    def __init__(self, settings: CacheSettings, clock: Callable[[], float]) -> None:
        self.settings: Final = settings.checked()
        self._clock = clock
        self._lock = Lock()
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()
        self._by_tag: dict[Tag, set[Key]] = {}
        self._by_db: dict[str, set[Key]] = {}
        self._changes = 0
        self._hits = self._misses = self._negative = self._joined = 0
        self._evicted = self._expired = self._invalidated = self._events = 0

    def get(self, key: Key) -> Any:
        """The answer, an `Absent`, or None."""
        now = self._clock()
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and (now - entry.created > entry.limit or now - entry.used > self.settings.tti):
                self._remove(key)
                self._expired += 1
                entry = None
            if entry is None:
                self._misses += 1
                return None
            entry.used = now
            self._entries.move_to_end(key)
            self._hits += 1
            self._negative += isinstance(entry.value, Absent)
            return entry.value

    def moment(self) -> int:
        """Before a fetch: what is fetched is only kept if nothing was invalidated since."""
        return self._changes

    def put(self, key: Key, value: Any, tags: frozenset[Tag], moment: int) -> None:
        """Stores an answer, unless what it is about changed since `moment`."""
        limit = self.settings.negative_ttl if isinstance(value, Absent) else self.settings.ttl
        with self._lock:
            if moment != self._changes:
                return
            self._remove(key)
            self._entries[key] = _Entry(value, tags, self._clock(), limit)
            for tag in tags:
                self._by_tag.setdefault(tag, set()).add(key)
                self._by_db.setdefault(tag[0], set()).add(key)
            while len(self._entries) > self.settings.capacity:
                self._remove(next(iter(self._entries)))
                self._evicted += 1

    def changed(self, tags: Iterable[Tag]) -> None:
        """Something of these names was changed: forgets what is known of them and the lists they are in."""
        with self._lock:
            self._changes += 1
            for db, table in tags:
                if table:
                    tagged: tuple[Tag, ...] = ((db, table), (db, ""), ANY_TABLE)
                    gone = set().union(*(self._by_tag.get(tag, ()) for tag in tagged))
                elif db:
                    gone = set().union(self._by_db.get(db, ()), *(self._by_tag.get(tag, ()) for tag in _GENERAL))
                else:
                    gone = set(self._entries)
                for key in gone:
                    self._remove(key)
                    self._invalidated += 1

    def clear(self) -> None:
        """Removes all entries."""
        self.changed((EVERYTHING,))

    def joined(self) -> None:
        """Counts a call that waited for another one of the same."""
        with self._lock:
            self._joined += 1

    def saw_events(self, count: int) -> None:
        """Counts notification events that were read."""
        with self._lock:
            self._events += count

    def stats(self) -> CacheStats:
        """The counts since the client was made, and the number of entries."""
        with self._lock:
            return CacheStats(
                len(self._entries), self._hits, self._misses, self._negative, self._joined, self._evicted,
                self._expired, self._invalidated, self._events,
            )  # fmt: skip

    def _remove(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return
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
    """Whether answers of this method are remembered."""
    if method.verb != "read" or method.oneway:
        return False
    return method.object in OBJECTS or (method.object == "partition" and method.cost == "point")


def changes(method: Method) -> bool:
    """Whether a call of this method may make remembered answers wrong."""
    return method.verb in ("write", "ddl", "grant")


def tags_of(method: Method, args: tuple[Any, ...]) -> frozenset[Tag]:
    """What a call is about. Databases of different catalogs share a tag: forgetting too much does no harm."""
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
                return frozenset({EVERYTHING})  # The server will say what is wrong with it.
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
    """What a notification event says was changed."""
    if not db:
        return frozenset({EVERYTHING})
    db, table = normalize(db), normalize(table or "")
    if kind != "ALTER_TABLE":
        return frozenset({(db, table)})
    # The event carries the table's new name; its old one is only in the message, which not every format shows.
    before = _BEFORE.search(message or "")
    return frozenset({(db, table), (db, normalize(before[1]) if before else "")})


_BEFORE: Final = re.compile(r'tableObjBeforeJson[\\":{ ]+1[\\":{ ]+str[\\": ]+([^"\\]+)')
