"""Metadata files and manifests: read, written and removed by the file systems of the warehouse, with bounded sizes.

A metadata file never changes, so what was read and checked, or written here, is cached by its location; manifests are
not cached. Only files whose names end as those of metadata and manifests are read. Nothing here decides whether a
caller may have a file read: `catalog.py` does.
"""

from __future__ import annotations

import logging
import threading
import uuid as uuids
import zlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Protocol

import orjson

from metastored.errors import StoreError
from metastored.hive.locations import join
from metastored.hive.locations import name as last_name
from metastored.iceberg.errors import BadRequest, Unavailable
from metastored.iceberg.requests import Json, check_depth
from metastored.model.iceberg.limits import MAX_FILE

__all__ = ["Check", "FileAccess", "MetadataFiles", "next_file"]

log = logging.getLogger("metastored.iceberg")

MAX_CACHED: Final = 64 * 1024 * 1024
"""Bytes of all cached files of a worker, as they are stored."""
ENDINGS: Final = (".metadata.json", ".gz.metadata.json", ".metadata.json.gz")
MANIFEST: Final = ".avro"
GZIP: Final = b"\x1f\x8b"


Check = Callable[[Json, str], Json]
"""Checks metadata and returns it in one form; the text says where it is from."""


class FileAccess(Protocol):
    """The warehouse's access to files, by their locations. Each raises StoreError."""

    def read_file(self, uri: str, most: int) -> bytes: ...
    def write_file(self, uri: str, data: bytes) -> None: ...
    def remove_file(self, uri: str) -> None: ...


class MetadataFiles:
    """The metadata files of all tables. Threads share it."""

    def __init__(self, access: FileAccess) -> None:
        self._access = access
        self._cache: OrderedDict[tuple[str, Check], tuple[Json, int]] = OrderedDict()
        self._cached = 0
        self._lock = threading.Lock()

    def read(self, location: str, check: Check) -> Json:
        """The metadata in a file as `check` returns it; callers must not change it.

        Raises BadRequest if it is none, and Unavailable if it cannot be read.
        """
        key = location, check
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key][0]
        if not last_name(location).endswith(ENDINGS):
            raise BadRequest(f"{location!r} is not the name of a metadata file: it ends with {ENDINGS[0]}")
        try:
            data = self._access.read_file(location, MAX_FILE + 1)
        except StoreError as error:
            raise Unavailable(f"the metadata file {location} cannot be read") from error
        metadata = check(_parsed(data, location), f"the metadata file {location}")
        self._put(key, metadata, len(data))
        return metadata

    def read_manifest(self, location: str) -> bytes:
        """The bytes of a manifest or manifest list. Raises BadRequest if it is too large, and Unavailable."""
        if not last_name(location).endswith(MANIFEST):
            raise BadRequest(f"{location[:1000]!r} is not the name of a manifest: it ends with {MANIFEST}")
        try:
            data = self._access.read_file(location, MAX_FILE + 1)
        except StoreError as error:
            raise Unavailable(f"the manifest {location} cannot be read") from error
        if len(data) > MAX_FILE:
            raise BadRequest(f"the manifest {location} has more than {MAX_FILE} bytes")
        return data

    def write(self, location: str, metadata: Json, check: Check | None = None, form: Json | None = None) -> None:
        """Writes a new file. Raises Unavailable, and BadRequest if the metadata is too long.

        `form` is what `read` would return for the file with `check`, where the caller has it.
        """
        data = orjson.dumps(metadata)
        if len(data) > MAX_FILE:
            raise BadRequest(f"the metadata of the table would have more than {MAX_FILE} bytes: expire snapshots")
        if last_name(location).endswith(ENDINGS[1]):
            compressor = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
            data = compressor.compress(data) + compressor.flush()
        try:
            self._access.write_file(location, data)
        except StoreError as error:
            raise Unavailable(f"the metadata file {location} cannot be written") from error
        if check is not None and form is not None:
            self._put((location, check), form, len(data))

    def remove(self, location: str) -> bool:
        """Removes a file that nothing refers to. A failure is logged: the file does no harm."""
        try:
            self._access.remove_file(location)
        except StoreError as error:
            log.warning("a metadata file that nothing refers to was not removed: %s", error)
            return False
        return True

    def _put(self, key: tuple[str, Check], metadata: Json, size: int) -> None:
        with self._lock:
            if key in self._cache or size > MAX_CACHED // 4:
                return
            self._cache[key] = metadata, size
            self._cached += size
            while self._cached > MAX_CACHED:
                _, (_, oldest) = self._cache.popitem(last=False)
                self._cached -= oldest


def _parsed(data: bytes, location: str) -> Json:
    """Messages never have the content: the file may be another one than its name says."""
    if data[:2] == GZIP:
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            data = reader.decompress(data, MAX_FILE + 1)
        except zlib.error:
            raise BadRequest(f"the metadata file {location} is not compressed as its first bytes say") from None
    if len(data) > MAX_FILE:
        raise BadRequest(f"the metadata file {location} has more than {MAX_FILE} bytes")
    try:
        content = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BadRequest(f"the metadata file {location} is not JSON") from None
    if not isinstance(content, dict):
        raise BadRequest(f"the metadata file {location} is not a JSON object")
    check_depth(content, f"the metadata file {location}")
    return content


def next_file(metadata: Json, before: str | None) -> str:
    """The location of the next metadata file of a table: 00004-{uuid}.metadata.json after 00003-….

    `write.metadata.path` of its properties names another directory than `metadata`.
    """
    folder = metadata["properties"].get("write.metadata.path") or join(metadata["location"], "metadata")
    number = "" if before is None else last_name(before).partition("-")[0]
    following = int(number) + 1 if number.isascii() and number.isdigit() and len(number) < 10 else 0
    zipped = metadata["properties"].get("write.metadata.compression-codec", "none").lower() == "gzip"
    return join(folder, f"{following:05d}-{uuids.uuid4()}{ENDINGS[1] if zipped else ENDINGS[0]}")
