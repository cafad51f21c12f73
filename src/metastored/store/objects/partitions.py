"""The rows of partitions, and the shapes and bases that many of them share.

A shape is a storage descriptor without its location, a base the beginning of locations. A partition's location is its
base followed by its suffix or, without a suffix, by its name; without a base the suffix is the complete location, and
without either it has none. Moving a table or changing its columns therefore updates a few shapes and bases, whatever
the number of partitions. Shapes and bases belong to one table.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, cast

from metastored.hive.locations import LOCAL_SCHEME, Location, is_local, is_under, parse_location
from metastored.store.engine.statements import SQLITE, Statement, assigned, column_list, insert_into, limit_of
from metastored.store.engine.stored import BODY_FORMAT, VALUE_COLUMNS
from metastored.store.engine.transaction import Row, Transaction
from metastored.store.objects import tables


class PartitionRow(NamedTuple):
    id: int
    name: str
    shape: int | None
    base: int | None
    suffix: str | None
    write_id: int
    fmt: int
    body: bytes


CompactRow = tuple[int | None, bytes, bytes]
"""A partition for a long list: place (shape * BASES + base), location behind the base, body.

The place is None for a partition that has to be read as a `PartitionRow`: one with a write id, of another format, or
without a shape or a base.
"""


class NewPartition(NamedTuple):
    """A partition to be inserted. `values` are the values of all keys, in the table's order."""

    name: str
    values: Sequence[str]
    shape: int | None
    base: int | None
    suffix: str | None
    write_id: int
    body: bytes


class Where(NamedTuple):
    """A condition on v1 … v8 in the SQL of one database and the notation of statements, and its parameters."""

    sql: str
    params: Mapping[str, Any]


class Sizes(NamedTuple):
    """How many partitions share a shape and a base, and the sizes of their own parts in bytes."""

    shape: int | None
    base: int | None
    number: int
    body: int
    """Bytes of all bodies."""
    location: int
    """Bytes of all locations without their bases."""
    located: bool
    """Whether these partitions have a location."""
    written: int
    """How many have a write id above zero."""


_COLUMNS = column_list(*PartitionRow._fields)

_FIND = Statement(f"SELECT {_COLUMNS} FROM partitions WHERE table_id = :table_id AND name = :name")
_FIND_MANY = Statement(f"SELECT {_COLUMNS} FROM partitions WHERE table_id = :table_id AND name IN :names ORDER BY name")
_EACH = Statement(f"SELECT {_COLUMNS} FROM partitions WHERE table_id = :table_id ORDER BY name LIMIT :limit")
_NO_WRITE_ID = -1
BASES: Final = 2**32
"""More than the number of any base: the place of a `CompactRow` is shape * BASES + base."""


def _octets(dialect: str, text: str) -> str:
    """A text as its bytes."""
    return f"CAST({text} AS BLOB)" if dialect == SQLITE else f"convert_to({text}, 'UTF8')"


# SQLite takes a lock for each value that is read from a row: three columns take half the time of eight.
_COMPACT = Statement(
    lambda dialect: (
        f"""
        SELECT
            CASE WHEN write_id = {_NO_WRITE_ID} AND fmt = {BODY_FORMAT} THEN shape * {BASES} + base END,
            {_octets(dialect, "coalesce(suffix, name)")}, body
        FROM partitions WHERE table_id = :table_id ORDER BY name LIMIT :limit
    """
    )
)
_NOT_COMPACT = Statement(
    f"""
    SELECT {_COLUMNS} FROM partitions
    WHERE table_id = :table_id AND (write_id <> {_NO_WRITE_ID} OR fmt <> {BODY_FORMAT} OR shape IS NULL OR base IS NULL)
    ORDER BY name
    """
)
_NAMES = Statement("SELECT name FROM partitions WHERE table_id = :table_id ORDER BY name LIMIT :limit")
_NAMES_VERSION = Statement(
    """
    SELECT statistics_stamp, (SELECT max(id) FROM partitions WHERE table_id = :table_id)
    FROM tables WHERE id = :table_id
    """
)
_EXISTING = Statement("SELECT name FROM partitions WHERE table_id = :table_id AND name IN :names ORDER BY name")
_COUNT = Statement("SELECT count(*) FROM partitions WHERE table_id = :table_id")
_LOCATIONS = Statement(
    """
    SELECT base, coalesce(suffix, name) FROM partitions
    WHERE table_id = :table_id AND (base IN :bases OR base IS NULL AND suffix IS NOT NULL)
    ORDER BY name
    """
)
_NEW = ("table_id", "name", *VALUE_COLUMNS, "shape", "base", "suffix", "write_id", "fmt", "body")
_INSERT = Statement(insert_into("partitions", *_NEW), positions=_NEW)
_CHANGED = ("shape", "base", "suffix", "write_id", "fmt", "body")
_UPDATE = Statement(f"UPDATE partitions SET {assigned(*_CHANGED)} WHERE id = :id", positions=(*_CHANGED, "id"))
_SET_BODY = Statement("UPDATE partitions SET fmt = :fmt, body = :body WHERE id = :id")
_SET_WRITTEN = Statement(
    "UPDATE partitions SET write_id = :write_id, body = :body WHERE id = :id", positions=("write_id", "body", "id")
)
_RENAME = Statement(f"UPDATE partitions SET {assigned('name', *VALUE_COLUMNS, 'suffix')} WHERE id = :id")
_RELOCATE = Statement(
    """
    UPDATE partitions SET suffix = :new || substr(suffix, :size + 1)
    WHERE table_id = :table_id AND base IS NULL
        AND (suffix = :old OR substr(suffix, 1, :size + 1) = :below)
    """
)
_DELETE_MANY = Statement("DELETE FROM partitions WHERE table_id = :table_id AND name IN :names")
_PIN = "UPDATE partitions SET suffix = name WHERE table_id = :table_id AND base IS NOT NULL AND suffix IS NULL"
_PIN_ALL = Statement(_PIN)
_PIN_NAMED = Statement(f"{_PIN} AND name IN :names")


def find(tx: Transaction, table_id: int, name: str) -> PartitionRow | None:
    row = tx.one(_FIND, table_id=table_id, name=name)
    return None if row is None else PartitionRow._make(row)


def find_many(tx: Transaction, table_id: int, names: Sequence[str]) -> list[PartitionRow]:
    """The named partitions that exist, sorted by name."""
    return list(map(PartitionRow._make, tx.all(_FIND_MANY, table_id=table_id, names=tx.list(names))))


def existing(tx: Transaction, table_id: int, names: Sequence[str]) -> list[str]:
    """The names among these that partitions have, sorted."""
    return [name for (name,) in tx.all(_EXISTING, table_id=table_id, names=tx.list(names))]


def names(tx: Transaction, table_id: int, limit: int = -1) -> list[str]:
    """The names of a table's partitions, sorted."""
    return [name for (name,) in tx.each(_NAMES, table_id=table_id, limit=limit_of(limit))]


def names_version(tx: Transaction, table_id: int) -> tuple[int, int | None] | None:
    """A version of the names of a table's partitions: equal ones mean equal names. None if the table does not exist.

    Partitions are added under the table's lock, each with a higher id than those that are there: the newest id differs.
    An id may be used again after a drop, but each drop and each rename writes a new statistics stamp.
    """
    row = tx.one(_NAMES_VERSION, table_id=table_id)
    return None if row is None else (row[0], row[1])


def each_name(tx: Transaction, table_id: int, limit: int = -1) -> Iterator[str]:
    """The names of a table's partitions, sorted, one by one."""
    for (name,) in tx.each(_NAMES, table_id=table_id, limit=limit_of(limit)):
        yield name


def each(tx: Transaction, table_id: int, limit: int = -1) -> Iterator[PartitionRow]:
    """A table's partitions, sorted by name, one by one."""
    return _rows(tx.each(_EACH, table_id=table_id, limit=limit_of(limit)))


def is_compact(row: PartitionRow) -> bool:
    """Whether a `CompactRow` is enough for this partition."""
    return row.write_id == _NO_WRITE_ID and row.fmt == BODY_FORMAT and row.shape is not None and row.base is not None


def each_compact(tx: Transaction, table_id: int, limit: int = -1) -> Iterator[CompactRow]:
    """As `each`."""
    return cast("Iterator[CompactRow]", tx.each(_COMPACT, table_id=table_id, limit=limit_of(limit)))


def each_not_compact(tx: Transaction, table_id: int) -> Iterator[PartitionRow]:
    """The partitions whose `CompactRow` has no place, sorted by name, one by one."""
    return _rows(tx.each(_NOT_COMPACT, table_id=table_id))


# The constructor of a million rows; `_make` would add a call in Python for each.
_new_row: Callable[[Row], PartitionRow] = partial(tuple.__new__, PartitionRow)


def _rows(result: Iterator[Row]) -> Iterator[PartitionRow]:
    yield from map(_new_row, result)


def own_locations(tx: Transaction, table_id: int, root: str | None = None) -> list[str]:
    """The locations of partitions. With the table's root, without those on bases below it."""
    known = bases(tx, table_id)
    below = None if root is None else root.rstrip("/") + "/"
    elsewhere = [number for number, uri in known.items() if below is None or not uri.startswith(below)]
    result = tx.all(_LOCATIONS, table_id=table_id, bases=tx.list(elsewhere))
    return [tail if base is None else known[base] + tail for base, tail in result]


def count(tx: Transaction, table_id: int) -> int:
    return _number(tx.one(_COUNT, table_id=table_id))


# --- partitions that satisfy a condition -------------------------------------------------------------------


def _by_values(dialect: str) -> tuple[str, str]:
    """The table for a condition on the values, and the order by name.

    SQLite would use the index of names and read every row, since it takes each condition to hold for most rows. The
    index of values has the first two: rows that do not match are not read. They are sorted apart from the index of
    names: otherwise SQLite scans all names to find a few rows in their order.
    """
    return ("partitions INDEXED BY partitions_values", "+name") if dialect == SQLITE else ("partitions", "name")


@lru_cache(maxsize=1024)
def _matching(columns: str, sql: str, ordered: bool = True) -> Statement:
    def text(dialect: str) -> str:
        source, name = _by_values(dialect)
        order = f"ORDER BY {name}" if ordered else ""
        return f"SELECT {columns} FROM {source} WHERE table_id = :table_id AND ({sql}) {order} LIMIT :limit"

    return Statement(text)


@lru_cache(maxsize=1024)
def _count_matching(sql: str) -> Statement:
    return Statement(f"SELECT count(*) FROM partitions WHERE table_id = :table_id AND ({sql})")


def each_matching(
    tx: Transaction, table_id: int, where: Where, limit: int = -1, *, ordered: bool = True
) -> Iterator[PartitionRow]:
    """The partitions that satisfy a condition, sorted by name, one by one. All of them may also be read unsorted."""
    statement = _matching(_COLUMNS, where.sql, ordered or limit >= 0)
    return _rows(tx.each(statement, table_id=table_id, limit=limit_of(limit), **where.params))


def names_matching(tx: Transaction, table_id: int, where: Where, limit: int = -1) -> list[str]:
    """The names of the partitions that satisfy a condition, sorted."""
    result = tx.all(_matching("name", where.sql), table_id=table_id, limit=limit_of(limit), **where.params)
    return [name for (name,) in result]


def count_matching(tx: Transaction, table_id: int, where: Where) -> int:
    return _number(tx.one(_count_matching(where.sql), table_id=table_id, **where.params))


# --- the length of a reply before it is made ---------------------------------------------------------------


@lru_cache(maxsize=1024)
def _sizes(sql: str | None, by_name: bool) -> Statement:
    def text(dialect: str) -> str:
        # SQLite counts the characters of a text, PostgreSQL's octet_length the bytes of anything.
        octets = "length(CAST({} AS BLOB))" if dialect == SQLITE else "octet_length({})"
        table, order = ("partitions", "name") if sql is None else _by_values(dialect)
        source = f"{table} WHERE table_id = :table_id" + (f" AND ({sql})" if sql is not None else "")
        if by_name:
            source = f"(SELECT * FROM {source} ORDER BY {order} LIMIT :limit) AS chosen"
        return f"""
            SELECT shape, base, count(*),
                CAST(sum({octets.format("body")}) AS BIGINT),
                CAST(sum({octets.format("coalesce(suffix, name)")}) AS BIGINT),
                base IS NOT NULL OR suffix IS NOT NULL AS located,
                CAST(sum(CASE WHEN write_id > 0 THEN 1 ELSE 0 END) AS BIGINT)
            FROM {source}
            GROUP BY shape, base, base IS NOT NULL OR suffix IS NOT NULL
        """

    return Statement(text)


def sizes(tx: Transaction, table_id: int, where: Where | None = None, limit: int = -1) -> list[Sizes]:
    """The size of a reply that lists these partitions. Call it in the same snapshot."""
    params: dict[str, Any] = {"table_id": table_id}
    if where is not None:
        params |= where.params
    if limit >= 0:
        params["limit"] = limit
    result = tx.all(_sizes(None if where is None else where.sql, limit >= 0), **params)
    return [
        Sizes(shape, base, count, body, location if located else 0, bool(located), written)
        for shape, base, count, body, location, located, written in result
    ]


def _name_size(dialect: str) -> str:
    octets = "length(CAST(name AS BLOB))" if dialect == SQLITE else "octet_length(name)"
    return f"""
        SELECT count(*), CAST(coalesce(sum({octets}), 0) AS BIGINT)
        FROM (SELECT name FROM partitions WHERE table_id = :table_id ORDER BY name LIMIT :limit) AS chosen
    """


_NAME_SIZE = Statement(_name_size)


def name_size(tx: Transaction, table_id: int, limit: int = -1) -> tuple[int, int]:
    """How many names a listing has, and their bytes."""
    row = tx.one(_NAME_SIZE, table_id=table_id, limit=limit_of(limit))
    assert row is not None
    return row[0], row[1]


# --- changes -----------------------------------------------------------------------------------------------


def insert_many(tx: Transaction, table_id: int, rows: Sequence[NewPartition], *, fmt: int = BODY_FORMAT) -> None:
    """Adds partitions. Raises ConstraintViolated if one of the names is taken: then none was added."""
    tx.many(
        _INSERT,
        [
            (table_id, name, *_eight(values), shape, base, suffix, write_id, fmt, body)
            for name, values, shape, base, suffix, write_id, body in rows
        ],
    )


def update(
    tx: Transaction,
    id: int,
    *,
    shape: int | None,
    base: int | None,
    suffix: str | None,
    write_id: int,
    body: bytes,
    fmt: int = BODY_FORMAT,
) -> None:
    """Replaces a partition except for its name and values."""
    tx.many(_UPDATE, [(shape, base, suffix, write_id, fmt, body, id)])


def update_many(tx: Transaction, rows: Sequence[PartitionRow]) -> None:
    """Replaces these partitions except for their names and values, in one statement."""
    tx.many(_UPDATE, [(row.shape, row.base, row.suffix, row.write_id, row.fmt, row.body, row.id) for row in rows])


def set_body(tx: Transaction, id: int, body: bytes, *, fmt: int = BODY_FORMAT) -> None:
    """Replaces the columns of a partition that are not shared."""
    tx.run(_SET_BODY, id=id, fmt=fmt, body=body)


def set_written(tx: Transaction, rows: Sequence[tuple[int, bytes, int]]) -> None:
    """Replace the write ids and bodies of partitions; each row is (write id, body, the partition's id)."""
    tx.many(_SET_WRITTEN, rows)


def rename(tx: Transaction, table_id: int, id: int, name: str, values: Sequence[str], suffix: str | None) -> None:
    """Changes the values of a partition. The old name as suffix keeps its location; with None it follows the name."""
    tx.run(_RENAME, id=id, name=name, suffix=suffix, **dict(zip(VALUE_COLUMNS, _eight(values), strict=True)))
    tables.set_statistics_stamp(tx, table_id)


def pin_suffixes(tx: Transaction, table_id: int, names: Sequence[str] | None = None) -> int:
    """Makes locations independent of names, for some partitions or for all: stores the present ones as suffixes."""
    if names is None:
        return tx.run(_PIN_ALL, table_id=table_id)
    return tx.run(_PIN_NAMED, table_id=table_id, names=tx.list(names))


def delete_many(tx: Transaction, table_id: int, names: Sequence[str]) -> int:
    """Deletes partitions with their statistics; returns how many there were. Their shapes and bases stay."""
    deleted = tx.run(_DELETE_MANY, table_id=table_id, names=tx.list(names))
    if deleted:
        tables.set_statistics_stamp(tx, table_id)
    return deleted


_NO_VALUES = (None,) * len(VALUE_COLUMNS)


def _eight(values: Sequence[str]) -> Sequence[str | None]:
    """The values of v1 … v8."""
    return (*values, *_NO_VALUES)[: len(VALUE_COLUMNS)]


# --- shapes and bases --------------------------------------------------------------------------------------


class _Shared:
    """Numbered values of a table, all in one column: shapes or bases. The table must be locked to add one."""

    def __init__(self, table: str, column: str) -> None:
        self.all = Statement(f"SELECT no, {column} FROM {table} WHERE table_id = :table_id ORDER BY no")
        self._find = Statement(f"SELECT min(no) FROM {table} WHERE table_id = :table_id AND {column} = :value")
        self._next = Statement(f"SELECT coalesce(max(no), 0) + 1 FROM {table} WHERE table_id = :table_id")
        self._insert = Statement(f"INSERT INTO {table} (table_id, no, {column}) VALUES (:table_id, :no, :value)")
        self._set = Statement(f"UPDATE {table} SET {column} = :value WHERE table_id = :table_id AND no = :no")

    def add(self, tx: Transaction, table_id: int, value: bytes | str) -> int:
        row = tx.one(self._find, table_id=table_id, value=value)
        if row is not None and row[0] is not None:
            return _number(row)
        number = _number(tx.one(self._next, table_id=table_id))
        tx.run(self._insert, table_id=table_id, no=number, value=value)
        return number

    def set(self, tx: Transaction, table_id: int, number: int, value: bytes | str) -> None:
        tx.run(self._set, table_id=table_id, no=number, value=value)


_SHAPES = _Shared("shapes", "sd")
_BASES = _Shared("bases", "uri")


def shapes(tx: Transaction, table_id: int) -> dict[int, bytes]:
    """A table's shapes by their numbers."""
    return dict(tx.all(_SHAPES.all, table_id=table_id))


def bases(tx: Transaction, table_id: int) -> dict[int, str]:
    """A table's bases by their numbers."""
    return dict(tx.all(_BASES.all, table_id=table_id))


def add_shape(tx: Transaction, table_id: int, sd: bytes) -> int:
    """The number of a shape of the table with these bytes; a new one if there is none."""
    return _SHAPES.add(tx, table_id, sd)


def set_shape(tx: Transaction, table_id: int, no: int, sd: bytes) -> None:
    """Changes a shape, and with it every partition that uses it."""
    _SHAPES.set(tx, table_id, no, sd)


def add_base(tx: Transaction, table_id: int, uri: str) -> int:
    """The number of a base of the table with this URI, a new one if there is none."""
    return _BASES.add(tx, table_id, uri)


def set_base(tx: Transaction, table_id: int, no: int, uri: str) -> None:
    """Changes a base, and with it the locations of every partition that uses it."""
    _BASES.set(tx, table_id, no, uri)


def relocate(tx: Transaction, table_id: int, old: str, new: str) -> None:
    """Updates the locations of partitions at or below a directory that moved."""
    for number, uri in bases(tx, table_id).items():
        if is_under(uri, old):
            below = parse_location(uri).path[len(parse_location(old).path.rstrip("/")) :]
            set_base(tx, table_id, number, f"{new.rstrip('/')}{below}/")
    spellings = [
        {"table_id": table_id, "old": start, "below": f"{start}/", "size": len(start), "new": target}
        for start, target in _spellings(old, new)
    ]
    tx.many(_RELOCATE, spellings)


def _spellings(old: str, new: str) -> Iterator[tuple[str, str]]:
    """The prefixes of locations at or below a directory, and their replacements when it moves.

    An archived partition is in a file below its table's directory: `har://file-localhost/w/t/ds=1/data.har`.
    """
    source, target = parse_location(old), parse_location(new)
    path = source.path.rstrip("/")
    yield str(source._replace(path=path)), str(target)
    if is_local(old):
        yield f"{LOCAL_SCHEME}://{path}", str(target)
    inner = f"{source.scheme or LOCAL_SCHEME}-{source.authority or 'localhost'}"
    for authority in (inner, ""):
        yield str(Location("har", authority, path)), str(Location("har", authority, target.path))


def _number(row: tuple[Any, ...] | None) -> int:
    assert row is not None  # an aggregate always has a row
    number: int = row[0]
    return number
