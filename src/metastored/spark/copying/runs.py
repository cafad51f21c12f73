"""One run of a copy to a table of files: its lease, the names of its directories, and what killed runs left behind.

A run holds a lease at its target (`hive/transactions/leases.py`), named as its directories are. A directory of another
run is removed if the lease of that run is free, so that it can publish nothing more, and if the metastore, asked after
that, refers to it nowhere. Where the metastore has no locks, a run has no lease: its directories are removed by nobody.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from metastored.client._sync.client import Client
from metastored.client._sync.leases import Lease
from metastored.errors import ApplicationError, Error, LeaseHeld, MetastoreError, NotSupported
from metastored.hive.locations import is_under, join
from metastored.model.names import TableName
from metastored.spark.copying.marks import DIRECTORY, STAGING, lease_of, token
from metastored.spark.files import Files

log = logging.getLogger("metastored.copying")


class CopyRun:
    """A run that is at work. `token` is its name."""

    def __init__(self, client: Client, target: TableName, files: Files, token: str, lease: Lease | None) -> None:
        self.token = token
        self._client = client
        self._target = target
        self._files = files
        self._lease = lease
        self._over: dict[str, bool] = {}
        """For each lease that was looked at, whether it is free."""

    @property
    def staging(self) -> str:
        """The name of the directory for what is not published."""
        return STAGING + self.token

    @property
    def directory(self) -> str:
        """The name of the directories that are published."""
        return DIRECTORY + self.token

    def renew(self) -> None:
        """Before and after something is published. Raises LockFailed if another process may have removed its files."""
        if self._lease is not None:
            self._lease.renew()

    def clean(self, location: str, in_use: Iterable[str] = ()) -> None:
        """Removes directories of runs that are over from a directory. `in_use` are names that need no question."""
        known = {*in_use, self.staging, self.directory}
        old = []
        for entry in self._files.entries(location):
            lease = lease_of(entry.name) if entry.is_directory and entry.name not in known else None
            if lease is not None and self._is_over(lease):
                old.append(join(location, entry.name))
        if not old:
            return
        used = self._locations()
        for directory in old:
            if not any(is_under(each, directory) for each in used):
                self._files.remove(directory)

    def _is_over(self, lease: str) -> bool:
        if lease not in self._over:
            try:
                self._over[lease] = _lease(self._client, self._target, lease).is_free()
            except Error as error:
                log.warning("directories of the copy %s to %s are left: %s", lease, self._target, error)
                self._over[lease] = False
        return self._over[lease]

    def _locations(self) -> list[str]:
        """All directories that the target and its partitions refer to now."""
        table = self._client.fresh_table(self._target)
        sds = [table.sd]
        if table.partitionKeys:
            sds += [each.sd for each in self._client.partitions(self._target)]
        return [sd.location for sd in sds if sd is not None and sd.location]


@contextmanager
def copy_run(client: Client, target: TableName, files: Files) -> Iterator[CopyRun]:
    """A new run, which holds its lease until the end."""
    now, random = time.time(), uuid.uuid4().hex[:16]
    name = token(now, random, leased=True)
    lease = _lease(client, target, name)
    try:
        lease.__enter__()
    except LeaseHeld:
        raise  # Somebody has locked the whole table.
    except (NotSupported, MetastoreError, ApplicationError) as error:
        log.warning("the copy to %s has no lease: if it is killed, its directories are not removed: %s", target, error)
        yield CopyRun(client, target, files, token(now, random, leased=False), None)
        return
    try:
        yield CopyRun(client, target, files, name, lease)
    finally:
        lease.__exit__(None, None, None)


def unleased_directory() -> str:
    """A name for a directory of a format that has commits of its own, and a way of its own to remove leftovers."""
    return DIRECTORY + token(time.time(), uuid.uuid4().hex[:16], leased=False)


def _lease(client: Client, target: TableName, name: str) -> Lease:
    return client.lease(name, f"the copy to {target}", table=target)
