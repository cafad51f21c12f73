"""Whether a caller may make an operation that changes files, which no call of the metastore describes.

The metastore decides by calls that need the same privilege and change nothing: to change rows, the caller requests a
lock for that kind of change; to change anything else of a table, the caller sends an alter_table whose condition is
never met; to have a dataset opened at a location, the caller sends a create_table that is never valid. Other operations
on objects of the metastore, and reads, need no check here: their own calls have it.

A change of rows of an `impl` table ends with an alter_table, which only the owner of a table may send. After the check
of the privileges to change rows, the table is entrusted to the client that commits.

Used where a server acts for its callers. A namespace in a client's process has no more rights than its process.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Final

from lance_namespace.errors import InvalidInputError

from metastored.client._sync.client import Client
from metastored.errors import AlreadyExistsException, InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.location_rules import accepted
from metastored.hive.locations import LocationError
from metastored.lance.definition import FORMAT
from metastored.lance.identifiers import Levels
from metastored.lance.locations import stored_location
from metastored.lance.rest.operations import Effect
from metastored.lance.rest.requests import Parsed
from metastored.model.makers import storage
from metastored.model.names import TableName
from metastored.model.normal import TWICE
from metastored.wire.generated.common import DataOperationType, EnvironmentContext, FieldSchema, Table
from metastored.wire.generated.locks import LockComponent, LockLevel, LockRequest, LockType, UnlockRequest
from metastored.wire.structs import replace

__all__ = ["Rights"]

ROOT: Final = "file:/"
"""The file system of a location without a scheme."""
CONDITION: Final = {"expected_parameter_key": "table_type", "expected_parameter_value": "(the caller may alter it)"}
"""The condition of an alter_table that no Lance table meets: its `table_type` is lance."""
NOT_MET: Final = "The table has been modified."
"""How the metastore begins its reply when a caller may alter the table and the condition is not met."""


class Rights:
    """What the user of a client may have done."""

    def __init__(
        self,
        client: Client,
        levels: Levels,
        schemes: Collection[str],
        entrust: Callable[[TableName], None],
        *,
        authorized: bool,
    ) -> None:
        """`schemes` are those of locations that may be opened; without `authorized` no privileges are needed.

        `entrust` is called with a table whose rows the caller may change.
        """
        self._client = client
        self._levels = levels
        self._schemes = schemes
        self._entrust = entrust
        self._authorized = authorized

    def check(self, parsed: Parsed) -> None:
        """Raises PermissionDenied if the caller may not make this operation, and InvalidInputError for a wrong id."""
        if getattr(parsed.request, "storage_options", None):
            raise InvalidInputError("storage_options are not taken: the server has its own access to the storage")
        if parsed.operation.name == "register_table":
            self._check_location(parsed)
        if self._authorized:
            self._check_privileges(parsed)

    def _check_location(self, parsed: Parsed) -> None:
        try:
            accepted(parsed.request.location, ROOT, self._schemes)
        except LocationError as error:
            raise InvalidInputError(f"the location {parsed.request.location!r} is not valid: {error}") from None

    def _check_privileges(self, parsed: Parsed) -> None:
        effect = parsed.operation.effect
        if parsed.operation.name == "register_table":
            self._may_open(self._levels.table(parsed.id), stored_location(parsed.request.location), _overwrites(parsed))
        elif effect in (Effect.READ, Effect.CATALOG):
            return
        elif effect is Effect.CREATE:
            if _overwrites(parsed):
                self._may_alter(self._levels.table(parsed.id))
        elif effect is Effect.ALTER:
            for id in _ids(parsed):
                self._may_alter(self._levels.table(id))
        else:
            self._may_change_rows(self._levels.table(parsed.id), _changes(parsed))

    def _may_change_rows(self, table: TableName, changes: Iterable[int]) -> None:
        parts = tuple(
            LockComponent(
                type=LockType.SHARED_WRITE,
                level=LockLevel.TABLE,
                dbname=table.database,
                tablename=table.table,
                operationType=change,
                catName=table.catalog_field,
            )
            for change in changes
        )
        request = LockRequest(component=parts, user=self._client.user, hostname="metastored", agentInfo="lance")
        held = self._client.api.lock(request)
        self._client.api.unlock(UnlockRequest(lockid=held.lockid))
        self._entrust(table)

    def _may_open(self, table: TableName, location: str, replaces: bool) -> None:
        """Whether a table may have this location: an existing one by an alter, a new one by a create."""
        if replaces and self._client.table_exists(table):
            self._may_alter(table, location)
            return
        columns = (FieldSchema("twice", "int"), FieldSchema("twice", "int"))
        sd = replace(storage(columns, FORMAT, {}), location=location)
        invalid = Table(tableName=table.table, dbName=table.database, sd=sd, catName=table.catalog_field)
        try:
            self._client.api.create_table(invalid)
        except MetaException as error:
            if TWICE not in (error.message or ""):
                raise
            return  # The caller may create the table, and it is not valid.
        except (InvalidObjectException, AlreadyExistsException, NoSuchObjectException):
            return  # The operation itself reports it.
        # Only a remote metastore takes such a table.
        self._client.drop_table(table, delete_data=False)

    def _may_alter(self, table: TableName, location: str | None = None) -> None:
        try:
            struct = self._client.fresh_table(table)
            if location is not None and struct.sd is not None:
                struct = replace(struct, sd=replace(struct.sd, location=location))
            context = EnvironmentContext(properties=dict(CONDITION))
            self._client.api.alter_table_with_environment_context(table.database_field, table.table, struct, context)
        except NoSuchObjectException:
            return  # The operation itself reports it.
        except MetaException as error:
            if not (error.message or "").startswith(NOT_MET):
                raise


def _changes(parsed: Parsed) -> tuple[int, ...]:
    """The kinds of changes that an operation makes to rows."""
    request = parsed.request
    match parsed.operation.effect:
        case Effect.UPDATE:
            return (DataOperationType.UPDATE,)
        case Effect.DELETE:
            return (DataOperationType.DELETE,)
        case Effect.COMMIT:
            return (DataOperationType.INSERT, DataOperationType.UPDATE, DataOperationType.DELETE)
        case Effect.MERGE:
            kinds = [DataOperationType.INSERT] if request.when_not_matched_insert_all is not False else []
            if request.when_matched_update_all is not False:
                kinds.append(DataOperationType.UPDATE)
            if request.when_not_matched_by_source_delete is not False:
                kinds.append(DataOperationType.DELETE)
            return tuple(kinds) or (DataOperationType.INSERT,)
        case _:
            kinds = [DataOperationType.INSERT]
            return tuple(kinds if not _overwrites(parsed) else [*kinds, DataOperationType.DELETE])


def _overwrites(parsed: Parsed) -> bool:
    """Whether the mode replaces what is there. Namespaces read OverWrite, over_write and OVERWRITE as the same word."""
    return str(parsed.request.mode or "").replace("_", "").lower() == "overwrite"


def _ids(parsed: Parsed) -> list[list[str]]:
    """The tables of an operation: of a batch, each table in it; of a transaction, the names before its own."""
    request: Any = parsed.request
    if parsed.operation.name == "alter_transaction":
        return [parsed.id[:-1]]
    if parsed.operation.name == "batch_create_table_versions":
        return [list(each.id) for each in request.entries]
    if parsed.operation.name == "batch_commit_tables":
        steps = (step for each in request.operations for step in each.to_dict().values())
        return [list(step.get("id") or ()) for step in steps if isinstance(step, dict)]
    return [parsed.id]
