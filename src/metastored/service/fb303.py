"""The calls that every Thrift service has (fb303), the session's identity, and the configuration calls."""

from __future__ import annotations

import re
from typing import Final
from uuid import uuid4

from metastored.errors import ConfigValSecurityException
from metastored.hive.generation import Generation
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.hive_settings import check_value, default, default_of_session, session_key
from metastored.store.engine import meta
from metastored.wire.generated.service import CmRecycleRequest, CmRecycleResponse

ALIVE: Final = 2
_READABLE = re.compile(r"(hive|hdfs|mapred|metastore).*")
_READABLE_IN_2_3 = re.compile(r"(hive|hdfs|mapred).*")
_HIDDEN = re.compile(r".*(password|passphrase|secret|credential|access\.key).*", re.IGNORECASE)


@method
def getName(ctx: Context) -> str:
    return "new db based metaserver"


@method
def getVersion(ctx: Context) -> str:
    # 2.3 and 3.1 both return 3.0; only 4.x returns its release.
    return {Generation.HIVE_4_0: "4.0.1", Generation.HIVE_4_2: "4.2.0"}.get(ctx.generation, "3.0")


@method
def getStatus(ctx: Context) -> int:
    return ALIVE


@method
def getStatusDetails(ctx: Context) -> str:
    return ""


@method
def getCounters(ctx: Context) -> dict[str, int]:
    return {}


@method
def getCounter(ctx: Context, key: str | None) -> int:
    return 0


@method
def setOption(ctx: Context, key: str | None, value: str | None) -> None:
    """Options are accepted and have no effect, as in Hive."""


@method
def getOption(ctx: Context, key: str | None) -> None:
    """No option is ever set; Thrift clients get a missing result, as with Hive."""


@method
def getOptions(ctx: Context) -> dict[str, str]:
    return {}


@method
def getCpuProfile(ctx: Context, profileDurationInSec: int | None) -> str:
    return ""


@method
def aliveSince(ctx: Context) -> int:
    return int(ctx.service.started)


@method
def reinitialize(ctx: Context) -> None:
    """There is nothing to reload: the database is the only state."""


@method
def shutdown(ctx: Context) -> None:
    """Java clients send it when they close. The server ends their session by itself."""


@method
def set_ugi(ctx: Context, user_name: str | None, group_names: tuple[str, ...] | None) -> tuple[str, ...]:
    """Sets the user that the caller claims to be; used only without authentication, and from proxy users always."""
    session = ctx.session
    groups = group_names or ()
    if not session.authenticated or session.may_impersonate:
        session.user = user_name
        session.groups = groups
    if ctx.rules.groups_with_user and not ctx.rules.groups_alone and user_name is not None:
        return (*groups, user_name)
    return groups


@method
def getMetaConf(ctx: Context, key: str | None) -> str:
    name = session_key(key, ctx.accepted)
    value = ctx.session.conf.get(name)
    return default_of_session(name, ctx.dialects) if value is None else value


@method
def setMetaConf(ctx: Context, key: str | None, value: str | None) -> None:
    name = session_key(key, ctx.accepted)
    if value is None:
        ctx.session.conf.pop(name, None)
    else:
        check_value(key, name, value)
        ctx.session.conf[name] = value


@method
def get_config_value(ctx: Context, name: str | None, defaultValue: str | None) -> str | None:
    """The server's own setting for one of Hive's keys, or else Hive's default for it."""
    if name is None:
        return defaultValue
    readable = _READABLE if ctx.accepted.returns_metastore_keys else _READABLE_IN_2_3
    if not readable.fullmatch(name) or _HIDDEN.fullmatch(name):
        raise ConfigValSecurityException(f"For security reasons, the config key {name} cannot be accessed")
    if name.removeprefix("hive.") == "metastore.warehouse.dir":
        return ctx.warehouse.root
    configured = ctx.service.configured.get(name)
    if configured is None:
        configured = default(name, ctx.dialects)
    return defaultValue if configured is None else configured


@method
def get_metastore_db_uuid(ctx: Context) -> str:
    """Created once for each database, and never changed."""
    return meta.value(ctx.reader(), meta.UUID) or ctx.database.run(lambda tx: meta.ensure(tx, meta.UUID, str(uuid4())))


@method
def cm_recycle(ctx: Context, request: CmRecycleRequest) -> CmRecycleResponse:
    """Hive can keep removed files for replication; metastored does not replicate."""
    return CmRecycleResponse()


@method
def flushCache(ctx: Context) -> None:
    """No cache depends on changes of another server."""
