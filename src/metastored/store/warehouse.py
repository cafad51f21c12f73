"""The warehouse's directories. Nothing here runs inside a transaction, or knows what a directory belongs to.

Local directories are handled by the operating system, those of object stores and HDFS by `object_stores.py`, all
others by fsspec and its driver for their scheme. Drivers are imported at their first use. `mode` says which directories
the server can reach: `all`, only `local` ones, or none (`off`). What it cannot reach it leaves alone: nothing is made,
moved or removed, and nothing is found there.
"""

import errno
import logging
import os
import shutil
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, Final, Literal, NamedTuple, Protocol

from metastored.errors import StoreError
from metastored.hive.locations import (
    LOCAL_SCHEME,
    LocationError,
    canonical,
    is_local,
    is_under,
    local_path,
    parent,
    parse_location,
    qualified,
    same_location,
)
from metastored.store import jobs
from metastored.store.database import Database
from metastored.store.object_stores import EXTRAS, check_driver, open_directories
from metastored.store.transaction import Transaction

Mode = Literal["all", "local", "off"]

log = logging.getLogger("metastored.store")


class TreeStatistics(NamedTuple):
    """What is in a directory and all below it; hidden files and directories (`_x`, `.x`) do not count."""

    files: int
    bytes: int


class NotADirectory(StoreError):
    """There is a file where a directory was wanted."""


class _FileSystem(Protocol):
    """The few things that the warehouse asks of a file system. Paths are absolute."""

    def make(self, path: str) -> int: ...
    def exists(self, path: str) -> bool: ...
    def is_empty(self, path: str) -> bool: ...
    def move(self, source: str, target: str) -> None: ...
    def is_half_moved(self, source: str, target: str) -> bool: ...
    def remove(self, path: str) -> None: ...
    def remove_empty(self, path: str) -> bool: ...
    def sizes(self, path: str) -> Iterator[int]: ...


class Warehouse:
    """Directories by their location."""

    def __init__(self, root_uri: str, mode: Mode = "all") -> None:
        self.root = canonical(root_uri)
        self.mode = mode

    def check(self) -> None:
        """Raises StoreError if the driver for the warehouse itself is not installed."""
        if self.looks_at(self.root):
            check_driver(self.root)

    def looks_at(self, uri: str) -> bool:
        """Whether this server handles the directory at all."""
        return self.mode == "all" or (self.mode == "local" and is_local(uri))

    def qualified(self, uri: str) -> str:
        """A location as Hadoop writes it; one without a scheme is on the warehouse's own file system."""
        return qualified(uri, self.root)

    def make(self, uri: str) -> int:
        """Make a directory and those above it; how many of them were not there before, none if it was."""
        if not self.looks_at(uri):
            return 0
        with _Reported("make", uri):
            system, path = _file_system(uri)
            return system.make(path)

    def exists(self, uri: str) -> bool:
        if not self.looks_at(uri):
            return False
        with _Reported("look at", uri):
            system, path = _file_system(uri)
            return system.exists(path)

    def is_empty(self, uri: str) -> bool:
        """Whether a directory has nothing in it, not even hidden files, or is not there."""
        if not self.looks_at(uri):
            return True
        with _Reported("look into", uri):
            system, path = _file_system(uri)
            return not system.exists(path) or system.is_empty(path)

    def move(self, source: str, target: str) -> bool:
        """Move a directory to where nothing is, or an empty directory; False if the source does not exist."""
        if not (self.looks_at(source) and self.looks_at(target)):
            return False
        with _Reported("move", source):
            if _authority(source) != _authority(target):
                raise StoreError(f"{source} cannot be moved to {target}: they are on different file systems")
            system, path = _file_system(source)
            _, target_path = _file_system(target)
            half_done = system.is_half_moved(path, target_path)
            if not system.exists(path) and not half_done:
                return False
            if not half_done and system.exists(target_path) and not system.is_empty(target_path):
                raise StoreError(f"{source} cannot be moved to {target}: that exists already")
            system.move(path, target_path)
            return True

    def remove(self, uri: str, below: str | None = None) -> bool:
        """Remove a directory with all that is in it; False if it does not exist.

        Of the directories between it and `below`, those that are empty then are removed as well.
        """
        if not self.looks_at(uri):
            return False
        if parent(uri) is None or same_location(uri, self.root):
            raise StoreError(f"{uri} is not removed: it is the root of a file system or of the warehouse")
        with _Reported("remove", uri):
            system, path = _file_system(uri)
            existed = system.exists(path)
            if existed:
                system.remove(path)
            above = parent(uri)
            while below is not None and above is not None and _is_strictly_under(above, below):
                if not system.remove_empty(_file_system(above)[1]):
                    break
                above = parent(above)
            return existed

    def remove_empty(self, uri: str) -> bool:
        """Remove a directory if nothing is in it; False if it stays."""
        if not self.looks_at(uri):
            return False
        with _Reported("remove", uri):
            system, path = _file_system(uri)
            return system.remove_empty(path)

    def clear(self, uri: str) -> bool:
        """Empty a directory, and make it if it is not there; False where this server does not look."""
        if not self.looks_at(uri):
            return False
        self.remove(uri)
        self.make(uri)
        return True

    def statistics(self, uri: str) -> TreeStatistics:
        """Number and bytes of the files in a directory and below; nothing for one that does not exist."""
        if not self.looks_at(uri):
            return TreeStatistics(0, 0)
        with _Reported("look into", uri):
            system, path = _file_system(uri)
            if not system.exists(path):
                return TreeStatistics(0, 0)
            sizes = list(system.sizes(path))
            return TreeStatistics(len(sizes), sum(sizes))

    def finish_jobs(self, database: Database, ids: Iterable[int] | None = None) -> list[StoreError]:
        """Do jobs that were committed: those named, or all that a crashed server left.

        It may be called twice, and by two servers at once. A job that cannot be done stays; why is returned.
        """
        errors: list[StoreError] = []
        wanted = [job.id for job in jobs.all(database.reader())] if ids is None else sorted(ids)
        for group, members in groupby(wanted, key=jobs.group_of):
            with jobs.claimed_group(database, group):
                errors += self._finish_together(database, list(members))
        return errors

    def _finish_together(self, database: Database, ids: list[int]) -> list[StoreError]:
        """Do the jobs of one claim, and forget all that are done in one transaction, still under the claim:
        done twice, a job would hit what a client has made in its place since."""
        failures: dict[int, str] = {}
        for id in ids:
            try:
                self._do(database, id)
            except StoreError as exc:
                failures[id] = str(exc)
                log.warning("a directory was not moved or removed, and will be tried again: %s", exc)

        def write(tx: Transaction) -> None:
            jobs.all_done(tx, [id for id in ids if id not in failures])
            for id, error in failures.items():
                jobs.failed(tx, id, error)

        database.run(write)
        return [StoreError(error) for error in failures.values()]

    def _do(self, database: Database, id: int) -> None:
        # Read under the claim: another server may have done it while we waited.
        job = jobs.find(database.reader(), id)
        if job is None:
            return
        # Without a source the job was done, and only the crash came before it was forgotten.
        if job.kind == "move":
            assert job.target is not None
            self.move(job.source, job.target)
        else:
            self.remove(job.source, job.target)


# --- file systems ------------------------------------------------------------------------------------------


class _Reported:
    """Turns what a file system raises into a StoreError that says what was tried, and where."""

    def __init__(self, verb: str, uri: str) -> None:
        self._what = f"could not {verb} {uri}"

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LocationError):
            raise StoreError(str(error)) from error
        if isinstance(error, Exception) and not isinstance(error, StoreError):
            raise StoreError(f"{self._what}: {error}") from error


_HIDDEN = ("_", ".")

MAKE_ATTEMPTS: Final = 20
"""How often a directory is tried to be made while others remove the ones above it."""


class _Local:
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
                if entry.name.startswith(_HIDDEN):
                    continue
                if entry.is_dir():
                    yield from self.sizes(entry.path)
                else:
                    yield entry.stat().st_size


class _Remote:
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

    def move(self, source: str, target: str) -> None:
        self.remove_empty(target)
        self._system.mv(source, target, recursive=True)

    def is_half_moved(self, source: str, target: str) -> bool:
        return False

    def remove(self, path: str) -> None:
        self._system.rm(path, recursive=True)

    def remove_empty(self, path: str) -> bool:
        if not self._system.exists(path):
            return True
        if not self.is_empty(path):
            return False
        self._system.rmdir(path)
        return True

    def is_empty(self, path: str) -> bool:
        return not self._system.ls(path, detail=False)

    def sizes(self, path: str) -> Iterator[int]:
        for found, info in self._system.find(path, detail=True).items():
            below = PurePosixPath(found.strip("/")).relative_to(path.strip("/"))
            if not any(part.startswith(_HIDDEN) for part in below.parts):
                yield int(info.get("size") or 0)


_LOCAL = _Local()


def _file_system(uri: str) -> tuple[_FileSystem, str]:
    if is_local(uri):
        return _LOCAL, local_path(uri)
    if parse_location(uri).scheme in EXTRAS:
        return open_directories(uri)
    from fsspec.core import url_to_fs  # Only who has directories elsewhere pays for its import.

    try:
        system, path = url_to_fs(uri)
    except ImportError as exc:
        raise StoreError(f"{uri} needs a driver that is not installed: {exc}") from exc
    except ValueError as exc:
        raise StoreError(f"{uri} has a scheme that fsspec does not know: {exc}") from exc
    return _Remote(system), path


def _is_strictly_under(uri: str, ancestor: str) -> bool:
    return is_under(uri, ancestor) and not same_location(uri, ancestor)


def _authority(uri: str) -> tuple[str, str]:
    """What locations on one file system have in common."""
    location = parse_location(uri)
    return location.scheme or LOCAL_SCHEME, location.authority.lower()
