"""What is read of an Iceberg catalog, in bounded memory and time: replies of REST catalogs, metadata and manifests.

pyiceberg reads each of them whole, and decompresses what is compressed: a catalog, or whoever writes a metadata file,
could take all memory of the server, or hold a thread for ever. Nothing here checks what they say. Imports pyiceberg:
import it late.
"""

from __future__ import annotations

import io
import time
import zlib
from typing import Any, Final

from pyiceberg.io import InputFile
from pyiceberg.io.pyarrow import PyArrowFileIO

from metastored.errors import ConnectError
from metastored.model.iceberg.limits import MAX_FILE

__all__ = ["MAX_REPLY", "BoundedFileIO", "TooLarge", "read_bounded"]

MAX_REPLY: Final = 64 * 1024 * 1024
"""The longest reply of a REST catalog in bytes, without compression."""
CHUNK: Final = 64 * 1024
GZIPPED: Final = ".gz.metadata.json"
"""How the name of a compressed metadata file ends, as pyiceberg recognises it."""
PLAIN: Final = ".metadata.json"


class TooLarge(OSError):
    """A file that is not read."""

    def __init__(self, location: str) -> None:
        super().__init__(27, f"it has more than {MAX_FILE} bytes, which is not metadata of a table", location)


class BoundedFileIO(PyArrowFileIO):
    """pyiceberg's access to files, which opens none that is too large."""

    def new_input(self, location: str) -> Any:
        return _Bounded(super().new_input(location))


class _Bounded(InputFile):
    """A file for reading. A compressed metadata file is decompressed here, and has the name of one that is not."""

    def __init__(self, response: Any) -> None:
        location = response.location
        self._found = response
        self._gzipped = location.endswith(GZIPPED)
        super().__init__(location.removesuffix(GZIPPED) + PLAIN if self._gzipped else location)

    def __len__(self) -> int:
        return len(self._found)

    def exists(self) -> bool:
        return bool(self._found.exists())

    def open(self, seekable: bool = True) -> Any:
        opened = self._found.open(seekable=True)
        if opened.size() > MAX_FILE:
            opened.close()
            raise TooLarge(self._found.location)
        if not self._gzipped:
            return opened
        with opened:
            return io.BytesIO(_decompressed(opened.read(), self._found.location))


def _decompressed(data: bytes, location: str) -> bytes:
    """Raises TooLarge, and ValueError for what is not compressed."""
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        content = reader.decompress(data, MAX_FILE)
    except zlib.error as error:
        raise ValueError(f"{location} is not compressed: {error}") from None
    if reader.unconsumed_tail:
        raise TooLarge(location)
    return content


def read_bounded(response: Any, seconds: float) -> None:
    """Reads the body of a response of requests, which nobody has read. Raises ConnectError if there is too much of it.

    `seconds` are for all of it: the timeout of requests begins anew with each byte.
    """
    until, content = time.monotonic() + seconds, bytearray()
    while part := response.raw.read1(CHUNK, decode_content=True):
        content += part
        if len(content) > MAX_REPLY:
            response.close()
            raise ConnectError(f"the Iceberg catalog's reply has more than {MAX_REPLY} bytes")
        if time.monotonic() > until:
            response.close()
            raise ConnectError(f"the Iceberg catalog's reply took longer than {seconds:g} s")
    response._content, response._content_consumed = bytes(content), True
