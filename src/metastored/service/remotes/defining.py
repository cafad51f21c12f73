"""What parameters define, checked as far as can be without calling the remote; and what an ALTER changes.

A definition may point only to hosts that `remotes_hosts` allows. Its secrets are stored encrypted or are references. A
client sees them masked, and sends the mask back with an ALTER: it then means the secret that is stored. An ALTER that
changes where a remote points must give the secrets again, or they could be sent to a host of the caller's choice; for
the same reason a definition cannot use a data connector and an address of its own.

What belongs to the server (variables, files, its own credentials) is used by definitions of administrators, and by
others for the hosts that `remotes_references` names. This is checked when a definition is stored and whenever its
endpoint changes, whatever `authorization` is; a stored endpoint has passed the check. Each connection checks the hosts
again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from metastored.errors import InvalidObjectException, MetaException, MetastoreError
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName
from metastored.model.remotes import keys
from metastored.model.remotes.catalogs import RemoteCatalog, catalog_parameters, read_remote_catalog
from metastored.model.remotes.connectors import with_connector
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import Remote, read_endpoint, read_remote, remote_parameters
from metastored.service.core.context import Context
from metastored.service.core.directories import stored_location
from metastored.service.core.remote_bodies import body_of, parameters_of
from metastored.service.registry.connectors import CONNECTORS
from metastored.service.security.roles import is_admin
from metastored.store.engine.transaction import Transaction
from metastored.store.objects.remotes import RemoteRow
from metastored.store.security.remote_secrets import RemoteSecrets

T = TypeVar("T", Remote, RemoteCatalog)


class Definition(NamedTuple, Generic[T]):
    """A definition that may be stored."""

    remote: T
    body: bytes
    shown: dict[str, str]
    """The parameters of the object, as every client sees them: secrets masked."""


def define(
    ctx: Context,
    tx: Transaction,
    where: DatabaseName,
    table: str | None,
    parameters: Mapping[str, str],
    before: RemoteRow | None = None,
) -> Definition[Remote]:
    """The remote database or table that parameters define. Raises InvalidObjectException.

    `before` is the definition that an ALTER replaces.
    """
    what = f"remote table {where.database}.{table}" if table is not None else f"remote database {where.database}"
    secrets = ctx.service.remote_secrets
    remote = read_remote(where.catalog, where.database, table, merged(tx, secrets, parameters, what))
    _check(ctx, remote.endpoint, what)
    # The references of a connector were checked when the connector was made: a definition cannot change where it leads.
    if remote.connector is None and not _is_same(ctx, before, remote.endpoint):
        secrets.check(remote.endpoint, what, by_admin=is_admin(ctx, tx))
    # The remote's name is stored even where it is the local one, which may change.
    own = _own(parameters, remote.endpoint.via) | {keys.REMOTE: remote.remote_name}
    sealed = secrets.sealed(own, remote.endpoint.via, what)
    return Definition(remote, body_of(sealed), remote_parameters(remote, masked=True))


def define_catalog(
    ctx: Context, tx: Transaction, name: str, parameters: Mapping[str, str], before: RemoteRow | None = None
) -> Definition[RemoteCatalog]:
    """The remote catalog that parameters define. Raises InvalidObjectException."""
    what = f"remote catalog {name}"
    if keys.CONNECTOR in parameters:
        raise InvalidObjectException(f"{what}: '{keys.CONNECTOR}' is a key of remote databases and tables only")
    catalog = read_remote_catalog(name, parameters)
    _check(ctx, catalog.endpoint, what)
    if not _is_same(ctx, before, catalog.endpoint):
        ctx.service.remote_secrets.check(catalog.endpoint, what, by_admin=is_admin(ctx, tx))
    own = _own(parameters, catalog.endpoint.via)
    sealed = ctx.service.remote_secrets.sealed(own, catalog.endpoint.via, what)
    return Definition(catalog, body_of(sealed), catalog_parameters(catalog, masked=True))


def _is_same(ctx: Context, before: RemoteRow | None, endpoint: Endpoint) -> bool:
    """Whether an ALTER leaves the endpoint as it is; who made it could use what it refers to."""
    if before is None:
        return False
    try:
        stored = read_endpoint(ctx.service.remote_secrets.opened(parameters_of(before)), "")
        return (stored.via, stored.properties) == (endpoint.via, endpoint.properties)
    except InvalidObjectException:
        return False  # It could not be used, so nothing of it was allowed.


def _own(parameters: Mapping[str, str], via: str) -> dict[str, str]:
    return {key: value for key, value in parameters.items() if keys.find_key(key, via) is not None}


def merged(tx: Transaction, secrets: RemoteSecrets, parameters: Mapping[str, str], what: str) -> dict[str, str]:
    """Parameters with those of the data connector that they name. Raises InvalidObjectException."""
    connector = parameters.get(keys.CONNECTOR)
    if not connector:
        return dict(parameters)
    row = CONNECTORS.find(tx, normalize(connector))
    if row is None:
        raise InvalidObjectException(f"{what}: there is no connector {connector}")
    given = secrets.opened(row.value.parameters or {})
    return with_connector(parameters, row.value.type, row.value.url, given, what)


def _check(ctx: Context, endpoint: Endpoint, what: str) -> None:
    ctx.service.remote_hosts.check(endpoint, what)
    path = endpoint.get(keys.ICEBERG_PATH)
    if path:
        try:
            stored_location(ctx, path)
        except MetaException as error:
            raise InvalidObjectException(f"{what}: '{keys.ICEBERG_PATH}': {error.message}") from None


# --- changes ------------------------------------------------------------------------------------------------------


def altered(
    ctx: Context,
    row: RemoteRow,
    shown: Mapping[str, str] | None,
    given: Mapping[str, str] | None,
    what: str,
) -> dict[str, str]:
    """The definition's own parameters after an ALTER whose object has the parameters `given`.

    `shown` are those that the client saw. A value that is the same as before stays what is stored. Parameters that are
    not a remote's are those of the remote object, which the client got with the definition; they are left out here.
    """
    before, own = keys.remote_keys(shown), ctx.service.remote_secrets.opened(parameters_of(row))
    after = keys.remote_keys(given)
    if not keys.is_remote(after):
        raise InvalidObjectException(
            f"{what} is remote, and stays so: an ALTER needs its keys, such as '{keys.REMOTE}'; drop it and create a "
            "local one instead"
        )
    for key in given or ():
        if key.startswith(f"{keys.REMOTE}.") and key not in after:
            raise keys.unknown_key(key, what)
    kept = {key for key, value in after.items() if before.get(key) == value}
    parameters = {
        key: own[key] if key in kept else value for key, value in after.items() if key not in kept or key in own
    }
    via = keys.via_of(before)
    moved = sorted(key for key in {*before, *after} - kept if _says_where(key, via))
    secrets = sorted(key for key in kept if key in own and keys.MASK in after[key])
    if moved and secrets:
        raise InvalidObjectException(
            f"{what}: {_list(moved)} changes where the secret {_list(secrets)} is sent to; give the secret again"
        )
    return parameters


def _says_where(key: str, via: str) -> bool:
    """Whether a key is a part of the endpoint, and no secret."""
    known = keys.find_key(key, via)
    return key in (keys.VIA, keys.FACTORY, keys.CONNECTOR) or bool(known and known.via and not known.secret)


def _list(names: list[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def refuse_stray_keys(
    parameters: Mapping[str, str] | None, what: str, kind: type[MetastoreError] = InvalidObjectException
) -> None:
    """Raises an exception for a key of remotes on a local object: its secrets would be stored and shown as they are."""
    if keys.is_remote(parameters):
        return
    for name in sorted(parameters or ()):
        known = keys.find_key(name)
        if known is not None and known.via:
            raise kind(
                f"{what} is local, and '{name}' is a key of remotes via {' or '.join(known.via)}: add '{keys.VIA}' to "
                "make it remote, or leave the key out"
            )


def refuse_new_keys(
    before: Mapping[str, str] | None,
    after: Mapping[str, str] | None,
    what: str,
    kind: type[MetastoreError] = MetaException,
) -> None:
    """Raises an exception where an ALTER would make a local object remote, or give it a key of remotes.

    Keys that a local object has already, such as one that was imported, make no difference.
    """
    old = before or {}
    refuse_stray_keys({key: value for key, value in (after or {}).items() if old.get(key) != value}, what, kind)
    added = sorted(
        key
        for key, value in (after or {}).items()
        if (key in keys.MARKERS or key.startswith("metastored.remote.")) and old.get(key) != value
    )
    if added:
        raise kind(
            f"{what} is local, and {_list(added)} would make it remote; an object is made remote when it is created: "
            "drop it first, or give the remote another name"
        )
