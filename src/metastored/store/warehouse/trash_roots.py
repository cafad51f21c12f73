"""Which file systems have a trash, as the database stores it: any server may expire it."""

from __future__ import annotations

from typing import Final

from metastored.store.engine import meta
from metastored.store.engine.database import Database

CURRENT: Final = "Current"
"""The part of a trash into which directories are moved."""

_PREFIX: Final = "trash "


def record_trash_root(database: Database, root: str) -> None:
    """Stores that a file system has a trash; called before something is moved into it."""
    if meta.value(database.reader(), _PREFIX + root) is None:
        database.run(lambda tx: meta.ensure(tx, _PREFIX + root, ""))


def trash_roots(database: Database) -> list[str]:
    """The directories of all trashes."""
    return [key.removeprefix(_PREFIX) for key in meta.keys(database.reader(), _PREFIX)]
