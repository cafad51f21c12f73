"""Questions about the keys by which parameters make an object remote, and the names of connectors. Pure.

The answers are from the table of `key_table.py`. Keys of engines, such as `spark.sql.sources.provider`, come
along in a CREATE TABLE and are ignored. Every other key is refused where an object is made remote: a mistyped key must
not silently mean its default.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final
from urllib.parse import urlsplit

from metastored.errors import InvalidObjectException
from metastored.model.remotes.key_table import (
    ACCESS,
    ALIAS,
    AWS_KEY_ID,
    BUILT_IN,
    CACHE,
    CATALOG,
    CATALOG_KEYS,
    CONNECTOR,
    DATABASES,
    FACTORY,
    GLUE,
    GLUE_ENDPOINT,
    GLUE_PROFILE,
    GLUE_REGION,
    GLUE_ROLE,
    HTTP,
    ICEBERG,
    ICEBERG_PATH,
    ICEBERG_PREFIX,
    ICEBERG_URI,
    INVALID,
    KEYS,
    MASK,
    PREFIX,
    READ_ONLY_URIS,
    READERS,
    REMOTE,
    REMOTE_DATABASE_OF_HIVE,
    SSH,
    SSH_KEYS,
    SSH_ROUTE,
    STORAGE,
    TABLES,
    TABLES_OF,
    THRIFT,
    TIMEOUT,
    URIS,
    VIA,
    WRITABLE,
    WRITERS,
    Key,
    Kind,
)

__all__ = [
    "ACCESS",
    "ALIAS",
    "AWS_KEY_ID",
    "BUILT_IN",
    "CACHE",
    "CATALOG",
    "CATALOG_KEYS",
    "CONNECTOR",
    "DATABASES",
    "FACTORY",
    "GLUE",
    "GLUE_ENDPOINT",
    "GLUE_PROFILE",
    "GLUE_REGION",
    "GLUE_ROLE",
    "HTTP",
    "ICEBERG",
    "ICEBERG_PATH",
    "ICEBERG_PREFIX",
    "ICEBERG_URI",
    "INVALID",
    "KEYS",
    "MARKERS",
    "MASK",
    "PREFIX",
    "READERS",
    "READ_ONLY_URIS",
    "REMOTE",
    "REMOTE_DATABASE_OF_HIVE",
    "SSH",
    "SSH_KEYS",
    "SSH_ROUTE",
    "STORAGE",
    "TABLES",
    "TABLES_OF",
    "THRIFT",
    "TIMEOUT",
    "URIS",
    "VIA",
    "WRITABLE",
    "WRITERS",
    "Key",
    "Kind",
    "find_key",
    "holds_secret",
    "is_catalog_key",
    "is_of_engine",
    "is_reference",
    "is_remote",
    "is_remote_key",
    "is_secret",
    "remote_keys",
    "short_name",
    "shown",
    "unknown_key",
    "via_of",
    "without_remote_keys",
]

MARKERS: Final = frozenset({REMOTE, VIA, FACTORY, URIS, READ_ONLY_URIS, ICEBERG_PATH})
"""Any of these, or a key that begins with `metastored.remote.`, makes an object remote."""

_CATALOG_NAMES: Final = frozenset(key.name for key in CATALOG_KEYS)
_ALL: Final = {key.name: key for key in (*KEYS, *CATALOG_KEYS)}
_FAMILIES: Final = tuple(key for key in _ALL.values() if key.name.endswith("."))
_SECRET_WORDS: Final = re.compile(
    r"password|secret|credential|token|passphrase|authorization|cookie|api-?key", re.IGNORECASE
)

_OF_ENGINES: Final = re.compile(
    r"spark\..*|trino[._].*|presto[._].*|impala\..*|flink\..*|"
    r"EXTERNAL|external\.table\.purge|TRANSLATED_TO_EXTERNAL|auto\.purge|transactional(_properties)?|"
    r"bucketing_version|transient_lastDdlTime|COLUMN_STATS_ACCURATE|STATS_GENERATED.*|"
    r"num(Files|Rows|Partitions|FilesErasureCoded)|totalSize|rawDataSize|last_modified_(by|time)|"
    r"serialization\..*|storage_handler|OBJCAPABILITIES|discover\.partitions|created_with_ctas|comment|location|owner",
    re.IGNORECASE,
)
"""What Spark, Hive, Trino and others put into the parameters of a new table by themselves."""

_FACTORIES: Final = {
    "thrifthivemetastoreclientfactory": THRIFT,
    "thrifthivemetastoreclient": THRIFT,
    "hivemetastoreclient": THRIFT,
    "sessionhivemetastoreclientfactory": THRIFT,
    "hivemetastore": THRIFT,
    "hms": THRIFT,
    "sshthrifthivemetastoreclientfactory": SSH,
    "httphivemetastoreclientfactory": HTTP,
    "awsgluedatacataloghiveclientfactory": GLUE,
    "icebergtablehiveclientfactory": ICEBERG,
}
"""The last parts of Java class names, in lower case, and types of data connectors."""

_CONNECTOR_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def is_remote(parameters: Mapping[str, str] | None) -> bool:
    """Whether these parameters make an object remote."""
    return any(key in MARKERS or key.startswith("metastored.remote.") for key in parameters or ())


def find_key(name: str, via: str = "") -> Key | None:
    """What a key means; None for a key that no remote has. A connector from an entry point has keys `<via>.…`."""
    key = _ALL.get(name)
    if key is not None and not name.endswith("."):
        return key
    for family in _FAMILIES:
        if name.startswith(family.name) and len(name) > len(family.name):
            return family._replace(name=name, secret=_SECRET_WORDS.search(name) is not None)
    if via and via not in BUILT_IN and name.startswith(f"{via}."):
        return Key(name, (via,), secret=_SECRET_WORDS.search(name) is not None)
    return None


def is_catalog_key(name: str) -> bool:
    """Whether a key is for remote catalogs only."""
    return name in _CATALOG_NAMES or name.startswith((ALIAS, TABLES_OF))


def is_remote_key(name: str, via: str = "") -> bool:
    """Whether a parameter belongs to the definition of a remote, and not to the object that it shows."""
    return find_key(name, via) is not None


def remote_keys(parameters: Mapping[str, str] | None) -> dict[str, str]:
    """The parameters that belong to the definition of a remote."""
    given = parameters or {}
    via = via_of(given)
    return {key: value for key, value in given.items() if is_remote_key(key, via)}


def without_remote_keys(parameters: Mapping[str, str] | None) -> dict[str, str]:
    """The other ones: those of the remote object itself. This is what a client's ALTER sends to the remote."""
    given = parameters or {}
    via = via_of(given)
    return {key: value for key, value in given.items() if not is_remote_key(key, via)}


def is_of_engine(name: str) -> bool:
    """Whether an engine adds this parameter to a new table by itself."""
    return _OF_ENGINES.fullmatch(name) is not None


def is_secret(name: str, via: str = "") -> bool:
    """Whether a key's value must not be shown."""
    key = find_key(name, via)
    return key is not None and key.secret


def holds_secret(name: str, value: str, via: str = "") -> bool:
    """Whether a value must not be stored as it is: a secret, or an address with a password in it."""
    return is_secret(name, via) or _PASSWORD.search(value) is not None or value.startswith("encrypted:")


def shown(name: str, value: str, via: str = "") -> str:
    """A value as everybody may see it: a secret, or the password in an address, is masked."""
    if value.startswith("encrypted:") or is_secret(name, via):
        return value if is_reference(value) else MASK
    return _without_password(value) if "://" in value and "@" in value else value


def is_reference(value: str) -> bool:
    """Whether a secret is `env:NAME` or `file:PATH`: it names where the secret is, and is none itself."""
    return value.startswith(("env:", "file:"))


_PASSWORD: Final = re.compile(r"(?<=://)([^/@\s:,]*):([^/@\s,]*)@")


def _without_password(value: str) -> str:
    return _PASSWORD.sub(rf"\1:{MASK}@", value)


def short_name(via: str) -> str:
    """`thrift` of `org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory`: class names by their last part.

    Any other name is one of a connector from a Python entry point. Raises InvalidObjectException for no name at all.
    """
    last = via.strip().rpartition(".")[2]
    if last.lower() in BUILT_IN:
        return last.lower()
    known = _FACTORIES.get(last.lower())
    if known is not None:
        return known
    if not _CONNECTOR_NAME.fullmatch(last):
        raise InvalidObjectException(
            f"VIA {via!r} names no connector: write one of {', '.join(BUILT_IN)}, a class name of Hive's such as "
            "'org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory', or the name of a Python entry point"
        )
    return last


def via_of(parameters: Mapping[str, str], default: str = "") -> str:
    """The connector that parameters name or imply; the Thrift one where nothing says otherwise."""
    named = parameters.get(VIA) or parameters.get(FACTORY) or default
    if named:
        return short_name(named)
    if SSH_ROUTE in parameters:
        return SSH
    if ICEBERG_PATH in parameters or ICEBERG_URI in parameters:
        return ICEBERG
    uris = parameters.get(URIS)
    if uris is None and (GLUE_ENDPOINT in parameters or "hive.metastore.glue.catalogid" in parameters):
        return GLUE
    if uris is not None and urlsplit(uris.split(",")[0].strip()).scheme in ("http", "https"):
        return HTTP
    return THRIFT


def unknown_key(name: str, what: str) -> InvalidObjectException:
    """The refusal of a key that no remote has."""
    near = get_close_matches(name, _ALL, n=1, cutoff=0.75)
    known = sorted(key.name for key in _ALL.values() if not key.about)
    hint = f"; did you mean '{near[0]}'?" if near else f": the keys of remotes are {', '.join(known)}"
    return InvalidObjectException(f"{what}: '{name}' is not a key of a remote{hint}")
