"""The properties of a namespace, by Lance's own names. Nothing here connects.

uri                 thrift://host:9083, or several with commas between them, tried in their order
root                the directory below which new databases and tables are stored
client.pool-size    connections to the metastore
ugi                 user, or user:group1,group2
kerberos.principal  the metastore's principal, such as hive/_HOST@REALM: the process authenticates with its ticket
managed_by          storage or impl: who keeps the versions of the tables that are declared
storage.…           options of Lance's object stores, such as storage.aws_region
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from lance_namespace import InvalidInputError

from metastored.hive.locations import LocationError, canonical, parse_location
from metastored.lance.definition import ManagedBy, managed_by_of

DEFAULT_URI: Final = "thrift://localhost:9083"
DEFAULT_POOL_SIZE: Final = 3
STORAGE: Final = "storage."
"""The prefix of options that are handed to Lance's object stores."""
_KNOWN: Final = ("uri", "root", "client.pool-size", "ugi", "kerberos.principal", "managed_by")


class Properties(NamedTuple):
    """The properties, read."""

    uri: str = DEFAULT_URI
    root: str | None = None
    """An absolute location; None where the locations of the databases are used."""
    pool_size: int = DEFAULT_POOL_SIZE
    user: str | None = None
    groups: tuple[str, ...] = ()
    managed_by: ManagedBy = ManagedBy.STORAGE
    storage_options: Mapping[str, str] = {}
    kerberos_principal: str | None = None
    """The principal of a metastore with Kerberos; None for another one."""


def properties_of(properties: Mapping[str, str]) -> Properties:
    """Reads properties. Raises InvalidInputError for an unknown one and for a value that cannot be used."""
    for key, value in properties.items():
        if key not in _KNOWN and not key.startswith(STORAGE):
            raise InvalidInputError(
                f"there is no property {key!r}; there are {', '.join(_KNOWN)}, and {STORAGE}… for object stores"
            )
        if not isinstance(value, str):
            raise InvalidInputError(f"the property {key} is {value!r}: values are texts")
    user, _, groups = properties.get("ugi", "").partition(":")
    return Properties(
        uri=properties.get("uri") or DEFAULT_URI,
        root=_root(properties.get("root")),
        pool_size=_pool_size(properties.get("client.pool-size")),
        user=user.strip() or None,
        groups=tuple(group.strip() for group in groups.split(",") if group.strip()),
        managed_by=managed_by_of(properties.get("managed_by"), "the property managed_by"),
        storage_options={
            key.removeprefix(STORAGE): value for key, value in properties.items() if key.startswith(STORAGE)
        },
        kerberos_principal=properties.get("kerberos.principal") or None,
    )


def _root(text: str | None) -> str | None:
    """A directory as an absolute location. A relative path is below the current directory."""
    if not text:
        return None
    try:
        location = parse_location(text)
        if not location.scheme:
            return canonical(f"file:{os.path.abspath(text)}")
        return canonical(text)
    except LocationError as error:
        raise InvalidInputError(f"the property root is {text!r}: {error}") from None


def _pool_size(text: str | None) -> int:
    if text is None:
        return DEFAULT_POOL_SIZE
    if not text.strip().isdigit() or int(text) < 1:
        raise InvalidInputError(f"the property client.pool-size is {text!r}: it is a number from 1 on")
    return int(text)
