"""What reaches pyiceberg from outside: a list of keys that may pass, with checked values. Everything else is dropped.

pyiceberg loads classes that properties name (`py-io-impl`, `auth`, a retry strategy, a location provider), reads
files that they name (`ssl`) and connects to hosts that they name (`s3.endpoint`, `s3.signer.uri`, `s3.proxy-uri`). Such
properties come from a remote's definition, from the configuration of a REST catalog, from its reply about a table, and
from metadata files that anybody may have written. So the server builds the FileIO itself, and of what a catalog or a
file says only regions, allowed hosts and credentials for the table's own storage pass. No class is loaded by its name.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from metastored.connectors.network import check_host
from metastored.errors import ConfigError, InvalidOperationException
from metastored.model.remote_hosts import AllowedHosts

if TYPE_CHECKING:
    from pyiceberg.io import FileIO

log = logging.getLogger("metastored.connectors")

HOSTS: Final = frozenset({"s3.endpoint", "gcs.service.host", "adls.account-host"})
"""Keys whose values are hosts that the server connects to."""
VENDED: Final = HOSTS | {
    "client.region", "client.access-key-id", "client.secret-access-key", "client.session-token",
    "s3.region", "s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.force-virtual-addressing",
    "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.project-id",
    "adls.account-name", "adls.account-key", "adls.sas-token", "adls.token",
}  # fmt: skip
"""What a catalog, or the metadata of a table, may say about the storage of a table."""
DEFINED: Final = VENDED | {
    "s3.anonymous", "s3.connect-timeout", "s3.request-timeout", "s3.resolve-region", "s3.role-arn",
    "s3.role-session-name", "s3.server-side-encryption", "s3.sse-kms-key-id", "client.role-arn",
    "client.role-session-name", "gcs.access", "gcs.consistency", "gcs.default-bucket-location", "gcs.version-aware",
    "gcs.requester-pays", "adls.client-id", "adls.client-secret", "adls.tenant-id", "adls.anon",
    "adls.blob-storage-authority", "adls.dfs-storage-authority", "adls.blob-storage-scheme", "adls.dfs-storage-scheme",
}  # fmt: skip
"""What the definition of a remote may say about storage."""
OF_CATALOGS: Final = frozenset({
    "uri", "type", "name", "warehouse", "prefix", "credential", "token", "scope", "audience", "resource",
    "oauth2-server-uri", "namespace-separator", "view-endpoints-supported", "rest-page-size", "snapshot-loading-mode",
    "rest.sigv4-enabled", "rest.signing-name", "rest.signing-region", "init_catalog_tables", "pool_pre_ping", "echo",
})  # fmt: skip
"""What it may say about the catalog itself."""
CONFIGURED: Final = VENDED | {
    "uri", "warehouse", "prefix", "namespace-separator", "view-endpoints-supported", "rest-page-size",
}  # fmt: skip
"""What the configuration of a REST catalog may change."""
HEADER: Final = "header."
"""Before the names of headers of HTTP, which a definition may set."""


def check_defined(name: str, key: str) -> None:
    """Raises ConfigError unless a definition may set this property of pyiceberg. `key` is its name there."""
    if name not in DEFINED and name not in OF_CATALOGS and not name.startswith(HEADER):
        raise ConfigError(
            f"'{key}' is no property that a remote's definition may set: pyiceberg could load classes, read files or "
            f"connect to hosts by it. Known are {', '.join(sorted(OF_CATALOGS | DEFINED))} and {HEADER}…"
        )


def passed(found: Mapping[str, Any], allowed: frozenset[str], what: str) -> dict[str, str]:
    """Those of the properties that may pass. The others are counted in the log: most belong to the table alone."""
    kept = {key: value for key, value in found.items() if key in allowed and isinstance(value, str)}
    if len(kept) < len(found):
        log.debug("%s: %d of %d properties do not reach the Iceberg library", what, len(found) - len(kept), len(found))
    return kept


def check_hosts(properties: Mapping[str, str], hosts: AllowedHosts) -> None:
    """Raises ConnectError if one of the properties names a host that `remotes_hosts` does not allow."""
    for key in sorted(HOSTS & properties.keys()):
        value = properties[key].strip()
        parts = urlsplit(value if "//" in value else f"//{value}")
        try:
            port = parts.port
        except ValueError:
            raise ConfigError(f"'{key}' is {value!r}, which is no address") from None
        if not parts.hostname:
            raise ConfigError(f"'{key}' is {value!r}, which is no address")
        check_host(parts.hostname, port or (80 if parts.scheme == "http" else 443), hosts)


def file_io(own: Mapping[str, str], found: Mapping[str, Any], hosts: AllowedHosts, what: str) -> FileIO:
    """The access to the files of a table: `own` is the definition's, `found` what its catalog or metadata says."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    properties = {key: value for key, value in own.items() if key in DEFINED} | passed(found, VENDED, what)
    check_hosts(properties, hosts)
    return PyArrowFileIO(properties)


def refuse_classes(properties: Mapping[str, str], what: str) -> None:
    """Raises InvalidOperationException if a property names a class that pyiceberg would load for a write."""
    named = sorted(key for key in properties if "impl" in key.lower())
    if named:
        raise InvalidOperationException(
            f"{what} has the property {named[0]!r}, which names a class to load: it is not written through metastored"
        )
