"""What every Thrift service has (fb303), the session's identity, and the configuration calls."""

from __future__ import annotations

import re
from typing import Final

from skep.errors import ConfigValSecurityException, MetaException
from skep.hive.generation import Generation
from skep.metastore.context import Context

ALIVE: Final = 2
_READABLE = re.compile(r"(hive|hdfs|mapred|metastore).*")
_SECRET = re.compile(r".*(password|secret|token|key).*", re.IGNORECASE)

META_CONF: Final = {
    "hive.metastore.try.direct.sql": "true",
    "hive.metastore.try.direct.sql.ddl": "true",
    "hive.metastore.client.socket.timeout": "600s",
    "hive.metastore.partition.name.whitelist.pattern": "",
    "hive.metastore.disallow.incompatible.col.type.changes": "true",
    "metastore.try.direct.sql": "true",
    "metastore.try.direct.sql.ddl": "true",
    "metastore.client.socket.timeout": "600s",
    "metastore.partition.name.whitelist.pattern": "",
    "metastore.disallow.incompatible.col.type.changes": "true",
}
"""The settings a client may change for its own session, with their defaults."""


def getName(ctx: Context) -> str:
    return "new db based metaserver"


def getVersion(ctx: Context) -> str:
    # 2.3 and 3.1 both say 3.0; only 4.x tells its release.
    return {Generation.HIVE_4_0: "4.0.1", Generation.HIVE_4_2: "4.2.0"}.get(ctx.generation, "3.0")


def getStatus(ctx: Context) -> int:
    return ALIVE


def getStatusDetails(ctx: Context) -> str:
    return ""


def getCounters(ctx: Context) -> dict[str, int]:
    return {}


def getCounter(ctx: Context, key: str | None) -> int:
    return 0


def setOption(ctx: Context, key: str | None, value: str | None) -> None:
    """Options are accepted and have no effect, as in Hive."""


def getOption(ctx: Context, key: str | None) -> None:
    """No option is ever set; Thrift clients see a missing result, as with Hive."""


def getOptions(ctx: Context) -> dict[str, str]:
    return {}


def getCpuProfile(ctx: Context, profileDurationInSec: int | None) -> str:
    return ""


def aliveSince(ctx: Context) -> int:
    return int(ctx.service.started)


def reinitialize(ctx: Context) -> None:
    """There is nothing to read again: the database is the only state."""


def shutdown(ctx: Context) -> None:
    """Java clients send it when they close. It ends their session, which the server does by itself."""


def set_ugi(ctx: Context, user_name: str | None, group_names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Who the caller says it is; believed unless something stronger has proven who it is."""
    session = ctx.session
    groups = group_names or ()
    if not session.authenticated:
        session.user = user_name
        session.groups = groups
    if ctx.generation >= Generation.HIVE_3_1 and user_name is not None:
        return (*groups, user_name)
    return groups


def getMetaConf(ctx: Context, key: str | None) -> str:
    if key not in META_CONF:
        raise MetaException(f"Invalid configuration key {key}")
    return ctx.session.conf.get(key, META_CONF[key])


def setMetaConf(ctx: Context, key: str | None, value: str | None) -> None:
    if key not in META_CONF:
        raise MetaException(f"Invalid configuration key {key}")
    if value is None:
        ctx.session.conf.pop(key, None)
    else:
        ctx.session.conf[key] = value


def get_config_value(ctx: Context, name: str | None, defaultValue: str | None) -> str | None:
    if name is None:
        return defaultValue
    if not _READABLE.fullmatch(name) or _SECRET.fullmatch(name):
        raise ConfigValSecurityException(f"For security reasons, the config key {name} cannot be accessed")
    if name in ("hive.metastore.warehouse.dir", "metastore.warehouse.dir"):
        return ctx.warehouse.root
    if name == "metastore.catalog.default":
        return "hive"
    return META_CONF.get(name, defaultValue)


def flushCache(ctx: Context) -> None:
    """Nothing is cached that another server could change unseen."""
