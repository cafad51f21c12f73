"""A handler that shows each database, table and partition to a function of the user's own, which may change or hide it.

The function is an entry point of the group `metastored.filters`, named by the setting `filter`. It is Python's form of
Hive's MetaStoreFilterHook:

    def filter(value: Database | Table | Partition, address: str | None) -> Database | Table | Partition | None

`address` is that of the remote that the object is of, by its own names there; None for local objects. An object for
which it returns None is left out of a list; where a single one was asked for, it does not exist. Lists of names and
partitions in the compact form of partition specs are not shown to it: allow-lists and privileges hide names.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

from metastored.errors import ApplicationError, ConfigError, MetastoreError, NoSuchObjectException
from metastored.wire.generated.common import Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import Partition
from metastored.wire.message import REPLY, Call, Handler, Reply, Session
from metastored.wire.structs import Struct, new

log = logging.getLogger("metastored.gate")

GROUP: Final = "metastored.filters"

Object = Database | Table | Partition
Hook = Callable[[Object, str | None], Object | None]


def load_hook(name: str) -> Hook:
    """The function of an entry point. Raises ConfigError where there is none, or where it cannot be loaded."""
    from importlib.metadata import entry_points  # Slow to import, and seldom needed.

    by_name = {each.name: each for each in entry_points(group=GROUP)}
    if name not in by_name:
        known = ", ".join(sorted(by_name)) or "none"
        raise ConfigError(f"filter: there is no entry point {name!r} of the group {GROUP}; installed are: {known}")
    try:
        hook: Hook = by_name[name].load()
        return hook
    except Exception as error:
        raise ConfigError(f"filter: {by_name[name].value} cannot be loaded: {type(error).__name__}: {error}") from error


class Hooked:
    """A metastore whose objects pass through a function."""

    def __init__(self, inner: Handler, hook: Hook, address: str | None) -> None:
        self._inner = inner
        self._hook = hook
        self._address = address

    async def handle(self, call: Call, session: Session) -> Reply:
        call.relays = False  # The function sees complete objects.
        reply = await self._inner.handle(call, session)
        if call.method.verb != "read" or reply.kind != REPLY or reply.error is not None:
            return reply
        try:
            value = reply.value(call.method)
        except (MetastoreError, ApplicationError) as error:
            if isinstance(error, ApplicationError):
                return reply
            return Reply.raised(call.method, error, session.version)
        try:
            return Reply.of(call.method, self._shown(value))
        except _Hidden:
            hidden = NoSuchObjectException(f"{call.method.name}: there is no such object")
            return Reply.raised(call.method, hidden, session.version)
        except Exception as error:
            log.exception("the filter failed over a reply to %s", call.method.name)
            return Reply.failed(call.method, f"the filter of this server failed: {error!r}", session.version)

    async def close(self) -> None:
        close = getattr(self._inner, "close", None)
        if close is not None:
            await close()

    def _shown(self, value: Any) -> Any:
        """Raises _Hidden where a single object is hidden."""
        if isinstance(value, Object):
            kept = self._hook(value, self._address)
            if kept is None:
                raise _Hidden
            return kept
        if type(value) is tuple:
            shown = (self._hook(item, self._address) if isinstance(item, Object) else item for item in value)
            return tuple(item for item in shown if item is not None)
        if isinstance(value, Struct):
            return new(type(value), [self._shown(item) for item in value])
        return value


class _Hidden(Exception):
    pass
