"""Executes metastored's statements as calls of the metastore.

    statements = AsyncStatements(client)
    await statements.run("USE sales")
    result = await statements.run("SHOW TABLES")

Each statement is one of `statements/values.py`. The definitions of remotes are read from the server's list
(`NAMESPACE`), which calls no remote, so that a dead remote can be shown, altered and dropped. A caller who may not read
that list, and a server without one, get them from the objects' parameters.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from metastored.client._async.definitions import execute_definition
from metastored.client._async.rights import execute_right
from metastored.client._async.shows import execute_show
from metastored.client._async.views import execute_materialized
from metastored.client.statements import descriptions
from metastored.client.statements.values import (
    Result,
    changed,
    create_statement,
    database_of,
    definition,
    kind_of_name,
    local_name,
    new_catalog,
    new_connector,
    new_database,
    new_table,
    owner_type,
    pattern_of,
    rows_of,
    table_of,
)
from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    Error,
    InvalidOperationException,
    MethodMissing,
    NoSuchObjectException,
    PermissionDenied,
)
from metastored.hive.names import DEFAULT_CATALOG
from metastored.hive.patterns import compile_pattern
from metastored.model.names import DatabaseName, TableName, database_name
from metastored.model.remotes.keys import PREFIX, is_remote, remote_keys
from metastored.model.remotes.lists import NAMESPACE, OWNER, OWNER_TYPE, list_key, list_values, name_of
from metastored.statements import values as s
from metastored.statements.definitions import DefinitionStatement
from metastored.statements.materialized import MaterializedStatement
from metastored.statements.parsing import parse_script
from metastored.statements.printing import printed
from metastored.statements.rights import RightsStatement
from metastored.statements.shows import ShowStatement
from metastored.statements.values import Kind, Parts, Statement
from metastored.wire.generated.catalogs import (
    AlterCatalogRequest,
    Catalog,
    CreateCatalogRequest,
    DropCatalogRequest,
    GetCatalogRequest,
)
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.connectors import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    DataConnector,
    DropDataConnectorRequest,
    GetDataConnectorRequest,
)
from metastored.wire.generated.databases import Database
from metastored.wire.generated.service import PropertyGetRequest
from metastored.wire.structs import replace

if TYPE_CHECKING:
    from metastored.client._async.operations import AsyncOperations

DONE = Result()


class AsyncStatements:
    """Statements of one user, with a current database that USE changes."""

    def __init__(self, client: AsyncOperations, database: str = "default") -> None:
        self._client = client
        self.current: DatabaseName = database_name(database)

    async def run(self, text: str) -> Result:
        """Executes the statements of a text, separated by `;`. Returns the result of the last one.

        Raises StatementError before anything is executed, and what the metastore raises.
        """
        result = DONE
        for statement in parse_script(text):
            result = await self.execute(statement)
        return result

    async def execute(self, statement: Statement) -> Result:
        """Executes one statement."""
        match statement:
            case s.CreateRemote():
                return await self._create(statement)
            case s.AlterRemote():
                return await self._alter(statement)
            case s.DropRemote():
                return await self._drop(statement)
            case s.ShowRemotes():
                return await self._show_remotes(statement)
            case s.ShowCreateRemote(kind, name):
                local = local_name(kind, name, self.current)
                defined = await self._definition(kind, local)
                return rows_of("createremote_stmt", [printed(create_statement(kind, local, defined)) + ";"])
            case s.Use(name):
                database = database_of(name, self.current)
                await self._database(database)
                self.current = database
                return DONE
            case _ if isinstance(statement, ShowStatement):
                return await execute_show(self._client, self.current, statement)
            case _ if isinstance(statement, RightsStatement):
                return await execute_right(self._client, self.current, statement)
            case _ if isinstance(statement, MaterializedStatement):
                return await execute_materialized(self._client, self.current, statement)
            case _ if isinstance(statement, DefinitionStatement):
                return await execute_definition(self._client, self.current, statement)
            case _:
                return await self._connectors(statement)

    # Remotes

    async def _create(self, statement: s.CreateRemote) -> Result:
        client, kind, name = self._client, statement.kind, statement.name
        parameters = definition(statement, local_name(kind, name, self.current))
        if kind is Kind.TABLE:
            table = new_table(table_of(name, self.current), parameters)
            await client.create_table(table, if_not_exists=statement.if_not_exists)
        elif kind is Kind.DATABASE:
            database = new_database(database_of(name, self.current), statement, parameters)
            await client.create_database(database, if_not_exists=statement.if_not_exists)
        else:
            request = CreateCatalogRequest(new_catalog(name[0], statement, parameters))
            try:
                await client.api.create_catalog(request)
            except AlreadyExistsException:
                if not statement.if_not_exists:
                    raise
        try:
            await self._read(kind, name, parameters)
        except Error as error:
            return rows_of("warning", [f"created, and it does not answer now: {error}"])
        return DONE

    async def _read(self, kind: Kind, name: Parts, parameters: Mapping[str, str]) -> None:
        """Reads something of a new remote. Raises what everybody who uses it gets."""
        if kind is Kind.TABLE:
            await self._client.fresh_table(table_of(name, self.current))
        elif kind is Kind.DATABASE:
            await self._client.table_exists(database_of(name, self.current).table("_"))
        else:
            prefix = parameters.get(PREFIX)
            shown_in = name[0] if prefix is None else DEFAULT_CATALOG
            await self._client.databases(DatabaseName(shown_in, f"{prefix or ''}*").field)

    async def _alter(self, statement: s.AlterRemote) -> Result:
        client, kind = self._client, statement.kind
        local = local_name(kind, statement.name, self.current)
        listed = await self._definition(kind, local)
        after = changed(statement, local, remote_keys(listed))
        if kind is Kind.CATALOG:
            catalog = await self._catalog(local[0])
            await client.api.alter_catalog(AlterCatalogRequest(local[0], replace(catalog, parameters=after)))
        elif kind is Kind.DATABASE:
            await client.api.alter_database(
                DatabaseName(*local).field,
                Database(
                    name=local[-1],
                    parameters=after,
                    ownerName=listed.get(OWNER),
                    ownerType=PrincipalType.ROLE if listed.get(OWNER_TYPE) == "ROLE" else PrincipalType.USER,
                    catalogName=local[0],
                ),
            )
        else:
            name = TableName(*local)
            await client.alter(name, new_table(name, after))
        return DONE

    async def _drop(self, statement: s.DropRemote) -> Result:
        client, kind = self._client, statement.kind
        local = local_name(kind, statement.name, self.current)
        try:
            await self._definition(kind, local)
            if kind is Kind.TABLE:
                await client.drop_table(TableName(*local), delete_data=False)
            elif kind is Kind.DATABASE:
                await client.drop_database(".".join(local), delete_data=False)
            else:
                await client.api.drop_catalog(DropCatalogRequest(local[0]))
        except NoSuchObjectException:
            if not statement.if_exists:
                raise
        return DONE

    async def _show_remotes(self, statement: s.ShowRemotes) -> Result:
        wanted = statement.database and local_name(Kind.DATABASE, statement.database, self.current)
        matches = compile_pattern(pattern_of(statement.like))
        rows = [
            (kind, name, parameters)
            async for kind, name, parameters in self._definitions()
            if matches(name[-1]) and (wanted is None or (kind is Kind.TABLE and name[:2] == wanted))
        ]
        return descriptions.listed(rows)

    async def _definition(self, kind: Kind, local: Parts) -> dict[str, str]:
        """A definition as it is listed. Raises NoSuchObjectException, InvalidOperationException for a local object."""
        key = list_key(*local)
        listed = await self._listed(key)
        if listed is not None and key in listed:
            return listed[key]
        described = await self._described(kind, local)
        if not is_remote(described):
            word, name = kind.value.lower(), ".".join(local).removeprefix(f"{DEFAULT_CATALOG}.")
            raise InvalidOperationException(
                f"{name} is a {word} of this metastore, not a remote {word}; SHOW REMOTES lists the remotes"
            )
        return described

    async def _definitions(self) -> AsyncIterator[tuple[Kind, Parts, dict[str, str]]]:
        """The definitions of all remotes that the caller may see."""
        listed = await self._listed("")
        if listed is not None:
            for key, parameters in listed.items():
                local = name_of(key)
                yield kind_of_name(local), local, parameters
            return
        client = self._client
        for name in await client.databases():
            database = await self._database(DatabaseName("", name))
            if is_remote(database.parameters):
                yield Kind.DATABASE, (DEFAULT_CATALOG, name), list_values(database.parameters)
                continue
            async for table in client.table_objects(name):
                if is_remote(table.parameters):
                    full = (DEFAULT_CATALOG, name, table.tableName or "")
                    yield Kind.TABLE, full, list_values(table.parameters)

    async def _listed(self, prefix: str) -> dict[str, dict[str, str]] | None:
        """The server's list of definitions; None where there is no such list, or the caller may not read it."""
        try:
            properties = await self._client.api.get_properties(PropertyGetRequest(NAMESPACE, prefix))
        except (MethodMissing, NoSuchObjectException, PermissionDenied):
            return None
        return properties.properties or {}

    async def _described(self, kind: Kind, local: Parts) -> dict[str, str]:
        """A definition as the object itself shows it."""
        if kind is Kind.TABLE:
            table = await self._client.fresh_table(TableName(*local))
            return list_values(table.parameters, table.owner, PrincipalType.NAMES.get(table.ownerType or 0))
        if kind is Kind.DATABASE:
            database = await self._database(DatabaseName(*local))
            owner_type = PrincipalType.NAMES.get(database.ownerType or 0)
            return list_values(database.parameters, database.ownerName, owner_type, database.description)
        catalog = await self._catalog(local[0])
        return list_values(catalog.parameters, comment=catalog.description)

    async def _database(self, name: DatabaseName) -> Database:
        self._client.forget(name.database)
        return await self._client.api.get_database(name.field)

    async def _catalog(self, name: str) -> Catalog:
        catalog = (await self._client.api.get_catalog(GetCatalogRequest(name))).catalog
        if catalog is None:
            raise ApplicationError(ApplicationError.MISSING_RESULT, "the reply holds no catalog")
        return catalog

    # Connectors

    async def _connectors(self, statement: Statement) -> Result:
        api = self._client.api
        match statement:
            case s.CreateConnector():
                try:
                    await self._newest("create_dataconnector", (new_connector(statement),), CreateDataConnectorRequest)
                except AlreadyExistsException:
                    if not statement.if_not_exists:
                        raise
            case s.AlterConnector(name):
                args = (name, await self._altered_connector(statement))
                await self._newest("alter_dataconnector", args, AlterDataConnectorRequest)
            case s.DropConnector(name, if_exists):
                await self._newest("drop_dataconnector", (name, if_exists, True), DropDataConnectorRequest)
            case s.ShowConnectors():
                return rows_of("connector_name", await api.get_dataconnectors())
            case s.DescribeConnector(name, extended):
                return descriptions.described_connector(await self._connector(name), extended)
            case _:
                raise AssertionError(statement)
        return DONE

    async def _newest(self, method: str, args: tuple[Any, ...], request: type) -> None:
        """A call of a connector: Hive 4.0.1 put the arguments of each into a request, in the same order."""
        await self._client.newest(f"{method}_req", (request(*args),), method, args)

    async def _connector(self, name: str) -> DataConnector:
        return await self._client.api.get_dataconnector_req(GetDataConnectorRequest(name))

    async def _altered_connector(self, statement: s.AlterConnector) -> DataConnector:
        before = await self._connector(statement.name)
        if statement.url is not None:
            return replace(before, url=statement.url)
        if statement.owner is not None:
            return replace(before, ownerName=statement.owner.name, ownerType=owner_type(statement.owner))
        return replace(before, parameters={**(before.parameters or {}), **dict(statement.properties or ())})
