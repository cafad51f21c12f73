"""Remotes: databases and tables of other catalogs under local names. Values, and how parameters are read as them. Pure.

    CREATE DATABASE d WITH DBPROPERTIES ('hive.metastore.uris' = 'thrift://old:9083', 'metastored.remote' = 'raw')

makes a remote database: its parameters are read by `read_remote` and written by `remote_parameters`. Which keys there
are is in `keys.py`; whole catalogs are in `catalogs.py`; where a remote may point in `hosts.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from metastored.errors import InvalidObjectException
from metastored.hive.database_uris import check_database
from metastored.hive.host_rules import read_address
from metastored.hive.linear_expressions import LinearExpression, PatternError
from metastored.hive.names import normalize
from metastored.model.remotes import keys
from metastored.model.remotes.endpoints import DEFAULT_TIMEOUT
from metastored.model.remotes.endpoints import Endpoint as Endpoint  # Connectors import it from here.
from metastored.model.remotes.keys import (
    ACCESS,
    CACHE,
    REMOTE,
    TABLES,
    TIMEOUT,
    URIS,
    VIA,
    find_key,
    is_catalog_key,
    is_of_engine,
    is_remote,
    remote_keys,
    shown,
    unknown_key,
    via_of,
    without_remote_keys,
)
from metastored.model.remotes.logins import identity_mistake

__all__ = [
    "ALL_NAMES",
    "DEFAULT_TIMEOUT",
    "Access",
    "Endpoint",
    "Names",
    "Remote",
    "is_remote",
    "read_endpoint",
    "read_remote",
    "remote_keys",
    "remote_parameters",
    "without_remote_keys",
]

_LONGEST_TIMEOUT: Final = 3600.0
_LONGEST_PATTERN: Final = 1000
_expression: Final = lru_cache(maxsize=1024)(LinearExpression)
"""Patterns that were read, by their text. They are from users: none may take long to match."""


class Access(StrEnum):
    """What callers may do with a remote."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, slots=True)
class Names:
    """An allow-list: names or regular expressions, matched in full and in any case. See `ALL_NAMES`."""

    patterns: tuple[str, ...]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(_expression(pattern).matches(name) for pattern in self.patterns)

    @classmethod
    def read(cls, text: str, key: str, what: str) -> Names:
        """Parses `sales, web_.*`: a comma separates, unless it is in braces. The empty text matches no name."""
        patterns = tuple(part.strip() for part in re.split(r",(?![^{]*\})", text) if part.strip())
        for pattern in patterns:
            if len(pattern) > _LONGEST_PATTERN:
                raise InvalidObjectException(
                    f"{what}: '{key}' has a pattern of more than {_LONGEST_PATTERN} characters"
                )
            try:
                _expression(pattern)
            except PatternError as error:
                raise InvalidObjectException(
                    f"{what}: '{pattern}' in '{key}' is neither a name nor a regular expression: {error}"
                ) from None
        return cls(patterns)

    def __str__(self) -> str:
        return ", ".join(self.patterns)


ALL_NAMES: Final = Names((".*",))


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote database, or a remote table of a local database. The local names are in lower case."""

    catalog: str
    database: str
    table: str | None
    remote_database: str
    remote_table: str | None
    endpoint: Endpoint
    access: Access = Access.READ
    cache_seconds: float = 0.0
    """How long its metadata may be cached; 0 for not at all."""
    tables: Names = ALL_NAMES
    """Which tables of a remote database are shown, by their remote names."""
    of_catalog: str | None = None
    """The remote catalog by which this database is shown; None where it has a definition of its own."""
    remote_catalog: str | None = None
    """The catalog at the remote; None for its default one."""
    connector: str | None = None
    """The data connector that the endpoint is of; None where the definition has it itself."""

    @property
    def name(self) -> str:
        """The local name, without the catalog."""
        return self.database if self.table is None else f"{self.database}.{self.table}"

    @property
    def remote_name(self) -> str:
        return self.remote_database if self.table is None else f"{self.remote_database}.{self.remote_table}"

    def __str__(self) -> str:
        kind = "database" if self.table is None else "table"
        return f"remote {kind} '{self.name}' ('{self.remote_name}' at {self.endpoint})"


def read_remote(
    catalog: str, database: str, table: str | None, parameters: Mapping[str, str], default_via: str = ""
) -> Remote:
    """The remote that a database's or a table's parameters define. Raises InvalidObjectException with the reason."""
    what = f"remote table {database}.{table}" if table is not None else f"remote database {database}"
    catalog, database = normalize(catalog), normalize(database)
    endpoint = read_endpoint(parameters, what, default_via)
    check_identity(endpoint, what)
    for key in parameters:
        if is_catalog_key(key):
            raise InvalidObjectException(f"{what}: '{key}' is a key of remote catalogs only")
    if table is not None and TABLES in parameters:
        raise InvalidObjectException(f"{what}: '{TABLES}' is a key of remote databases and catalogs only")
    lower = endpoint.via != keys.ICEBERG
    given = parameters.get(REMOTE) or parameters.get(keys.REMOTE_DATABASE_OF_HIVE) or ""
    parts = [part.strip() for part in given.split(".")] if given else []
    if not all(parts) or len(parts) > (1 if table is None and lower else 2 if lower else len(parts)):
        wanted = "the name of the remote database" if table is None else "database.table of the remote"
        raise InvalidObjectException(f"{what}: '{REMOTE}' is {given!r}, and must be {wanted}")
    if lower:
        parts = [normalize(part) for part in parts]
    remote_table = None
    if table is None:
        remote_database = ".".join(parts) or database
    else:
        table = normalize(table)
        remote_table = parts[-1] if parts else table
        remote_database = ".".join(parts[:-1]) or database
    return Remote(
        catalog,
        database,
        table,
        remote_database,
        remote_table,
        endpoint,
        read_access(parameters, what),
        read_seconds(parameters, CACHE, 0.0, what),
        Names.read(parameters[TABLES], TABLES, what) if TABLES in parameters else ALL_NAMES,
        remote_catalog=parameters.get("metastored.remote.catalog") or None,
        connector=normalize(parameters[keys.CONNECTOR]) if parameters.get(keys.CONNECTOR) else None,
    )


def read_endpoint(parameters: Mapping[str, str], what: str, default_via: str = "") -> Endpoint:
    """Where parameters point. Raises InvalidObjectException for unknown keys, missing ones and bad values."""
    via = via_of(parameters, default_via)
    properties: list[tuple[str, str]] = []
    for name, value in parameters.items():
        key = find_key(name, via)
        if key is None:
            if is_of_engine(name):
                continue
            raise unknown_key(name, what)
        if key.via and via not in key.via:
            raise InvalidObjectException(
                f"{what}: '{name}' is a key of {' and '.join(key.via)} remotes, and this one is via {via}"
            )
        _check_value(key, value, what)
        if key.via:
            properties.append((name, value.strip()))
    endpoint = Endpoint(via, tuple(sorted(properties)), read_timeout(parameters, what))
    _check_complete(endpoint, what)
    return endpoint


def check_identity(endpoint: Endpoint, what: str) -> None:
    """Raises InvalidObjectException where callers cannot be named as the keys say. A connector alone may lack some."""
    mistake = identity_mistake(endpoint)
    if mistake is not None:
        raise InvalidObjectException(f"{what}: {mistake}")


def _check_value(key: keys.Key, value: str, what: str) -> None:
    if value == keys.MASK or keys.MASK in value:
        raise InvalidObjectException(
            f"{what}: '{key.name}' has the value {value!r}, which is how a secret is shown; give the secret itself, "
            "env:NAME or file:PATH"
        )
    if key.kind is keys.Kind.REFUSED:
        raise InvalidObjectException(
            f"{what}: '{key.name}' is not a property that a remote's definition may set: pyiceberg could load classes, "
            "read files or connect to hosts by it"
        )
    match key.values:
        case "boolean" if value.strip().lower() not in ("true", "false"):
            raise InvalidObjectException(f"{what}: '{key.name}' is {value!r}, and must be true or false")
        case "uris":
            for uri in split(value):
                check_uri(uri, key.name, what)
            if not split(value):
                raise InvalidObjectException(f"{what}: '{key.name}' is empty; write thrift://host:9083")
        case "uri":
            if not urlsplit(value.strip()).scheme:
                raise InvalidObjectException(f"{what}: '{key.name}' is {value!r}, which is not a URI")
            try:
                check_database(value)
            except ValueError as error:
                raise InvalidObjectException(f"{what}: '{key.name}': {error}") from None
        case "address":
            try:
                read_address(value)
            except ValueError as error:
                raise InvalidObjectException(
                    f"{what}: '{key.name}' is {value!r}, which is not an address: {error}"
                ) from None


def check_uri(uri: str, key: str, what: str) -> None:
    """Raises InvalidObjectException unless this is the address of a metastore."""
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError as error:
        raise InvalidObjectException(f"{what}: {uri!r} in '{key}' is not an address: {error}") from None
    web = parts.scheme in ("http", "https")
    if parts.scheme not in ("thrift", "http", "https") or not parts.hostname or (port is None and not web):
        raise InvalidObjectException(
            f"{what}: {shown(key, uri)!r} in '{key}' is not the address of a metastore: write thrift://host:9083"
            " or https://host/metastore, several with commas between them"
        )


def _check_complete(endpoint: Endpoint, what: str) -> None:
    schemes = {urlsplit(uri).scheme for uri in split(endpoint.get(URIS))}
    match endpoint.via:
        case keys.THRIFT | keys.SSH | keys.HTTP:
            if not schemes:
                raise InvalidObjectException(f"{what}: '{URIS}' is missing; write thrift://host:9083")
            expected = {"http", "https"} if endpoint.via == keys.HTTP else {"thrift"}
            if not schemes <= expected:
                raise InvalidObjectException(
                    f"{what}: a remote via {endpoint.via} has addresses with {' or '.join(sorted(expected))}://, "
                    f"and '{URIS}' has {', '.join(sorted(schemes))}://"
                )
            if endpoint.via == keys.SSH and not endpoint.get(keys.SSH_ROUTE):
                raise InvalidObjectException(f"{what}: '{keys.SSH_ROUTE}' is missing; write user@bastion -> user@node")
        case keys.ICEBERG if not endpoint.get(keys.ICEBERG_PATH) and not endpoint.get(keys.ICEBERG_URI):
            raise InvalidObjectException(f"{what}: '{keys.ICEBERG_PATH}' or '{keys.ICEBERG_URI}' is missing")


def read_access(parameters: Mapping[str, str], what: str) -> Access:
    """`metastored.remote.access`; read where nothing is said."""
    given = parameters.get(ACCESS, Access.READ.value).strip().lower()
    try:
        return Access(given)
    except ValueError:
        raise InvalidObjectException(f"{what}: '{ACCESS}' is {given!r}, and must be read or write") from None


def read_timeout(parameters: Mapping[str, str], what: str) -> float:
    """`metastored.remote.timeout` in seconds."""
    seconds = read_seconds(parameters, TIMEOUT, DEFAULT_TIMEOUT, what)
    if not 0 < seconds <= _LONGEST_TIMEOUT:
        raise InvalidObjectException(
            f"{what}: '{TIMEOUT}' is {parameters[TIMEOUT]!r}, and must be more than 0 and at most "
            f"{_LONGEST_TIMEOUT:.0f} seconds"
        )
    return seconds


_SECONDS: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min|h|d)?")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def read_seconds(parameters: Mapping[str, str], key: str, default: float, what: str) -> float:
    """A time as `10`, `10s`, `500ms`, `2m` or `1h`. Raises InvalidObjectException for anything else."""
    given = parameters.get(key)
    if given is None:
        return default
    match = _SECONDS.fullmatch(given.strip().lower())
    seconds = float(match[1]) * _UNITS[match[2] or "s"] if match is not None else math.nan
    if not math.isfinite(seconds):
        raise InvalidObjectException(f"{what}: '{key}' is {given!r}, and must be seconds, such as 10, or 500ms, 2m, 1h")
    return seconds


def split(text: str) -> tuple[str, ...]:
    """The parts of a list that is written with commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def remote_parameters(remote: Remote, *, masked: bool) -> dict[str, str]:
    """The definition as parameters: `read_remote` reads the same remote from them, unless secrets are masked.

    What a data connector says is not repeated.
    """
    parameters = {REMOTE: remote.remote_name, ACCESS: remote.access.value}
    if remote.connector is not None:
        parameters[keys.CONNECTOR] = remote.connector
    else:
        parameters |= {VIA: remote.endpoint.via} | endpoint_parameters(remote.endpoint, masked=masked)
    parameters |= _where({CACHE: seconds_text(remote.cache_seconds)}, remote.cache_seconds > 0)
    parameters |= _where({TABLES: str(remote.tables)}, remote.tables != ALL_NAMES)
    return parameters


def endpoint_parameters(endpoint: Endpoint, *, masked: bool) -> dict[str, str]:
    """The connector's keys and the timeout."""
    parameters = {name: shown(name, value, endpoint.via) if masked else value for name, value in endpoint.properties}
    return parameters | _where({TIMEOUT: seconds_text(endpoint.timeout)}, endpoint.timeout != DEFAULT_TIMEOUT)


def seconds_text(seconds: float) -> str:
    return f"{seconds:g}" if seconds < 1e6 else str(int(seconds))


def _where(items: dict[str, str], condition: bool) -> dict[str, str]:
    return items if condition else {}
