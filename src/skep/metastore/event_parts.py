"""What an event row keeps, taken apart: its named objects, decoded or as TJSON. Pure; it knows no type of event."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import orjson

from skep.errors import StoreError
from skep.hive.generation import Generation
from skep.metastore.changes import FORMAT, unpack
from skep.store.events import EventRow
from skep.wire import binary, tjson
from skep.wire.generated.common import StorageDescriptor, Table
from skep.wire.generated.partitions import Partition
from skep.wire.structs import replace

_MEMO_BYTES = 64 * 1024


class Parts:
    """An event's row with its body taken apart."""

    __slots__ = ("_named", "event", "fields", "generation")

    def __init__(self, event: EventRow, generation: Generation) -> None:
        if event.fmt != FORMAT:
            raise StoreError(
                f"event {event.id} is stored in format {event.fmt}, which this version of skep does not read"
            )
        self.event = event
        self.generation = generation
        self._named = list(unpack(event.body))
        given = self.one("fields")
        self.fields: dict[str, Any] = orjson.loads(given) if given is not None else {}

    def one(self, name: str) -> bytes | None:
        return next((value for key, value in self._named if key == name), None)

    def all(self, name: str) -> list[bytes]:
        return [value for key, value in self._named if key == name]

    def named(self, name: str) -> str:
        """A text."""
        return self.bytes(name).decode()

    def number(self, name: str) -> int:
        return int(self.bytes(name))

    def objects(self) -> list[bytes]:
        """All that is no name."""
        return [value for key, value in self._named if key not in ("user", "fields")]

    def bytes(self, name: str) -> bytes:
        found = self.one(name)
        if found is None:
            raise StoreError(f"event {self.event.id} ({self.event.type}) keeps no {name}")
        return found

    def text(self, name: str, cls: type) -> orjson.Fragment:
        """An object as TJSON, inside a text of JSON's."""
        return text_and_value(cls, self.bytes(name))[0]

    def table(self) -> Table:
        return decoded_table(self.bytes("table"))

    def partitions(self, table: Table) -> Iterator[Partition]:
        """The partitions of an event, whole."""
        names = {"dbName": table.dbName, "tableName": table.tableName, "catName": table.catName}
        shape: StorageDescriptor | None = None
        for name, value in self._named:
            if name == "sd":
                shape = binary.decode(StorageDescriptor, value)
            elif name == "partition":
                yield binary.decode(Partition, value)
            elif name == "partitions":
                at, read = 0, binary.struct_codec(Partition)[0]
                while at < len(value):
                    part, at = read(value, at)
                    location = part.sd.location if part.sd is not None else None
                    sd = replace(shape, location=location) if shape is not None else part.sd
                    yield replace(part, sd=sd, **names)


def _decoded(cls: type, data: bytes) -> tuple[orjson.Fragment, Any]:
    value: Any = binary.decode(cls, data)
    return orjson.Fragment(orjson.dumps(tjson.text(value))), value


_remembered = lru_cache(256)(_decoded)


def text_and_value(cls: type, data: bytes) -> tuple[orjson.Fragment, Any]:
    """An object as TJSON, ready to stand in a message, and decoded.

    Many events after another are about one table, so the last are remembered.
    """
    return _remembered(cls, data) if len(data) < _MEMO_BYTES else _decoded(cls, data)


def decoded_table(data: bytes) -> Table:
    table: Table = text_and_value(Table, data)[1]
    return table
