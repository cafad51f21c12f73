"""Data connectors of Hive 4, in both generations of their calls. They are documents: only a name finds them.

Hive's event log has no events of connectors, and neither has metastored's.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import AlreadyExistsException, InvalidObjectException, MetaException, NoSuchObjectException
from metastored.hive.generation import Generation
from metastored.hive.names import is_valid_database_name, normalize
from metastored.service.core.context import Context
from metastored.service.core.documents import Found, Kind
from metastored.service.core.serving import method
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.wire.generated.common import PrincipalType
from metastored.wire.generated.connectors import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    DataConnector,
    DropDataConnectorRequest,
    GetDataConnectorRequest,
)
from metastored.wire.structs import replace

CONNECTORS: Final = Kind("connector", DataConnector)


@method
def create_dataconnector(ctx: Context, connector: DataConnector | None) -> None:
    if connector is None or connector.name is None:
        raise MetaException("Data connector name cannot be null.")
    if not is_valid_database_name(connector.name, Generation.HIVE_4_0):
        raise InvalidObjectException(f"{connector.name} is not a valid dataconnector name")
    name = normalize(connector.name)
    taken = AlreadyExistsException(f"DataConnector {connector.name} already exists")
    stored: DataConnector = replace(
        connector,
        name=name,
        parameters=connector.parameters or {},
        ownerName=connector.ownerName if connector.ownerName is not None else ctx.user,
        ownerType=connector.ownerType if connector.ownerType is not None else PrincipalType.USER,
        createTime=ctx.now(),
    )

    def create(tx: Transaction) -> None:
        if CONNECTORS.find(tx, name) is not None:
            raise taken
        CONNECTORS.insert(tx, name, stored)

    try:
        ctx.database.run(create)
    except ConstraintViolated:
        raise taken from None


@method
def create_dataconnector_req(ctx: Context, connectorReq: CreateDataConnectorRequest) -> None:
    create_dataconnector(ctx, connectorReq.connector)


def _find(tx: Transaction, name: str | None) -> Found[DataConnector]:
    if name is None:
        raise MetaException("Data connector name cannot be null.")
    found = CONNECTORS.find(tx, normalize(name))
    if found is None:
        raise NoSuchObjectException(f"Dataconnector named {name} does not exist:null")
    return found


@method
def get_dataconnector_req(ctx: Context, request: GetDataConnectorRequest) -> DataConnector:
    return _find(ctx.reader(), request.connectorName).value


@method
def get_dataconnectors(ctx: Context) -> tuple[str, ...]:
    return tuple(found.key for found in CONNECTORS.below(ctx.reader()))


@method
def alter_dataconnector(ctx: Context, name: str | None, connector: DataConnector | None) -> None:
    """Changes all but name, type and time of creation."""
    if connector is None:
        raise MetaException("alter_dataconnector needs a connector")
    wanted: DataConnector = connector

    def alter(tx: Transaction) -> None:
        CONNECTORS.lock(tx)
        found = _find(tx, name)
        before = found.value
        after = replace(
            before,
            url=wanted.url,
            parameters=wanted.parameters or {},
            ownerName=wanted.ownerName,
            ownerType=wanted.ownerType if wanted.ownerType is not None else before.ownerType,
            description=wanted.description if (wanted.description or "").strip() else before.description,
        )
        CONNECTORS.update(tx, found, after)

    ctx.database.run(alter)


@method
def alter_dataconnector_req(ctx: Context, alterReq: AlterDataConnectorRequest) -> None:
    alter_dataconnector(ctx, alterReq.connectorName, alterReq.newConnector)


@method
def drop_dataconnector(ctx: Context, name: str | None, ifNotExists: bool | None, checkReferences: bool | None) -> None:
    """Databases that refer to it stay, whatever `checkReferences` says: so it is in Hive."""
    if name is None:
        raise MetaException("Data connector name cannot be null.")
    key = normalize(name)

    def drop(tx: Transaction) -> None:
        found = CONNECTORS.find(tx, key)
        if found is not None:
            CONNECTORS.delete(tx, found)
        elif not ifNotExists:
            raise NoSuchObjectException(f"DataConnector {name} doesn't exist")

    ctx.database.run(drop)


@method
def drop_dataconnector_req(ctx: Context, dropDcReq: DropDataConnectorRequest) -> None:
    drop_dataconnector(ctx, dropDcReq.connectorName, dropDcReq.ifNotExists, dropDcReq.checkReferences)
