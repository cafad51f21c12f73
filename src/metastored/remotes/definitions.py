"""All remotes at one moment, and the look-up of a name among them. Values only: nothing here reads a store or connects.

A remote with a definition of its own is also a row of the store under its local name. The databases of a remote catalog
have no rows: a name is theirs if the catalog shows it and no local database has it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from metastored.bounded import BoundedDict
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName, TableName
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import Remote
from metastored.remotes.renaming import Renaming

MOST_OWNERS: Final = 4096
"""Calls whose owners are cached; then all are evicted."""


class Known:
    """The definitions, and the local databases that a remote catalog must not hide."""

    def __init__(
        self, definitions: Definitions, local_databases: Iterable[DatabaseName] = (), trino_catalog: str = ""
    ) -> None:
        """`local_databases` are needed where there are remote catalogs with a prefix.

        `trino_catalog` is the name of this metastore in Trino, for views; empty where it is that of the remotes.
        """
        self._trino_catalog = trino_catalog
        self.definitions: Final = definitions
        self._local = frozenset(local_databases)
        self._names = frozenset(remote.database for remote in definitions)
        self._by_endpoint: dict[Endpoint, list[Remote]] = {}
        for remote in definitions:
            if remote.table is None:
                self._by_endpoint.setdefault(remote.endpoint, []).append(remote)
        self.owners: BoundedDict[tuple[str, bytes], Any] = BoundedDict(MOST_OWNERS)
        """A cache of `owners.py`: whose objects a call names, by its method and its arguments."""
        self._renamings: dict[tuple[Remote, ...], Renaming] = {}

    def database(self, name: DatabaseName) -> Remote | None:
        """The remote database of this name; None where the name is local or unknown."""
        own = self.definitions.own_database(*name)
        if own is not None or name in self._local:
            return own
        return self.definitions.database_by_catalog(*name)

    def table(self, name: TableName) -> Remote | None:
        """The remote that a table belongs to: the remote table of this name, or the remote database around it."""
        return self.definitions.table(*name) or self.database(name.database_name)

    def concerns(self, database: str) -> bool:
        """Whether a database of this name, in any catalog, can be remote or have remote tables."""
        return database in self._names or bool(self.definitions.catalogs)

    def databases(self, catalog: str) -> Iterator[Remote]:
        """The remote databases of a catalog that have definitions of their own."""
        return (each for each in self.definitions if each.table is None and each.catalog == catalog)

    def catalogs(self, catalog: str) -> tuple[RemoteCatalog, ...]:
        """The remote catalogs whose databases are shown in a catalog."""
        return self.definitions.catalogs_in(catalog)

    def shown(self, catalog: RemoteCatalog, remote_database: str) -> Iterator[Remote]:
        """The databases as which a remote catalog shows one of its remote's databases."""
        for name in catalog.local_names(remote_database):
            where = DatabaseName(catalog.shown_in, normalize(name))
            local = self.database(where)
            if local is not None and local.of_catalog == catalog.name:
                yield local

    def endpoints(self) -> set[Endpoint]:
        """Where remotes are."""
        return {each.endpoint for each in (*self.definitions, *self.definitions.catalogs)}

    def renaming(self, remotes: tuple[Remote, ...]) -> Renaming:
        """Between local and remote names for a call about these. The names of other remotes there are local too."""
        renaming = self._renamings.get(remotes)
        if renaming is None:
            neighbours = self._by_endpoint.get(remotes[0].endpoint, ())
            shown = partial(self._shown_by, remotes[0].of_catalog)
            renaming = Renaming(remotes, neighbours, shown, self._trino_catalog)
            # Remotes of a catalog are as many as there are names; the others are bounded by the definitions.
            if all(remote.of_catalog is None for remote in remotes):
                self._renamings[remotes] = renaming
        return renaming

    def writers(self, remote: Remote) -> tuple[str, ...]:
        """The roles that may write where the remote may be written; () for everybody who may otherwise."""
        return next((each.writers for each in self.definitions.catalogs if each.name == remote.of_catalog), ())

    def _shown_by(self, catalog: str | None, remote_database: str) -> str | None:
        for each in self.definitions.catalogs:
            if each.name == catalog:
                return next((remote.database for remote in self.shown(each, remote_database)), None)
        return None

    def __len__(self) -> int:
        return len(self.definitions)


NO_REMOTES: Final = Known(Definitions())

Provider = Callable[[], Awaitable[Known]]
"""Returns the definitions as they are now."""
