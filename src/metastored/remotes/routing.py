"""Routes each call to the local metastore, to one remote, or to several whose replies are merged.

It reads the method table (`route`, `verb`, `merge`, `hook`, `event`, the roles of fields) and the names in the
arguments; it lists no methods. The definition of a remote is a local object: creating, altering and dropping a remote
database or a remote table is local, whatever the arguments say. Everything inside of a remote is the remote's own.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Collection
from functools import cache
from typing import Any, Protocol

from metastored.connectors.failures import Unreachable
from metastored.errors import ApplicationError, Error, MetastoreError
from metastored.model.objects import objects_of
from metastored.model.remotes.values import ALL_NAMES, Access, Remote, is_remote
from metastored.remotes import refusals
from metastored.remotes.caching import ReplyCache
from metastored.remotes.cascades import listed, next_in
from metastored.remotes.configuration import (
    add_configuration,
    changes_definition,
    makes_remote,
    other_configuration,
    tables_in,
    without_configuration,
)
from metastored.remotes.creating import Creations, may_create
from metastored.remotes.definitions import Known, Provider
from metastored.remotes.edited import EditedResults
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.listing import Listing
from metastored.remotes.merging import MERGES, only_tables
from metastored.remotes.owners import Owners, owners_of, parts_of, shared
from metastored.remotes.relays import may_relay
from metastored.remotes.renaming import LONG, Renaming
from metastored.threads import Pool
from metastored.wire.edit.splice import carries_exception
from metastored.wire.message import REPLY, Call, Handler, Relayed, Reply, Session, Stream
from metastored.wire.methods import Method
from metastored.wire.methods.naming import argument_names

log = logging.getLogger("metastored.remotes")

Roles = Callable[[Session], Awaitable[Collection[str]]]
"""The roles of a caller."""


class Transactions(Protocol):
    """Locks and transactions that concern remotes. See `leases.py`."""

    async def by_id(self, call: Call, session: Session, known: Known) -> Reply:
        """Answers a call about a lock or a transaction that this metastore gave out."""

    async def lock(self, call: Call, session: Session, known: Known) -> Reply:
        """Answers a request for locks of which some are on remotes."""

    async def snapshot(self, call: Call, session: Session, remote: Remote) -> Call:
        """The request for write ids of a remote's tables as the remote understands it."""

    def with_transactions(self, sent: Call, reply: Reply) -> Reply:
        """The reply to such a request, with the transactions of the remote that it was made for."""


class Routed:
    """The local metastore with remotes beside its own databases and tables."""

    def __init__(
        self,
        local: Handler,
        definitions: Provider,
        endpoints: Endpoints,
        *,
        transactions: Transactions | None = None,
        roles: Roles | None = None,
        creations: Creations | None = None,
        partial: bool = False,
        pool: Pool | None = None,
    ) -> None:
        """`partial`: listings leave out remotes that do not answer, instead of failing. `pool` renames long results."""
        self._local = local
        self._definitions = definitions
        self._peek: Callable[[], Known | None] = getattr(definitions, "peek", lambda: None)
        self._at: Callable[[int], Awaitable[Known | None]] = getattr(definitions, "at", _unknown)
        self._endpoints = endpoints
        self._transactions = transactions
        self._roles = roles
        self._creations = creations
        self._cache = ReplyCache()
        self._edited = EditedResults()
        self._partial = partial
        self._pool = pool
        self._listing = Listing(local, self._call, partial)

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        if self._creations is not None and may_create(method):
            refused = await self._creations.refusal(call, session)
            if refused is not None:
                return refused
        relays, call.relays = call.relays, False
        cascade, session.cascade = session.cascade, None
        if method.route == "local" and method.verb != "grant" and not _may_change_database_of_catalog(method):
            return await self._local.handle(call, session)
        last = self._peek()
        if last is not None and method.verb == "read" and _is_local(call, last):
            return await self._local_first(call, session, last)
        try:
            known = await self._definitions()
        except Error as error:
            return _undefined(method, session, error)
        return await self._routed(call, session, known, cascade, relays)

    async def _local_first(self, call: Call, session: Session, last: Known) -> Reply:
        """A read that was local by the last definitions. Its reply counts if they are still the same."""
        reply = await self._local.handle(call, session)
        try:
            known = None if call.version is None else await self._at(call.version)
            if known is None:
                known = await self._definitions()
            if known is last:
                return reply
        except Error as error:
            return _undefined(call.method, session, error)
        if isinstance(reply.body, Stream):
            reply.body.close()
        return await self._routed(call, session, known)

    async def _routed(
        self, call: Call, session: Session, known: Known, cascade: object = None, relays: bool = False
    ) -> Reply:
        method = call.method
        self._endpoints.keep(known)
        if not known:
            return await self._local.handle(call, session)
        if method.route == "local":
            if method.verb == "grant" and (inner := _inner_table(call, known)):
                return refusals.privileges(method, session, *inner)
            remote = _database_of_catalog(call, known)
            if remote is None:
                return await self._local.handle(call, session)
            return await self._write(call, session, Owners((remote,), local=False), known)
        if method.route == "id":
            return await self._by_id(call, session, known)
        if _lists_databases(method):
            return await self._listing.handle(call, session, known)
        owners = owners_of(call, known)
        if not owners.remotes:
            return await self._local.handle(call, session)
        if method.hook == "lock" and self._transactions is not None:
            return await self._transactions.lock(call, session, known)
        if method.verb == "session":
            return await self._local.handle(call, session)
        kept = next_in(cascade, call, session, owners)
        if kept is not None:
            return kept
        if method.verb == "read":
            reply = await self._read(call, session, owners, known, relays)
            return listed(call, session, owners.remotes[0], reply)
        return await self._write(call, session, owners, known)

    async def _by_id(self, call: Call, session: Session, known: Known) -> Reply:
        if self._transactions is None:
            return await self._local.handle(call, session)
        return await self._transactions.by_id(call, session, known)

    # Reads

    async def _read(self, call: Call, session: Session, owners: Owners, known: Known, relays: bool) -> Reply:
        if not owners.local and shared(owners.remotes):
            return await self._ask(call, session, owners.remotes, known, relays)
        parts = parts_of(call, known) if call.method.merge in MERGES else None
        if parts is None:
            return refusals.several(call.method, session, owners.remotes, owners.local)
        replies = await asyncio.gather(
            *(
                self._local.handle(part, session) if owner is None else self._ask(part, session, (owner,), known)
                for owner, part in parts.items()
            )
        )
        values: list[Any] = []
        for reply in replies:
            if self._partial and isinstance(reply.error, Unreachable):
                log.warning("a remote is left out of the reply to %s: %s", call.method.name, reply.error)
                continue
            try:
                values.append(reply.value(call.method))
            except (MetastoreError, ApplicationError):
                # Its value is read once only: the error is in the reply's body too.
                return reply
        if not values:
            return replies[0]
        return Reply.of(call.method, MERGES[call.method.merge](values))

    async def _ask(
        self, call: Call, session: Session, remotes: tuple[Remote, ...], known: Known, relays: bool = False
    ) -> Reply:
        """A read about remotes of one endpoint, with local names in what is returned."""
        method, remote = call.method, remotes[0]
        unseen = _hidden(call, remotes)
        if unseen is not None:
            return refusals.hidden(method, session, *unseen)
        if method.hook == "snapshot" and self._transactions is not None:
            try:
                call = await self._transactions.snapshot(call, session, remote)
            except Error as error:
                return refusals.failed(method, session, remote, str(error))
        renaming = known.renaming(remotes)
        sent = renaming.call(call)
        sent.relays = relays and may_relay(method) and not remote.cache_seconds
        reply = await self._call(sent, session, remote)
        if isinstance(reply.error, Unreachable):
            return reply
        if isinstance(reply.body, Relayed):
            return renaming.reply(method, reply)
        if reply.kind != REPLY:
            return _with_error(method, reply, remote)
        body = reply.body.read() if isinstance(reply.body, Stream) else reply.body
        edited = self._edited.get(renaming, method, body)
        if edited is not None:
            return edited
        work = functools.partial(_as_seen_here, method, body, remote, renaming)
        try:
            # To walk a hundred thousand partitions takes a while, in which other calls are answered.
            seen = work() if self._pool is None or len(body) < LONG else await self._pool.run(work)
            if method.hook == "snapshot" and self._transactions is not None and seen.error is None:
                return self._transactions.with_transactions(call, seen)
            # The renaming of a database of a remote catalog is made for each call, and would not be found again.
            if remote.of_catalog is None:
                self._edited.put(renaming, method, body, seen)
            return seen
        except Error as error:
            return refusals.failed(method, session, remote, f"its answer to {method.name} cannot be read: {error}")

    async def _call(self, call: Call, session: Session, remote: Remote) -> Reply:
        """What a remote replies, by its own names; a failure to get a reply names the remote."""
        method = call.method
        try:
            handler = self._endpoints.handler(remote.endpoint)
            if remote.cache_seconds > 0:
                reply = await self._cache.handle(call, session, handler, remote.endpoint, remote.cache_seconds)
            else:
                reply = await handler.handle(call, session)
        except Error as error:
            return _unreachable(method, session, remote, str(error))
        if isinstance(reply.error, Unreachable):
            return _unreachable(method, session, remote, str(reply.error))
        return reply

    # Writes

    async def _write(self, call: Call, session: Session, owners: Owners, known: Known) -> Reply:
        method, remotes = call.method, owners.remotes
        if _is_about_definition(call, owners):
            return await self._local.handle(call, session)
        for remote in remotes:
            if remote.access is not Access.WRITE:
                return refusals.read_only(method, session, remote)
            writers = known.writers(remote)
            if writers and self._roles is not None and not {*writers} & {*await self._roles(session)}:
                return refusals.not_a_writer(method, session, remote, writers)
        if method.object == "transaction":
            return refusals.acid_write(method, session, remotes[0])
        if session.one_call and "DROP_TABLE" in method.event.split():
            return refusals.drop_by_one_call(method, session, remotes[0])
        if owners.local or not shared(remotes):
            return refusals.several(method, session, remotes, owners.local)
        unseen = _hidden(call, remotes)
        if unseen is not None:
            return refusals.hidden(method, session, *unseen)
        remote, renaming = remotes[0], known.renaming(remotes)
        if "CREATE_TABLE" in method.event.split():
            if any(is_remote(table.parameters) for table in tables_in(call.args)):
                return refusals.nested(method, session, remote)
        elif remote.table is None and (key := other_configuration(call, remote)) is not None:
            return refusals.other_key(method, session, remote, key)
        try:
            reply = await self._call(renaming.call(without_configuration(call)), session, remote)
        finally:
            self._cache.drop(remote.endpoint)
        if isinstance(reply.error, Unreachable):
            return reply
        return _with_error(method, renaming.reply(method, reply), remote)


def _as_seen_here(method: Method, body: bytes, remote: Remote, renaming: Renaming) -> Reply:
    """A remote's result with its configuration, local names and only the tables that are shown."""
    if carries_exception(body):
        return _with_error(method, renaming.reply(method, Reply(body)), remote)
    reply = renaming.reply(method, Reply(add_configuration(method, body, remote, renaming)))
    return reply if remote.tables == ALL_NAMES else only_tables(method, reply, remote.tables)


def _with_error(method: Method, reply: Reply, remote: Remote) -> Reply:
    """The reply with its error decoded, which audit and metrics read. The message of an exception names the remote."""
    try:
        reply.value(method)
    except MetastoreError as error:
        named = Reply.raised(method, type(error)(f"{error} ({remote})"))
        # An exception that another version declares is passed on as it is.
        return named if named.kind == reply.kind else Reply(reply.body, reply.kind, error)
    except ApplicationError as error:
        return Reply(reply.body, reply.kind, error)
    return reply


def _is_about_definition(call: Call, owners: Owners) -> bool:
    """Whether a write changes the definition of a remote table, and not the table that it shows."""
    links = [remote for remote in owners.remotes if remote.table is not None]
    if call.method.verb != "ddl" or len(links) != 1 or len(objects_of(call).tables) > 2:
        return False
    events = call.method.event.split()
    if "CREATE_TABLE" in events or "DROP_TABLE" in events:
        return True
    return "ALTER_TABLE" in events and call.method.object == "table" and changes_definition(call, links[0])


@cache
def _may_change_database_of_catalog(method: Method) -> bool:
    return method.object == "database" and bool({"CREATE_DATABASE", "ALTER_DATABASE"} & {*method.event.split()})


def _database_of_catalog(call: Call, known: Known) -> Remote | None:
    """The database of a remote catalog that is altered there, or created there because its name has the prefix.

    None where the database is local, which one with a definition of its own is too. DROP DATABASE is always local.
    """
    named = objects_of(call).databases
    remote = known.database(named[0]) if len(named) == 1 else None
    if remote is None or remote.of_catalog is None:
        return None
    if "CREATE_DATABASE" in call.method.event.split():
        prefixed = remote.database != remote.remote_database
        if not prefixed or remote.access is not Access.WRITE or makes_remote(call):
            return None
    return remote


def _inner_table(call: Call, known: Known) -> tuple[Remote, str] | None:
    """The first table of a remote database that a call names, with that database."""
    for table in objects_of(call).tables:
        remote = known.table(table)
        if remote is not None and remote.table is None:
            return remote, table.table
    return None


async def _unknown(version: int) -> Known | None:
    """For definitions that are not of a store with versions."""
    return None


def _undefined(method: Method, session: Session, error: Error) -> Reply:
    return Reply.failed(method, f"the definitions of remotes cannot be read: {error}", session.version)


def _is_local(call: Call, known: Known) -> bool:
    """Whether a read is answered here alone, by these definitions."""
    if not known:
        return True
    return call.method.route == "names" and not owners_of(call, known).remotes


def _hidden(call: Call, remotes: tuple[Remote, ...]) -> tuple[Remote, str] | None:
    """The first table that a call names and that its remote database does not show."""
    if all(remote.tables == ALL_NAMES for remote in remotes):
        return None
    by_name = {(remote.catalog, remote.database): remote for remote in remotes}
    for table in objects_of(call).tables:
        remote = by_name.get((table.catalog, table.database))
        if remote is not None and table.table not in remote.tables:
            return remote, table.table
    return None


def _unreachable(method: Method, session: Session, remote: Remote, what: str) -> Reply:
    reply = refusals.failed(method, session, remote, what)
    return Reply(reply.body, reply.kind, Unreachable(f"{remote}: {what}"))


@cache
def _lists_databases(method: Method) -> bool:
    """Whether a listing goes across databases: then it has a merge, and no argument names one database."""
    roles = {place.role for place in argument_names(method)}
    return method.route == "all" or (method.route == "pattern" and "db" not in roles)
