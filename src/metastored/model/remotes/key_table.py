"""The table of the keys of remotes: what each key means, and what the server does with its value. Pure.

Definition, ALTER, connector and connection read this table, and no other list of keys: a key that names a host, a file
or a storage has that kind here, and everything that asks for it follows. Questions about keys are in `keys.py`;
what the server checks for each kind is in `hosts.py` and `rights.py`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

REMOTE: Final = "metastored.remote"
"""The remote's own name: `rdb` of a database, `rdb.rt` of a table, the catalog's of a catalog."""
VIA: Final = "metastored.remote.via"
ACCESS: Final = "metastored.remote.access"
TIMEOUT: Final = "metastored.remote.timeout"
CACHE: Final = "metastored.remote.cache"
TABLES: Final = "metastored.remote.tables"
WRITABLE: Final = "metastored.remote.writable"
"""The databases of a remote catalog that may be written, where its access is `write`."""
READERS: Final = "metastored.remote.readers"
"""The roles that may read the databases of a remote catalog, where authorization is on; everybody by default."""
WRITERS: Final = "metastored.remote.writers"
"""The roles that may write them; nobody but admins by default."""
PREFIX: Final = "metastored.remote.prefix"
DATABASES: Final = "metastored.remote.databases"
ALIAS: Final = "metastored.remote.alias."
"""`metastored.remote.alias.<remote database>` = a local name; only of catalogs."""
TABLES_OF: Final = "metastored.remote.tables."
"""`metastored.remote.tables.<remote database>` = which tables of it are shown; only of catalogs."""
CONNECTOR: Final = "metastored.remote.connector"
"""The data connector (Hive 4) whose keys count too; the object's own keys win."""

URIS: Final = "hive.metastore.uris"
READ_ONLY_URIS: Final = "hive.metastore.uris.read-only"
FACTORY: Final = "hive.metastore.client.factory.class"
"""The proposal's name of VIA."""
SSH_ROUTE: Final = "ssh.tunnel.route"
SSH_KEYS: Final = "ssh.tunnel.private.keys"
ICEBERG_PATH: Final = "iceberg.table.path"
ICEBERG_URI: Final = "iceberg.catalog.uri"
GLUE_ENDPOINT: Final = "aws.glue.endpoint"
GLUE_REGION: Final = "aws.region"
GLUE_PROFILE: Final = "aws.glue.profile"
GLUE_ROLE: Final = "aws.glue.role"
AWS_KEY_ID: Final = "aws.access.key.id"
REMOTE_DATABASE_OF_HIVE: Final = "connector.remoteDbName"
"""Hive 4's name of the remote database, in the parameters of a database `USING` a connector."""

THRIFT, SSH, HTTP, GLUE, ICEBERG = "thrift", "ssh", "http", "glue", "iceberg"
BUILT_IN: Final = (THRIFT, SSH, HTTP, GLUE, ICEBERG)
INVALID: Final = "invalid"
"""The connector of a definition that cannot be read; there is none of this name, so every call to it fails."""

MASK: Final = "******"
"""Shown in place of a secret, and understood as "unchanged" in an ALTER."""


class Kind(StrEnum):
    """What the value of a key makes the server do, and therefore who may set it."""

    PLAIN = ""
    HOST = "host"
    """The server connects there: `remotes_hosts` decides, and `remotes_references` for secrets that are sent along."""
    FILE = "file"
    """The server reads this file of its machine: administrators, and who `remotes_references` allows it."""
    LOCATION = "location"
    """The server opens this storage and shows what is in it: with authorization, USE_LOCATION."""
    REFUSED = "refused"
    """A library would load a class by it, or do something that is not known here: nobody."""


class Key(NamedTuple):
    """One key that a remote's definition may have."""

    name: str
    """A name that ends with a dot stands for every key that begins with it."""
    via: tuple[str, ...] = ()
    """The connectors that take it; () for all."""
    secret: bool = False
    values: str = "text"
    """What its value must be: text, boolean, uris, uri, route, address."""
    kind: Kind = Kind.PLAIN
    about: str = ""
    """Of a property of Iceberg's library: whether it is about the catalog or about its storage."""
    vended: bool = False
    """Whether a catalog of Iceberg, or the metadata of a table, may say it in place of the definition."""


_HIVE = (THRIFT, SSH, HTTP)

CATALOG, STORAGE = "catalog", "storage"
ICEBERG_PREFIX: Final = "iceberg.catalog."
"""Before the properties of Iceberg's library."""


def _catalog(name: str, values: str = "text", *, secret: bool = False, kind: Kind = Kind.PLAIN) -> Key:
    return Key(f"{ICEBERG_PREFIX}{name}", (ICEBERG,), secret, values, kind, CATALOG)


def _storage(name: str, *, secret: bool = False, vended: bool = False) -> Key:
    return Key(f"{ICEBERG_PREFIX}{name}", (ICEBERG,), secret, about=STORAGE, vended=vended)


def _storage_host(name: str, *, vended: bool = False) -> Key:
    return Key(f"{ICEBERG_PREFIX}{name}", (ICEBERG,), False, "address", Kind.HOST, STORAGE, vended)


KEYS: Final = (
    Key(REMOTE),
    Key(VIA),
    Key(FACTORY),
    Key(ACCESS),
    Key(TIMEOUT),
    Key(CACHE),
    Key(TABLES),
    Key(CONNECTOR),
    Key(REMOTE_DATABASE_OF_HIVE),
    # Another metastore
    Key(URIS, _HIVE, values="uris", kind=Kind.HOST),
    Key(READ_ONLY_URIS, _HIVE, values="uris", kind=Kind.HOST),
    Key("hive.metastore.use.SSL", _HIVE, values="boolean"),
    Key("hive.metastore.truststore.path", _HIVE, kind=Kind.FILE),
    Key("hive.metastore.sasl.enabled", _HIVE, values="boolean"),
    Key("hive.metastore.kerberos.principal", _HIVE),
    Key("hive.metastore.thrift.compact.protocol.enabled", _HIVE, values="boolean"),
    Key("hive.metastore.thrift.framed.transport.enabled", _HIVE, values="boolean"),
    Key("metastored.remote.principal", _HIVE),
    Key("metastored.remote.user", _HIVE),
    Key("metastored.remote.password", _HIVE, secret=True),
    Key("metastored.remote.token", _HIVE, secret=True),
    Key("metastored.remote.identity", _HIVE),
    Key("metastored.remote.catalog", _HIVE),
    # Through bastion hosts
    Key(SSH_ROUTE, (SSH,), values="route", kind=Kind.HOST),
    Key(SSH_KEYS, (SSH,), kind=Kind.FILE),
    Key("ssh.tunnel.passphrase", (SSH,), secret=True),
    Key("ssh.tunnel.known.hosts", (SSH,), kind=Kind.FILE),
    Key("ssh.tunnel.timeout", (SSH,)),
    Key("ssh.tunnel.port", (SSH,)),
    # AWS Glue
    Key(GLUE_ENDPOINT, (GLUE,), values="uri", kind=Kind.HOST),
    Key(GLUE_REGION, (GLUE, ICEBERG)),
    Key("hive.metastore.glue.catalogid", (GLUE,)),
    Key(GLUE_ROLE, (GLUE,)),
    Key(GLUE_PROFILE, (GLUE,)),
    Key(AWS_KEY_ID, (GLUE, ICEBERG)),
    Key("aws.secret.access.key", (GLUE, ICEBERG), secret=True),
    Key("aws.session.token", (GLUE, ICEBERG), secret=True),
    # Iceberg: a table at a path, a catalog
    Key(ICEBERG_PATH, (ICEBERG,), kind=Kind.LOCATION),
    Key(ICEBERG_URI, (ICEBERG,), values="uri", kind=Kind.HOST, about=CATALOG),
    _catalog("type"),
    _catalog("name"),
    _catalog("warehouse"),
    _catalog("prefix"),
    _catalog("credential", secret=True),
    _catalog("token", secret=True),
    _catalog("scope"),
    _catalog("audience"),
    _catalog("resource"),
    _catalog("oauth2-server-uri", "uri", kind=Kind.HOST),
    _catalog("header."),
    _catalog("namespace-separator"),
    _catalog("view-endpoints-supported"),
    _catalog("rest-page-size"),
    _catalog("snapshot-loading-mode"),
    _catalog("rest.sigv4-enabled", "boolean"),
    _catalog("rest.signing-name"),
    _catalog("rest.signing-region"),
    _catalog("pool_pre_ping"),
    _catalog("echo"),
    # Its storage
    _storage_host("s3.endpoint", vended=True),
    _storage("s3.region", vended=True),
    _storage("s3.access-key-id", vended=True),
    _storage("s3.secret-access-key", secret=True, vended=True),
    _storage("s3.session-token", secret=True, vended=True),
    _storage("s3.force-virtual-addressing", vended=True),
    _storage("s3.anonymous"),
    _storage("s3.connect-timeout"),
    _storage("s3.request-timeout"),
    _storage("s3.resolve-region"),
    _storage("s3.role-arn"),
    _storage("s3.role-session-name"),
    _storage("s3.server-side-encryption"),
    _storage("s3.sse-kms-key-id"),
    _storage("client.region", vended=True),
    _storage("client.access-key-id", vended=True),
    _storage("client.secret-access-key", secret=True, vended=True),
    _storage("client.session-token", secret=True, vended=True),
    _storage("client.role-arn"),
    _storage("client.role-session-name"),
    _storage_host("gcs.service.host", vended=True),
    _storage("gcs.oauth2.token", secret=True, vended=True),
    _storage("gcs.oauth2.token-expires-at", vended=True),
    _storage("gcs.project-id", vended=True),
    _storage("gcs.access"),
    _storage("gcs.consistency"),
    _storage("gcs.default-bucket-location"),
    _storage("gcs.version-aware"),
    _storage("gcs.requester-pays"),
    _storage_host("adls.account-host", vended=True),
    _storage_host("adls.blob-storage-authority"),
    _storage_host("adls.dfs-storage-authority"),
    _storage("adls.blob-storage-scheme"),
    _storage("adls.dfs-storage-scheme"),
    _storage("adls.account-name", vended=True),
    _storage("adls.account-key", secret=True, vended=True),
    _storage("adls.sas-token", secret=True, vended=True),
    _storage("adls.token", secret=True, vended=True),
    _storage("adls.client-id"),
    _storage("adls.client-secret", secret=True),
    _storage("adls.tenant-id"),
    _storage("adls.anon"),
    Key(ICEBERG_PREFIX, (ICEBERG,), kind=Kind.REFUSED),
)

CATALOG_KEYS: Final = (
    Key(PREFIX),
    Key(DATABASES),
    Key(ALIAS),
    Key(TABLES_OF),
    Key(WRITABLE),
    Key(READERS),
    Key(WRITERS),
)
"""Keys that only a remote catalog has."""
