"""A database of metastored as the source or target of a transfer, opened directly: read by a client within the process,
written field by field.

No server is needed. Servers that use the database may run; they see the changes at once. Directories are neither
created nor checked.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, Final

from metastored.client._sync.client import Client, connect
from metastored.errors import MetaException, StoreError
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_CATALOG
from metastored.model.names import DatabaseName, TableName
from metastored.service.bootstrap import ensure_defaults
from metastored.service.core.context import Context, Service
from metastored.service.local import Local
from metastored.service.restore import (
    restore_catalog,
    restore_constraints,
    restore_database,
    restore_function,
    restore_grants,
    restore_member,
    restore_role,
    restore_table,
)
from metastored.service.restore_partitions import restore_partitions
from metastored.store.engine.database import Database as Store
from metastored.store.engine.migrate import check_schema, ensure_schema, revision
from metastored.store.engine.opening import open_database
from metastored.store.objects import catalogs
from metastored.store.warehouse.directories import Warehouse
from metastored.threads import Pool
from metastored.transfer.writing import Dropping, PageChange, TableChange
from metastored.wire.generated.catalogs import Catalog
from metastored.wire.generated.databases import Database
from metastored.wire.generated.functions import Function
from metastored.wire.generated.roles import HiveObjectPrivilege, Role, RolePrincipalGrant
from metastored.wire.message import Session
from metastored.wire.structs import replace

FILE: Final = "metastored.db"
"""The database in a data folder."""
USER: Final = "metastored"
THREADS: Final = 4


class Opening(Enum):
    """What happens if the database does not exist."""

    CREATE = "create"
    """It is created: the target of a copy."""
    REQUIRE = "require"
    """It is an error: a source, or the target of a verification."""
    PRETEND = "pretend"
    """It counts as an empty metastore, and is not created: the target of a dry run."""


@contextmanager
def opened(
    url: str | None, data: Path | None, warehouse: str, opening: Opening = Opening.CREATE
) -> Iterator[tuple[Client, LocalWriter]]:
    """The database at a URL, or in a data folder; `warehouse` is the location of a new database's default database.

    Only CREATE writes to it. Raises StoreError when it does not exist and `opening` requires it.
    """
    if opening is Opening.PRETEND and not _is_there(url, data):
        with tempfile.TemporaryDirectory(prefix="metastored-dry-run-") as folder:
            with opened(None, Path(folder), warehouse) as empty:
                yield empty
        return
    creates = opening is Opening.CREATE
    database = open_database(url, data, threads=THREADS + 4, create=creates)
    pool = Pool(THREADS)
    try:
        service = Service(database, Warehouse(warehouse, "off"), started=time.time())
        if creates:
            ensure_schema(database)
            ensure_defaults(service)
        else:
            check_schema(database)
            if not _has_defaults(database):
                raise StoreError("the database has no catalogs yet: no server has used it, and nothing was imported")
        with connect(handler=Local(service, pool), user=USER, cache=False, timeout=600.0) as client:
            yield client, LocalWriter(client, service)
    finally:
        pool.close()
        database.close()


def _is_there(url: str | None, data: Path | None) -> bool:
    """Whether there is a metastore already. Creates nothing."""
    if data is not None:
        if data.exists() and not data.is_dir():
            raise StoreError(f"{data} is a file; a data folder was expected")
        if not (data / FILE).exists():
            return False
    database = open_database(url, data, threads=1, create=False)
    try:
        return revision(database) is not None and _has_defaults(database)
    finally:
        database.close()


def _has_defaults(database: Store) -> bool:
    return catalogs.find(database.reader(), DEFAULT_CATALOG) is not None


class LocalWriter(Dropping):
    """Writes to the store directly, without the API: every field keeps its value."""

    stamped: Collection[str] = frozenset()

    def __init__(self, client: Client, service: Service) -> None:
        super().__init__(client)
        self._service = service

    def _context(self) -> Context:
        # Constraints from old servers need not satisfy the checks that newer servers apply to new constraints.
        return Context(self._service, Session("import", Generation.HIVE_2_3, user=USER))

    def put_catalog(self, catalog: Catalog, before: Catalog | None) -> None:
        restore_catalog(self._context(), catalog)

    def put_database(self, db: DatabaseName, database: Database, before: Database | None) -> None:
        restore_database(self._context(), _name(db), database)

    def put_function(self, db: DatabaseName, function: Function, before: Function | None) -> None:
        restore_function(self._context(), _name(db), function)

    def put_table(self, change: TableChange) -> None:
        restore_table(
            self._context(),
            _name(change.name.database_name),
            change.table,
            change.statistics,
            change.dropped_statistics,
        )

    def put_partitions(self, change: PageChange) -> None:
        restore_partitions(
            self._context(),
            _name(change.name.database_name),
            change.name.table,
            (*change.added, *change.altered),
            {name: columns for name, _, columns, _ in change.statistics if columns},
            {name: dropped_statistics for name, _, _, dropped_statistics in change.statistics if dropped_statistics},
        )

    def put_constraints(
        self, table: TableName, constraints: Mapping[str, Sequence[Any]], dropped: Sequence[str]
    ) -> None:
        if not table.catalog:
            constraints = {
                kind: [replace(one, catName=None) for one in columns] for kind, columns in constraints.items()
            }
        restore_constraints(self._context(), _name(table.database_name), table.table, constraints, dropped)

    def put_role(self, role: Role, before: Role | None) -> None:
        restore_role(self._context(), role)

    def put_member(self, member: RolePrincipalGrant, before: RolePrincipalGrant | None) -> None:
        restore_member(self._context(), member)

    def put_grants(self, grants: Sequence[HiveObjectPrivilege]) -> None:
        refused = restore_grants(self._context(), grants)
        if refused:
            raise MetaException(
                f"{len(refused)} privileges are on objects that are not there, the first on {refused[0]}"
            )


def _name(db: DatabaseName) -> DatabaseName:
    """The name as the service writes it: no catalog is the default one."""
    return DatabaseName(db.catalog or DEFAULT_CATALOG, db.database)
