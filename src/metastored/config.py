"""The settings of metastored: one schema, read from a file, the environment and flags; a later source overrides.

Each key is a field of `Settings` with its default, its parser and a description; `metastored serve --help` and
`docs/reference/configuration.md` are generated from them. An unknown key is an error that names the most similar known
key. This module opens nothing but the configuration file.

It is a plain dataclass because pydantic-settings takes 0.2 s to import, longer than all the rest of a start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from metastored.errors import ConfigError
from metastored.hive.host_rules import read_host_rule
from metastored.hive.locations import warehouse_uri
from metastored.hive.reference_rules import read_reference_rule
from metastored.setting_values import Reader, choice, names, nearest, read_yaml, seconds, several, text, whole

__all__ = [
    "CATALOG_PREFIX",
    "CONFIG_VARIABLE",
    "GROUPS",
    "ICEBERG_PATH",
    "KEYS",
    "LANCE_PATH",
    "LOCATION_SCHEMES",
    "OTHERS",
    "PREFIX",
    "REMOTE_PREFIX",
    "RESERVED_PATHS",
    "URI_VARIABLE",
    "Key",
    "Reader",
    "Settings",
    "keys_by_group",
    "load",
    "nearest",
    "read_yaml",
]

PREFIX: Final = "METASTORED_"
"""The prefix of environment variables: METASTORED_DATABASE_URL is `database_url`."""
CONFIG_VARIABLE: Final = "METASTORED_CONFIG"
"""The environment variable that names the file, as the flag --config does."""

URI_VARIABLE: Final = "METASTORED_URI"
"""The environment variable with the address that commands call; a server ignores it."""

CATALOG_PREFIX: Final = "METASTORED_CATALOG__"
"""The prefix of variables that `metastored.catalog` reads; a server ignores them."""

REMOTE_PREFIX: Final = "METASTORED_REMOTE__"
"""The prefix of variables with the secrets of remotes, which definitions refer to; they are not settings."""

LOCATION_SCHEMES: Final = ("file", "s3", "s3a", "gs", "abfs", "abfss", "hdfs")
"""The file systems that Hive tables are usually on."""

RESERVED_PATHS: Final = ("/metastore", "/health", "/ready", "/metrics", "/sql")
"""The other paths that the HTTP port serves, besides `http_path`."""

ICEBERG_PATH: Final = "/iceberg"
"""Iceberg's REST catalog is below this path."""
LANCE_PATH: Final = "/lance"
"""Lance's REST namespaces are below this path."""

_PASSWORD = re.compile(r"(?<=://)([^/:@]*:).*(?=@)|(?<=[?&])(password=)[^&]*")
"""In a database URL: between the user and the host, or among the parameters."""

_ROLE = re.compile(r"arn:aws[a-z-]*:iam::[0-9]{12}:role/[\w+=,.@/-]{1,512}", re.ASCII)
_KUBERNETES = re.compile(r"METASTORED_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)")
_KUBERNETES_PORT = re.compile(r"(tcp|udp|sctp)://")


class Key(NamedTuple):
    """One setting, as `--help` and the reference show it."""

    name: str
    kind: str
    default: Any
    description: str
    read: Reader
    group: str
    """The heading in `--help` and in the reference; one of GROUPS."""

    @property
    def default_text(self) -> str:
        """The default in the notation of the configuration file; empty when there is none."""
        if self.default is None:
            return ""
        if isinstance(self.default, tuple):
            return ",".join(self.default)
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()


def _path(value: Any) -> Path:
    try:
        return Path(text(value)).expanduser()
    except RuntimeError:
        raise ValueError("~ cannot be expanded (no such user, or no HOME); write the complete path") from None


def _warehouse(value: Any) -> str:
    return warehouse_uri(os.path.expanduser(text(value)), os.getcwd())


def _schemes(value: Any) -> tuple[str, ...]:
    schemes = tuple(name.lower() for name in names(value))
    if not all(re.fullmatch(r"[a-z][a-z0-9+.-]*", name) for name in schemes):
        raise ValueError("schemes were expected, such as file,s3a, with commas between them")
    return schemes


def _networks(value: Any) -> tuple[str, ...]:
    from ipaddress import ip_network

    return tuple(str(ip_network(name, strict=False)) for name in names(value))


def _role(value: Any) -> str:
    role = text(value)
    if _ROLE.fullmatch(role) is None:
        raise ValueError("the ARN of a role was expected, such as arn:aws:iam::123456789012:role/lake")
    return role


def _hosts(value: Any) -> tuple[str, ...]:
    given = names(value)
    for host in given:
        read_host_rule(host)
    return given


def _references(value: Any) -> tuple[str, ...]:
    given = names(value)
    for name in given:
        read_reference_rule(name)
    return given


def _url_path(value: Any) -> str:
    path = text(value)
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)+", path):
        raise ValueError("a path was expected, such as /gateway/default/hmshttpthrift/api/hms")
    return path


def _key(kind: str, read: Reader, default: Any, description: str) -> Any:
    return field(default=default, metadata={"kind": kind, "read": read, "description": description})


def _words(default: str, description: str, *words: str) -> Any:
    return _key("|".join(words), choice(*words), default, description)


# ruff: noqa: RUF009 (a key's default comes from `_key`, which is a dataclass field)
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a server. Created by `load`; the reference has the order of GROUPS."""

    host: str = _key("address", text, "127.0.0.1", "The address to listen on; 0.0.0.0 opens the server to the network.")
    port: int = _key(
        "port", whole(0, 65535), 9083, "The Thrift port, for clients with and without TLS; 0 selects a free port."
    )
    data: Path = _key(
        "directory",
        _path,
        Path("~/.metastored"),
        "The directory of the embedded database; created if it does not exist. Excludes database_url.",
    )
    database_url: str | None = _key(
        "URL",
        text,
        None,
        "The URL of a PostgreSQL database: postgresql://user@host/metastored. Excludes data.",
    )
    warehouse: str | None = _key(
        "directory or URI",
        _warehouse,
        None,
        "The warehouse: the parent directory of new databases without an explicit location. A path is made absolute "
        "and converted to a file:/ URI. The default is the warehouse of the first start; for the first start, the "
        "directory `warehouse` in `data`.",
    )
    directories: Literal["all", "local", "off"] = _words(
        "all",
        "Which directories the server creates, moves and deletes: all, only those on its own file system, or none.",
        "all",
        "local",
        "off",
    )
    location_schemes: tuple[str, ...] = _key(
        "list",
        _schemes,
        LOCATION_SCHEMES,
        "The URI schemes of locations that clients may use when `directories` is all; each scheme except file needs "
        "its driver. When `directories` is local or off, locations of other file systems are stored and never opened.",
    )
    directory_timeout: float = _key(
        "seconds",
        seconds,
        60.0,
        "The timeout of a call to a remote file system; a call that moves, removes or counts the contents of a "
        "directory has ten times as long. 0 means no timeout.",
    )
    trash_days: int = _key(
        "days",
        whole(0, 36500),
        0,
        "How many days removed data is kept in .Trash, in the warehouse or the root of another file system. PURGE and "
        "tables with auto.purge or skip.trash bypass the trash. 0 removes data at once.",
    )
    compat: str = _words(
        "any", "The Hive version whose behaviour the server has. any accepts what one of the versions accepts, and"
        " replies as the version of Hive that a client's own requests show: 3.1, or 4.0 for clients of Hive 4.",
        "any", "2.3", "3.1", "4.0", "4.2",
    )  # fmt: skip
    distinct_values: Literal["highest", "density", "bit-vectors"] = _words(
        "highest",
        "How the number of distinct values of a column is estimated over several partitions: highest uses the highest"
        " number of one partition, as Hive does by default; density estimates from the density of values between"
        " lowest and highest; bit-vectors merges the bit vectors that Hive 3 and later store with statistics.",
        "highest",
        "density",
        "bit-vectors",
    )
    workers: int = _key(
        "number", whole(1, 256), 1, "The number of worker processes; one for each core is a good choice."
    )
    threads: int = _key("number", whole(1, 256), 8, "The number of threads of a worker that call the database.")
    acid_views: Literal["off", "on"] = _words(
        "off",
        "Whether clients that look up an ACID table with get_table, as Spark and Hive 2.3 do, get it as a view over "
        "its files, and cannot change it. Clients that read ACID tables use get_table_req.",
        "off",
        "on",
    )
    acid_views_port: int | None = _key(
        "port",
        whole(0, 65535),
        None,
        "A second Thrift port for clients that cannot read ACID tables, such as Spark itself: they get these tables as "
        "views over their files, and cannot change them. 0 selects a free port.",
    )
    acid_views_users: tuple[str, ...] = _key(
        "list", names, (), "Users who get ACID tables as views on every port: those that only Spark uses."
    )
    acid_view_retention: float = _key(
        "seconds",
        seconds,
        3600.0,
        "How long the files of a view stay after a compaction has replaced them, if the server shows views: the "
        "cleaner removes them later. A query that takes longer can fail.",
    )
    max_connections: int = _key(
        "number",
        whole(1, 1_000_000),
        10_000,
        "The maximum number of connections of a worker; further connections are refused.",
    )
    idle_timeout: float = _key(
        "seconds", seconds, 86400.0, "The time without a call after which a connection is closed; 0 means no timeout."
    )
    request_timeout: float = _key(
        "seconds",
        seconds,
        60.0,
        "The timeout for a client to send its first bytes, to complete a message, and to read its reply; then the "
        "connection is closed. 0 means no timeout.",
    )
    drain_timeout: float = _key(
        "seconds", seconds, 30.0, "The time for calls in progress to finish after SIGTERM; then they are cancelled."
    )
    event_retention: float = _key(
        "seconds",
        seconds,
        86400.0,
        "How long notification events are kept; 864000 (ten days) is a good value for replication.",
    )
    reply_megabytes: int = _key(
        "number",
        whole(1, 1_000_000),
        256,
        "The maximum size of replies in the memory of a worker, in megabytes. While it is exceeded, calls that may "
        "have long replies wait (backpressure).",
    )
    spool_megabytes: int = _key(
        "number",
        whole(0, 100_000_000),
        4096,
        "The maximum size of temporary files with long replies to slow clients, in megabytes, for all workers. A "
        "client whose reply does not fit is disconnected when another client needs its snapshot.",
    )
    slow_call: float = _key("seconds", seconds, 1.0, "Calls that take longer are logged; 0 logs every call.")
    tls_certificate: Path | None = _key(
        "file", _path, None, "The server's certificate chain (PEM); without it the Thrift port refuses TLS."
    )
    tls_key: Path | None = _key(
        "file", _path, None, "The private key of the certificate (PEM), if it is in another file."
    )
    tls_client_ca: Path | None = _key(
        "file",
        _path,
        None,
        "Certificates (PEM) of the authorities that sign client certificates. TLS clients must then present a "
        "certificate, on both ports; its common name is the user name. Only authenticated clients are then served.",
    )
    kerberos_principal: str | None = _key(
        "principal",
        text,
        None,
        "The server's own Kerberos principal, such as hive/host@REALM; _HOST is replaced by this machine's name. "
        "It turns Kerberos on. Only authenticated clients are then served.",
    )
    kerberos_keytab: Path | None = _key("file", _path, None, "The keytab with the key of the principal.")
    sasl_qop: tuple[str, ...] = _key(
        "list",
        several("auth", "auth-int", "auth-conf"),
        ("auth", "auth-int", "auth-conf"),
        "The protection levels that Kerberos clients may use: auth is authentication only, auth-int adds integrity, "
        "auth-conf adds encryption.",
    )
    authorization: Literal["off", "sql"] = _words(
        "off",
        "Whether roles and privileges are enforced: sql allows only what ownership, a grant or a role permits; off "
        "stores grants and does not enforce them.",
        "off",
        "sql",
    )
    admin_users: tuple[str, ...] = _key(
        "list", names, (), "Users who have the role admin without a grant; somebody must make the first grant."
    )
    service_users: tuple[str, ...] = _key(
        "list",
        names,
        (),
        "Authenticated users who may read and write the store of delegation tokens and master keys, as admin_users "
        "may; for example a HiveServer2 that stores its tokens here. This gives no other privileges.",
    )
    audit: Literal["off", "on"] = _words(
        "off", "Whether each call is logged: user, address, method, object, outcome.", "off", "on"
    )
    read_only: Literal["off", "on"] = _words(
        "off", "Whether every call that would change metadata is refused.", "off", "on"
    )
    remotes_hosts: tuple[str, ...] = _key(
        "list",
        _hosts,
        ("*",),
        "The hosts that remote catalogs, databases and tables may point to: names with * for any text, addresses, and "
        "networks such as 10.0.0.0/8, each with :port if only that port is meant. They are checked when a remote is "
        "made, and at each connection by the address that the name was resolved to. The default allows every host, but "
        "no link-local address.",
    )
    remotes_key_file: Path | None = _key(
        "file",
        _path,
        None,
        "A file with the key that encrypts the secrets of remotes in the database: 32 bytes in base64, as openssl rand "
        "-base64 32 prints them; older keys on the lines below only decrypt. Without it secrets can only be given as "
        "references.",
    )
    remotes_references: tuple[str, ...] = _key(
        "list",
        _references,
        ("env:METASTORED_REMOTE__*", "file:/run/secrets/*"),
        "Which variables of the server's environment and which of its files the secrets of remotes may refer to, as "
        "env:NAME and file:PATH, and which hosts may get them: env:PARTNER_* -> *.partner.example, several hosts with "
        "blanks between them; * stands for any text. With hosts, every user who may make remotes may use the "
        "reference, and it is sent to these hosts only. Without hosts, only administrators (admin_users, the role "
        "admin) may use it. The same holds for keys that name a file (a private key, a truststore), as file:PATH, and "
        "for the server's own credentials: server:ssh, server:kerberos, server:aws, server:gcp, server:azure.",
    )
    remotes_partial: Literal["off", "on"] = _words(
        "off",
        "Whether listings across databases leave out remotes that do not answer, and only the log names them. "
        "Otherwise such a listing fails with an error that names the remote.",
        "off",
        "on",
    )
    remotes_trino_catalog: str | None = _key(
        "name",
        text,
        None,
        "The name of the catalog of Trino that reads this metastore. Views that Trino has stored at a remote name the "
        "catalog of that remote, and are sent with this one. Without it they keep their catalog.",
    )
    filter: str | None = _key(
        "name",
        text,
        None,
        "A function that sees each database, table and partition before it is sent, and may change or hide it: the "
        "name of an entry point of the group metastored.filters. It is Python's form of Hive's MetaStoreFilterHook.",
    )
    limits_calls_per_minute: int = _key(
        "number",
        whole(0, 1_000_000_000),
        0,
        "The maximum number of calls of a user in a minute, over all servers; 0 means no limit. Unauthenticated calls "
        "are counted by address. In a file it can also be written as calls_per_minute under limits.",
    )
    limits_partitions_per_call: int = _key(
        "number",
        whole(-1, 1_000_000_000),
        -1,
        "The maximum number of partitions in one reply (Hive's metastore.limit.partition.request); -1 means no limit.",
    )
    kerberos_http_principal: str | None = _key(
        "principal",
        text,
        None,
        "The principal for Kerberos over HTTP (SPNEGO), in the same keytab. The default is HTTP/ and the host of "
        "kerberos_principal.",
    )
    password_login: Literal["on", "off"] = _words(
        "off",
        "Whether users of `metastored user` can also log in to the Thrift port with their passwords (SASL PLAIN, over "
        "TLS only). Only authenticated clients are then served. HTTPS accepts passwords in any case.",
        "on",
        "off",
    )
    jwt_keys: str | None = _key(
        "file or URL",
        text,
        None,
        "The public keys (JWKS) that verify web tokens (JWT) at /metastore. Only authenticated clients are then "
        "served.",
    )
    jwt_issuer: str | None = _key("text", text, None, "The required issuer of web tokens (`iss`).")
    jwt_audience: str | None = _key("text", text, None, "The required audience of web tokens (`aud`).")
    proxy_users: tuple[str, ...] = _key(
        "list", names, (), "Authenticated users who may act for other users, such as gateways: hue,knox."
    )
    http_port: int | None = _key(
        "port", whole(0, 65535), None, "The HTTPS port; without it HTTP is not served. 0 selects a free port."
    )
    http_path: str = _key(
        "path", _url_path, "/gateway/default/hmshttpthrift/api/hms", "The path for calls in Thrift's JSON (POST)."
    )
    http_methods: Literal["nine", "all"] = _words(
        "nine",
        "Which methods http_path serves: the nine of the Hive Metastore HTTP protocol, or all. /metastore serves all.",
        "nine",
        "all",
    )
    http_tls: Literal["on", "off"] = _words(
        "on",
        "Whether HTTP is served with TLS; off is only for a gateway on the same machine that terminates TLS.",
        "on",
        "off",
    )
    trusted_proxies: tuple[str, ...] = _key(
        "list",
        _networks,
        (),
        "The addresses or networks of gateways whose X-Forwarded-For is believed: it gives the address of a client in "
        "the log, for failed logins and for limits. Without it a client behind a gateway has the gateway's address.",
    )
    metrics_addresses: tuple[str, ...] = _key(
        "list", _networks, (), "The addresses or networks that may read /metrics; without it everybody may."
    )
    metrics_token: Path | None = _key(
        "file", _path, None, "A file with a token that readers of /metrics must send (Authorization: Bearer)."
    )
    iceberg: Literal["off", "on"] = _words(
        "off",
        "Whether the HTTPS port serves Iceberg's REST catalog, below /iceberg: the Iceberg tables and views of the "
        "metastore, one catalog for each prefix. The server itself then reads and writes the metadata files of tables.",
        "off",
        "on",
    )
    iceberg_role: str | None = _key(
        "text",
        _role,
        None,
        "The ARN of a role of AWS for the clients of Iceberg's REST catalog. The server assumes it by STS for one "
        "table at a time, and gives clients that ask for it keys to read, or to read and write, the files below the "
        "location of this table, as their privileges allow it: only below a warehouse in S3, and with authorization "
        "sql. Without it no keys are given. It needs the extra `glue`.",
    )
    iceberg_role_seconds: int = _key(
        "number", whole(900, 43_200), 3600, "The seconds after which such keys expire, if the role allows that many."
    )
    iceberg_signing: Literal["off", "on"] = _words(
        "off",
        "Whether the server signs requests to S3 for the clients of Iceberg's REST catalog that ask for it: those for "
        "the files below the location of one table, as the privileges of a client allow it, only below a warehouse in "
        "S3, and with authorization sql. It signs with the keys of `iceberg_role`, or with those of its own "
        "environment without a role; clients never get the secret. It needs the extra `glue`.",
        "off",
        "on",
    )
    lance: Literal["off", "on"] = _words(
        "off",
        "Whether the HTTPS port serves Lance's REST namespaces, below /lance/hive2 and /lance/hive3. The server itself "
        "then reads and writes the files of Lance tables, where a client asks for rows. It needs the extra `lance`.",
        "off",
        "on",
    )
    lance_root: str | None = _key(
        "directory or URI",
        _warehouse,
        None,
        "The parent directory of databases and tables that are made at /lance. By default a table is made in the "
        "directory of its database.",
    )
    lance_managed_by: Literal["storage", "impl"] = _words(
        "storage",
        "Who keeps the versions of tables that are made at /lance: storage is Lance's own files; impl is the metastore,"
        " and every writer must then commit through it.",
        "storage",
        "impl",
    )
    lance_megabytes: int = _key(
        "number",
        whole(0, 1 << 20),
        4096,
        "The address space, in MiB, of each process that opens Lance tables for requests at /lance; 0 is no limit. Two "
        "GiB are taken before the first row.",
    )
    lance_timeout: float = _key(
        "seconds",
        seconds,
        600.0,
        "The time that a request at /lance may take; then its process is ended. 0 means no timeout.",
    )
    lance_external: Literal["off", "on"] = _words(
        "on",
        "Whether Lance tables are created as external tables by clients that do not say so, as Lance's own clients for "
        "Hive. The data of an external table stays when the table is dropped. With off, Hive's rule applies: the table "
        "is a managed one, and every DROP TABLE deletes its data.",
        "off",
        "on",
    )
    log_level: str = _words(
        "info", "The lowest level of messages that are logged to standard error.", "debug", "info", "warning", "error"
    )  # fmt: skip
    ready_file: Path | None = _key(
        "file",
        _path,
        None,
        "A file that is written when the server accepts calls: host, port, process ids and warehouse as JSON.",
    )

    @property
    def warehouse_root(self) -> str:
        """The warehouse of a new database, as a canonical URI."""
        return self.warehouse or warehouse_uri(str(self.data / "warehouse"), os.getcwd())

    @property
    def shown_database(self) -> str:
        """The data folder, or the URL of the database without its password."""
        if self.database_url is None:
            return str(self.data)
        return _PASSWORD.sub(lambda match: f"{match[1] or match[2]}…", self.database_url)

    @property
    def shows_acid_views(self) -> bool:
        """Whether there are clients that get ACID tables as views."""
        return self.acid_views == "on" or self.acid_views_port is not None or bool(self.acid_views_users)

    @property
    def requires_authentication(self) -> bool:
        """Whether authentication is required; without it the user name that a client sends is trusted."""
        settings = (self.kerberos_principal, self.tls_client_ca, self.jwt_keys)
        return self.password_login == "on" or any(each is not None for each in settings)


OTHERS: Final = "Others"
"""The group of a key that GROUPS does not have; a test keeps it empty."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Data": ("data", "database_url", "warehouse", "directories", "location_schemes", "directory_timeout", "trash_days"),
    "Network": (
        *("host", "port", "max_connections", "idle_timeout", "request_timeout"),
        *("reply_megabytes", "spool_megabytes"),
    ),
    "HTTP": ("http_port", "http_path", "http_methods", "http_tls", "trusted_proxies"),
    "Iceberg": ("iceberg", "iceberg_role", "iceberg_role_seconds", "iceberg_signing"),
    "Lance": ("lance", "lance_root", "lance_managed_by", "lance_megabytes", "lance_timeout", "lance_external"),
    "ACID views": ("acid_views", "acid_views_port", "acid_views_users", "acid_view_retention"),
    "Hive": ("compat", "distinct_values", "event_retention"),
    "Processes": ("workers", "threads", "drain_timeout", "ready_file"),
    "TLS": ("tls_certificate", "tls_key", "tls_client_ca"),
    "Authentication": (
        *("password_login", "kerberos_principal", "kerberos_keytab", "kerberos_http_principal", "sasl_qop"),
        *("jwt_keys", "jwt_issuer", "jwt_audience", "proxy_users"),
    ),
    "Authorization": ("authorization", "admin_users", "service_users", "read_only"),
    "Remotes": (
        "remotes_hosts",
        "remotes_key_file",
        "remotes_references",
        "remotes_partial",
        "remotes_trino_catalog",
        "filter",
    ),
    "Limits": ("limits_calls_per_minute", "limits_partitions_per_call"),
    "Logs and metrics": ("log_level", "slow_call", "audit", "metrics_addresses", "metrics_token"),
}
"""The keys by topic, in the order of `--help` and the reference."""


def _keys() -> dict[str, Key]:
    groups = {name: group for group, names in GROUPS.items() for name in names}
    return {
        each.name: Key(
            each.name,
            each.metadata["kind"],
            each.default,
            each.metadata["description"],
            each.metadata["read"],
            groups.get(each.name, OTHERS),
        )
        for each in fields(Settings)
    }


KEYS: Final[Mapping[str, Key]] = _keys()


def keys_by_group() -> dict[str, list[Key]]:
    """All keys by heading, in the order of `--help` and the reference."""
    groups = {group: [KEYS[name] for name in names] for group, names in GROUPS.items()}
    rest = [key for key in KEYS.values() if key.group == OTHERS]
    return groups | {OTHERS: rest} if rest else groups


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Settings:
    """Returns the settings from all three sources. The environment may name the file (METASTORED_CONFIG)."""
    environment = os.environ if environment is None else environment
    if file is None and environment.get(CONFIG_VARIABLE):
        try:
            file = _path(environment[CONFIG_VARIABLE])
        except ValueError as error:
            raise ConfigError(f"{CONFIG_VARIABLE} is {environment[CONFIG_VARIABLE]!r}; {error}") from None
    values: dict[str, Any] = {}
    for source, raw in (
        (str(file), _from_file(file) if file is not None else {}),
        ("the environment", _from_environment(environment)),
        ("the flags", dict(flags or {})),
    ):
        settings = dict(_read(source, raw))
        # data and database_url exclude each other; a later source overrides an earlier one.
        if {"data", "database_url"} <= settings.keys():
            raise ConfigError(f"{source}: data and database_url are both set; a server has one database")
        if "database_url" in settings:
            values.pop("data", None)
        elif "data" in settings:
            values.pop("database_url", None)
        values |= settings
    if "data" not in values:
        values |= _read("the defaults", {"data": str(KEYS["data"].default)})
    return _checked(Settings(**values))


def _read(source: str, raw: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in raw.items():
        key = KEYS.get(name)
        if key is None:
            raise ConfigError(f"{source}: unknown key {name!r}{nearest(str(name), KEYS)}")
        if value is None:
            continue
        try:
            yield name, key.read(value)
        except ValueError as error:
            raise ConfigError(f"{source}: {name} is {value!r}; {error}") from None


def _from_file(file: Path) -> Mapping[str, Any]:
    content = read_yaml(file)
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ConfigError(f"{file}: lines of `key: value` were expected, found a {type(content).__name__}")
    return dict(_flat(content))


def _flat(content: Mapping[Any, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """`limits: {calls_per_minute: 9}` and `limits.calls_per_minute: 9` are limits_calls_per_minute."""
    for name, value in content.items():
        key = above + str(name).replace(".", "_")
        if isinstance(value, dict):
            yield from _flat(value, f"{key}_")
        else:
            yield key, value


def _from_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    variables = {key.variable: key.name for key in KEYS.values()}
    values: dict[str, str] = {}
    for variable, value in environment.items():
        if (
            not variable.startswith(PREFIX)
            or variable in (CONFIG_VARIABLE, URI_VARIABLE)
            or variable.startswith((CATALOG_PREFIX, REMOTE_PREFIX))
        ):
            continue
        # Kubernetes sets variables with the address of a service named metastored; they look like settings.
        if _KUBERNETES.fullmatch(variable) or (variable.endswith("PORT") and _KUBERNETES_PORT.match(value)):
            continue
        if variable not in variables:
            near = get_close_matches(variable, variables, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else f"; known are {', '.join(variables)}"
            raise ConfigError(f"the environment: unknown variable {variable}{hint}")
        if value:
            values[variables[variable]] = value
    return values


def _checked(settings: Settings) -> Settings:
    """Checks combinations of settings; raises ConfigError."""
    if settings.tls_key is not None and settings.tls_certificate is None:
        raise ConfigError("tls_key is set without tls_certificate")
    if (settings.kerberos_principal is None) != (settings.kerberos_keytab is None):
        raise ConfigError("kerberos_principal and kerberos_keytab must be set together")
    if settings.kerberos_http_principal is not None and settings.kerberos_principal is None:
        raise ConfigError("kerberos_http_principal is set without kerberos_principal")
    if settings.tls_client_ca is not None and settings.tls_certificate is None and settings.http_port is None:
        raise ConfigError("tls_client_ca is set without tls_certificate")
    if settings.jwt_keys is None and (settings.jwt_issuer is not None or settings.jwt_audience is not None):
        raise ConfigError("jwt_issuer and jwt_audience are set without jwt_keys")
    if settings.lance == "on" and settings.directories != "all":
        raise ConfigError(
            f"lance is on and directories is {settings.directories}: the server opens directories of Lance tables, so "
            "directories must be all; location_schemes limits their file systems"
        )
    if settings.iceberg == "on" and settings.directories == "off":
        raise ConfigError(
            "iceberg is on and directories is off: the server reads and writes the metadata files of Iceberg tables, "
            "so directories must be all or local; location_schemes limits their file systems"
        )
    if settings.iceberg_role is not None and (settings.iceberg == "off" or settings.authorization != "sql"):
        raise ConfigError(
            "iceberg_role is set: iceberg must be on, and authorization must be sql, so that keys are given only to "
            "those who may read or write a table"
        )
    if settings.iceberg_signing == "on" and (settings.iceberg == "off" or settings.authorization != "sql"):
        raise ConfigError(
            "iceberg_signing is on: iceberg must be on, and authorization must be sql, so that requests are signed "
            "only for those who may read or write a table"
        )
    inside = tuple(f"{path}/" for path in (ICEBERG_PATH, LANCE_PATH))
    if settings.http_path in RESERVED_PATHS or f"{settings.http_path}/".startswith(inside):
        raise ConfigError(f"http_path is {settings.http_path}, which has another meaning")
    return settings
