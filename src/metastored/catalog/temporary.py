"""Views that live as long as their manager: those of a session by their bare names, and global ones in a database
of their own, as in Spark. No catalog keeps them. No I/O here."""

from __future__ import annotations

from threading import Lock

from metastored.catalog.status import Namespace, TableKind, TableStatus, ViewDefinition
from metastored.errors import ObjectAlreadyExists, ObjectNotFound
from metastored.hive.patterns import compile_pattern


class TemporaryViews:
    """The temporary views of one manager."""

    def __init__(self, database: Namespace) -> None:
        self.database = database
        """Where the global ones are."""
        self._views: dict[tuple[bool, str], TableStatus] = {}
        self._lock = Lock()

    def create(self, name: str, given: ViewDefinition, shared: bool, replace: bool) -> TableStatus:
        made = TableStatus(
            catalog="",
            database=self.database if shared else (),
            name=name,
            kind=TableKind.GLOBAL_TEMPORARY_VIEW if shared else TableKind.TEMPORARY_VIEW,
            columns=tuple(given.columns),
            comment=given.comment,
            properties=dict(given.properties),
            definition=given.definition,
            owner=given.owner,
        )
        with self._lock:
            if (shared, name.lower()) in self._views and not replace:
                raise ObjectAlreadyExists(made.kind.value, name)
            self._views[shared, name.lower()] = made
        return made

    def find(self, parts: tuple[str, ...]) -> TableStatus | None:
        """What a name stands for: a bare one, or one in the database of global views."""
        if len(parts) == 1:
            return self._views.get((False, parts[0].lower()))
        if parts[:-1] == self.database:
            return self._views.get((True, parts[-1].lower()))
        return None

    def drop(self, name: str, shared: bool, if_exists: bool) -> None:
        with self._lock:
            if self._views.pop((shared, name.lower()), None) is None and not if_exists:
                kind = TableKind.GLOBAL_TEMPORARY_VIEW if shared else TableKind.TEMPORARY_VIEW
                raise ObjectNotFound(kind.value, name)

    def list(self, pattern: str | None = None) -> list[TableStatus]:
        matches = compile_pattern(pattern)
        return [view for (_, name), view in sorted(self._views.items()) if matches(name)]
