"""Directories and files of tables, as the driver lists, reads, writes, copies and renames them.

Local locations are used directly; all others through the Hadoop file systems of the Spark session, with its settings
and credentials, which needs the driver's JVM. Rows are never decoded here: executors do that.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from metastored.errors import NotSupported
from metastored.hive import orc
from metastored.hive.locations import canonical, is_local, join, local_path
from metastored.hive.transactions.layout import METADATA_FILE, Kind, parse_directory
from metastored.hive.transactions.resolution import Listing, listing_of

THREADS: Final = 16
"""Directories that are listed at the same time, and files whose tails are read."""
CHUNK: Final = 1 << 20
"""Bytes of a file that are copied at a time."""

One = TypeVar("One")
Other = TypeVar("Other")


class Entry(NamedTuple):
    """A file or a directory in a directory."""

    name: str
    size: int
    is_directory: bool


class Files(Protocol):
    """A file system. Locations are URIs."""

    def entries(self, location: str) -> list[Entry]:
        """What is in a directory, sorted by name; nothing if it does not exist."""

    def end(self, location: str, size: int, length: int) -> bytes:
        """The last bytes of a file of this size."""

    def read(self, location: str) -> bytes: ...
    def write(self, location: str, content: bytes) -> None: ...
    def copy(self, source: str, target: str) -> str:
        """Copies a file. Returns the SHA-256 digest, in hexadecimal, of the bytes that were read."""

    def digest(self, location: str) -> str:
        """The SHA-256 digest of a file, in hexadecimal."""

    def add_orc_metadata(self, location: str, end: bytes, metadata: Mapping[str, bytes]) -> None:
        """Adds user metadata to an ORC file with this end; does nothing where a file cannot be changed."""

    def concatenate(self, parts: Sequence[tuple[str, int]], target: str, end: bytes) -> None:
        """Writes the first bytes of files, so many of each, and then an end. The files are removed."""

    def make(self, location: str) -> None: ...
    def rename(self, source: str, target: str) -> None: ...
    def remove(self, location: str) -> None:
        """Removes a file or a directory, if it exists."""


class LocalFiles:
    """The file system of this machine."""

    def entries(self, location: str) -> list[Entry]:
        try:
            with os.scandir(local_path(location)) as scanned:
                return sorted(
                    Entry(each.name, 0 if each.is_dir() else each.stat().st_size, each.is_dir()) for each in scanned
                )
        except FileNotFoundError:
            return []

    def end(self, location: str, size: int, length: int) -> bytes:
        with open(local_path(location), "rb") as file:
            file.seek(max(0, size - length))
            return file.read()

    def read(self, location: str) -> bytes:
        with open(local_path(location), "rb") as file:
            return file.read()

    def write(self, location: str, content: bytes) -> None:
        with open(local_path(location), "wb") as file:
            file.write(content)

    def copy(self, source: str, target: str) -> str:
        digest = hashlib.sha256()
        with open(local_path(source), "rb") as read, open(local_path(target), "wb") as written:
            while chunk := read.read(CHUNK):
                digest.update(chunk)
                written.write(chunk)
        return digest.hexdigest()

    def digest(self, location: str) -> str:
        with open(local_path(location), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def add_orc_metadata(self, location: str, end: bytes, metadata: Mapping[str, bytes]) -> None:
        cut, replacement = orc.with_metadata(end, metadata)
        with open(local_path(location), "r+b") as file:
            file.seek(-cut, os.SEEK_END)
            file.write(replacement)

    def concatenate(self, parts: Sequence[tuple[str, int]], target: str, end: bytes) -> None:
        (first, kept), *others = parts
        with open(local_path(first), "r+b") as written:
            written.truncate(kept)
            written.seek(kept)
            for location, length in others:
                with open(local_path(location), "rb") as read:
                    while length > 0 and (chunk := read.read(min(CHUNK, length))):
                        written.write(chunk)
                        length -= len(chunk)
                if length:
                    raise OSError(f"{location} was changed while it was read")
            written.write(end)
        os.rename(local_path(first), local_path(target))
        for location, _ in others:
            os.unlink(local_path(location))

    def make(self, location: str) -> None:
        os.makedirs(local_path(location), exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.rename(local_path(source), local_path(target))

    def remove(self, location: str) -> None:
        path = local_path(location)
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.exists(path):
            os.unlink(path)


class HadoopFiles:
    """A Hadoop file system of a Spark session, such as HDFS or S3. The source of a copy may be on another one."""

    def __init__(self, spark: Any, location: str) -> None:
        self._jvm = spark._jvm
        self._path = spark._jvm.org.apache.hadoop.fs.Path
        self._io = spark._jvm.org.apache.commons.io.IOUtils
        self._settings = spark._jsparkSession.sessionState().newHadoopConf()
        self._system = self._at(location).getFileSystem(self._settings)

    def _at(self, location: str) -> Any:
        """A path; one without a scheme is local, and not in the default file system of Hadoop."""
        return self._path(canonical(f"file:{local_path(location)}") if is_local(location) else location)

    def entries(self, location: str) -> list[Entry]:
        path = self._path(location)
        if not self._system.exists(path):
            return []
        statuses = [(each, bool(each.isDirectory())) for each in self._system.listStatus(path)]
        return sorted(
            Entry(each.getPath().getName(), 0 if folder else each.getLen(), folder) for each, folder in statuses
        )

    def end(self, location: str, size: int, length: int) -> bytes:
        stream = self._system.open(self._path(location))
        try:
            stream.seek(max(0, size - length))
            return bytes(self._io.toByteArray(stream))
        finally:
            stream.close()

    def read(self, location: str) -> bytes:
        return self.end(location, 0, 0)

    def write(self, location: str, content: bytes) -> None:
        stream = self._system.create(self._path(location), True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def copy(self, source: str, target: str) -> str:
        path = self._at(source)
        digest = self._jvm.java.security.MessageDigest.getInstance("SHA-256")
        opened = path.getFileSystem(self._settings).open(path)
        try:
            read = self._jvm.java.security.DigestInputStream(opened, digest)
            written = self._system.create(self._at(target), True)
            try:
                self._jvm.org.apache.hadoop.io.IOUtils.copyBytes(read, written, CHUNK, False)
            finally:
                written.close()
        finally:
            opened.close()
        return bytes(digest.digest()).hex()

    def digest(self, location: str) -> str:
        stream = self._system.open(self._at(location))
        try:
            return str(self._jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))
        finally:
            stream.close()

    def add_orc_metadata(self, location: str, end: bytes, metadata: Mapping[str, bytes]) -> None:
        path = self._path(location)
        if not self._system.hasPathCapability(path, "fs.capability.paths.append"):
            return
        stream = self._system.append(path)
        try:
            stream.write(bytearray(orc.appended_metadata(end, metadata)))
        finally:
            stream.close()

    def concatenate(self, parts: Sequence[tuple[str, int]], target: str, end: bytes) -> None:
        written = self._system.create(self._path(target), True)
        try:
            for location, length in parts:
                read = self._system.open(self._path(location))
                try:
                    if self._io.copyLarge(read, written, 0, length) != length:
                        raise OSError(f"{location} was changed while it was read")
                finally:
                    read.close()
            written.write(bytearray(end))
        finally:
            written.close()
        for location, _ in parts:
            self.remove(location)

    def make(self, location: str) -> None:
        self._system.mkdirs(self._path(location))

    def rename(self, source: str, target: str) -> None:
        if not self._system.rename(self._path(source), self._path(target)):
            raise OSError(f"{source} could not be renamed to {target}")

    def remove(self, location: str) -> None:
        self._system.delete(self._path(location), True)


def files_of(spark: Any, location: str) -> Files:
    """The file system of a location. Raises NotSupported if it needs a JVM and the session is remote."""
    if is_local(location):
        return LocalFiles()
    if not hasattr(spark, "_jsparkSession"):
        raise NotSupported(
            f"{location} is listed through the JVM of the Spark driver, which a session of Spark Connect does not have"
        )
    return HadoopFiles(spark, location)


def in_threads(work: Callable[[One], Other], items: Iterable[One], threads: int = THREADS) -> list[Other]:
    """The results of a function for all items, in their order."""
    listed = list(items)
    if len(listed) < 2:
        return [work(each) for each in listed]
    with ThreadPoolExecutor(min(threads, len(listed)), "metastored-acid-files") as pool:
        return list(pool.map(work, listed))


def list_location(files: Files, location: str) -> Listing:
    """Everything below the directory of a table without partitions, or of a partition."""
    entries = list(_below(files, location, ""))
    paths = {path for path, _ in entries}
    compacted = [
        path
        for path, size in entries
        if size is None
        and _is_unmarked_base(path)
        and (marker := f"{path}/{METADATA_FILE}") in paths
        and b'"compacted"' in files.read(join(location, marker))
    ]
    return listing_of(entries, compacted)


def _below(files: Files, location: str, path: str) -> Iterable[tuple[str, int | None]]:
    """The paths below a directory, with the sizes of files."""
    for entry in files.entries(join(location, path) if path else location):
        inner = f"{path}/{entry.name}" if path else entry.name
        if entry.is_directory:
            yield inner, None
            yield from _below(files, location, inner)
        else:
            yield inner, entry.size


def _is_unmarked_base(path: str) -> bool:
    """Whether it is a base without the id of a compaction: then a file in it says whether it is one's."""
    directory = parse_directory(path)
    return directory is not None and directory.kind is Kind.BASE and not directory.visibility


def end_of(files: Files, location: str, size: int) -> bytes:
    """The bytes of an ORC file that have its complete tail."""
    end = files.end(location, size, orc.END)
    length = orc.tail_length(end)
    return end if length <= len(end) else files.end(location, size, length)


def tail_of(files: Files, location: str, size: int) -> orc.Tail:
    """The tail of an ORC file."""
    return orc.read_tail(end_of(files, location, size))
