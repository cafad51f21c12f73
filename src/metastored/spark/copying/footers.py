"""The numbers of rows that Parquet and ORC files have in their footers, as the driver reads them. No row is decoded."""

from __future__ import annotations

from typing import Final

from metastored.hive import orc
from metastored.hive.locations import join
from metastored.hive.orc_messages import OrcError
from metastored.spark.files import Files, end_of
from metastored.wire.codec.compact import skip_field, skip_varint
from metastored.wire.codec.compiler import Malformed

END: Final = 64 * 1024
"""The number of bytes at the end of a file that most footers of Parquet files fit in."""
_MAGIC: Final = b"PAR1"
_TAIL: Final = 8
"""The length of the footer in four bytes, and the magic number."""
_ROWS: Final = 3
"""The field `num_rows` of Parquet's FileMetaData."""


class UnknownFooter(ValueError):
    """A file whose number of rows is not known here: encrypted, damaged, or compressed as Hive 3 cannot read it."""


def rows_of(files: Files, location: str, name: str, size: int, format: str) -> int:
    """The number of rows of a file in a directory. Raises UnknownFooter."""
    if not size:
        return 0  # Hive writes empty files for buckets without rows.
    where = join(location, name)
    try:
        return _orc_rows(files, where, size) if format == "orc" else _parquet_rows(files, where, size)
    except (Malformed, IndexError, OrcError) as error:
        raise UnknownFooter(f"{where}: {error}") from error


def _orc_rows(files: Files, location: str, size: int) -> int:
    end = end_of(files, location, size)
    if orc.compression(end) not in orc.OLD_COMPRESSIONS:
        raise UnknownFooter(f"{location} has a compression that Hive 3.1 cannot read")
    return orc.read_tail(end).rows


def _parquet_rows(files: Files, location: str, size: int) -> int:
    end = files.end(location, size, END)
    if end[-4:] != _MAGIC:
        raise UnknownFooter(f"{location} is not a Parquet file, or is encrypted")
    length = int.from_bytes(end[-_TAIL:-4], "little") + _TAIL
    if length > len(end):
        end = files.end(location, size, length)
    return parquet_rows(end[-length:-_TAIL])


def parquet_rows(footer: bytes) -> int:
    """The number of rows in a footer: FileMetaData in Thrift's compact protocol. Raises Malformed or IndexError."""
    at = number = 0
    while head := footer[at]:
        if head < 16:
            raise Malformed("a field of a Parquet footer has a long header")
        number += head >> 4
        if number == _ROWS:
            end = skip_varint(footer, at + 1)
            value = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(footer[at + 1 : end]))
            return value >> 1 ^ -(value & 1)
        at = skip_field(footer, at + 1, head & 15)
    raise Malformed("a Parquet footer without a number of rows")
