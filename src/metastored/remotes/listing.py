"""Listings across databases: what the local metastore lists, and what each remote that matches does.

Databases with a definition of their own are rows of the store, so listing their names calls no remote. A remote that
does not answer is an error that names it; with `partial` it is left out, and the log names it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from metastored.errors import ApplicationError, MetastoreError, RemoteProtocolError
from metastored.hive.names import DEFAULT_CATALOG, CatalogNameError, decode_catalog_name, normalize
from metastored.hive.patterns import compile_pattern, may_begin_with
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.values import ALL_NAMES, Remote
from metastored.remotes import refusals
from metastored.remotes.definitions import Known
from metastored.remotes.merging import (
    MERGES,
    concat_lists,
    first_pattern,
    only_of_database,
    only_tables,
    with_first_pattern,
)
from metastored.wire.edit.splice import carries_exception
from metastored.wire.generated.databases import Database
from metastored.wire.message import REPLY, Call, Handler, Reply, Session, Stream
from metastored.wire.methods import METHODS, Method
from metastored.wire.methods.naming import names_in

log = logging.getLogger("metastored.remotes")

CallRemote = Callable[[Call, Session, Remote], Awaitable[Reply]]
"""Calls a remote by its own names; a failure to get a reply has an `Unreachable`, which begins with the remote."""

_ALL_DATABASES: Final = METHODS["get_all_databases"]


class _Failed(Exception):
    """A remote did not list; `reply` says so to the caller."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply


class Listing:
    """Answers calls that list across databases."""

    def __init__(self, local: Handler, remote: CallRemote, partial: bool) -> None:
        self._local = local
        self._remote = remote
        self._partial = partial

    async def handle(self, call: Call, session: Session, known: Known) -> Reply:
        method = call.method
        reply = await self._local.handle(call, session)
        where = _catalog_and_pattern(call)
        if where is None or reply.error is not None or reply.kind != REPLY:
            return reply
        catalog, pattern = where
        try:
            remotes = await self._matching(session, known, catalog, pattern, databases=method.object == "database")
            if method.object == "database":
                return _with_databases(method, reply, remotes) if remotes else reply
            return await self._with_contents(call, session, known, reply, remotes)
        except _Failed as failure:
            return failure.reply

    async def _matching(
        self, session: Session, known: Known, catalog: str, pattern: str | None, *, databases: bool
    ) -> list[Remote]:
        """The remote databases that a listing is about. Those that are rows of the store are left out of databases."""
        matches = compile_pattern(pattern)
        matching = [] if databases else list(known.databases(catalog))
        catalogs = [each for each in known.catalogs(catalog) if may_begin_with(pattern, each.prefix or "")]
        for shown in await asyncio.gather(*(self._databases_of(each, session, known) for each in catalogs)):
            matching += shown
        return [remote for remote in matching if matches(remote.database)]

    async def _databases_of(self, catalog: RemoteCatalog, session: Session, known: Known) -> list[Remote]:
        """The databases that a remote catalog shows now."""
        whole = Remote(
            catalog.shown_in, catalog.name, None, "", None, catalog.endpoint, cache_seconds=catalog.cache_seconds
        )
        reply = await self._remote(Call(_ALL_DATABASES, ()), session, whole)
        names = await self._value(_ALL_DATABASES, session, reply, catalog, whole)
        return [remote for name in names or () for remote in known.shown(catalog, name)]

    async def _with_contents(
        self, call: Call, session: Session, known: Known, reply: Reply, remotes: Sequence[Remote]
    ) -> Reply:
        method = call.method
        groups: dict[Endpoint, list[Remote]] = {}
        for remote in remotes:
            groups.setdefault(remote.endpoint, []).append(remote)
        listed = await asyncio.gather(*(self._list(call, session, known, group) for group in groups.values()))
        replies = [reply, *(each for some in listed for each in some)]
        joined = concat_lists(method, replies)
        if joined is not None:
            return joined
        return Reply.of(method, MERGES[method.merge]([each.value(method) for each in replies]))

    async def _list(self, call: Call, session: Session, known: Known, remotes: list[Remote]) -> list[Reply]:
        """What one endpoint lists of some of its databases, a reply under local names for each."""
        method, first = call.method, remotes[0]
        names = sorted({remote.remote_database for remote in remotes})
        if method.route == "pattern":
            call = Call(method, with_first_pattern(method, call.args, "|".join(names)), call.seqid)
        reply = await self._remote(call, session, first)
        if len(remotes) == 1 and method.route == "pattern" and _is_list(reply) and first.tables == ALL_NAMES:
            # It is all of one database: the bytes are passed on, with other names.
            return [known.renaming((first,)).reply(method, reply)]
        value = await self._value(method, session, reply, first, first)
        if value is None:
            return []
        replies = []
        for remote in remotes:
            own = Reply.of(method, only_of_database(value, normalize(remote.remote_database)))
            own = known.renaming((remote,)).reply(method, own)
            replies.append(own if remote.tables == ALL_NAMES else only_tables(method, own, remote.tables))
        return replies

    async def _value(
        self, method: Method, session: Session, reply: Reply, remote: Remote | RemoteCatalog, called: Remote
    ) -> Any:
        """What a remote listed; None where it has nothing to list, or is left out. Raises _Failed."""
        try:
            value = reply.value(method)
            if value is None:
                raise RemoteProtocolError(f"its answer to {method.name} has no list in it")
            return value
        except ApplicationError as error:
            if error.type == ApplicationError.UNKNOWN_METHOD:
                return None  # An older metastore has nothing of the kind.
            what = str(error)
        except (MetastoreError, RemoteProtocolError) as error:
            what = str(error).removeprefix(f"{called}: ")
        if self._partial:
            log.warning("%s is left out of the reply to %s: %s", remote, method.name, what)
            return None
        raise _Failed(refusals.not_listed(method, session, remote, what))


def _catalog_and_pattern(call: Call) -> tuple[str, str | None] | None:
    """Which databases a listing is about; None where its pattern cannot be read."""
    method = call.method
    catalog = next((value for role, value in names_in(method, call.args) if role == "cat"), DEFAULT_CATALOG)
    if method.route != "pattern":
        return normalize(catalog), None
    try:
        written = decode_catalog_name(first_pattern(method, call.args))
    except CatalogNameError:
        return None
    return normalize(written.catalog or catalog), written.database


def _with_databases(method: Method, reply: Reply, remotes: Sequence[Remote]) -> Reply:
    """A list of databases with those that remote catalogs show."""
    value = reply.value(method)
    if method.returns_role == "db":
        return Reply.of(method, MERGES[method.merge]([value, tuple(remote.database for remote in remotes)]))
    objects = tuple(Database(name=remote.database, catalogName=remote.catalog) for remote in remotes)
    return Reply.of(method, type(value)(value[0] + objects, *value[1:]))


def _is_list(reply: Reply) -> bool:
    return reply.kind == REPLY and not isinstance(reply.body, Stream) and not carries_exception(reply.body)
