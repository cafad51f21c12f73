"""Remote catalogs: all databases of another metastore at once, as Waggle Dance shows them. Pure.

A remote catalog without a prefix is a catalog of its own: `SELECT … FROM c.db.t`. With a prefix, which may be empty,
its databases are databases of the default catalog, under the prefix and their remote names. Allow-lists, aliases and
the policy for writes are about remote names. `remote_of` makes a `Remote` of one of its databases, so that routing
knows nothing of catalogs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from metastored.errors import InvalidObjectException
from metastored.hive.names import DEFAULT_CATALOG, is_valid_catalog_name, normalize
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import (
    ACCESS,
    ALIAS,
    CACHE,
    DATABASES,
    PREFIX,
    READERS,
    REMOTE,
    TABLES,
    TABLES_OF,
    VIA,
    WRITABLE,
    WRITERS,
)
from metastored.model.remotes.values import (
    ALL_NAMES,
    Access,
    Names,
    Remote,
    check_identity,
    endpoint_parameters,
    read_access,
    read_endpoint,
    read_seconds,
    seconds_text,
    split,
)


@dataclass(frozen=True, slots=True)
class RemoteCatalog:
    """All databases of a remote, or those that its allow-list names."""

    name: str
    """The local catalog; with a prefix, only the name of the definition."""
    endpoint: Endpoint
    remote_catalog: str | None = None
    """The catalog at the remote; None for its default one."""
    prefix: str | None = None
    databases: Names = ALL_NAMES
    tables: Names = ALL_NAMES
    """The tables that are shown of databases that `tables_of` does not name."""
    tables_of: tuple[tuple[str, Names], ...] = ()
    """A remote database, as a name or regular expression, and the tables of it that are shown."""
    aliases: tuple[tuple[str, str], ...] = ()
    """(remote database, a further local name of it, without the prefix)."""
    access: Access = Access.READ
    writable: Names = ALL_NAMES
    """The databases that may be written, where `access` is WRITE."""
    readers: tuple[str, ...] = ()
    """With authorization on, the roles that may read; () for everybody."""
    writers: tuple[str, ...] = ()
    """With authorization on, the roles that may write beside admins; such a role counts as the databases' owner."""
    cache_seconds: float = 0.0
    _local: dict[str, str] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._local.update({alias: remote for remote, alias in self.aliases})

    @property
    def shown_in(self) -> str:
        """The local catalog that its databases are shown in."""
        return self.name if self.prefix is None else DEFAULT_CATALOG

    def local_names(self, remote_database: str) -> tuple[str, ...]:
        """The local names of a remote database, the one without an alias first; () where it is not shown."""
        remote = normalize(remote_database)
        if remote not in self.databases:
            return ()
        prefix = self.prefix or ""
        own = [] if remote in self._local else [prefix + remote]
        return (*own, *(prefix + alias for name, alias in self.aliases if name == remote))

    def remote_database(self, database: str) -> str | None:
        """The remote database that a local name stands for, whether it exists or not; None where it is not shown."""
        name, prefix = normalize(database), self.prefix or ""
        if not name.startswith(prefix) or name == prefix:
            return None
        bare = name[len(prefix) :]
        remote = self._local.get(bare, bare)
        return remote if remote in self.databases else None

    def remote_of(self, database: str) -> Remote | None:
        """The remote database behind a local name, as routing needs it; None where it is not shown."""
        remote = self.remote_database(database)
        if remote is None:
            return None
        may_write = self.access is Access.WRITE and remote in self.writable
        return Remote(
            self.shown_in,
            normalize(database),
            None,
            remote,
            None,
            self.endpoint,
            Access.WRITE if may_write else Access.READ,
            self.cache_seconds,
            self._tables(remote),
            self.name,
            self.remote_catalog,
        )

    def _tables(self, remote: str) -> Names:
        named = [tables for pattern, tables in self.tables_of if remote in Names((pattern,))]
        return Names(tuple(each for tables in named for each in tables.patterns)) if named else self.tables

    def __str__(self) -> str:
        return f"remote catalog '{self.name}' ({self.endpoint})"


def read_remote_catalog(name: str, parameters: Mapping[str, str], default_via: str = "") -> RemoteCatalog:
    """The remote catalog that a catalog's parameters define. Raises InvalidObjectException with the reason."""
    what = f"remote catalog {name}"
    endpoint = read_endpoint(parameters, what, default_via)
    check_identity(endpoint, what)
    prefix = parameters.get(PREFIX)
    if prefix and not is_valid_catalog_name(prefix.strip()):
        raise InvalidObjectException(f"{what}: '{PREFIX}' is {prefix!r}; letters, digits and _ are allowed")
    aliases = tuple(
        sorted(
            (normalize(key.removeprefix(ALIAS)), normalize(value))
            for key, value in parameters.items()
            if key.startswith(ALIAS)
        )
    )
    for remote, alias in aliases:
        if not is_valid_catalog_name(alias):
            raise InvalidObjectException(f"{what}: '{ALIAS}{remote}' is {alias!r}; letters, digits and _ are allowed")
    _check_once(what, [alias for _, alias in aliases])
    tables_of = tuple(
        (key.removeprefix(TABLES_OF), Names.read(value, key, what))
        for key, value in sorted(parameters.items())
        if key.startswith(TABLES_OF)
    )
    for pattern, _ in tables_of:
        Names.read(pattern, f"{TABLES_OF}{pattern}", what)

    def names(key: str) -> Names:
        return Names.read(parameters[key], key, what) if key in parameters else ALL_NAMES

    return RemoteCatalog(
        normalize(name),
        endpoint,
        normalize(parameters[REMOTE]) if parameters.get(REMOTE) else parameters.get("metastored.remote.catalog"),
        None if prefix is None else normalize(prefix),
        names(DATABASES),
        names(TABLES),
        tables_of,
        aliases,
        read_access(parameters, what),
        names(WRITABLE),
        split(parameters.get(READERS, "")),
        split(parameters.get(WRITERS, "")),
        read_seconds(parameters, CACHE, 0.0, what),
    )


def _check_once(what: str, aliases: Iterable[str]) -> None:
    seen: set[str] = set()
    for alias in aliases:
        if alias in seen:
            raise InvalidObjectException(f"{what}: two databases have the alias {alias!r}")
        seen.add(alias)


def catalog_parameters(catalog: RemoteCatalog, *, masked: bool) -> dict[str, str]:
    """The definition as parameters: `read_remote_catalog` reads the same from them, unless secrets are masked."""
    parameters = {VIA: catalog.endpoint.via, ACCESS: catalog.access.value}
    parameters |= endpoint_parameters(catalog.endpoint, masked=masked)
    optional = (
        (REMOTE, catalog.remote_catalog),
        (PREFIX, catalog.prefix),
        (CACHE, seconds_text(catalog.cache_seconds) if catalog.cache_seconds else None),
        (READERS, ", ".join(catalog.readers) or None),
        (WRITERS, ", ".join(catalog.writers) or None),
        *((key, None if names == ALL_NAMES else str(names)) for key, names in _allowed(catalog)),
    )
    parameters |= {key: value for key, value in optional if value is not None}
    parameters |= {f"{TABLES_OF}{pattern}": str(names) for pattern, names in catalog.tables_of}
    return parameters | {f"{ALIAS}{remote}": alias for remote, alias in catalog.aliases}


def _allowed(catalog: RemoteCatalog) -> tuple[tuple[str, Names], ...]:
    return (DATABASES, catalog.databases), (TABLES, catalog.tables), (WRITABLE, catalog.writable)
