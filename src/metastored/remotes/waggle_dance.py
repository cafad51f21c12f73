"""Waggle Dance's configuration as statements: each of its metastores becomes a remote catalog. Pure.

    primary-meta-store:                          CREATE REMOTE CATALOG local
      name: local                                PREFIX ''
      remote-meta-store-uris: thrift://a:9083    VIA 'thrift'
    federated-meta-stores:                       WITH PROPERTIES ('hive.metastore.uris' = 'thrift://a:9083', …)
    - …

A key that Waggle Dance does not have is an error: Waggle Dance skips it, so that a misspelt allow-list means
"everything". A key that has no counterpart here is reported in a note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from metastored.errors import ConfigError
from metastored.model.remotes.keys import (
    ACCESS,
    ALIAS,
    DATABASES,
    GLUE,
    GLUE_ENDPOINT,
    READ_ONLY_URIS,
    SSH,
    SSH_ROUTE,
    TABLES_OF,
    THRIFT,
    TIMEOUT,
    URIS,
    WRITABLE,
    find_key,
)
from metastored.statements.values import CreateRemote, Kind

STORE_KEYS: Final = frozenset(
    (
        *("name", "remote-meta-store-uris", "database-prefix", "access-control-type", "writable-database-white-list"),
        *("mapped-databases", "mapped-tables", "database-name-mapping", "metastore-tunnel", "latency"),
        *("hive-metastore-filter-hook", "configuration-properties", "impersonation-enabled", "glue-config"),
        *("read-only-remote-meta-store-uris", "read-only-glue-config"),
        # Computed by Waggle Dance, and written into its file at a shutdown.
        *("status", "connection-type", "federation-type"),
    )
)
TUNNEL_KEYS: Final = frozenset(
    ("localhost", "port", "route", "known-hosts", "private-keys", "timeout", "strict-host-key-checking")
)
GLUE_KEYS: Final = frozenset(("glue-account-id", "glue-endpoint"))
SERVER_KEYS: Final = frozenset(
    (
        *("port", "verbose", "disconnect-connection-delay", "disconnect-time-unit", "database-resolution"),
        *("status-polling-delay", "status-polling-delay-time-unit", "configuration-properties"),
        *("query-functions-across-all-metastores", "thrift-server-stop-timeout-val-in-seconds"),
        *("thrift-server-request-timeout", "thrift-server-request-timeout-unit", "yaml-storage", "graphite"),
        *("prometheus", "endpoint", "logging", "management", "waggledance"),
    )
)
STORES: Final = frozenset(("primary-meta-store", "federated-meta-stores"))
WRITES: Final = {
    "READ_ONLY": False,
    "READ_AND_WRITE_AND_CREATE": True,
    "READ_AND_WRITE_ON_DATABASE_WHITELIST": True,
    "READ_AND_WRITE_AND_CREATE_ON_DATABASE_WHITELIST": True,
}
SOCKET_TIMEOUT: Final = "hive.metastore.client.socket.timeout"


@dataclass
class Converted:
    """The statements of a configuration, and what a person should know about them."""

    statements: list[CreateRemote] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def convert(federation: Any, server: Any = None) -> Converted:
    """The remote catalogs of a federation file; the server's file says how databases are named.

    Raises ConfigError for unknown keys, all of them in one message, and for a value that cannot be used.
    """
    converted = Converted()
    unknown: list[str] = []
    stores = _keys(federation, STORES, "the federation file", unknown)
    settings = _keys(server or {}, SERVER_KEYS, "the server file", unknown)
    resolution = str(settings.get("database-resolution", "MANUAL")).upper()
    if resolution not in ("MANUAL", "PREFIXED"):
        raise ConfigError(f"database-resolution is {resolution!r}; Waggle Dance has MANUAL and PREFIXED")
    primary = stores.get("primary-meta-store")
    given = [(primary, True)] if primary is not None else []
    given += [(each, False) for each in _list(stores.get("federated-meta-stores"), "federated-meta-stores")]
    if not given:
        raise ConfigError("the federation file has neither primary-meta-store nor federated-meta-stores")
    for store, is_primary in given:
        name = store.get("name") if isinstance(store, Mapping) else None
        where = f"metastore {name or '(without a name)'}"
        keys = _keys(store, STORE_KEYS, where, unknown)
        tunnel = _keys(keys.get("metastore-tunnel") or {}, TUNNEL_KEYS, f"{where}, metastore-tunnel", unknown)
        glue = _keys(keys.get("glue-config") or {}, GLUE_KEYS, f"{where}, glue-config", unknown)
        if not unknown:
            shared = settings.get("configuration-properties") or {}
            _Store(keys, tunnel, glue, shared, is_primary, resolution == "PREFIXED", converted).convert()
    if unknown:
        raise ConfigError(f"Waggle Dance has no such key: {'; '.join(unknown)}")
    _check_names(converted, resolution)
    return converted


class _Store:
    """One metastore of the configuration on its way to a statement."""

    def __init__(
        self,
        keys: Mapping[str, Any],
        tunnel: Mapping[str, Any],
        glue: Mapping[str, Any],
        shared: Mapping[str, Any],
        is_primary: bool,
        is_prefixed: bool,
        converted: Converted,
    ) -> None:
        if not str(keys.get("name") or "").strip():
            raise ConfigError("a metastore of the federation file has no name")
        self._keys = keys
        self._tunnel = tunnel
        self._glue = glue
        self._configured = {**shared, **(keys.get("configuration-properties") or {})}
        self._is_primary = is_primary
        self._is_prefixed = is_prefixed
        self._notes = converted.notes
        self._statements = converted.statements
        self._name = str(keys["name"]).strip()
        self._properties: dict[str, str] = {}

    def convert(self) -> None:
        via = SSH if self._tunnel else GLUE if self._glue else THRIFT
        self._put(URIS, self._keys.get("remote-meta-store-uris"))
        self._put(READ_ONLY_URIS, self._keys.get("read-only-remote-meta-store-uris"))
        self._convert_tunnel()
        self._put("hive.metastore.glue.catalogid", self._glue.get("glue-account-id"))
        self._put(GLUE_ENDPOINT, self._glue.get("glue-endpoint"))
        if via != GLUE and URIS not in self._properties:
            raise ConfigError(f"metastore {self._name} has neither remote-meta-store-uris nor glue-config")
        if via == GLUE and URIS in self._properties:
            del self._properties[URIS]
            self._note("remote-meta-store-uris is left out: glue-config replaces it, as in Waggle Dance")
        self._convert_access()
        self._convert_names()
        self._convert_settings(via)
        for key in ("hive-metastore-filter-hook", "read-only-glue-config"):
            if self._keys.get(key):
                self._note(f"{key} is not converted")
        if self._keys.get("impersonation-enabled"):
            self._note("impersonation-enabled is not converted: set metastored.remote.identity")
        if self._keys.get("latency"):
            self._note(f"latency is not converted: {TIMEOUT} is the time for a whole call")
        catalog = re.sub(r"\W+", "_", self._name.lower())
        if catalog != self._name:
            self._note(f"its catalog is named {catalog}")
        self._statements.append(
            CreateRemote(
                Kind.CATALOG,
                (catalog,),
                prefix=self._prefix(),
                via=via,
                properties=tuple(self._properties.items()),
            )
        )

    def _prefix(self) -> str:
        given = self._keys.get("database-prefix")
        if not self._is_prefixed:
            if given:
                self._note("database-prefix is left out: with database-resolution MANUAL it has no effect")
            return ""
        if given is not None:
            return str(given).lower()
        return "" if self._is_primary else f"{self._name.lower()}_"

    def _convert_tunnel(self) -> None:
        tunnel = self._tunnel
        self._put(SSH_ROUTE, tunnel.get("route"))
        self._put("ssh.tunnel.private.keys", tunnel.get("private-keys"))
        self._put("ssh.tunnel.known.hosts", tunnel.get("known-hosts"))
        self._put("ssh.tunnel.port", tunnel.get("port"))
        if tunnel.get("timeout"):
            self._put("ssh.tunnel.timeout", f"{int(tunnel['timeout']) / 1000:g}")
        strict = str(tunnel.get("strict-host-key-checking", "yes")).lower()
        if strict not in ("yes", "true"):
            self._note(f"strict-host-key-checking: {strict} is not converted: host keys are always checked")

    def _convert_access(self) -> None:
        given = str(self._keys.get("access-control-type") or "READ_ONLY").upper()
        if given not in WRITES:
            raise ConfigError(
                f"metastore {self._name}: access-control-type is {given}; Waggle Dance has {', '.join(WRITES)}"
            )
        if not WRITES[given]:
            return
        self._properties[ACCESS] = "write"
        if given.endswith("WHITELIST"):
            self._properties[WRITABLE] = self._listed("writable-database-white-list")

    def _convert_names(self) -> None:
        if self._keys.get("mapped-databases") is not None:
            self._properties[DATABASES] = self._listed("mapped-databases")
        for each in _list(self._keys.get("mapped-tables"), "mapped-tables"):
            entry = {_kebab(key): value for key, value in each.items()} if isinstance(each, Mapping) else {}
            if entry.keys() != {"database", "mapped-tables"}:
                raise ConfigError(f"metastore {self._name}: mapped-tables is a list of database and mapped-tables")
            self._properties[f"{TABLES_OF}{entry['database']}"] = _joined(entry["mapped-tables"], "mapped-tables")
        for remote, alias in (self._keys.get("database-name-mapping") or {}).items():
            self._properties[f"{ALIAS}{remote}"] = str(alias)

    def _convert_settings(self, via: str) -> None:
        for name, value in self._configured.items():
            known = find_key(name, via)
            if name == SOCKET_TIMEOUT:
                self._properties[TIMEOUT] = str(value)
            elif known is not None and via in known.via:
                self._properties[name] = str(value).lower() if isinstance(value, bool) else str(value)
            else:
                self._note(f"the configuration property {name} is not converted")

    def _listed(self, key: str) -> str:
        return _joined(self._keys.get(key), key)

    def _put(self, key: str, value: Any) -> None:
        if value not in (None, ""):
            self._properties[key] = str(value)

    def _note(self, text: str) -> None:
        self._notes.append(f"metastore {self._name}: {text}")


def _check_names(converted: Converted, resolution: str) -> None:
    """Raises ConfigError where two metastores would have one name or one prefix; MANUAL needs allow-lists."""
    names = [statement.name[0] for statement in converted.statements]
    prefixes = [statement.prefix or "" for statement in converted.statements]
    for what, given in (("name", names), ("prefix", prefixes if resolution == "PREFIXED" else [])):
        twice = {each for each in given if given.count(each) > 1}
        if twice:
            raise ConfigError(f"two metastores have the {what} {min(twice)!r}")
    unlimited = [statement.name[0] for statement in converted.statements if DATABASES not in dict(statement.properties)]
    if resolution == "MANUAL" and len(unlimited) > 1:
        converted.notes.append(
            f"{', '.join(unlimited)} show all their databases under their own names: a name that several of them have "
            f"is found in one only. Add '{DATABASES}' to all but one, or give them prefixes"
        )


def _keys(given: Any, known: Iterable[str], where: str, unknown: list[str]) -> dict[str, Any]:
    """A map with its keys in one spelling; what is not known is added to `unknown`."""
    if not isinstance(given, Mapping):
        raise ConfigError(f"{where} is not a map of keys and values")
    keys = {_kebab(key): value for key, value in given.items()}
    unknown += [f"{key} ({where})" for key in keys if key not in known]
    return keys


def _kebab(key: Any) -> str:
    """`remoteMetaStoreUris` as `remote-meta-store-uris`: Waggle Dance takes both."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", str(key)).lower()


def _list(given: Any, key: str) -> list[Any]:
    if given is None:
        return []
    if not isinstance(given, list):
        raise ConfigError(f"{key} is not a list")
    return given


def _joined(given: Any, key: str) -> str:
    return ", ".join(str(each) for each in _list(given, key))
