"""What reaches pyiceberg from outside: a list of keys that may pass, with checked values. Everything else is dropped.

pyiceberg loads classes that properties name (`py-io-impl`, `auth`, a retry strategy, a location provider), reads
files that they name (`ssl`) and connects to hosts that they name (`s3.endpoint`, `s3.signer.uri`, `s3.proxy-uri`). Such
properties come from a remote's definition, from the configuration of a REST catalog, from its reply about a table, and
from metadata files that anybody may have written. So the server builds the FileIO itself, and of what a catalog or a
file says only regions, allowed hosts and credentials for the table's own storage pass. No class is loaded by its name.
Credentials of the definition are never sent to a host that the catalog or a file names. The properties are those of the
table in `model/remotes/key_table.py`; there is no second list here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from metastored.connectors.network import check_host
from metastored.errors import ConfigError, InvalidOperationException
from metastored.hive.host_rules import read_address
from metastored.model.remotes.hosts import HTTPS, AllowedHosts
from metastored.model.remotes.key_table import CATALOG, ICEBERG_PREFIX, KEYS, STORAGE, Kind

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

log = logging.getLogger("metastored.connectors")

_OF_LIBRARY: Final = {key.name.removeprefix(ICEBERG_PREFIX): key for key in KEYS if key.about}
HOSTS: Final = frozenset(name for name, key in _OF_LIBRARY.items() if key.kind is Kind.HOST and key.about == STORAGE)
"""Keys whose values are hosts of storage that the server connects to."""
VENDED: Final = frozenset(name for name, key in _OF_LIBRARY.items() if key.vended)
"""What a catalog, or the metadata of a table, may say about the storage of a table."""
DEFINED: Final = frozenset(name for name, key in _OF_LIBRARY.items() if key.about == STORAGE)
"""What the definition of a remote may say about storage."""
OF_CATALOGS: Final = frozenset(
    name for name, key in _OF_LIBRARY.items() if key.about == CATALOG and not name.endswith(".")
)
"""What it may say about the catalog itself."""
CONFIGURED: Final = VENDED | {
    "warehouse",
    "prefix",
    "namespace-separator",
    "view-endpoints-supported",
    "rest-page-size",
}
"""What the configuration of a REST catalog may change. Its own address stays that of the definition."""
HEADER: Final = "header."
"""Before the names of headers of HTTP, which a definition may set."""
_CLOUDS: Final = (("s3.", "client."), ("gcs.",), ("adls.",))
"""How the properties of each cloud's storage begin."""
_ADDRESSES: Final = HOSTS | {"adls.account-name"}
"""Those that say where requests are sent to."""
_CREDENTIALS: Final = frozenset(name for name in DEFINED if _OF_LIBRARY[name].secret) | {
    "s3.access-key-id", "client.access-key-id", "s3.role-arn", "client.role-arn", "adls.client-id",
}  # fmt: skip
"""Those that are sent there, or used there."""


def check_defined(name: str, key: str) -> None:
    """Raises ConfigError unless a definition may set this property of pyiceberg. `key` is its name there."""
    if name not in DEFINED and name not in OF_CATALOGS and not name.startswith(HEADER):
        raise ConfigError(
            f"'{key}' is not a property that a remote's definition may set: pyiceberg could load classes, read files "
            f"or connect to hosts by it. Known are {', '.join(sorted(OF_CATALOGS | DEFINED))} and {HEADER}…"
        )


def passed(properties: Mapping[str, Any], allowed: frozenset[str], what: str) -> dict[str, str]:
    """Those of the properties that may pass. The others are counted in the log: most belong to the table alone."""
    kept = {key: value for key, value in properties.items() if key in allowed and isinstance(value, str)}
    if len(kept) < len(properties):
        log.debug(
            "%s: %d of %d properties do not reach the Iceberg library",
            what,
            len(properties) - len(kept),
            len(properties),
        )
    return kept


def check_hosts(properties: Mapping[str, str], hosts: AllowedHosts) -> None:
    """Raises ConnectError if one of the properties names a host that `remotes_hosts` does not allow."""
    for key in sorted(HOSTS & properties.keys()):
        value = properties[key].strip()
        account = properties.get("adls.account-name", "") if value.startswith(".") else ""
        try:
            host, port = read_address(account + value)
        except ValueError as error:
            raise ConfigError(f"'{key}' is {value!r}, which is not an address: {error}") from None
        check_host(host, port or HTTPS, hosts)


def file_io(own: Mapping[str, str], answered: Mapping[str, Any], hosts: AllowedHosts, what: str) -> FileIO:
    """The access to the files of a table: `own` is the definition's, `answered` what its catalog or metadata says.

    Raises ConfigError where the definition's credentials would be sent to a host that the definition does not name.
    """
    from metastored.connectors.iceberg.bounded import BoundedFileIO

    properties = {key: value for key, value in own.items() if key in DEFINED}
    theirs = passed(answered, VENDED, what)
    for prefixes in _CLOUDS:
        properties = _of_one_source(properties, theirs, prefixes, what)
    properties |= theirs
    check_hosts(properties, hosts)
    return BoundedFileIO(properties)


def _of_one_source(
    mine: Mapping[str, str], theirs: Mapping[str, str], prefixes: tuple[str, ...], what: str
) -> dict[str, str]:
    """What of the definition goes to the host of a cloud: no credentials where the catalog or a file names the host."""
    moved = sorted(
        key
        for key, value in theirs.items()
        if key in _ADDRESSES and key.startswith(prefixes) and value != mine.get(key)
    )
    if not moved:
        return dict(mine)
    key, host = moved[0], theirs[moved[0]]
    own = sorted(each for each in mine if each in _CREDENTIALS and each.startswith(prefixes))
    if not any(each in _CREDENTIALS and each.startswith(prefixes) for each in theirs):
        if own:
            raise ConfigError(
                f"{what} names {host} as '{key}', and '{own[0]}' of the definition was not given for that host: add "
                f"'{ICEBERG_PREFIX}{key}' to the definition if the host is right"
            )
        if key != "s3.endpoint":
            raise ConfigError(f"{what} names {host} as '{key}' and no credentials for it; the server sends none there")
        # Those of the server's environment must not be sent there either.
        return {**mine, "s3.anonymous": "true"}
    return {each: value for each, value in mine.items() if each not in own}


def refuse_classes(properties: Mapping[str, str], what: str) -> None:
    """Raises InvalidOperationException if a property names a class that pyiceberg would load for a write."""
    named = sorted(key for key in properties if "impl" in key.lower())
    if named:
        raise InvalidOperationException(
            f"{what} has the property {named[0]!r}, which names a class to load: it is not written through metastored"
        )
