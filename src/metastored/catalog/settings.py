"""Which catalogs there are: read from a file, the environment or given in code, the later over the earlier.

    catalog:
      default_catalog: hive
      list:
        - {name: hive, type: hive_metastore, uri: "thrift://host:9083"}

In the environment two underscores lead one level down, and a catalog of the list is found by its name:
METASTORED_CATALOG__DEFAULT_CATALOG, METASTORED_CATALOG__LIST (in YAML), METASTORED_CATALOG__LIST__HIVE__PASSWORD.
METASTORED_CATALOG__FILE names the file. An unknown key is refused with the nearest known one. This module opens nothing
but the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar

from metastored.catalog.status import Namespace
from metastored.config import CATALOG_PREFIX as PREFIX
from metastored.config import nearest, read_yaml
from metastored.errors import ConfigError

FILE_VARIABLE: Final = f"{PREFIX}FILE"

T = TypeVar("T")


# --- how a value is read -----------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text was expected")
    return value.strip()


def _optional(value: Any) -> str | None:
    return None if value is None else _text(str(value))


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not str(value).strip().isdigit():
        raise ValueError("a whole number was expected")
    return int(value)


def _whole_or_none(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _flag(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ValueError("true or false was expected")
    return value


def _namespace(value: Any) -> Namespace:
    parts = value if isinstance(value, list | tuple) else str(value).split(".")
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise ValueError("a database's name was expected, as a text or a list of its parts")
    return tuple(parts)


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("keys and values were expected")
    # YAML reads 8080 as a number and true as a truth; the libraries that get them want texts.
    return {str(key): _as_text(each) for key, each in value.items()}


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _choice(*words: str) -> Any:
    def read(value: Any) -> str:
        if str(value).strip().lower() not in words:
            raise ValueError(f"one of {', '.join(words)} was expected")
        return str(value).strip().lower()

    return read


def _key(read: Any, default: Any = MISSING) -> Any:
    return field(metadata={"read": read}) if default is MISSING else field(default=default, metadata={"read": read})


def _section(kind: type[Any], default: Any) -> Any:
    return field(default=default, metadata={"section": kind})


# --- the keys ----------------------------------------------------------------------------------------------


# ruff: noqa: RUF009 (a key's default comes from `_key`, which is a dataclass field)
@dataclass(frozen=True, slots=True, kw_only=True)
class PoolKeys:
    """Connections of a metastore's client."""

    max_size: int = _key(_whole, 10)
    min_idle: int | None = _key(_whole_or_none, 2)
    connection_timeout_ms: int = _key(_whole, 30_000)
    idle_timeout_ms: int = _key(_whole, 600_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheKeys:
    """What a client remembers."""

    enabled: bool = _key(_flag, True)
    max_capacity: int = _key(_whole, 10_000)
    ttl_seconds: int = _key(_whole, 300)
    tti_seconds: int = _key(_whole, 180)


@dataclass(frozen=True, slots=True, kw_only=True)
class ThriftKeys:
    """What is spoken to a metastore. `auto` begins unframed, as Hive is, and tries frames where that fails."""

    protocol: str = _key(_choice("binary", "compact", "json"), "binary")
    transport: str = _key(_choice("auto", "buffered", "framed"), "auto")
    timeout_ms: int = _key(_whole, 60_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCatalog:
    """A catalog that is gone at the end."""

    name: str = _key(_text)
    initial_database: Namespace = _key(_namespace, ("default",))
    initial_database_comment: str | None = _key(_optional, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveCatalog:
    """A metastore. `uri` may name several, with commas between them."""

    name: str = _key(_text)
    uri: str = _key(_text)
    username: str | None = _key(_optional, None)
    password: str | None = _key(_optional, None)
    kerberos_principal: str | None = _key(_optional, None)
    """The metastore's own, such as hive/_HOST@REALM: proves who calls by Kerberos."""
    connection_pool: PoolKeys = _section(PoolKeys, PoolKeys())
    cache: CacheKeys = _section(CacheKeys, CacheKeys())
    thrift: ThriftKeys = _section(ThriftKeys, ThriftKeys())


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergCatalog:
    """A catalog of Iceberg's own. `properties` are those of pyiceberg."""

    name: str = _key(_text)
    catalog: str = _key(_choice("rest", "sql"), "rest")
    uri: str = _key(_text)
    warehouse: str | None = _key(_optional, None)
    nested_namespaces: bool = _key(_flag, False)
    """Whether namespaces within namespaces are listed too, which asks once for each."""
    properties: Mapping[str, str] = field(default_factory=dict, metadata={"read": _texts})
    cache: CacheKeys = _section(CacheKeys, CacheKeys(enabled=False))

    @property
    def options(self) -> dict[str, str]:
        given = {"type": self.catalog, "uri": self.uri, **({"warehouse": self.warehouse} if self.warehouse else {})}
        return {**given, **self.properties}


@dataclass(frozen=True, slots=True, kw_only=True)
class GlueCatalog:
    """The AWS Glue Data Catalog. Who calls is found as boto3 does, unless it is given."""

    name: str = _key(_text)
    region: str | None = _key(_optional, None)
    endpoint: str | None = _key(_optional, None)
    catalog_id: str | None = _key(_optional, None)
    """The AWS account, when it is another one's catalog."""
    profile: str | None = _key(_optional, None)
    access_key_id: str | None = _key(_optional, None)
    secret_access_key: str | None = _key(_optional, None)
    session_token: str | None = _key(_optional, None)
    cache: CacheKeys = _section(CacheKeys, CacheKeys(enabled=False))

    @property
    def options(self) -> dict[str, str]:
        """What a session and a client of boto3 are made with."""
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
    """All catalogs of a program, and where names without a catalog or a database are looked for."""

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
    """The settings from all sources. `given` is what would stand under `catalog:` in a file."""
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
        raise ConfigError("catalog.list has to hold at least one catalog, such as {name: hive, type: hive, uri: …}")
    catalogs = tuple(_catalog(at, each) for at, each in enumerate(entries))
    names = [each.name for each in catalogs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"catalog.list: there is more than one catalog of the name {', '.join(twice)}")
    default = _read_value("catalog.default_catalog", _text, content.get("default_catalog", names[0]))
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
        return entry  # Given in code as what it is.
    if not isinstance(entry, Mapping):
        raise ConfigError(f"catalog.list[{at}]: keys and values were expected, found {entry!r}")
    where = f"catalog.list[{entry.get('name', at)}]"
    kind = str(entry.get("type", "")).strip().lower().replace("-", "_")
    if kind not in TYPES:
        raise ConfigError(f"{where}.type is {entry.get('type')!r}{nearest(kind, TYPES)}")
    chosen: type[Any] = TYPES[kind]
    found: Catalog = _read(chosen, {key: value for key, value in entry.items() if key != "type"}, where)
    return found


def _read(kind: type[T], content: Any, where: str) -> T:
    if not isinstance(content, Mapping):
        raise ConfigError(f"{where}: keys and values were expected, found {content!r}")
    known = {each.name: each for each in fields(kind)}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for name, value in content.items():
        if name not in known:
            raise ConfigError(f"{where}: unknown key {name!r}{nearest(str(name), known)}")
        section = known[name].metadata.get("section")
        if section is not None:
            values[name] = known[name].default if value is None else _read(section, value, f"{where}.{name}")
        elif value is not None or known[name].metadata["read"] in (_optional, _whole_or_none):
            values[name] = _read_value(f"{where}.{name}", known[name].metadata["read"], value)
    needed = [name for name, each in known.items() if each.default is MISSING and each.default_factory is MISSING]
    missing = [name for name in needed if name not in values]
    if missing:
        raise ConfigError(f"{where}: {', '.join(missing)} is missing")
    return kind(**values)


def _read_value(where: str, read: Any, value: Any) -> Any:
    try:
        return read(value)
    except ValueError as error:
        raise ConfigError(f"{where} is {value!r}; {error}") from None


def _from_file(file: Path) -> Mapping[str, Any]:
    content = read_yaml(file)
    if not isinstance(content, Mapping) or not isinstance(content.get("catalog"), Mapping):
        raise ConfigError(f"{file}: a section `catalog:` was expected")
    for name in content:
        if name != "catalog":
            raise ConfigError(f"{file}: unknown key {name!r}{nearest(str(name), {'catalog': None})}")
    found: Mapping[str, Any] = content["catalog"]
    return found


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {path[0]: value for path, value in _variables(environment) if len(path) == 1 and path[0] != "file"}


def _variables(environment: Mapping[str, str]) -> list[tuple[tuple[str, ...], Any]]:
    """Each variable as a path of keys and what YAML makes of its value."""
    import yaml

    found = []
    for variable, text in sorted(environment.items()):
        if not variable.startswith(PREFIX) or not text:
            continue
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError:
            value = text  # A password may hold anything.
        found.append((tuple(variable.removeprefix(PREFIX).lower().split("__")), value))
    return found


def _with_overrides(content: dict[str, Any], environment: Mapping[str, str]) -> dict[str, Any]:
    """What the environment says of single catalogs, put into the list."""
    deeper = [(path, value) for path, value in _variables(environment) if len(path) > 1]
    if not deeper:
        return content
    entries = [dict(each) if isinstance(each, Mapping) else each for each in content.get("list") or ()]
    for path, value in deeper:
        variable = PREFIX + "__".join(path).upper()
        if path[0] != "list" or len(path) < 3:
            raise ConfigError(f"the environment: {variable} leads nowhere; write {PREFIX}LIST__NAME__KEY")
        named = {str(each.get("name")).lower(): each for each in entries if isinstance(each, dict)}
        if path[1] not in named:
            raise ConfigError(f"the environment: {variable} is of no catalog in the list{nearest(path[1], named)}")
        into = named[path[1]]
        for key in path[2:-1]:
            into[key] = dict(into.get(key) or {})
            into = into[key]
        into[path[-1]] = value
    return {**content, "list": entries}
