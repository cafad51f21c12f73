"""Temporary views: those of a session by their bare names, and global ones in a database of their own, as in Spark.

They end with their manager; no catalog stores them. Names are compared in any case. No I/O here.
"""

from __future__ import annotations

from threading import Lock

from metastored.catalog.status import Namespace, TableKind, TableStatus, ViewDefinition
from metastored.errors import InvalidInputException, ObjectAlreadyExists, ObjectNotFound
from metastored.hive.patterns import compile_pattern


class TemporaryViews:
    """The temporary views of one manager."""

    def __init__(self, database: Namespace) -> None:
        self.database = database
        """The database of the global views."""
        self._views: dict[tuple[bool, str], TableStatus] = {}
        self._lock = Lock()

    def create(
        self, name: str, definition: ViewDefinition, shared: bool | None = None, replace: bool = False
    ) -> TableStatus:
        """Creates a view and returns it: a global one with `shared`, or if `name` is in the database of global views.

        Raises ObjectAlreadyExists unless `replace`.
        """
        shared, name = self._parsed(name, shared)
        created = TableStatus(
            catalog="",
            database=self.database if shared else (),
            name=name,
            kind=TableKind.GLOBAL_TEMPORARY_VIEW if shared else TableKind.TEMPORARY_VIEW,
            columns=tuple(definition.columns),
            comment=definition.comment,
            properties=dict(definition.properties),
            definition=definition.definition,
            owner=definition.owner,
        )
        with self._lock:
            if (shared, name.lower()) in self._views and not replace:
                raise ObjectAlreadyExists(created.kind.value, name)
            self._views[shared, name.lower()] = created
        return created

    def find(self, parts: tuple[str, ...]) -> TableStatus | None:
        """The view of a bare name, or of a name in the database of global views; None if there is none."""
        if len(parts) == 1:
            return self._views.get((False, parts[0].lower()))
        return self._views.get((True, parts[-1].lower())) if self.is_global(parts[:-1]) else None

    def is_global(self, database: Namespace) -> bool:
        """Whether this is the database of global views, in any case."""
        return tuple(part.lower() for part in database) == tuple(part.lower() for part in self.database)

    def drop(self, name: str, shared: bool | None = None, if_exists: bool = False) -> None:
        """Drops a view by its name: `v`, or `global_temp.v`. Without `shared`, a bare name is first a view of the
        session, then a global one. Raises ObjectNotFound unless `if_exists`."""
        both = shared is None and "." not in name
        shared, name = self._parsed(name, shared)
        with self._lock:
            view = self._views.pop((shared, name.lower()), None)
            if view is None and both:
                view = self._views.pop((True, name.lower()), None)
        if view is None and not if_exists:
            kind = TableKind.GLOBAL_TEMPORARY_VIEW if shared else TableKind.TEMPORARY_VIEW
            raise ObjectNotFound(kind.value, name)

    def list(self, pattern: str | None = None, shared: bool | None = None) -> list[TableStatus]:
        """The views whose names match; with `shared`, only global ones or only those of the session."""
        matches = compile_pattern(pattern)
        return [
            view
            for (is_shared, name), view in sorted(self._views.items())
            if matches(name) and shared in (None, is_shared)
        ]

    def _parsed(self, name: str, shared: bool | None) -> tuple[bool, str]:
        """Whether the view is global, and its name without the database."""
        *database, bare = name.split(".")
        if database and (shared is False or not self.is_global(tuple(database))):
            raise InvalidInputException(
                f"{name!r} is not a name of a temporary view: write a name without a database, or "
                f"{'.'.join(self.database)}.{bare} for a global view"
            )
        return bool(database) or bool(shared), bare
