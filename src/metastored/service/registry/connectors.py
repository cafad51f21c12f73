"""Data connectors of Hive 4, in both generations of their calls. They are documents: they are looked up by name only.

A connector of one of metastored's types says where remotes are: it is checked as they are, its secrets are stored
sealed and shown masked, and it cannot be dropped while a remote uses it. Hive's event log has no events of connectors,
and neither has metastored's.
"""

from __future__ import annotations

from typing import Final

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
)
from metastored.hive.generation import Generation
from metastored.hive.names import is_valid_database_name, normalize
from metastored.model.remotes.connectors import check_connector, connector_parameters, with_connector
from metastored.model.remotes.keys import MASK, holds_secret, is_secret, shown, via_of
from metastored.model.remotes.values import read_remote
from metastored.service.core.context import Context
from metastored.service.core.documents import Document, Kind
from metastored.service.core.remote_bodies import parameters_of, uses_connector
from metastored.service.core.serving import method
from metastored.service.security.roles import is_admin
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.objects import remotes
from metastored.store.objects.remotes import RemoteRow
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
        _sealed(ctx, ctx.reader(), connector, name),
        name=name,
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


def _find(tx: Transaction, name: str | None) -> Document[DataConnector]:
    if name is None:
        raise MetaException("Data connector name cannot be null.")
    document = CONNECTORS.find(tx, normalize(name))
    if document is None:
        raise NoSuchObjectException(f"Dataconnector named {name} does not exist:null")
    return document


@method
def get_dataconnector_req(ctx: Context, request: GetDataConnectorRequest) -> DataConnector:
    return _shown(_find(ctx.reader(), request.connectorName).value)


# --- connectors that lead to remotes ------------------------------------------------------------------------------


def _leads(connector: DataConnector) -> dict[str, str] | None:
    return connector_parameters(connector.type, connector.url, connector.parameters)


def leads_to_remotes(connector: DataConnector) -> bool:
    """Whether remotes can use it; connectors of Hive's own types are only stored."""
    return _leads(connector) is not None


def _sealed(
    ctx: Context, tx: Transaction, connector: DataConnector, name: str, before: DataConnector | None = None
) -> DataConnector:
    """The connector as it may be stored. Raises InvalidObjectException. `before` is the one that an ALTER replaces."""
    given = connector.parameters or {}
    leads = _leads(connector)
    if leads is None:
        return replace(connector, parameters=given)
    endpoint = check_connector(name, leads)
    ctx.service.remote_hosts.check(endpoint, f"connector {name}")
    if holds_secret("", connector.url or ""):
        raise InvalidObjectException(f"connector {name}: its URL has a password in it; give it as a property instead")
    if before is None or _leads(_opened(ctx, before)) != leads:
        ctx.service.remote_secrets.check(endpoint, f"connector {name}", by_admin=is_admin(ctx, tx))
    sealed = ctx.service.remote_secrets.sealed(given, endpoint.via, f"connector {name}")
    return replace(connector, parameters=sealed)


def _opened(ctx: Context, connector: DataConnector) -> DataConnector:
    return replace(connector, parameters=ctx.service.remote_secrets.opened(connector.parameters or {}))


def _shown(connector: DataConnector) -> DataConnector:
    leads = _leads(connector)
    if leads is None:
        return connector
    via = via_of(leads)
    given = connector.parameters or {}
    return replace(connector, parameters={key: shown(key, value, via) for key, value in given.items()})


def _altered(ctx: Context, tx: Transaction, before: DataConnector, wanted: DataConnector) -> DataConnector:
    """What an ALTER makes of a connector: a masked secret stays, if the connector leads to the same place."""
    given = wanted.parameters or {}
    seen = _shown(before).parameters or {}
    stored = _opened(ctx, before).parameters or {}
    kept = [key for key, value in given.items() if MASK in value and seen.get(key) == value]
    merged = replace(before, url=wanted.url, parameters={**given, **{key: stored[key] for key in kept}})
    if _leads(before) is None and _leads(merged) is None:
        return merged
    moved = before.url != wanted.url or any(
        given.get(key) != seen.get(key) for key in {*given, *seen} if not is_secret(key)
    )
    if kept and moved:
        raise InvalidObjectException(
            f"connector {before.name}: its address changes, and the secret {' and '.join(sorted(kept))} would be sent "
            "to the new one; give the secret again"
        )
    return _sealed(ctx, tx, merged, before.name or "", before)


def _check_users(ctx: Context, tx: Transaction, connector: DataConnector) -> None:
    """Raises InvalidObjectException where a remote that uses the connector would no longer be valid."""
    for row in _users(tx, connector.name or ""):
        what = f"remote {'.'.join(filter(None, (row.database, row.table)))}"
        given = _opened(ctx, connector).parameters
        merged = with_connector(parameters_of(row), connector.type, connector.url, given, what)
        read_remote(row.catalog, row.database or "", row.table, merged)


def _users(tx: Transaction, name: str) -> list[RemoteRow]:
    return [row for row in remotes.all(tx) if uses_connector(row, name)]


@method
def get_dataconnectors(ctx: Context) -> tuple[str, ...]:
    return tuple(document.key for document in CONNECTORS.below(ctx.reader()))


@method
def alter_dataconnector(ctx: Context, name: str | None, connector: DataConnector | None) -> None:
    """Changes all but name, type and time of creation."""
    if connector is None:
        raise MetaException("alter_dataconnector needs a connector")
    changed: DataConnector = connector

    def alter(tx: Transaction) -> None:
        CONNECTORS.lock(tx)
        document = _find(tx, name)
        before = document.value
        try:
            altered = _altered(ctx, tx, before, changed)
            _check_users(ctx, tx, altered)
        except InvalidObjectException as error:
            raise MetaException(error.message) from None
        after = replace(
            altered,
            ownerName=changed.ownerName,
            ownerType=changed.ownerType if changed.ownerType is not None else before.ownerType,
            description=changed.description if (changed.description or "").strip() else before.description,
        )
        CONNECTORS.update(tx, document, after)
        if _leads(after) is not None:
            remotes.changed(tx)

    ctx.database.run(alter)


@method
def alter_dataconnector_req(ctx: Context, alterReq: AlterDataConnectorRequest) -> None:
    alter_dataconnector(ctx, alterReq.connectorName, alterReq.newConnector)


@method
def drop_dataconnector(ctx: Context, name: str | None, ifNotExists: bool | None, checkReferences: bool | None) -> None:
    """Drops a connector; refused while remotes use it.

    Databases with a connector of Hive's own types stay, whatever `checkReferences` is, as in Hive.
    """
    if name is None:
        raise MetaException("Data connector name cannot be null.")
    key = normalize(name)

    def drop(tx: Transaction) -> None:
        document = CONNECTORS.find(tx, key)
        if document is not None:
            users = [".".join(filter(None, (row.database, row.table))) for row in _users(tx, key)]
            if users:
                raise InvalidOperationException(
                    f"connector {name} is used by the remotes {', '.join(users)}; drop them first"
                )
            CONNECTORS.delete(tx, document)
        elif not ifNotExists:
            raise NoSuchObjectException(f"DataConnector {name} doesn't exist")

    ctx.database.run(drop)


@method
def drop_dataconnector_req(ctx: Context, dropDcReq: DropDataConnectorRequest) -> None:
    drop_dataconnector(ctx, dropDcReq.connectorName, dropDcReq.ifNotExists, dropDcReq.checkReferences)
