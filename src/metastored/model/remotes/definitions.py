"""All remotes at one state of the store, with look-ups by local name. Pure: whoever reads the store makes one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from metastored.hive.names import DEFAULT_CATALOG, normalize
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.values import ALL_NAMES, Remote


class Definitions:
    """The remotes of a metastore. It is immutable; another state is another object, with another `version`."""

    __slots__ = ("_by_database", "_by_table", "_catalogs", "_prefixed", "catalogs", "remotes", "version")

    def __init__(
        self, remotes: Iterable[Remote] = (), catalogs: Iterable[RemoteCatalog] = (), version: int = 0
    ) -> None:
        self.remotes = tuple(remotes)
        self.catalogs = tuple(catalogs)
        self.version = version
        self._by_database = {(each.catalog, each.database): each for each in self.remotes if each.table is None}
        self._by_table = {
            (each.catalog, each.database, each.table): each for each in self.remotes if each.table is not None
        }
        self._catalogs = {each.name: each for each in self.catalogs if each.prefix is None}
        # The longest prefix wins, whatever the order of creation. Of catalogs with one prefix those with an allow-list
        # come first, because the one without shows every name.
        prefixed = (each for each in self.catalogs if each.prefix is not None)
        self._prefixed = tuple(
            sorted(prefixed, key=lambda each: (-len(each.prefix or ""), each.databases == ALL_NAMES, each.name))
        )

    def database(self, catalog: str | None, database: str) -> Remote | None:
        """The remote database of this name, by its own definition or by a catalog's; None where there is none.

        A local database whose name a prefix would match is local: routing asks this only for names that the store does
        not have, or for names that have a definition of their own.
        """
        home, name = normalize(catalog) if catalog else DEFAULT_CATALOG, normalize(database)
        return self.own_database(home, name) or self.database_by_catalog(home, name)

    def own_database(self, catalog: str | None, database: str) -> Remote | None:
        """The remote database with a definition of its own."""
        return self._by_database.get((normalize(catalog) if catalog else DEFAULT_CATALOG, normalize(database)))

    def database_by_catalog(self, catalog: str | None, database: str) -> Remote | None:
        """The remote database that a remote catalog would show under this name, whether it exists there or not."""
        home, name = normalize(catalog) if catalog else DEFAULT_CATALOG, normalize(database)
        whole = self._catalogs.get(home)
        if whole is not None:
            return whole.remote_of(name)
        if home != DEFAULT_CATALOG:
            return None
        for each in self._prefixed:
            remote = each.remote_of(name)
            if remote is not None:
                return remote
        return None

    def table(self, catalog: str | None, database: str, table: str) -> Remote | None:
        """The remote table with this local name; None where there is none."""
        home = normalize(catalog) if catalog else DEFAULT_CATALOG
        return self._by_table.get((home, normalize(database), normalize(table)))

    def tables_in(self, catalog: str | None, database: str) -> tuple[Remote, ...]:
        """The remote tables of a local database."""
        home, name = normalize(catalog) if catalog else DEFAULT_CATALOG, normalize(database)
        return tuple(each for key, each in self._by_table.items() if key[:2] == (home, name))

    def catalogs_in(self, catalog: str | None) -> tuple[RemoteCatalog, ...]:
        """The remote catalogs whose databases are shown in this catalog."""
        home = normalize(catalog) if catalog else DEFAULT_CATALOG
        return tuple(each for each in self.catalogs if each.shown_in == home)

    def __iter__(self) -> Iterator[Remote]:
        return iter(self.remotes)

    def __len__(self) -> int:
        return len(self.remotes) + len(self.catalogs)
