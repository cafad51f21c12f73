"""Locations as the metastore stores them, and as Lance reads them. Pure.

The metastore stores `file:/x`; Lance takes the path `/x`. Hadoop's `s3a://` and `s3n://` are Lance's `s3://`.
"""

from __future__ import annotations

from typing import Final

from lance_namespace import InvalidInputError

from metastored.hive.locations import LOCAL_SCHEME, LocationError, join, parse_location
from metastored.hive.names import directory_name

_SCHEMES: Final = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfs": "az", "abfss": "abfss"}
"""Hadoop's names of object stores where Lance has another one."""


def stored_location(text: str) -> str:
    """A location as it is stored in the metastore: with a scheme. Raises InvalidInputError if it is not absolute."""
    try:
        location = parse_location(text)
    except LocationError as error:
        raise InvalidInputError(f"the location {text!r} is not valid: {error}") from None
    if not location.scheme:
        if not location.path.startswith("/") or location.authority:
            raise InvalidInputError(
                f"the location {text!r} is relative: write an absolute path, or a URI such as s3://bucket/path"
            )
        location = location._replace(scheme=LOCAL_SCHEME)
    if location.path in ("", "/") and location.scheme == LOCAL_SCHEME:
        raise InvalidInputError(f"the location {text!r} is the root of the file system")
    return str(location)


def lance_location(text: str) -> str:
    """A location of the metastore as Lance takes it: a path, or a URI of one of its object stores."""
    try:
        location = parse_location(text)
    except LocationError as error:
        raise InvalidInputError(f"the location {text!r} is not valid: {error}") from None
    if location.scheme in ("", LOCAL_SCHEME):
        return location.path
    return str(location._replace(scheme=_SCHEMES.get(location.scheme, location.scheme)))


def is_local(text: str) -> bool:
    """Whether a location of Lance is a path of this machine."""
    return parse_location(text).scheme in ("", LOCAL_SCHEME)


def default_location(root: str, catalog: str, database: str, table: str | None = None) -> str:
    """The location of a new database, or of a table in it: {root}/{database}.db/{table}.

    Below a catalog that is not the default one: {root}/{catalog}/{database}.db/{table}.
    """
    above = () if catalog in ("", "hive") else (catalog,)
    below = () if table is None else (directory_name(table),)
    return join(root, *above, f"{directory_name(database)}.db", *below)
