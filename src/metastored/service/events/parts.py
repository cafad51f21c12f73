"""Event rows, decoded: their named objects, as structs or as TJSON. Pure; independent of the type of event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from typing import Any, Generic, NamedTuple, TypeVar

import orjson

from metastored.hive.generation import Generation
from metastored.service.core.changes import OF_TABLE, unpack_event
from metastored.service.core.rows import completed
from metastored.store.objects.events import EventRow
from metastored.wire.codec import binary, tjson
from metastored.wire.generated.common import StorageDescriptor, Table
from metastored.wire.generated.partitions import Partition
from metastored.wire.structs import replace

T = TypeVar("T")

_MEMO_BYTES = 64 * 1024


class Parts:
    """An event's row with its decoded body. Damaged bytes raise various errors, which `messages.rendered` explains."""

    __slots__ = ("_first", "_named", "event", "fields", "generation")

    def __init__(self, event: EventRow, generation: Generation) -> None:
        self._named = unpack_event(event.fmt, event.body)
        self.event = event
        self.generation = generation
        self._first = dict(reversed(self._named))
        encoded = self._first.get("fields")
        self.fields: dict[str, Any] = orjson.loads(encoded) if encoded is not None else {}
        if not isinstance(self.fields, dict):
            raise ValueError("its fields are not an object of JSON")

    def one(self, name: str) -> bytes | None:
        return self._first.get(name)

    def all(self, name: str) -> list[bytes]:
        return [value for key, value in self._named if key == name]

    def named(self, name: str) -> str:
        """The value of a part as text."""
        return self.bytes(name).decode()

    def number(self, name: str) -> int:
        return int(self.bytes(name))

    def objects(self) -> list[bytes]:
        """The event's `fields`: all values that are not names."""
        return [value for key, value in self._named if key not in ("user", "fields")]

    def bytes(self, name: str) -> bytes:
        value = self._first.get(name)
        if value is None:
            raise ValueError(f"it keeps no {name}")
        return value

    def text(self, name: str, cls: type) -> Quoted:
        """An object as TJSON, inside a text of JSON's."""
        return text_and_value(cls, self.bytes(name))[0]

    def table(self) -> Table:
        return decoded_table(self.bytes("table"))

    def state(self, name: str, table: Table) -> Partition:
        """A partition before or after a change, with its storage descriptor."""
        part = binary.decode(Partition, self.bytes(name))
        for apart in (f"{name} sd", "sd"):
            if (data := self._first.get(apart)) is not None:
                storage = _storage(data)
                return completed(part, storage, storage.cols)
            if (data := self._first.get(f"{apart}{OF_TABLE}")) is not None:
                return completed(part, _storage(data), table.sd.cols if table.sd is not None else None)
        return part

    def partitions(self, table: Table) -> Iterator[tuple[tuple[str, ...], Quoted]]:
        """The values of an event's partitions, and the complete partitions as TJSON."""
        names = {"dbName": table.dbName, "tableName": table.tableName, "catName": table.catName}
        shape: _Shape | None = None
        for name, value in self._named:
            if name == "sd":
                shape = _shape(value)
            elif name == "partition":
                part = binary.decode(Partition, value)
                yield part.values or (), text_of(part)
            elif name == "partitions":
                at, read = 0, binary.struct_codec(Partition)[0]
                while at < len(value):
                    part, at = read(value, at)
                    if shape is None:
                        yield part.values or (), text_of(replace(part, **names))
                    else:
                        yield part.values or (), _in_shape(replace(part, sd=None, **names), shape, part.sd)


class Quoted(bytes):
    """A JSON string with its quotation marks."""

    __slots__ = ()


def text_of(value: tuple[Any, ...]) -> Quoted:
    """An object as TJSON, as a JSON string for a message."""
    return Quoted(b'"%b"' % tjson.quoted(tjson.text(value)))


class Latest(Generic[T]):
    """A cache of decoded bytes: consecutive events are often of one table. Any thread may use it."""

    def __init__(self, make: Callable[[bytes], T]) -> None:
        self._make = make
        self._some = lru_cache(128)(make)
        self._latest: tuple[bytes, T] | None = None

    def __call__(self, data: bytes) -> T:
        latest = self._latest
        if latest is not None and latest[0] == data:  # Comparing long bytes is faster than hashing them.
            return latest[1]
        if len(data) > _MEMO_BYTES:
            return self._make(data)
        made = self._some(data)
        self._latest = (data, made)
        return made


def _text_and_value(cls: type, data: bytes) -> tuple[Quoted, Any]:
    value: Any = binary.decode(cls, data)
    return text_of(value), value


@cache
def _latest(cls: type) -> Latest[tuple[Quoted, Any]]:
    return Latest(partial(_text_and_value, cls))


def text_and_value(cls: type, data: bytes) -> tuple[Quoted, Any]:
    """An object as TJSON, ready to be put into a message, and decoded."""
    return _latest(cls)(data)


def decoded_table(data: bytes) -> Table:
    table: Table = text_and_value(Table, data)[1]
    return table


_storage = Latest(partial(binary.decode, StorageDescriptor))


class _Shape(NamedTuple):
    """The beginning of a partition's text, up to its storage descriptor, which has no location yet."""

    opened: bytes
    """The location is appended later."""
    complete: bytes


def _begun(data: bytes) -> _Shape:
    sd = binary.decode(StorageDescriptor, data)
    begins = b'"' + tjson.quoted('{"6":{"rec":')
    return _Shape(begins + tjson.quoted(tjson.opened(sd)), begins + tjson.quoted(tjson.text(sd)))


_shape = Latest(_begun)


def _in_shape(part: Partition, shape: _Shape, own: StorageDescriptor | None) -> Quoted:
    """A partition as TJSON, with the parts that it shares already written. Fields may come in any order."""
    rest = f"}},{tjson.text(part)[1:]}"
    if own is None or own.location is None:
        return Quoted(b'%b%b"' % (shape.complete, tjson.quoted(rest)))
    return Quoted(b'%b%b"' % (shape.opened, tjson.quoted(tjson.text(own)[1:] + rest)))
