"""Versions of tables that the metastore manages: the conditional update and its repair.

A commit of version N is one `alter_table_with_environment_context` with `expected_parameter_key=version` and the
expected value N - 1. The metastore decides between concurrent writers. The alter also stores the name of the staged
manifest, so that anybody can publish it if the writer dies between the alter and the publication.

An invariant follows: the manifests 1 … `version` are published, except perhaps the newest, which is staged under the
name in `lance.manifest_path`. `settled` restores it. Nothing here reads rows.

An alter replaces the complete definition, so a commit reads the table, and alters it at once. metastored compares the
definition that it gets with the stored one (`metastored.changes_only`). Then a commit may begin with a definition that
was read earlier: if it is not the stored one any more, the alter is refused, and the commit reads the table.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from lance_namespace import (
    ConcurrentModificationError,
    InvalidInputError,
    InvalidTableStateError,
    ServiceUnavailableError,
    TableNotFoundError,
)

from metastored.bounded import BoundedDict
from metastored.client._sync.client import Client
from metastored.errors import (
    InvalidOperationException,
    MetaException,
    MetastoreError,
    NoSuchObjectException,
    TransportError,
)
from metastored.lance.conditions import conditional, is_conflict
from metastored.lance.definition import MANIFEST, VERSION, version_of
from metastored.lance.files import Manifest, Manifests, final_name, scheme_of
from metastored.model.conditions import OTHER_TABLE
from metastored.model.names import TableName
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace

log = logging.getLogger("metastored.lance")

ATTEMPTS: Final = 10
"""How often a commit looks again after a reply that does not tell its outcome."""
MAX_FAILURES: Final = 3
"""How often an alter is repeated that the metastore failed to do."""
MAX_REFUSALS: Final = 3
"""How often the stored table may be another one than was read. Then it is not compared any more: a server in between,
such as one with a filter, does not return definitions as they are stored."""


class ReadTables:
    """The definitions of `impl` tables that were read for the newest version, each for one commit after it."""

    CAPACITY: Final = 1_000
    """Tables; then all are evicted."""

    def __init__(self) -> None:
        self._tables: BoundedDict[TableName, Table] = BoundedDict(self.CAPACITY)

    def put(self, name: TableName, table: Table) -> None:
        self._tables[name] = table

    def take(self, name: TableName) -> Table | None:
        return self._tables.pop(name, None)


class Commits:
    """The versions of one `impl` table."""

    def __init__(self, client: Client, name: TableName, table: Table, manifests: Manifests) -> None:
        self._client = client
        self._name = name
        self.table = table
        """The table as it was read last."""
        self.manifests: Final = manifests
        self.lost: TransportError | None = None
        """The failure of the last alter whose reply was lost."""
        self._failures = 0
        """How often the metastore has failed to do an alter of this commit."""
        self._newest: Manifest | None = None
        """The manifest of the newest version that was seen last."""
        self._refusals = 0
        """How often an alter was refused because the stored table is another one."""

    def newest(self) -> Manifest | None:
        """The newest version after repairs; None for a table without data."""
        version = self.settled()
        if not version:
            return None
        manifest = self._newest
        if manifest is None or manifest.version != version:
            manifest = self.manifests.find(version)
        if manifest is None:
            raise InvalidTableStateError(
                f"version {version} of {self._name} is the newest in the metastore, but its manifest is not at "
                f"{self.manifests.path('')}"
            )
        return manifest

    def settled(self) -> int:
        """The number of the newest version, after an unfinished commit was repaired.

        A version that was published without the metastore's knowledge (by a writer that bypasses it, or because
        somebody else set the parameter back) is adopted: it is never overwritten.
        """
        for _ in range(ATTEMPTS):
            version = version_of(self.table)
            manifest = self._newest = self._repaired(version) if version else None
            # A dataset keeps its naming scheme.
            if self.manifests.find(version + 1, None if manifest is None else scheme_of(manifest.name)) is None:
                return version
            # Most likely another writer has committed since the table was read.
            self.reread()
            if version_of(self.table) == version and not self._adopt(version):
                return self._published_after(version)
        return version_of(self.table)

    def commit_at_once(self, staged: str, version: int) -> Manifest | None:
        """One attempt to commit with a table that was read earlier, at a server that compares it with the stored one.

        Returns None if the table has to be read: it has changed, the reply was lost, or there is something to repair.
        Raises ConcurrentModificationError if another writer has published the version.
        """
        if version_of(self.table) != version - 1 or self.settled() != version - 1:
            return None
        manifest = self.manifests.directory.manifest(staged, version)
        if manifest is None:
            return None
        if self._advance(version, {VERSION: str(version), MANIFEST: staged}):
            return self._publish(manifest)
        if self.manifests.find(version) is not None and not self.manifests.is_published(staged, version):
            raise self._conflict(version)
        return None

    def commit(self, staged: str, version: int) -> Manifest:
        """Makes a staged manifest a version. Raises ConcurrentModificationError if another writer did first."""
        for _ in range(ATTEMPTS):
            current = self.settled()
            if current >= version:
                return self._decided(staged, version)
            if current < version - 1:
                raise InvalidInputError(
                    f"version {version} of {self._name} cannot be created: the newest is {current}, so the next is "
                    f"{current + 1}"
                )
            manifest = self.manifests.directory.manifest(staged, version)
            if manifest is None:
                raise InvalidInputError(f"there is no manifest {self.manifests.path(staged)}")
            if self._advance(version, {VERSION: str(version), MANIFEST: staged}):
                return self._publish(manifest)
            try:
                self.reread()
            except TransportError as error:
                raise self.lost or error from None  # The first of them says that it may have happened.
        raise self.lost or ServiceUnavailableError(
            f"version {version} of {self._name} was not created: the metastore refused it {ATTEMPTS} times, and no "
            f"other writer created it"
        )

    def reread(self) -> None:
        """Reads the table again. Raises TableNotFoundError if it was dropped."""
        try:
            self.table = self._client.table(self._name)
        except NoSuchObjectException:
            raise TableNotFoundError(f"table {self._name} does not exist") from None

    def _advance(self, version: int, parameters: Mapping[str, str]) -> bool:
        """One conditional alter; False if its conditions did not hold, or if its reply was lost."""
        changed = replace(self.table, parameters={**(self.table.parameters or {}), **parameters})
        changes = parameters if self._refusals < MAX_REFUSALS else None
        environment = conditional(str(version - 1), changes=changes)
        try:
            self._client.alter(self._name, changed, environment=environment)
        except MetaException as error:
            if is_conflict(error):
                self._refusals += OTHER_TABLE in (error.message or "")
                return False
            # Such as a deadlock in the metastore's database. A refusal of the caller is a class of its own.
            if type(error) is not MetaException or self._failures >= MAX_FAILURES:
                raise
            self._failures += 1
            log.warning("a commit of version %d of %s failed: %s", version, self._name, error)
            return False
        except InvalidOperationException:
            self.reread()  # It was dropped or renamed.
            raise
        except TransportError as error:
            # The client has looked up the outcome already, where it could. The next attempt looks again.
            log.warning("the reply to a commit of version %d of %s was lost: %s", version, self._name, error)
            self.lost = error
            return False
        self.table = changed
        return True

    def _decided(self, staged: str, version: int) -> Manifest:
        """The version exists: it is this commit, whose reply was lost, or another writer's."""
        parameters = self.table.parameters or {}
        own = version_of(self.table) == version and parameters.get(MANIFEST) == staged
        if own or self.manifests.is_published(staged, version):
            return self._published(version)
        raise self._conflict(version)

    def _conflict(self, version: int) -> ConcurrentModificationError:
        return ConcurrentModificationError(f"version {version} of {self._name} was created by another writer")

    def _publish(self, staged: Manifest) -> Manifest:
        """Publishes the manifest of a version that the metastore has accepted."""
        if not self.manifests.publish(staged.name, staged.version):
            raise ConcurrentModificationError(
                f"version {staged.version} of {self._name} was written by somebody who bypasses the metastore"
            )
        # The same file, so it need not be looked at again.
        return staged._replace(name=final_name(staged.version, scheme_of(staged.name)))

    def _published(self, version: int) -> Manifest:
        manifest = self.manifests.find(version)
        if manifest is None:
            raise InvalidTableStateError(f"the manifest of version {version} of {self._name} disappeared")
        return manifest

    def _repaired(self, version: int) -> Manifest | None:
        """The manifest of the newest version. It is published if its writer died before that."""
        manifest = self.manifests.find(version)
        staged = (self.table.parameters or {}).get(MANIFEST)
        if manifest is not None or not staged:
            return manifest
        if self.manifests.publish(staged, version):
            log.info("version %d of %s was committed and is published now", version, self._name)
        return self.manifests.find(version)

    def _adopt(self, version: int) -> bool:
        """Tells the metastore of the version after `version`; False for a reader who must not alter the table."""
        try:
            if self._advance(version + 1, {VERSION: str(version + 1), MANIFEST: ""}):
                log.warning("version %d of %s was not known to the metastore and is adopted", version + 1, self._name)
            else:
                self.reread()
        except MetastoreError as error:
            log.warning("version %d of %s is not known to the metastore: %s", version + 1, self._name, error)
            return False
        return True

    def _published_after(self, version: int) -> int:
        while self.manifests.find(version + 1) is not None:
            version += 1
        return version
