"""Names as callers write them, `catalog.database.table`, resolved with the default catalog and database. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from metastored.catalog.status import Namespace
from metastored.errors import InvalidInputException
from metastored.model import names

Name = str | Sequence[str]
"""A text with dots, or the list of its parts, for names that contain dots."""


class ResolvedName(NamedTuple):
    """A database, or a table in it, with its catalog. Databases may be nested, unlike `model.names` has them."""

    catalog: str
    database: Namespace
    name: str = ""


def parts_of(name: Name) -> tuple[str, ...]:
    """Returns the parts of a name. Raises InvalidInputException for anything else."""
    parts = names.parts_of(name)
    if not parts:
        raise InvalidInputException(
            f"{name!r} is not a name: a part of it is empty, or it is neither a text nor a list of texts"
        )
    return tuple(parts)


def resolve_database(name: Name, catalog: str, catalogs: Collection[str]) -> ResolvedName:
    """`db` of the default catalog, or `catalog.db`; what follows the catalog may be nested."""
    parts = parts_of(name)
    if len(parts) == 1:
        return ResolvedName(catalog, parts)
    return ResolvedName(_known(parts[0], catalogs, name, "database or catalog.database"), parts[1:])


def resolve_table(name: Name, catalog: str, database: Namespace, catalogs: Collection[str]) -> ResolvedName:
    """`t`, `db.t` or `catalog.db.t`."""
    parts = parts_of(name)
    if len(parts) == 1:
        return ResolvedName(catalog, database, parts[0])
    if len(parts) == 2:
        return ResolvedName(catalog, parts[:1], parts[1])
    return ResolvedName(
        _known(parts[0], catalogs, name, "table, database.table or catalog.database.table"), *_rest(parts)
    )


def _rest(parts: tuple[str, ...]) -> tuple[Namespace, str]:
    return parts[1:-1], parts[-1]


def _known(catalog: str, catalogs: Collection[str], name: Name, form: str) -> str:
    if catalog not in catalogs:
        raise InvalidInputException(
            f"{name!r} begins with {catalog!r}, which is not a catalog; known are {', '.join(catalogs)}. Write {form}."
        )
    return catalog
