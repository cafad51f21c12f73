"""Versions of tables that the metastore manages: the conditional update and its repair.

A commit of version N is one `alter_table_with_environment_context` with `expected_parameter_key=version` and the
expected value N - 1. The metastore decides between concurrent writers. The alter also stores the name of the staged
manifest, so that anybody can publish it if the writer dies between the alter and the publication.

An invariant follows: the manifests 1 … `version` are published, except perhaps the newest, which is staged under the
name in `lance.manifest_path`. `settled` restores it. Nothing here reads rows.
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
from metastored.lance.files import Manifest, Manifests
from metastored.model.names import TableName
from metastored.wire.generated.common import Table
from metastored.wire.structs import replace

log = logging.getLogger("metastored.lance")

ATTEMPTS: Final = 10
"""How often a commit looks again after a reply that does not tell its outcome."""
MAX_FAILURES: Final = 3
"""How often an alter is repeated that the metastore failed to do."""


class Commits:
    """The versions of one `impl` table."""

    def __init__(self, client: Client, name: TableName, table: Table, manifests: Manifests) -> None:
        self._client = client
        self._name = name
        self.table = table
        """The table as it was read last."""
        self.manifests: Final = manifests
        self._failures = 0
        """How often the metastore has failed to do an alter of this commit."""
        self._lost: TransportError | None = None
        """The failure of the last alter whose reply was lost."""

    def newest(self) -> Manifest | None:
        """The newest version after repairs; None for a table without data."""
        version = self.settled()
        if not version:
            return None
        found = self.manifests.find(version)
        if found is None:
            raise InvalidTableStateError(
                f"version {version} of {self._name} is the newest in the metastore, but its manifest is not at "
                f"{self.manifests.path('')}"
            )
        return found

    def settled(self) -> int:
        """The number of the newest version, after an unfinished commit was repaired.

        A version that was published without the metastore's knowledge (by a writer that bypasses it, or because
        somebody else set the parameter back) is adopted: it is never overwritten.
        """
        for _ in range(ATTEMPTS):
            version = version_of(self.table)
            if version:
                self._repair(version)
            if self.manifests.find(version + 1) is None:
                return version
            # Most likely another writer has committed since the table was read.
            self.reread()
            if version_of(self.table) == version and not self._adopt(version):
                return self._published_after(version)
        return version_of(self.table)

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
            if self.manifests.directory.manifest(staged, version) is None:
                raise InvalidInputError(f"there is no manifest {self.manifests.path(staged)}")
            if self._advance(version, {VERSION: str(version), MANIFEST: staged}):
                if self.manifests.publish(staged, version):
                    return self._published(version)
                raise ConcurrentModificationError(
                    f"version {version} of {self._name} was written by somebody who bypasses the metastore"
                )
            try:
                self.reread()
            except TransportError as error:
                raise self._lost or error from None  # The first of them says that it may have happened.
        raise self._lost or ServiceUnavailableError(
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
        """One conditional alter; False if its condition did not hold, or if its reply was lost."""
        changed = replace(self.table, parameters={**(self.table.parameters or {}), **parameters})
        try:
            self._client.alter(self._name, changed, environment=conditional(str(version - 1)))
        except MetaException as error:
            if is_conflict(error):
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
            self._lost = error
            return False
        self.table = changed
        return True

    def _decided(self, staged: str, version: int) -> Manifest:
        """The version exists: it is this commit, whose reply was lost, or another writer's."""
        parameters = self.table.parameters or {}
        own = version_of(self.table) == version and parameters.get(MANIFEST) == staged
        if own or self.manifests.is_published(staged, version):
            return self._published(version)
        raise ConcurrentModificationError(f"version {version} of {self._name} was created by another writer")

    def _published(self, version: int) -> Manifest:
        found = self.manifests.find(version)
        if found is None:
            raise InvalidTableStateError(f"the manifest of version {version} of {self._name} disappeared")
        return found

    def _repair(self, version: int) -> None:
        """Publishes the manifest of the newest version if its writer died before it could."""
        if self.manifests.find(version) is not None:
            return
        staged = (self.table.parameters or {}).get(MANIFEST)
        if staged and self.manifests.publish(staged, version):
            log.info("version %d of %s was committed and is published now", version, self._name)

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
