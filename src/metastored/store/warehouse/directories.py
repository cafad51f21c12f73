"""The warehouse's directories. Nothing here runs inside a transaction, or knows the objects of a directory.

`mode` is which directories the server accesses: `all`, only `local` ones, or none (`off`). Others are left alone:
nothing is created, moved or removed there, and they count as missing. Of the accessed ones, only the schemes of the
setting `location_schemes` are opened, by `file_systems.py`.
"""

import logging
import os
import time
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal, NamedTuple

from metastored.config import LOCATION_SCHEMES
from metastored.errors import StoreError
from metastored.hive.location_rules import (
    ARCHIVE_SCHEME,
    TRASH,
    accepted,
    is_above,
    location_key,
    plain_path,
    unaliased,
)
from metastored.hive.locations import (
    LOCAL_SCHEME,
    LocationError,
    canonical,
    is_local,
    is_under,
    join,
    local_path,
    parent,
    parse_location,
    same_location,
)
from metastored.hive.transactions.layout import METADATA_FILE
from metastored.hive.transactions.resolution import Listing, listing_of
from metastored.store.engine.database import Database
from metastored.store.engine.transaction import Transaction
from metastored.store.warehouse import jobs
from metastored.store.warehouse.file_systems import LOCAL, FileSystem, first_link, open_remote
from metastored.store.warehouse.file_systems import NotADirectory as NotADirectory
from metastored.store.warehouse.object_stores import check_driver
from metastored.store.warehouse.occupied import occupant
from metastored.store.warehouse.removals import Removal, remove_together
from metastored.store.warehouse.trash_roots import CURRENT, record_trash_root

Mode = Literal["all", "local", "off"]

log = logging.getLogger("metastored.store")

MARKER_BYTES: Final = 4096
"""The bytes of a `_metadata_acid` that are read."""

TIMEOUT: Final = 60.0
"""Seconds that a call to a remote file system may take, by default."""


class TreeStatistics(NamedTuple):
    """The files in a directory and all below it; hidden files and directories (`_x`, `.x`) do not count."""

    files: int
    bytes: int


class JobFailed(StoreError):
    """A job that failed; it is kept and retried."""

    def __init__(self, id: int, reason: str) -> None:
        super().__init__(reason)
        self.id: Final = id


class Warehouse:
    """Directories by their location."""

    def __init__(
        self,
        root_uri: str,
        mode: Mode = "all",
        *,
        schemes: Collection[str] = LOCATION_SCHEMES,
        timeout: float = TIMEOUT,
        trash_days: float = 0,
    ) -> None:
        self.root = canonical(root_uri)
        self.mode = mode
        self.schemes: Final = frozenset({*schemes, LOCAL_SCHEME})
        self.timeout: Final = timeout
        self.trash_days: Final = trash_days

    def check(self) -> None:
        """Raises StoreError if the driver for the warehouse itself is not installed."""
        if self.looks_at(self.root):
            check_driver(self.root)

    def looks_at(self, uri: str) -> bool:
        """Whether this server accesses the directory.

        False for a text that is not a location, which an import may have stored.
        """
        if plain_path(uri) is not None:
            return self.mode != "off"
        try:
            uri = unaliased(uri)
        except LocationError:
            return False
        if self.mode == "off" or parse_location(uri).scheme == ARCHIVE_SCHEME:
            return False
        return self.mode == "all" or is_local(uri)

    def qualified(self, uri: str) -> str:
        """A location as Hadoop writes it; one without a scheme is on the warehouse's own file system.

        Raises LocationError for a location that no client may use. A server that opens no directory of other schemes
        stores them as texts, whatever they are.
        """
        location = accepted(uri, self.root, self.schemes if self.mode == "all" else None)
        if f"/{TRASH}" in location and is_under(location, join(self.root, TRASH)):
            raise LocationError(f"{uri!r} is in the trash; move the data out of it first")
        return location

    def make(self, uri: str) -> int:
        """Creates a directory and those above it; returns how many of them did not exist before."""
        if not self.looks_at(uri):
            return 0
        with _Reported("make", uri):
            system, path = self._file_system(uri)
            return system.make(path)

    def exists(self, uri: str) -> bool:
        if not self.looks_at(uri):
            return False
        with _Reported("look at", uri):
            system, path = self._file_system(uri)
            return system.exists(path)

    def is_empty(self, uri: str) -> bool:
        """Whether a directory is empty, without even hidden files, or does not exist."""
        if not self.looks_at(uri):
            return True
        with _Reported("look into", uri):
            system, path = self._file_system(uri)
            return not system.exists(path) or system.is_empty(path)

    def move(self, source: str, target: str) -> bool:
        """Moves a directory; the target must not exist or be empty. Returns False if the source does not exist."""
        if not (self.looks_at(source) and self.looks_at(target)):
            return False
        with _Reported("move", source):
            if _authority(source) != _authority(target):
                raise StoreError(f"{source} cannot be moved to {target}: they are on different file systems")
            system, path = self._file_system(source)
            _, target_path = self._file_system(target)
            half_done = system.is_half_moved(path, target_path)
            if not system.exists(path) and not half_done:
                return False
            if not half_done and system.exists(target_path) and not system.is_empty(target_path):
                raise StoreError(f"{source} cannot be moved to {target}: that exists already")
            system.move(path, target_path)
            return True

    def remove(self, uri: str, below: str | None = None, *, to_trash: bool = False) -> bool:
        """Removes a directory with its content, or moves it to the trash; returns False if it does not exist.

        Directories between it and `below` that become empty are removed as well.
        """
        if not self.looks_at(uri):
            return False
        self.check_removable(uri)
        with _Reported("remove", uri):
            system, path = self._file_system(uri)
            existed = system.exists(path)
            if existed and to_trash and self.trash_days and not is_under(uri, self.trash_of(uri)):
                target = self._free_in_trash(system, uri)
                system.move(path, self._file_system(target)[1])
            elif existed:
                system.remove(path)
            above = parent(uri)
            while below is not None and above is not None and _is_strictly_under(above, below):
                if not system.remove_empty(self._file_system(above)[1]):
                    break
                above = parent(above)
            return existed

    def check_removable(self, uri: str) -> None:
        """Raises StoreError for a directory that is never removed.

        These are a root, a directory that contains the warehouse, a path through a symbolic link, and a scheme
        that this server does not use.
        """
        if not self.looks_at(uri):
            return
        if not location_key(uri).path or location_key(uri) == location_key(self.root):
            raise StoreError(f"{uri} is not removed: it is the root of a file system or of the warehouse")
        if is_above(uri, self.root):
            raise StoreError(f"{uri} is not removed: the warehouse {self.root} is in it")
        with _Reported("remove", uri):
            location = unaliased(uri)
            self._check_scheme(location)
            if is_local(location):
                trusted = local_path(self.root) if is_local(self.root) and is_under(location, self.root) else None
                link = first_link(local_path(location), trusted)
                if link is not None:
                    raise StoreError(f"{uri} is not removed: {link} is a symbolic link; name the directory itself")

    def check_all_removable(self, uris: Iterable[str]) -> None:
        """As `check_removable` for each: for many directories of one parent, the path to it is checked once."""
        warehouse = local_path(self.root) if is_local(self.root) else None
        linked: dict[str, bool] = {}
        for uri in uris:
            path = plain_path(uri)
            if path is not None and warehouse is not None and path.startswith(f"{warehouse}/") and self.mode != "off":
                parent, _, _ = path.rpartition("/")
                if parent not in linked:
                    linked[parent] = first_link(parent, warehouse) is not None
                if not linked[parent] and not os.path.islink(path):
                    continue
            self.check_removable(uri)

    # --- trash ---

    def trash_of(self, uri: str) -> str:
        """The trash for a location: in the warehouse or, on another file system, in its root."""
        if _authority(uri) == _authority(self.root):
            return join(self.root, TRASH)
        if is_local(unaliased(uri)):
            return join(LOCAL_SCHEME + ":" + os.path.expanduser("~"), TRASH)
        return str(parse_location(uri)._replace(path=f"/{TRASH}"))

    def _free_in_trash(self, system: FileSystem, uri: str) -> str:
        """The path of a directory in the trash; like Hadoop, with the time at its end if the path exists already."""
        target = f"{self.trash_of(uri)}/{CURRENT}{parse_location(uri).path}"
        if system.exists(self._file_system(target)[1]):
            target += str(int(time.time() * 1000))
        return target

    def names(self, uri: str) -> list[str]:
        """The entries of a directory, sorted; none if it does not exist."""
        if not self.looks_at(uri):
            return []
        with _Reported("look into", uri):
            system, path = self._file_system(uri)
            return system.names(path) if system.exists(path) else []

    def remove_empty(self, uri: str) -> bool:
        """Removes a directory if it is empty; returns False if it stays."""
        if not self.looks_at(uri):
            return False
        with _Reported("remove", uri):
            system, path = self._file_system(uri)
            return system.remove_empty(path)

    def clear(self, uri: str, *, to_trash: bool = False) -> bool:
        """Empties a directory, and creates it if it does not exist.

        Returns False where this server accesses no directories.
        """
        if not self.looks_at(uri):
            return False
        self.remove(uri, to_trash=to_trash)
        self.make(uri)
        return True

    def statistics(self, uri: str) -> TreeStatistics:
        """Number and bytes of the files in a directory and below; zero for one that does not exist."""
        if not self.looks_at(uri):
            return TreeStatistics(0, 0)
        with _Reported("look into", uri):
            system, path = self._file_system(uri)
            if not system.exists(path):
                return TreeStatistics(0, 0)
            sizes = list(system.sizes(path))
            return TreeStatistics(len(sizes), sum(sizes))

    def listing(self, uri: str) -> Listing:
        """Everything below the directory of a transactional table or partition; nothing if it does not exist.

        Raises StoreError where this server does not access the directory.
        """
        if not self.looks_at(uri):
            raise StoreError(f"this server does not access {uri} (the setting directories is {self.mode})")
        with _Reported("look into", uri):
            system, path = self._file_system(uri)
            entries = list(system.tree(path)) if system.exists(path) else []
            marker = f"/{METADATA_FILE}"
            marked = {name.removesuffix(marker) for name, _ in entries if name.endswith(marker)}
            compacted = {
                name for name in marked if b'"compacted"' in system.read(f"{path}/{name}{marker}", MARKER_BYTES)
            }
            return listing_of(entries, compacted)

    # --- files, never through symbolic links in the warehouse ---

    def read_file(self, uri: str, most: int) -> bytes:
        """The first bytes of a file, at most `most`. Raises StoreError, also where this server does not access it."""
        with _Reported("read", uri):
            system, path = self._accessed(uri)
            return system.read(path, most)

    def write_file(self, uri: str, data: bytes) -> None:
        """Writes a new file and the directories above it. Raises StoreError, also if it exists."""
        with _Reported("write", uri):
            system, path = self._accessed(uri)
            system.write(path, data)

    def remove_file(self, uri: str) -> None:
        """Removes a file that exists. Raises StoreError for a directory, too."""
        with _Reported("remove", uri):
            system, path = self._accessed(uri)
            if system is LOCAL:
                os.unlink(path)
            else:
                system.remove(path)

    def _accessed(self, uri: str) -> tuple[FileSystem, str]:
        if not self.looks_at(uri):
            raise StoreError(f"this server does not access {uri} (the setting directories is {self.mode})")
        location = unaliased(uri)
        if is_local(location):
            # Whoever may write to a directory could let the server open any file by a link in it.
            path = local_path(location)
            if is_local(self.root) and is_under(location, self.root):
                link = first_link(path, local_path(self.root))
            else:
                link = next((each for each in (path, os.path.dirname(path)) if os.path.islink(each)), None)
            if link is not None:
                raise StoreError(f"{uri} is not opened: {link} is a symbolic link; name the file itself")
        return self._file_system(uri)

    def _file_system(self, uri: str) -> tuple[FileSystem, str]:
        location = unaliased(uri)
        self._check_scheme(location)
        if is_local(location):
            return LOCAL, local_path(location)
        return open_remote(location, parse_location(location).scheme, self.timeout)

    def _check_scheme(self, uri: str) -> None:
        """A location may have been stored by a server with other settings, or imported."""
        scheme = parse_location(uri).scheme or LOCAL_SCHEME
        if scheme not in self.schemes:
            raise StoreError(f"{uri} has a scheme that is not in the setting location_schemes")

    # --- jobs ---

    def finish_jobs(
        self,
        database: Database,
        ids: Iterable[int] | None = None,
        *,
        retry: Collection[int] = (),
        now: float | None = None,
    ) -> list[JobFailed]:
        """Runs committed jobs: the named ones, or all that are due.

        A job that failed is due again after a backoff that grows with each attempt; those in `retry` are attempted at
        once. This may be called twice, and by two servers at once. Returns the jobs that failed.
        """
        errors: list[JobFailed] = []
        moment = int(time.time() if now is None else now)
        due = [job.id for job in jobs.due(database.reader(), moment)] if ids is None else sorted(ids)
        again = set(due) if ids is None else set(retry)
        for batch in jobs.batches(due):
            with jobs.claimed_together(database, batch):
                errors += self._finish_together(database, batch, again, moment)
        return errors

    def _finish_together(self, database: Database, ids: list[int], again: Collection[int], now: int) -> list[JobFailed]:
        """Runs the jobs of one claim, and deletes those that are done in one transaction, still under the claim.

        Run twice, a job would remove a directory that a client has created there since.
        """
        failures: dict[int, JobFailed] = {}
        # Read under the claim: another server may have done some in the meantime.
        due = [job for job in jobs.find_many(database.reader(), ids) if not job.is_failed or job.id in again]
        for job in self._not_removed(due):
            try:
                self._do(database, job)
            except StoreError as exc:
                failures[job.id] = JobFailed(job.id, str(exc))
                log.warning("a directory was not moved or removed, and will be retried: %s", exc)
        done = [job.id for job in due if job.id not in failures]

        def write(tx: Transaction) -> None:
            jobs.all_done(tx, done)
            for id, failure in failures.items():
                jobs.failed(tx, id, str(failure), now)

        if done or failures:
            database.run(write)
        return list(failures.values())

    def _not_removed(self, due: Sequence[jobs.JobRow]) -> Sequence[jobs.JobRow]:
        """Removes local directories together; returns the jobs that have to be done one by one.

        These are all of them if some are no first removals: then their order may count.
        """
        if self.mode == "off" or any(job.kind != "remove" or job.attempts for job in due):
            return due
        warehouse = local_path(self.root) if is_local(self.root) else None
        left = remove_together([Removal(job.source, job.target) for job in due], warehouse)
        return [due[at] for at in left]

    def _do(self, database: Database, job: jobs.JobRow) -> None:
        if job.attempts:
            # While it was failed, calls could create objects below its directory. From here on they wait for it.
            database.run(lambda tx: jobs.resume(tx, job.id))
            if job.kind != "move":
                self.check_removable(job.source)
                user = occupant(database.reader(), job.source)
                if user is not None:
                    raise StoreError(f"{job.source} is not removed: {user} is in it now")
        # Without a source the job was done, and the server stopped before it deleted the job.
        if job.kind == "move":
            assert job.target is not None
            self.move(job.source, job.target)
        else:
            if job.kind == "trash" and self.trash_days:
                record_trash_root(database, self.trash_of(job.source))
            self.remove(job.source, job.target, to_trash=job.kind == "trash")


# --- errors ------------------------------------------------------------------------------------------


class _Reported:
    """Turns an error of a file system into a StoreError that names the operation and the location."""

    def __init__(self, verb: str, uri: str) -> None:
        self._what = f"could not {verb} {uri}"

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LocationError):
            raise StoreError(str(error)) from error
        if isinstance(error, Exception) and not isinstance(error, StoreError):
            raise StoreError(f"{self._what}: {error}") from error


def _is_strictly_under(uri: str, ancestor: str) -> bool:
    return is_under(uri, ancestor) and not same_location(uri, ancestor)


def _authority(uri: str) -> tuple[str, str]:
    """The common prefix of locations on one file system."""
    location = parse_location(unaliased(uri))
    return location.scheme or LOCAL_SCHEME, location.authority.lower()
