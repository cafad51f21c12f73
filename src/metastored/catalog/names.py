"""Names as people write them, `catalog.database.table`, made whole with what is the default. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from metastored.catalog.status import Namespace
from metastored.errors import InvalidInputException

Name = str | Sequence[str]
"""Parts with dots between them; names that hold dots are given as their parts."""


class Place(NamedTuple):
    """Where something is, or would be."""

    catalog: str
    database: Namespace
    name: str = ""


def parts_of(name: Name) -> tuple[str, ...]:
    parts = tuple(name.split(".")) if isinstance(name, str) else tuple(name)
    if not parts or not all(parts):
        raise InvalidInputException(f"{name!r} is not a name: a part of it is empty")
    return parts


def database_place(name: Name, catalog: str, catalogs: Collection[str]) -> Place:
    """`db` of the default catalog, or `catalog.db`; what follows the catalog may be nested."""
    parts = parts_of(name)
    if len(parts) == 1:
        return Place(catalog, parts)
    return Place(_known(parts[0], catalogs, name, "database or catalog.database"), parts[1:])


def table_place(name: Name, catalog: str, database: Namespace, catalogs: Collection[str]) -> Place:
    """`t`, `db.t` or `catalog.db.t`."""
    parts = parts_of(name)
    if len(parts) == 1:
        return Place(catalog, database, parts[0])
    if len(parts) == 2:
        return Place(catalog, parts[:1], parts[1])
    return Place(_known(parts[0], catalogs, name, "table, database.table or catalog.database.table"), *_rest(parts))


def _rest(parts: tuple[str, ...]) -> tuple[Namespace, str]:
    return parts[1:-1], parts[-1]


def _known(catalog: str, catalogs: Collection[str], name: Name, form: str) -> str:
    if catalog not in catalogs:
        raise InvalidInputException(
            f"{name!r} begins with {catalog!r}, which is no catalog; known are {', '.join(catalogs)}. Write {form}."
        )
    return catalog
