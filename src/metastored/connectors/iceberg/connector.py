"""Iceberg as a remote's definition describes it: a table at a path, a REST catalog or a SQL catalog."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from metastored.connectors.adapted.sources import Source
from metastored.connectors.checked_http import checked_pools
from metastored.connectors.context import Context
from metastored.connectors.failures import Unreachable
from metastored.connectors.iceberg.catalog import IcebergSource
from metastored.connectors.iceberg.guarded import CONFIGURED, check_defined, check_hosts, file_io, passed
from metastored.connectors.iceberg.paths import PathSource
from metastored.connectors.network import check_host
from metastored.connectors.on_demand import OnDemand
from metastored.errors import ConfigError, ConnectError, MissingExtra
from metastored.hive.database_uris import UNUSED, check_database
from metastored.hive.host_rules import plain_host
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import hosts_of
from metastored.model.remotes.keys import GLUE_REGION, ICEBERG_PATH, ICEBERG_URI
from metastored.model.remotes.keys import ICEBERG_PREFIX as PREFIX
from metastored.wire.message import Handler

DEFAULT_NAME: Final = "default"
"""What pyiceberg and Spark call a catalog where nothing else is said."""
REST, SQL = "rest", "sql"
_SCHEMES: Final = {"http": REST, "https": REST, "sqlite": SQL, "postgresql": SQL}
_AWS: Final = {
    GLUE_REGION: "client.region",
    "aws.access.key.id": "client.access-key-id",
    "aws.secret.access.key": "client.secret-access-key",
    "aws.session.token": "client.session-token",
}


def iceberg_at(endpoint: Endpoint, context: Context) -> Handler:
    """Raises ConfigError or MissingExtra."""
    try:
        import pyiceberg  # noqa: F401
    except ImportError:
        raise MissingExtra("a remote in Iceberg", "iceberg") from None
    if endpoint.get(ICEBERG_PATH) and endpoint.get(ICEBERG_URI):
        raise ConfigError(f"'{ICEBERG_PATH}' and '{ICEBERG_URI}' are both given; a table is found by one of them")
    if endpoint.get(ICEBERG_URI):
        catalog_type(endpoint)
    properties_of(endpoint)
    return OnDemand(partial(_source, endpoint, context))


def catalog_type(endpoint: Endpoint) -> str:
    """`rest` or `sql`, as the definition or the address says. Raises ConfigError."""
    scheme = urlsplit(endpoint.get(ICEBERG_URI)).scheme.partition("+")[0]
    implied = _SCHEMES.get(scheme)
    kind = endpoint.get(f"{PREFIX}type") or implied
    if implied is None or kind != implied:
        raise ConfigError(
            f"'{ICEBERG_URI}' begins with {scheme}:// and '{PREFIX}type' is {kind or 'not given'}; REST catalogs have "
            "http:// or https://, SQL catalogs have sqlite:// or postgresql+psycopg://"
        )
    return implied


def properties_of(endpoint: Endpoint) -> dict[str, str]:
    """The properties for pyiceberg. Raises ConfigError for those that would run code of the definition's choice."""
    properties: dict[str, str] = {}
    for key, value in endpoint.properties:
        if key in _AWS:
            properties[_AWS[key]] = value
        elif key.startswith(PREFIX):
            name = key.removeprefix(PREFIX)
            check_defined(name, key)
            properties[name] = value
    return properties


def _source(endpoint: Endpoint, context: Context) -> Source:
    resolved = context.resolved(endpoint)
    properties = properties_of(resolved)
    # The clients of object stores connect by themselves: their hosts are checked once.
    check_hosts(properties, context.hosts)
    if path := resolved.get(ICEBERG_PATH):
        return PathSource(path, properties, context.hosts)
    kind = catalog_type(resolved)
    make = _rest_catalog if kind == REST else _sql_catalog
    # A remote is read as it is: its tables are not created where they are missing.
    return IcebergSource(
        properties | {"type": kind, "init_catalog_tables": "false"},
        load=partial(make, endpoint=resolved, context=context),
    )


def _rest_catalog(properties: dict[str, str], endpoint: Endpoint, context: Context) -> Any:
    from pyiceberg.catalog.rest import RestCatalog
    from requests.adapters import HTTPAdapter

    own = dict(properties)

    class Checked(RestCatalog):
        configured: dict[str, str]

        def _fetch_config(self) -> None:
            super()._fetch_config()
            # The session is made after this, and would load the class that `auth` names.
            self.uri = own["uri"]
            # pyiceberg has merged them with those of the definition, which are not words of the catalog.
            said = {key: value for key, value in self.properties.items() if own.get(key) != value}
            self.configured = passed(said, CONFIGURED, self.uri)
            self.properties = own | self.configured

        def _load_file_io(self, properties: Any = None, location: str | None = None) -> Any:
            return file_io(own, {**self.configured, **(properties or {})}, context.hosts, str(location or self.uri))

        def _config_headers(self, session: Any) -> None:
            # The first that is done with a new session, before its first request.
            for scheme in ("http://", "https://"):
                session.mount(scheme, _guarded(HTTPAdapter(), endpoint, context))
            super()._config_headers(session)

        def _init_sigv4(self, session: Any) -> None:
            super()._init_sigv4(session)
            _guarded(session.get_adapter(self.uri), endpoint, context)

    return Checked(properties.pop("name", DEFAULT_NAME), **properties)


def _guarded(adapter: Any, endpoint: Endpoint, context: Context) -> Any:
    """An adapter of requests that sends only to hosts that the definition names, and reads bounded replies.

    A catalog that redirects its clients, or configures another address, would get their credentials elsewhere.
    """
    from metastored.connectors.iceberg.bounded import read_bounded

    send, manager = adapter.send, adapter.poolmanager
    manager.pool_classes_by_scheme = checked_pools(manager.pool_classes_by_scheme, context.hosts)

    def guarded(request: Any, *args: Any, **kwargs: Any) -> Any:
        _check_recipient(str(request.url), endpoint)
        kwargs["timeout"] = kwargs.get("timeout") or endpoint.timeout
        response = send(request, *args, **kwargs)
        read_bounded(response, endpoint.timeout)
        return response

    adapter.send = guarded
    return adapter


def _check_recipient(url: str, endpoint: Endpoint) -> None:
    """Raises ConnectError unless the definition names this host."""
    from urllib3.util import parse_url

    parts = parse_url(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if (plain_host(parts.host or ""), port) not in {(host, given or port) for host, given in hosts_of(endpoint)}:
        raise ConnectError(
            f"the Iceberg catalog at {endpoint} sends its clients to {parts.host}:{port}, which the definition does "
            "not name: nothing is sent there"
        )


def _sql_catalog(properties: dict[str, str], endpoint: Endpoint, context: Context) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog
    from sqlalchemy import event, make_url

    try:
        check_database(properties["uri"])
    except ValueError as error:
        raise ConfigError(f"'{ICEBERG_URI}': {error}") from None
    uri = make_url(properties["uri"])
    is_file = uri.get_backend_name() == "sqlite"
    if is_file and not os.path.exists(uri.database or ""):
        # Opening it would create it.
        raise Unreachable(f"the Iceberg catalog at {properties['uri']}: there is no such file")

    def connecting(dialect: Any, record: Any, arguments: Any, options: dict[str, Any]) -> None:
        """Checks the host that is connected to, and keeps the server's own credentials out of it."""
        check_host(str(options["host"]), int(options.get("port") or 5432), context.hosts)
        options.update({name: value for name, value in UNUSED.items() if not options.get(name)})

    # The tables of a SQL catalog belong to a name: several catalogs may be in one database.
    class Checked(SqlCatalog):
        def _init_catalog(self) -> None:
            if not is_file:
                event.listen(self.engine, "do_connect", connecting)
            super()._init_catalog()

        def _load_file_io(self, properties: Any = None, location: str | None = None) -> Any:
            return file_io(self.properties, properties or {}, context.hosts, str(location or self.name))

    if not is_file:
        check_host(uri.host or "", uri.port or 5432, context.hosts)
    return Checked(properties.pop("name", DEFAULT_NAME), **properties)
