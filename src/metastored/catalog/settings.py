"""The settings of catalogs, from a file, the environment and code; a later source overrides.

    catalog:
      default_catalog: hive
      list:
        - {name: hive, type: hive_metastore, uri: "thrift://host:9083"}

In the environment two underscores separate levels, and a catalog of the list is selected by its name:
METASTORED_CATALOG__DEFAULT_CATALOG, METASTORED_CATALOG__LIST (in YAML), METASTORED_CATALOG__LIST__HIVE__PASSWORD.
METASTORED_CATALOG__FILE names the file. An unknown key is an error that names the most similar known key. This module
opens nothing but the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from metastored.catalog.status import Namespace
from metastored.config import CATALOG_PREFIX as PREFIX
from metastored.errors import ConfigError
from metastored.setting_values import choice, flag, nearest, optional, optional_text, read_yaml, seconds, text, whole

FILE_VARIABLE: Final = f"{PREFIX}FILE"
OPTIONAL_WHOLE: Final = optional(whole())

T = TypeVar("T")


# --- readers of values -----------------------------------------------------------------------------------


def _namespace(value: Any) -> Namespace:
    parts = value if isinstance(value, list | tuple) else str(value).split(".")
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError("a database's name was expected, as a text or a list of its parts")
    return tuple(parts)


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("keys and values were expected")
    # YAML reads 8080 as a number and true as a boolean; the libraries take texts.
    return {str(key): _as_text(each) for key, each in value.items()}


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key(read: Any, default: Any = MISSING) -> Any:
    return field(metadata={"read": read}) if default is MISSING else field(default=default, metadata={"read": read})


def _secret() -> Any:
    """A key whose value no repr and no error shows."""
    return field(default=None, repr=False, metadata={"read": optional_text, "secret": True})


def _section(kind: type[Any], default: Any) -> Any:
    return field(default=default, metadata={"section": kind})


# --- the keys ----------------------------------------------------------------------------------------------


# ruff: noqa: RUF009 (a key's default comes from `_key`, which is a dataclass field)
@dataclass(frozen=True, slots=True, kw_only=True)
class PoolKeys:
    """Connections of a metastore's client."""

    max_size: int = _key(whole(), 10)
    min_idle: int | None = _key(OPTIONAL_WHOLE, 2)
    connection_timeout_ms: int = _key(whole(), 30_000)
    idle_timeout_ms: int = _key(whole(), 600_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKeys:
    """The cache of a client. `events_every`: seconds between two polls of the server's events; 0 turns them off."""

    enabled: bool = _key(flag, True)
    max_capacity: int = _key(whole(), 10_000)
    ttl_seconds: int = _key(whole(), 300)
    tti_seconds: int = _key(whole(), 180)
    events_every: float = _key(seconds, 30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThriftKeys:
    """The protocol of a metastore. `auto` tries unframed first, as Hive is, and then framed."""

    protocol: str = _key(choice("binary", "compact", "json"), "binary")
    transport: str = _key(choice("auto", "buffered", "framed"), "auto")
    timeout_ms: int = _key(whole(), 60_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCatalog:
    """A catalog in memory, which ends with its manager."""

    name: str = _key(text)
    initial_database: Namespace = _key(_namespace, ("default",))
    initial_database_comment: str | None = _key(optional_text, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveCatalog:
    """A metastore. `uri` can have several addresses, separated by commas."""

    name: str = _key(text)
    uri: str = _key(text)
    username: str | None = _key(optional_text, None)
    password: str | None = _secret()
    kerberos_principal: str | None = _key(optional_text, None)
    """The principal of the metastore, such as hive/_HOST@REALM; it turns Kerberos on."""
    connection_pool: PoolKeys = _section(PoolKeys, PoolKeys())
    cache: CacheKeys = _section(CacheKeys, CacheKeys())
    thrift: ThriftKeys = _section(ThriftKeys, ThriftKeys())


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergCatalog:
    """An Iceberg catalog. `properties` are those of pyiceberg."""

    name: str = _key(text)
    catalog: str = _key(choice("rest", "sql"), "rest")
    uri: str = field(repr=False, metadata={"read": text, "secret": True})
    """The URL of a SQL catalog can have a password in it."""
    warehouse: str | None = _key(optional_text, None)
    nested_namespaces: bool = _key(flag, False)
    """Whether namespaces within namespaces are listed too, by one call for each."""
    properties: Mapping[str, str] = field(default_factory=dict, repr=False, metadata={"read": _texts, "secret": True})
    cache: CacheKeys = _section(CacheKeys, CacheKeys(enabled=False))

    @property
    def options(self) -> dict[str, str]:
        given = {"type": self.catalog, "uri": self.uri, **({"warehouse": self.warehouse} if self.warehouse else {})}
        return {**given, **self.properties}


@dataclass(frozen=True, slots=True, kw_only=True)
class GlueCatalog:
    """The AWS Glue Data Catalog. Without credentials here, boto3 finds them."""

    name: str = _key(text)
    region: str | None = _key(optional_text, None)
    endpoint: str | None = _key(optional_text, None)
    catalog_id: str | None = _key(optional_text, None)
    """The AWS account of the catalog, if it is another account's."""
    profile: str | None = _key(optional_text, None)
    access_key_id: str | None = _secret()
    secret_access_key: str | None = _secret()
    session_token: str | None = _secret()
    cache: CacheKeys = _section(CacheKeys, CacheKeys(enabled=False))

    @property
    def options(self) -> dict[str, str]:
        """The arguments of a session and a client of boto3."""
        given = {
            "profile_name": self.profile,
            "region_name": self.region,
            "endpoint_url": self.endpoint,
            "aws_access_key_id": self.access_key_id,
            "aws_secret_access_key": self.secret_access_key,
            "aws_session_token": self.session_token,
        }
        return {key: value for key, value in given.items() if value is not None}


Catalog = MemoryCatalog | HiveCatalog | IcebergCatalog | GlueCatalog

TYPES: Final[Mapping[str, type[Catalog]]] = {
    "memory": MemoryCatalog,
    "hive_metastore": HiveCatalog,
    "hive": HiveCatalog,
    "iceberg": IcebergCatalog,
    "glue": GlueCatalog,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogSettings:
    """All catalogs of a program, with the default catalog and database."""

    list: tuple[Catalog, ...]
    default_catalog: str
    default_database: Namespace = ("default",)
    global_temporary_database: Namespace = ("global_temp",)


# --- reading -----------------------------------------------------------------------------------------------

_TOP: Final = ("default_catalog", "default_database", "global_temporary_database", "list")


def load(
    file: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, Any] | None = None,
) -> CatalogSettings:
    """Returns the settings from all sources. `given` has the keys of the section `catalog:` of a file."""
    environment = os.environ if environment is None else environment
    path = file or environment.get(FILE_VARIABLE)
    content: dict[str, Any] = {}
    for source, raw in (
        (str(path), _from_file(Path(path).expanduser()) if path else {}),
        ("the environment", _from_environment(environment)),
        ("the settings that were given", given or {}),
    ):
        for name in raw:
            if name not in _TOP:
                raise ConfigError(f"{source}: unknown key {name!r} in catalog{nearest(str(name), dict.fromkeys(_TOP))}")
        content |= {name: value for name, value in raw.items() if value is not None}
    return _settings(_with_overrides(content, environment))


def _settings(content: Mapping[str, Any]) -> CatalogSettings:
    entries = content.get("list")
    if not isinstance(entries, Sequence) or isinstance(entries, str) or not entries:
        raise ConfigError("catalog.list must have at least one catalog, such as {name: hive, type: hive, uri: …}")
    catalogs = tuple(_catalog(at, each) for at, each in enumerate(entries))
    names = [each.name for each in catalogs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"catalog.list: there is more than one catalog of the name {', '.join(twice)}")
    default = _read_value("catalog.default_catalog", text, content.get("default_catalog", names[0]))
    if default not in names:
        raise ConfigError(f"catalog.default_catalog is {default!r}{nearest(default, dict.fromkeys(names))}")
    namespaces = {
        key: _read_value(f"catalog.{key}", _namespace, content[key])
        for key in ("default_database", "global_temporary_database")
        if key in content
    }
    return CatalogSettings(list=catalogs, default_catalog=default, **namespaces)


def _catalog(at: int, entry: Any) -> Catalog:
    if isinstance(entry, Catalog):
        return entry  # In code, a catalog can be an object.
    if not isinstance(entry, Mapping):
        raise ConfigError(f"catalog.list[{at}]: keys and values were expected, found a {type(entry).__name__}")
    where = f"catalog.list[{entry.get('name', at)}]"
    kind = str(entry.get("type", "")).strip().lower().replace("-", "_")
    if kind not in TYPES:
        raise ConfigError(f"{where}.type is {entry.get('type')!r}{nearest(kind, TYPES)}")
    chosen: type[Any] = TYPES[kind]
    catalog: Catalog = _read(chosen, {key: value for key, value in entry.items() if key != "type"}, where)
    return catalog


def _read(kind: type[T], content: Any, where: str) -> T:
    if not isinstance(content, Mapping):
        raise ConfigError(f"{where}: keys and values were expected, found a {type(content).__name__}")
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for name, value in content.items():
        if name not in known:
            raise ConfigError(f"{where}: unknown key {name!r}{nearest(str(name), known)}")
        section = known[name].metadata.get("section")
        if section is not None:
            values[name] = known[name].default if value is None else _read(section, value, f"{where}.{name}")
        elif value is not None or known[name].metadata["read"] in (optional_text, OPTIONAL_WHOLE):
            secret = known[name].metadata.get("secret", False)
            values[name] = _read_value(f"{where}.{name}", known[name].metadata["read"], value, secret)
    needed = [name for name, each in known.items() if each.default is MISSING and each.default_factory is MISSING]
    missing = [name for name in needed if name not in values]
    if missing:
        raise ConfigError(f"{where}: {', '.join(missing)} is missing")
    return kind(**values)


def _read_value(where: str, read: Any, value: Any, secret: bool = False) -> Any:
    try:
        return read(value)
    except ValueError as error:
        shown = f"a {type(value).__name__} that cannot be used" if secret else repr(value)
        raise ConfigError(f"{where} is {shown}; {error}") from None


def _from_file(file: Path) -> Mapping[str, Any]:
    content = read_yaml(file)
    if not isinstance(content, Mapping) or not isinstance(content.get("catalog"), Mapping):
        raise ConfigError(f"{file}: a section `catalog:` was expected")
    for name in content:
        if name != "catalog":
            raise ConfigError(f"{file}: unknown key {name!r}{nearest(str(name), {'catalog': None})}")
    section: Mapping[str, Any] = content["catalog"]
    return section


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {path[0]: value for path, value in _variables(environment) if len(path) == 1 and path[0] != "file"}


def _variables(environment: Mapping[str, str]) -> list[tuple[tuple[str, ...], Any]]:
    """Returns each variable as a path of keys and its value, parsed as YAML."""
    import yaml

    variables = []
    for variable, written in sorted(environment.items()):
        if not variable.startswith(PREFIX) or not written:
            continue
        try:
            value = yaml.safe_load(written)
        except yaml.YAMLError:
            value = written  # A password can have any characters.
        variables.append((tuple(variable.removeprefix(PREFIX).lower().split("__")), value))
    return variables


def _with_overrides(content: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """Returns the content with the variables of single catalogs in its list."""
    deeper = [(path, value) for path, value in _variables(environment) if len(path) > 1]
    if not deeper:
        return content
    entries = [dict(each) if isinstance(each, Mapping) else each for each in content.get("list") or ()]
    for path, value in deeper:
        variable = PREFIX + "__".join(path).upper()
        if path[0] != "list" or len(path) < 3:
            raise ConfigError(f"the environment: {variable} is not a key; write {PREFIX}LIST__NAME__KEY")
        named = {str(each.get("name")).lower(): each for each in entries if isinstance(each, dict)}
        if path[1] not in named:
            raise ConfigError(f"the environment: {variable} names no catalog of the list{nearest(path[1], named)}")
        into = named[path[1]]
        for key in path[2:-1]:
            into[key] = dict(into.get(key) or {})
            into = into[key]
        into[path[-1]] = value
    return {**content, "list": entries}
