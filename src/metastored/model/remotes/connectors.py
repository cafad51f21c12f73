"""Hive 4's data connectors as a part of a remote's definition. Pure.

`CREATE CONNECTOR c TYPE 'thrift' URL 'thrift://old:9083'` says where; `CREATE REMOTE DATABASE d USING c` says what. The
types are the names of metastored's connectors. Connectors of Hive's own types (mysql, postgres, …) lead to no catalog:
they are stored, and make nothing remote.
"""

from __future__ import annotations

from collections.abc import Mapping

from metastored.errors import InvalidObjectException
from metastored.model.remotes import keys
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import read_endpoint

_URL_KEYS = {
    keys.THRIFT: keys.URIS,
    keys.SSH: keys.URIS,
    keys.HTTP: keys.URIS,
    keys.GLUE: keys.GLUE_ENDPOINT,
    keys.ICEBERG: keys.ICEBERG_URI,
}

_NOT_OF_CONNECTORS = (keys.REMOTE, keys.CONNECTOR, keys.TABLES, keys.CACHE, keys.ACCESS)


def connector_parameters(
    kind: str | None, url: str | None, parameters: Mapping[str, str] | None
) -> dict[str, str] | None:
    """The keys that a data connector gives to remotes; None for one of Hive's own types."""
    given = parameters or {}
    try:
        via = keys.short_name(kind or "")
    except InvalidObjectException:
        via = ""
    if via not in keys.BUILT_IN and not keys.is_remote(given):
        return None
    own = {keys.VIA: via} if via else {}
    if via and url:
        # The connector of an entry point gets the URL under a name of its own.
        own[_URL_KEYS.get(via, f"{via}.url")] = url
    return own | dict(given)


def check_connector(name: str, parameters: Mapping[str, str]) -> Endpoint:
    """Where a connector leads. Raises InvalidObjectException for unknown keys, missing ones and bad values."""
    what = f"connector {name}"
    for key in parameters:
        if keys.is_catalog_key(key) or key in _NOT_OF_CONNECTORS:
            raise InvalidObjectException(f"{what}: '{key}' belongs to a remote database or table, not to a connector")
    return read_endpoint(parameters, what)


def with_connector(
    parameters: Mapping[str, str], kind: str | None, url: str | None, given: Mapping[str, str] | None, what: str
) -> dict[str, str]:
    """The parameters of a remote together with those of its connector. Raises InvalidObjectException."""
    name = parameters.get(keys.CONNECTOR, "")
    base = connector_parameters(kind, url, given)
    if base is None:
        raise InvalidObjectException(
            f"{what}: connector {name} has the type {kind}, which leads to no catalog; the types of connectors for "
            f"remotes are {', '.join(keys.BUILT_IN)}"
        )
    via = keys.via_of(base)
    for key in parameters:
        known = keys.find_key(key, via)
        if key in (keys.VIA, keys.FACTORY) or (known is not None and known.via):
            # With an address of the caller's the connector's secrets would be sent there.
            raise InvalidObjectException(
                f"{what}: '{key}' is given beside connector {name}; where a remote is, only one of the two can say"
            )
    return base | dict(parameters)
