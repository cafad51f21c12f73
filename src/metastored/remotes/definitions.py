"""Which databases are remote, and where they are. Values and a pure look-up: nothing here opens or asks anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from metastored.errors import AlreadyExistsException, InvalidObjectException
from metastored.hive.generation import Generation
from metastored.hive.names import DEFAULT_CATALOG, is_valid_database_name, normalize


@dataclass(frozen=True, slots=True)
class RemoteDatabase:
    """A database of another metastore under a local name. Names are kept as Hive looks them up, in lower case."""

    name: str
    remote_name: str
    uri: str
    catalog: str = DEFAULT_CATALOG

    def __post_init__(self) -> None:
        for field in ("name", "remote_name", "catalog"):
            given = getattr(self, field)
            object.__setattr__(self, field, normalize(given))
            if not is_valid_database_name(normalize(given), Generation.HIVE_3_1):
                raise InvalidObjectException(
                    f"{given!r} cannot be the {field} of a remote database: letters, digits and _ are allowed"
                )

    @property
    def endpoint(self) -> str:
        """What is asked for it: remote databases with the same one share its connections."""
        return self.uri

    def __str__(self) -> str:
        return f"remote database '{self.name}' ('{self.remote_name}' at {self.uri})"


class Definitions:
    """All remote databases. A name means one database: one that is taken, here or by another remote, is refused."""

    def __init__(self, remotes: Iterable[RemoteDatabase] = (), local_databases: Iterable[str] = ()) -> None:
        """`local_databases` are those of the default catalog."""
        taken = {(DEFAULT_CATALOG, normalize(name)) for name in local_databases}
        self._by_name: dict[tuple[str, str], RemoteDatabase] = {}
        for remote in remotes:
            key = (remote.catalog, remote.name)
            if key in taken:
                raise AlreadyExistsException(
                    f"database '{remote.name}' exists here; give the remote database '{remote.remote_name}' "
                    f"at {remote.uri} another name"
                )
            if key in self._by_name:
                raise AlreadyExistsException(f"{self._by_name[key]} exists; give the other one another name")
            self._by_name[key] = remote

    def resolve(self, catalog: str | None, database: str) -> RemoteDatabase | None:
        """The remote database of this name; None when there is none, and the name is local or unknown."""
        return self._by_name.get((normalize(catalog) if catalog else DEFAULT_CATALOG, normalize(database)))

    def __iter__(self) -> Iterator[RemoteDatabase]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)
