# Made by tools/unasync.py from _async/capabilities.py: DO NOT EDIT.
"""Detects what a server supports: its version, the twelve features, and which form of a call it has.

Nothing is assumed: the newer form of a call is tried first, and the result is cached for each address separately,
because servers are upgraded one after the other.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from metastored.client._backend import threads as io
from metastored.client._sync.caller import Caller
from metastored.client.versions import FEATURES, HiveVersion, missing_sentence, parse_version
from metastored.errors import ApplicationError, MetastoreError, NotSupported, VersionUnknown
from metastored.hive.generation import Generation
from metastored.wire.generated.catalogs import AlterCatalogRequest, Catalog

SINCE_3_1: Final = (
    "alter_catalog",
    AlterCatalogRequest(name="no such catalog", newCat=Catalog(name="no such catalog")),
)
"""The only method of 3.1 that 3.0 does not have. A catalog with this name cannot exist, so nothing is altered."""


OLDEST: Final = HiveVersion(2, 3)
"""The version of a metastore that does not tell it."""

log = logging.getLogger("metastored.client")


class Capabilities:
    """Each `has_…` returns whether the server has a feature; with `check` it raises NotSupported if it has not."""

    def __init__(self, api: Caller) -> None:
        self._api = api
        self._lock = io.Lock()
        self._known: dict[tuple[str, str], bool] = {}
        """Whether the server has a method, by address and method."""
        self._versions: dict[str, HiveVersion] = {}
        """By address."""
        self._assumed: set[str] = set()
        """Addresses whose version is an assumption."""

    @property
    def version_is_assumed(self) -> bool:
        """Whether `version()` is 2.3 only because the server has no method that tells its version."""
        return self._api.address in self._assumed

    def version(self) -> HiveVersion:
        """The server's version of Hive, as far as its replies tell.

        A metastore with none of the methods that tell it, such as one that serves nine methods over HTTP, is taken for
        2.3, the oldest version that is supported; `version_is_assumed` is then True and a warning is logged. Raises
        VersionUnknown for a server that is not a metastore.
        """
        detected = self._versions.get(self._api.address)
        if detected is None:
            detected = self._detected()
            self._versions[self._api.address] = detected
        return detected

    def generation(self) -> Generation:
        """The release line whose rules the server follows."""
        version = self.version()
        if version < (3, 0):
            return Generation.HIVE_2_3
        if version < (4, 0):
            return Generation.HIVE_3_1
        return Generation.HIVE_4_0 if version < (4, 2) else Generation.HIVE_4_2

    def knows(self, method: str, *args: Any) -> bool:
        """Whether the server has a method. If this is not known, the method is called; `args` must change nothing."""
        exists = self._known.get((self._api.address, method))
        if exists is None:
            exists = True
            try:
                self._api.call(method, *args)
            except ApplicationError as error:
                exists = error.type != ApplicationError.UNKNOWN_METHOD
            except MetastoreError:
                pass  # The server has the method and refused the arguments.
            self.learned(method, exists)
        return exists

    def learned(self, method: str, exists: bool) -> None:
        """Stores whether the server has this method, as a call has shown."""
        with self._lock:
            self._known[self._api.address, method] = exists

    def lacks(self, method: str) -> bool:
        """Whether a call has shown that the server does not have this method."""
        return self._known.get((self._api.address, method)) is False

    def supports(self, feature: str, check: bool = False) -> bool:
        """Whether the server has one of the twelve features; with `check`, raises NotSupported if it has not.

        Each of them also has a method of its own, `has_constraints(check=True)` and so on.
        """
        wanted = FEATURES[feature]
        there = self.knows(wanted.method, *wanted.args)
        if not there and check:
            try:
                server = f"Hive {self.version()}"
            except VersionUnknown:
                server = "no known version of Hive"
            if self.version_is_assumed:
                server = f"{server} as far as is known"
            raise NotSupported(missing_sentence(wanted, server, self._api.uri))
        return there

    def has_databases(self, check: bool = False) -> bool:
        """Whether the server has databases."""
        return self.supports("databases", check)

    def has_tables(self, check: bool = False) -> bool:
        """Whether the server has tables."""
        return self.supports("tables", check)

    def has_partitions(self, check: bool = False) -> bool:
        """Whether the server has partitions."""
        return self.supports("partitions", check)

    def has_acid_transactions(self, check: bool = False) -> bool:
        """Whether the server has transactions with write ids of a table (since Hive 3.0)."""
        return self.supports("acid_transactions", check)

    def has_lock_service(self, check: bool = False) -> bool:
        """Whether the server has locks."""
        return self.supports("lock_service", check)

    def has_table_statistics(self, check: bool = False) -> bool:
        """Whether the server has column statistics of several columns in one call."""
        return self.supports("table_statistics", check)

    def has_constraints(self, check: bool = False) -> bool:
        """Whether the server has NOT NULL, UNIQUE, DEFAULT and CHECK constraints (since Hive 3.0)."""
        return self.supports("constraints", check)

    def has_materialized_views(self, check: bool = False) -> bool:
        """Whether the server has materialized views (since Hive 3.0)."""
        return self.supports("materialized_views", check)

    def has_compaction_history(self, check: bool = False) -> bool:
        """Whether the server has the history of compactions."""
        return self.supports("compaction_history", check)

    def has_schema_registry(self, check: bool = False) -> bool:
        """Whether the server has the schema registry (since Hive 3.0)."""
        return self.supports("schema_registry", check)

    def has_bulk_operations(self, check: bool = False) -> bool:
        """Whether the server has many tables in one call, with the client's capabilities (since Hive 2.3)."""
        return self.supports("bulk_operations", check)

    def has_partition_batching(self, check: bool = False) -> bool:
        """Whether the server has many partitions by their names in one call."""
        return self.supports("partition_batching", check)

    def _detected(self) -> HiveVersion:
        """The version by `getVersion` from 4.0 on; before, by methods that a version introduced."""
        said: str | None = None
        if self.knows("getVersion"):
            said = self._api.getVersion()
            release = parse_version(said)
            if release is not None and release >= (4, 0):
                return release
        if self.knows("get_metastore_db_uuid"):
            return HiveVersion(3, 1) if self.knows(*SINCE_3_1) else HiveVersion(3, 0)
        bulk = FEATURES["bulk_operations"]
        if self.knows(bulk.method, *bulk.args):
            return HiveVersion(2, 3)
        locks = FEATURES["lock_service"]
        if self.knows(locks.method, *locks.args):
            return HiveVersion(2, 0)
        reason = (
            f"getVersion says {said!r}, and it has neither get_metastore_db_uuid nor {bulk.method} nor {locks.method}"
        )
        if not self.knows("get_all_databases"):
            raise VersionUnknown(f"the metastore at {self._api.uri} is not a version of Hive from 2.0 on: {reason}")
        self._assumed.add(self._api.address)
        log.warning("the metastore at %s is taken for Hive %s: %s", self._api.uri, OLDEST, reason)
        return OLDEST
