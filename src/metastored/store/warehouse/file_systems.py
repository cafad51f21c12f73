"""The file systems that hold the warehouse's directories: this machine's own, object stores, all others by fsspec.

Drivers are imported at their first use. A call to a remote file system has a timeout. Nothing here
decides which directory may be opened.
"""

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import PurePosixPath
from typing import Any, Final, Protocol, TypeVar

from metastored.errors import StoreError
from metastored.store.warehouse.object_stores import EXTRAS, HIDDEN, Entry, open_directories

Result = TypeVar("Result")

MAKE_ATTEMPTS: Final = 20
"""How many attempts there are to create a directory while others remove the ones above it."""

LONG: Final = 10
"""The timeout of calls that move, remove or count all files of a directory, as a multiple of the usual one."""

MAX_UNANSWERED: Final = 64
"""Calls to remote file systems that may run at once in a process, including those that timed out."""

_slots = threading.BoundedSemaphore(MAX_UNANSWERED)


class NotADirectory(StoreError):
    """There is a file at the path of a directory."""


class FileSystemTimeout(Exception):
    """A remote file system took too long, or too many calls to it are still running."""


class FileSystem(Protocol):
    """The operations that the warehouse needs of a file system. Paths are absolute."""

    def make(self, path: str) -> int: ...
    def exists(self, path: str) -> bool: ...
    def is_empty(self, path: str) -> bool: ...
    def names(self, path: str) -> list[str]: ...
    def move(self, source: str, target: str) -> None: ...
    def is_half_moved(self, source: str, target: str) -> bool: ...
    def remove(self, path: str) -> None: ...
    def remove_empty(self, path: str) -> bool: ...
    def sizes(self, path: str) -> Iterator[int]: ...
    def tree(self, path: str) -> Iterator[Entry]: ...
    def read(self, path: str, limit: int) -> bytes: ...
    def write(self, path: str, data: bytes) -> None: ...


class Local:
    """Directories of this machine."""

    def make(self, path: str) -> int:
        above = 0
        for _ in range(MAKE_ATTEMPTS):
            try:
                os.mkdir(path)
                return above + 1
            except FileExistsError:
                if os.path.isdir(path):
                    return 0
                if os.path.lexists(path):
                    raise NotADirectory(f"{path} is a file") from None
            except FileNotFoundError:
                above = self.make(os.path.dirname(path))  # Or it was removed just now.
        raise StoreError(f"{path} could not be made: others remove it, or one above it, again and again")

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def names(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def move(self, source: str, target: str) -> None:
        os.makedirs(os.path.dirname(target), exist_ok=True)
        try:
            os.rename(source, target)
        except OSError as exc:
            if exc.errno != errno.EXDEV:
                raise
            self.remove_empty(target)
            shutil.move(source, target)

    def is_half_moved(self, source: str, target: str) -> bool:
        return False

    def remove(self, path: str) -> None:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)

    def remove_empty(self, path: str) -> bool:
        try:
            os.rmdir(path)
        except FileNotFoundError:
            return True
        except OSError as exc:
            if exc.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            return False
        return True

    def is_empty(self, path: str) -> bool:
        with os.scandir(path) as entries:
            return next(entries, None) is None

    def sizes(self, path: str) -> Iterator[int]:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.name.startswith(HIDDEN):
                    continue
                if entry.is_dir():
                    yield from self.sizes(entry.path)
                else:
                    yield entry.stat().st_size

    def tree(self, path: str) -> Iterator[Entry]:
        return self._tree(path, "")

    def _tree(self, path: str, prefix: str) -> Iterator[Entry]:
        with os.scandir(path) as entries:
            for entry in entries:
                name = f"{prefix}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    yield Entry(name, None)
                    yield from self._tree(entry.path, f"{name}/")
                elif entry.is_dir():
                    raise StoreError(f"{entry.path} is a symbolic link to a directory")
                else:
                    yield Entry(name, entry.stat().st_size)

    def read(self, path: str, limit: int) -> bytes:
        with open(path, "rb") as file:
            return file.read(limit)

    def write(self, path: str, data: bytes) -> None:
        """Writes a new file, on the disk when this returns. Nothing of it remains if that fails."""
        self.make(os.path.dirname(path))
        with open(path, "xb") as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                os.unlink(path)
                raise


LOCAL: Final = Local()


def first_link(path: str, trusted: str | None = None) -> str | None:
    """The first symbolic link in a local path, itself included; those down to `trusted` do not count."""
    inner = [part for part in path.split("/") if part]
    known = [part for part in (trusted or "").split("/") if part]
    start = len(known) if inner[: len(known)] == known else 0
    for depth in range(start + 1, len(inner) + 1):
        prefix = "/" + "/".join(inner[:depth])
        if os.path.islink(prefix):
            return prefix
    return None


class Remote:
    """Directories of an fsspec file system; in an object store they exist while something is in them."""

    def __init__(self, system: Any) -> None:
        self._system = system

    def make(self, path: str) -> int:
        if self._system.isdir(path):
            return 0
        self._system.makedirs(path)
        return 1  # Those above it are mostly no directories of their own.

    def exists(self, path: str) -> bool:
        return bool(self._system.exists(path))

    def names(self, path: str) -> list[str]:
        return sorted(entry.rstrip("/").rpartition("/")[2] for entry in self._system.ls(path, detail=False))

    def move(self, source: str, target: str) -> None:
        self.remove_empty(target)
        self._system.mv(source, target, recursive=True)

    def is_half_moved(self, source: str, target: str) -> bool:
        return False

    def remove(self, path: str) -> None:
        self._system.rm(path, recursive=True)

    def remove_empty(self, path: str) -> bool:
        if not self.exists(path):
            return True
        if not self.is_empty(path):
            return False
        self._system.rmdir(path)
        return True

    def is_empty(self, path: str) -> bool:
        return not self._system.ls(path, detail=False)

    def sizes(self, path: str) -> Iterator[int]:
        for entry, info in self._system.find(path, detail=True).items():
            below = PurePosixPath(entry.strip("/")).relative_to(path.strip("/"))
            if not any(part.startswith(HIDDEN) for part in below.parts):
                yield int(info.get("size") or 0)

    def tree(self, path: str) -> Iterator[Entry]:
        for entry, info in self._system.find(path, withdirs=True, detail=True).items():
            below = str(PurePosixPath(entry.strip("/")).relative_to(path.strip("/")))
            if below != ".":
                yield Entry(below, None if info.get("type") == "directory" else int(info.get("size") or 0))

    def read(self, path: str, limit: int) -> bytes:
        with self._system.open(path, "rb") as file:
            return bytes(file.read(limit))

    def write(self, path: str, data: bytes) -> None:
        if self._system.exists(path):
            raise FileExistsError(errno.EEXIST, "the file exists", path)
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        with self._system.open(path, "wb") as file:
            file.write(data)


class Timed:
    """A file system whose calls have a timeout."""

    def __init__(self, system: FileSystem, timeout: float) -> None:
        self._system = system
        self._timeout = timeout

    def make(self, path: str) -> int:
        return within(self._timeout, lambda: self._system.make(path))

    def exists(self, path: str) -> bool:
        return within(self._timeout, lambda: self._system.exists(path))

    def is_empty(self, path: str) -> bool:
        return within(self._timeout, lambda: self._system.is_empty(path))

    def names(self, path: str) -> list[str]:
        return within(self._timeout, lambda: self._system.names(path))

    def remove_empty(self, path: str) -> bool:
        return within(self._timeout, lambda: self._system.remove_empty(path))

    def is_half_moved(self, source: str, target: str) -> bool:
        return within(self._timeout, lambda: self._system.is_half_moved(source, target))

    def move(self, source: str, target: str) -> None:
        within(self._timeout * LONG, lambda: self._system.move(source, target))

    def remove(self, path: str) -> None:
        within(self._timeout * LONG, lambda: self._system.remove(path))

    def sizes(self, path: str) -> Iterator[int]:
        return iter(within(self._timeout * LONG, lambda: list(self._system.sizes(path))))

    def tree(self, path: str) -> Iterator[Entry]:
        return iter(within(self._timeout * LONG, lambda: list(self._system.tree(path))))

    def read(self, path: str, limit: int) -> bytes:
        return within(self._timeout, lambda: self._system.read(path, limit))

    def write(self, path: str, data: bytes) -> None:
        within(self._timeout, lambda: self._system.write(path, data))


def open_remote(uri: str, scheme: str, timeout: float) -> tuple[FileSystem, str]:
    """The file system of a location that is not local, and the path on it: by pyarrow where an extra is for it."""
    system, path = within(timeout, lambda: open_directories(uri) if scheme in EXTRAS else _by_fsspec(uri, scheme))
    return Timed(system, timeout), path


def _by_fsspec(uri: str, scheme: str) -> tuple[FileSystem, str]:
    """fsspec would read `a::b` in a URL as one file system inside of another; here it is part of a name."""
    from fsspec.registry import get_filesystem_class  # Imported only where directories are on such a file system.

    try:
        kind = get_filesystem_class(scheme)
    except ImportError as exc:
        raise StoreError(f"{uri} needs a driver that is not installed: {exc}") from exc
    except ValueError as exc:
        raise StoreError(f"{uri} has a scheme that fsspec does not know: {exc}") from exc
    return Remote(kind(**kind._get_kwargs_from_urls(uri))), kind._strip_protocol(uri)


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Returns the result of `work`; raises FileSystemTimeout if that takes longer. 0 waits for ever.

    Drivers differ in their timeouts and some have none, so the work runs on a thread that can be abandoned.
    """
    if not _slots.acquire(blocking=False):
        raise FileSystemTimeout(f"{MAX_UNANSWERED} calls to remote file systems have not returned yet; try again later")
    outcome: Future[Result] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)
        finally:
            _slots.release()

    threading.Thread(target=run, name="metastored-remote-files", daemon=True).start()
    try:
        return outcome.result(seconds or None)
    except TimeoutError:
        if outcome.done():
            raise
        raise FileSystemTimeout(f"the file system did not respond within {seconds:g} s (directory_timeout)") from None
