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
from metastored.errors import ConfigError, MissingExtra
from metastored.model.remote_hosts import hosts_of
from metastored.model.remote_keys import GLUE_REGION, ICEBERG_PATH, ICEBERG_URI
from metastored.model.remotes import Endpoint
from metastored.wire.message import Handler

PREFIX: Final = "iceberg.catalog."
"""Before the properties of pyiceberg."""
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
    found = endpoint.get(f"{PREFIX}type") or implied
    if implied is None or found != implied:
        raise ConfigError(
            f"'{ICEBERG_URI}' begins with {scheme}:// and '{PREFIX}type' is {found or 'not given'}; REST catalogs have "
            "http:// or https://, SQL catalogs have sqlite:// or postgresql+psycopg://"
        )
    return implied


def properties_of(endpoint: Endpoint) -> dict[str, str]:
    """The properties for pyiceberg. Raises ConfigError for those that would run code of the definition's choice."""
    found: dict[str, str] = {}
    for key, value in endpoint.properties:
        if key in _AWS:
            found[_AWS[key]] = value
        elif key.startswith(PREFIX):
            name = key.removeprefix(PREFIX)
            check_defined(name, key)
            found[name] = value
    return found


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
        {"init_catalog_tables": "false"} | properties | {"type": kind},
        load=partial(make, endpoint=resolved, context=context),
    )


def _rest_catalog(properties: dict[str, str], endpoint: Endpoint, context: Context) -> Any:
    from pyiceberg.catalog.rest import RestCatalog
    from requests.adapters import HTTPAdapter

    class Adapter(HTTPAdapter):
        """Connects only to allowed hosts, and waits no longer than the remote's timeout."""

        def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
            super().init_poolmanager(*args, **kwargs)
            manager = self.poolmanager
            manager.pool_classes_by_scheme = checked_pools(manager.pool_classes_by_scheme, context.hosts)

        def send(self, request: Any, *args: Any, **kwargs: Any) -> Any:
            kwargs["timeout"] = kwargs.get("timeout") or endpoint.timeout
            return super().send(request, *args, **kwargs)

    own = dict(properties)

    class Checked(RestCatalog):
        def _fetch_config(self) -> None:
            super()._fetch_config()
            # The session is made after this, and would load the class that `auth` names.
            self.properties = own | passed(self.properties, CONFIGURED, self.uri)

        def _load_file_io(self, properties: Any = None, location: str | None = None) -> Any:
            return file_io(self.properties, properties or {}, context.hosts, str(location or self.uri))

        def _config_headers(self, session: Any) -> None:
            # The first that is done with a new session, before its first request.
            for scheme in ("http://", "https://"):
                session.mount(scheme, Adapter())
            super()._config_headers(session)

    return Checked(properties.pop("name", DEFAULT_NAME), **properties)


def _sql_catalog(properties: dict[str, str], endpoint: Endpoint, context: Context) -> Any:
    from pyiceberg.catalog.sql import SqlCatalog
    from sqlalchemy import event, make_url

    def check(*args: Any) -> None:
        for host, port in hosts_of(endpoint):
            check_host(host, port or 5432, context.hosts)

    check()
    uri = make_url(properties["uri"])
    if uri.get_backend_name() == "sqlite" and not os.path.exists(uri.database or ""):
        # Opening it would create it.
        raise Unreachable(f"the Iceberg catalog at {properties['uri']}: there is no such file")

    # The tables of a SQL catalog belong to a name: several catalogs may be in one database.
    class Checked(SqlCatalog):
        def _load_file_io(self, properties: Any = None, location: str | None = None) -> Any:
            return file_io(self.properties, properties or {}, context.hosts, str(location or self.name))

    found = Checked(properties.pop("name", DEFAULT_NAME), **properties)
    event.listen(found.engine, "do_connect", check)
    return found
