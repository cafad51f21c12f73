"""Directories in object stores and HDFS, by the file systems that pyarrow brings: S3, Google Cloud, Azure, Hadoop.

`EXTRAS` is the only list of their schemes, with the extra of the distribution that each needs. Credentials come from
where the vendors' own tools look for them (docs/guide/object-stores.md); none is a setting of metastored's. Nothing
here knows the objects of a directory. pyarrow is imported at the first use.
"""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from metastored.errors import StoreError, install_command
from metastored.hive.locations import Location, parse_location

log = logging.getLogger("metastored.store")

EXTRAS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("s3", "s3a", "s3n"), "s3"),
        **dict.fromkeys(("gs", "gcs"), "gcs"),
        **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), "azure"),
        **dict.fromkeys(("hdfs", "viewfs"), "hdfs"),
    }
)
"""The extra that has the driver of a scheme."""

CONNECT_TIMEOUT: Final = 10.0
"""Seconds to wait for a connection to S3."""
REQUEST_TIMEOUT: Final = 60.0
"""Seconds to wait for one reply of S3, and seconds in which a call to Google Cloud is retried."""

COPIES_AT_ONCE: Final = 8
"""An object store has no directories to rename: this many objects are copied at once."""
COPIED_BY_SERVER: Final = 5 * 1024**3
"""Bytes. S3 copies no larger object in one request: larger ones are read and written."""
BUFFER: Final = 16 * 1024 * 1024
"""Bytes that are read at once of an object that the server does not copy."""

MARK: Final = ".metastored-move"
"""A file in a directory that is being moved; it contains the source path."""

HIDDEN: Final = ("_", ".")
"""Names of files that hold no rows begin with one of these."""


def needs_extra(scheme: str) -> str | None:
    """The extra that the scheme needs and that is not installed; None if nothing is missing."""
    extra = EXTRAS.get(scheme)
    if extra is None:
        return None
    try:
        import pyarrow.fs  # noqa: F401
    except ImportError:
        return extra
    return None


def check_driver(uri: str) -> None:
    """Raises StoreError with the pip line if the driver for a location is not installed."""
    extra = needs_extra(parse_location(uri).scheme)
    if extra is not None:
        raise StoreError(f"{uri} needs a driver that is not installed: {install_command(extra)}")


def open_directories(uri: str) -> tuple[Directories, str]:
    """The file system of a location whose scheme is in EXTRAS, and the path in it."""
    check_driver(uri)
    location = parse_location(uri)
    container, at, host = location.authority.rpartition("@")
    if EXTRAS[location.scheme] == "azure":
        if not at:
            raise StoreError(f"{uri} names no storage account; write {location.scheme}://container@account.dfs.…/path")
        return _opened(location.scheme, host), f"{container}{location.path}".rstrip("/")
    if EXTRAS[location.scheme] == "hdfs":
        return _opened(location.scheme, location.authority), location.path or "/"
    return _opened(location.scheme, ""), f"{location.authority}{location.path}".rstrip("/")


@lru_cache(maxsize=64)
def _opened(scheme: str, host: str) -> Directories:
    from pyarrow import fs

    extra = EXTRAS[scheme]
    if extra == "s3":
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        timeouts = {"connect_timeout": CONNECT_TIMEOUT, "request_timeout": REQUEST_TIMEOUT}
        return Directories(fs.S3FileSystem(endpoint_override=endpoint, **timeouts))
    if extra == "gcs":
        return Directories(fs.GcsFileSystem(retry_time_limit=timedelta(seconds=REQUEST_TIMEOUT)))
    if extra == "azure":
        account = host.partition(".")[0]
        return Directories(fs.AzureFileSystem(account, **_azure(account)))
    return Directories(_hadoop(Location(scheme, host, "")), renames=True)


def _azure(account: str) -> dict[str, str | None]:
    """The key of a storage account and its address, as Azure's own tools read them from the environment.

    A connection string that names another account says nothing about this one: its key is not sent there. Raises
    StoreError for an address that is not a URL.
    """
    text = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")
    parts = (each.partition("=") for each in text.split(";"))
    settings = {name.strip().lower(): value.strip() for name, _, value in parts}
    if settings.get("accountname") != account:
        return {"account_key": os.environ.get("AZURE_STORAGE_KEY")}
    options: dict[str, str | None] = {"account_key": settings.get("accountkey") or os.environ.get("AZURE_STORAGE_KEY")}
    blobs = settings.get("blobendpoint")
    for kind, address in (("blob", blobs), ("dfs", settings.get("dfsendpoint") or blobs)):
        if address:
            scheme, _, rest = address.partition("://")
            if scheme not in ("http", "https") or not rest:
                raise StoreError("AZURE_STORAGE_CONNECTION_STRING has an endpoint that does not begin with https://")
            authority = rest.partition("/")[0]
            # An address with the account in its path, as that of an emulator, is the authority alone for pyarrow.
            options[f"{kind}_storage_authority"] = authority.removeprefix(account)
            options[f"{kind}_storage_scheme"] = scheme
    return options


def _hadoop(location: Location) -> Any:
    from pyarrow import fs

    host, _, port = location.authority.partition(":")
    try:
        if location.scheme == "viewfs":
            return fs.HadoopFileSystem(f"viewfs://{location.authority}", 0)
        return fs.HadoopFileSystem(host or "default", int(port) if port.isdigit() else 0)
    except OSError as exc:
        reason = str(exc).splitlines()[0]
        raise StoreError(
            f"{location} needs Hadoop's native client: set JAVA_HOME, HADOOP_HOME and "
            f"CLASSPATH=$($HADOOP_HOME/bin/hadoop classpath --glob) ({reason})"
        ) from exc


class Entry(NamedTuple):
    """A file or a directory below a directory."""

    path: str
    """Relative to that directory."""
    size: int | None
    """The bytes of a file; None for a directory."""


class Directories:
    """Directories of one file system. In an object store they are empty objects whose names end with a slash."""

    def __init__(self, system: Any, *, renames: bool = False, copied_by_server: int = COPIED_BY_SERVER) -> None:
        self._system = system
        self._renames = renames
        self._copied_by_server = copied_by_server

    def make(self, path: str) -> int:
        if self._kind(path) == "Directory":
            return 0
        self._system.create_dir(path, recursive=True)
        return 1  # Those above it are mostly no directories of their own.

    def exists(self, path: str) -> bool:
        return self._kind(path) != "NotFound"

    def is_empty(self, path: str) -> bool:
        return not self._system.get_file_info(self._below(path, recursive=False))

    def names(self, path: str) -> list[str]:
        return sorted(info.base_name for info in self._system.get_file_info(self._below(path, recursive=False)))

    def move(self, source: str, target: str) -> None:
        if self._renames:
            self.remove_empty(target)
            self._system.create_dir(target.rpartition("/")[0] or "/", recursive=True)
            self._system.move(source, target)
            return
        # The marker file stays until the move is complete: after a crash it is found, and the remaining files are
        # copied.
        mark, again = f"{target}/{MARK}", self.is_half_moved(source, target)
        if not again:
            self._system.create_dir(target, recursive=True)
            with self._system.open_output_stream(mark) as writing:
                writing.write(source.encode())
        if self.exists(source):
            self._copy(source, target, undo=not again)
            try:
                self.remove(source)
            except OSError as exc:
                # The target is complete, and a part of the source may be deleted: this cannot be rolled back.
                log.warning("%s was copied to %s and could not be removed: %s", source, target, exc)
        self._system.delete_file(mark)

    def is_half_moved(self, source: str, target: str) -> bool:
        """Whether a server began to move source to target, and crashed."""
        mark = f"{target}/{MARK}"
        if self._renames or self._kind(mark) != "File":
            return False
        with self._system.open_input_stream(mark) as reading:
            return bool(reading.read() == source.encode())

    def remove(self, path: str) -> None:
        if self._kind(path) == "File":
            self._system.delete_file(path)
        else:
            self._system.delete_dir(path)

    def remove_empty(self, path: str) -> bool:
        if not self.exists(path):
            return True
        if self._kind(path) == "File" or not self.is_empty(path):
            return False
        self._system.delete_dir(path)
        return True

    def sizes(self, path: str) -> Iterator[int]:
        for info in self._system.get_file_info(self._below(path)):
            below = info.path[len(path) :].strip("/").split("/")
            if info.type.name == "File" and not any(part.startswith(HIDDEN) for part in below):
                yield int(info.size or 0)

    def tree(self, path: str) -> Iterator[Entry]:
        for info in self._system.get_file_info(self._below(path)):
            below = info.path[len(path) :].strip("/")
            if below:
                yield Entry(below, int(info.size or 0) if info.type.name == "File" else None)

    def read(self, path: str, limit: int) -> bytes:
        with self._system.open_input_stream(path) as reading:
            return bytes(reading.read(limit))

    def write(self, path: str, data: bytes) -> None:
        """Writes a new file: an object that exists would be replaced, so it is looked for before."""
        if self._kind(path) != "NotFound":
            raise FileExistsError(errno.EEXIST, "the file exists", path)
        if self._renames:
            self._system.create_dir(path.rpartition("/")[0], recursive=True)
        with self._system.open_output_stream(path) as writing:
            writing.write(data)

    def _kind(self, path: str) -> str:
        """Directory, File, or NotFound."""
        return str(self._system.get_file_info(path).type.name)

    def _below(self, path: str, *, recursive: bool = True) -> Any:
        from pyarrow.fs import FileSelector

        return FileSelector(path, recursive=recursive)

    def _copy(self, source: str, target: str, *, undo: bool) -> None:
        """Copies a tree. If one copy fails, `undo` removes the target again: only while the source is complete."""
        entries = self._system.get_file_info(self._below(source))

        def copy(info: Any) -> None:
            path = target + info.path[len(source) :]
            if info.type.name == "Directory":
                self._system.create_dir(path, recursive=True)
            elif int(info.size or 0) < self._copied_by_server:
                self._system.copy_file(info.path, path)
            else:
                self._stream(info.path, path)

        infos = iter(entries)
        try:
            with ThreadPoolExecutor(COPIES_AT_ONCE) as pool:
                # A few at a time, so that a failure does not wait for all the others.
                while batch := list(islice(infos, 16 * COPIES_AT_ONCE)):
                    list(pool.map(copy, batch))
        except BaseException:
            if undo:
                self._system.delete_dir(target)
            raise

    def _stream(self, source: str, target: str) -> None:
        with self._system.open_input_stream(source) as reading, self._system.open_output_stream(target) as writing:
            while data := reading.read(BUFFER):
                writing.write(data)
