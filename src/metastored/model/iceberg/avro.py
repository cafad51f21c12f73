"""Object container files of Avro, which Iceberg's manifests are: their records, in bounded memory and steps. Pure.

The files may come from anybody. pyiceberg's own reader is not used: its compiled decoder does not check lengths, and
returns memory of the process for a text that is longer than the file. Fields are identified by Iceberg's ids; fields
without an id are dropped. It never reads a file or a schema of another place, and writes nothing.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson

from metastored.model.iceberg.depth import is_deeper

__all__ = ["Broken", "records_of"]

MAGIC: Final = b"Obj\x01"
SYNC: Final = 16
MAX_STEPS: Final = 20_000_000
"""Elements of lists and maps, records and their fields, of one file: some need no bytes at all."""
MAX_FIELDS: Final = 10_000
"""Types in a schema."""
MAX_DEPTH: Final = 100
"""Levels of a schema."""
CHUNK: Final = 64 * 1024
MAX_WINDOW: Final = 8 * 1024 * 1024
"""Bytes that Zstandard may look back: what its own programs use for ordinary files."""
_DOUBLE: Final = struct.Struct("<d")
_FLOAT: Final = struct.Struct("<f")

Record = dict[int, Any]
"""Values by the ids of their fields."""


class Broken(ValueError):
    """The bytes are no file of this kind, or one that is too large. The message never has the content."""


class _Input:
    """Bytes that are read from the beginning. Each method raises Broken at their end."""

    __slots__ = ("at", "data", "steps")

    def __init__(self, data: bytes, steps: list[int]) -> None:
        self.data = data
        self.at = 0
        self.steps = steps
        """How many are left, in a list that all parts of a file share."""

    def long(self) -> int:
        data, at, shift, number = self.data, self.at, 0, 0
        try:
            while (byte := data[at]) > 127:
                number |= (byte & 127) << shift
                shift += 7
                at += 1
                if shift > 63:
                    raise Broken("it has a number of more than 64 bits")
        except IndexError:
            raise Broken("it ends too early") from None
        self.at = at + 1
        number |= byte << shift
        if number >> 64:
            raise Broken("it has a number of more than 64 bits")
        return (number >> 1) ^ -(number & 1)

    def take(self, length: int) -> bytes:
        end = self.at + length
        if length < 0 or end > len(self.data):
            raise Broken("it ends too early")
        taken, self.at = self.data[self.at : end], end
        return taken

    def count(self) -> int:
        """The number of elements in the next block of a list or map; 0 at its end."""
        number = self.long()
        if number < 0:
            number = -number
            self.long()
        self.spend(number)
        return number

    def spend(self, steps: int) -> None:
        self.steps[0] -= steps
        if self.steps[0] < 0:
            raise Broken(f"it has more than {MAX_STEPS:,} values")


_Read = Callable[[_Input], Any]


def records_of(data: bytes, most: int) -> Iterator[Record]:
    """The records of a file whose blocks have at most `most` bytes in all without compression. Raises Broken."""
    steps = [MAX_STEPS]
    header = _Input(data, steps)
    if header.take(4) != MAGIC:
        raise Broken("it is not an Avro file")
    meta = _map(_bytes)(header)
    sync = header.take(SYNC)
    decompress = _CODECS.get(meta.get("avro.codec", b"null"))
    if decompress is None:
        raise Broken(f"its compression is none of {', '.join(sorted(each.decode() for each in _CODECS))}")
    read = _Types(_schema(meta.get("avro.schema", b""))).reader
    while header.at < len(data):
        number = header.long()
        if number < 0:
            raise Broken("it has a block with a negative number of records")
        steps[0] -= number
        block = _Input(decompress(header.take(header.long()), most), steps)
        most -= len(block.data)
        block.spend(0)
        for _ in range(number):
            yield read(block)
        if block.at != len(block.data):
            raise Broken("a block has more bytes than its records")
        if header.take(SYNC) != sync:
            raise Broken("a block does not end where its length says")


# --- compression ----------------------------------------------------------------------------------------------------


def _plain(data: bytes, most: int) -> bytes:
    if len(data) > most:
        raise Broken("it is too large")
    return data


def _deflate(data: bytes, most: int) -> bytes:
    try:
        reader = zlib.decompressobj(-15)
        return _plain(reader.decompress(data, most + 1), most)
    except zlib.error:
        raise Broken("a block is not compressed as its header says") from None


def _zstandard(data: bytes, most: int) -> bytes:
    import zstandard  # pyiceberg needs it.

    content = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).stream_reader(data) as reader:
            # In parts: each read reserves as much memory as it may return.
            while len(content) <= most and (part := reader.read(CHUNK)):
                content += part
        return _plain(bytes(content), most)
    except zstandard.ZstdError:
        raise Broken("a block is not compressed as its header says") from None


_CODECS: Final[dict[bytes, Callable[[bytes, int], bytes]]] = {
    b"null": _plain,
    b"deflate": _deflate,
    b"zstandard": _zstandard,
}


# --- schemas --------------------------------------------------------------------------------------------------------


def _schema(text: bytes) -> Any:
    try:
        schema = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise Broken("its schema is not JSON") from None
    if is_deeper([schema], MAX_DEPTH):
        raise Broken(f"its schema has more than {MAX_DEPTH} levels")
    return schema


class _Types:
    """Functions that read the types of a schema."""

    def __init__(self, schema: Any) -> None:
        self._left = MAX_FIELDS
        self._named: dict[str, _Read] = {}
        if not isinstance(schema, dict) or schema.get("type") != "record":
            raise Broken("its schema is not that of a record")
        self.reader = self._of(schema)

    def _of(self, schema: Any) -> _Read:
        self._left -= 1
        if self._left < 0:
            raise Broken(f"its schema has more than {MAX_FIELDS:,} types")
        if isinstance(schema, list):
            return _union([self._of(each) for each in schema])
        if isinstance(schema, str):
            reader = _PRIMITIVES.get(schema) or self._named.get(schema)
            if reader is None:
                raise Broken("its schema has an unknown type")
            return reader
        kind = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kind, (dict, list)):
            return self._of(kind)
        if kind == "record":
            return self._record(schema)
        if kind == "array":
            return self._array(schema)
        if kind == "map":
            return _map(self._of(schema.get("values")))
        if kind == "fixed":
            return self._fixed(schema)
        if not isinstance(kind, str) or kind not in _PRIMITIVES:
            raise Broken("its schema has an unknown type")
        return _PRIMITIVES[kind]

    def _fixed(self, schema: dict[str, Any]) -> _Read:
        size = schema.get("size")
        if type(size) is not int or size < 0:
            raise Broken("its schema has a type of an unknown size")

        def read(source: _Input) -> bytes:
            return source.take(size)

        # A record is not entered: references to records could make one record of a few bytes as long as one likes.
        self._named[str(schema.get("name"))] = read
        return read

    def _fields(self, schema: dict[str, Any]) -> list[tuple[Any, Any, _Read]]:
        fields = schema.get("fields")
        if not isinstance(fields, list) or not all(isinstance(each, dict) for each in fields):
            raise Broken("its schema has a record without fields")
        return [(each.get("name"), each.get("field-id"), self._of(each.get("type"))) for each in fields]

    def _record(self, schema: dict[str, Any]) -> _Read:
        fields = [(id if type(id) is int else None, read) for _, id, read in self._fields(schema)]
        steps = len(fields)

        def record(source: _Input) -> Record:
            values: Record = {}
            source.spend(steps)
            for id, read in fields:
                value = read(source)
                if id is not None:
                    values[id] = value
            return values

        return record

    def _array(self, schema: dict[str, Any]) -> _Read:
        items = schema.get("items")
        if isinstance(items, dict) and items.get("type") == "record" and schema.get("logicalType") == "map":
            fields = self._fields(items)
            if [name for name, _, _ in fields] != ["key", "value"]:
                raise Broken("its schema has a map without keys")
            return _pairs(fields[0][2], fields[1][2])
        element = self._of(items)

        def array(source: _Input) -> list[Any]:
            elements: list[Any] = []
            while number := source.count():
                elements.extend(element(source) for _ in range(number))
            return elements

        return array


def _pairs(key: _Read, value: _Read) -> _Read:
    """A map of Iceberg whose keys are no texts: a list of records."""

    def pairs(source: _Input) -> dict[Any, Any]:
        entries: dict[Any, Any] = {}
        while number := source.count():
            for _ in range(number):
                name = key(source)
                if isinstance(name, (dict, list)):
                    raise Broken("it has a map whose keys are lists")
                entries[name] = value(source)
        return entries

    return pairs


def _map(value: _Read) -> _Read:
    def read(source: _Input) -> dict[str, Any]:
        entries: dict[str, Any] = {}
        while number := source.count():
            for _ in range(number):
                name = _text(source)
                entries[name] = value(source)
        return entries

    return read


def _union(branches: list[_Read]) -> _Read:
    def union(source: _Input) -> Any:
        branch = source.long()
        if not 0 <= branch < len(branches):
            raise Broken("it has a value of an unknown type")
        return branches[branch](source)

    return union


def _bytes(source: _Input) -> bytes:
    return source.take(source.long())


def _text(source: _Input) -> str:
    try:
        return _bytes(source).decode()
    except UnicodeDecodeError:
        raise Broken("it has a text that is not UTF-8") from None


def _null(source: _Input) -> None:
    return None


def _boolean(source: _Input) -> bool:
    return source.take(1) == b"\x01"


def _float(source: _Input) -> float:
    number: float = _FLOAT.unpack(source.take(4))[0]
    return number


def _double(source: _Input) -> float:
    number: float = _DOUBLE.unpack(source.take(8))[0]
    return number


_PRIMITIVES: Final[dict[str, _Read]] = {
    "null": _null,
    "boolean": _boolean,
    "int": _Input.long,
    "long": _Input.long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": _text,
}
