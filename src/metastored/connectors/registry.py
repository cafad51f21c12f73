"""Connectors by their short names: an endpoint in, a handler of its calls out.

    connectors = Connectors(Context(hosts, secrets))
    handler = connectors.connect(endpoint)

A handler reports a catalog that gives no answer by `failures.unreachable`. It may have `async close()`. A connector
from another package is an entry point of the group `metastored.connectors` whose name is its `via`; it is a function
`(endpoint, context) -> Handler`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from metastored.connectors.context import Context
from metastored.connectors.metastores import metastore_at
from metastored.errors import ConfigError, Error
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import (
    BUILT_IN,
    GLUE,
    HTTP,
    ICEBERG,
    INVALID,
    SSH,
    THRIFT,
    VIA,
)
from metastored.wire.message import Handler

GROUP: Final = "metastored.connectors"
"""The group of entry points."""

Connector = Callable[[Endpoint, Context], Handler]


def _ssh(endpoint: Endpoint, context: Context) -> Handler:
    from metastored.connectors.ssh import through_tunnel

    return through_tunnel(endpoint, context)


def _glue(endpoint: Endpoint, context: Context) -> Handler:
    from metastored.connectors.glue.connector import glue_at

    return glue_at(endpoint, context)


def _iceberg(endpoint: Endpoint, context: Context) -> Handler:
    from metastored.connectors.iceberg.connector import iceberg_at

    return iceberg_at(endpoint, context)


CONNECTORS: Final[dict[str, Connector]] = {
    THRIFT: metastore_at,
    HTTP: metastore_at,
    SSH: _ssh,
    GLUE: _glue,
    ICEBERG: _iceberg,
}
assert set(CONNECTORS) == set(BUILT_IN)


class Connectors:
    """The connectors of one server, built in and installed."""

    def __init__(self, context: Context | None = None) -> None:
        self._context = context or Context()

    def connect(self, endpoint: Endpoint) -> Handler:
        """The handler for an endpoint. Opens no connection yet. Raises ConfigError or MissingExtra."""
        if endpoint.via == INVALID:
            raise ConfigError(f"its definition cannot be used: {endpoint.get(VIA)}")
        connector = CONNECTORS.get(endpoint.via) or installed(endpoint.via)
        return connector(endpoint, self._context)


def installed(name: str) -> Connector:
    """The connector of an entry point. Raises ConfigError where there is none, or where it cannot be loaded."""
    from importlib.metadata import entry_points  # Slow to import, and seldom needed.

    by_name = {each.name: each for each in entry_points(group=GROUP)}
    if name not in by_name:
        known = ", ".join(sorted({*CONNECTORS, *by_name}))
        raise ConfigError(
            f"there is no connector {name!r}; installed are {known}. Others are Python packages with an entry point "
            f"of the group {GROUP}"
        )
    try:
        loaded: Connector = by_name[name].load()
        return loaded
    except Error:
        raise
    except Exception as error:
        raise ConfigError(
            f"the connector {name!r} ({by_name[name].value}) cannot be loaded: {type(error).__name__}: {error}"
        ) from error
