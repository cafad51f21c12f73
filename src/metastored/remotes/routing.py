"""Decides who answers a call: the local metastore, a remote one, or several whose answers are made one.

It reads the method table (`route`, `verb`, `merge`, the roles of fields) and the names in the arguments; it lists no
methods. Names of remote databases are replaced on the way out and on the way back, in the bytes.

Remote databases are read-only here: a call that would change one is refused before anything is sent. Locks and
transactions are those of the local metastore, whatever they are about. A remote that fails is an error that names it,
never a shorter list; the names of remote databases themselves are known here, and listing them asks nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final, NamedTuple

from metastored.errors import (
    AlreadyExistsException,
    ApplicationError,
    InvalidOperationException,
    MetaException,
    MetastoreError,
    RemoteProtocolError,
)
from metastored.hive.names import DEFAULT_CATALOG, CatalogNameError, decode_catalog_name
from metastored.hive.patterns import compile_pattern
from metastored.remotes.definitions import Definitions, RemoteDatabase
from metastored.remotes.merging import MERGES, first_pattern, only_of_database, with_first_pattern
from metastored.remotes.renaming import Renaming, database_of
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method
from metastored.wire.naming import argument_names, names_in

Connect = Callable[[RemoteDatabase], Handler]
"""Makes the handler for a remote database's endpoint. Called once for each endpoint."""

_NAMED: Final = ("names", "pattern")


class Owners(NamedTuple):
    """Whose databases the arguments of a call name."""

    remotes: tuple[RemoteDatabase, ...]
    local: bool


class Routed:
    """The local metastore with remote databases beside its own."""

    def __init__(self, local: Handler, definitions: Definitions, connect: Connect) -> None:
        self._local = local
        self._definitions = definitions
        self._connect = connect
        self._handlers: dict[str, Handler] = {}
        self._renamings: dict[RemoteDatabase, Renaming] = {}
        """Of one database alone, as nearly every call needs it."""

    async def handle(self, call: Call, session: Session) -> Reply:
        method = call.method
        if not self._definitions or method.route == "id" or method.verb == "session":
            return await self._local.handle(call, session)
        if _lists_databases(method):
            return await self._merged(call, session)
        owners = self._owners(call)
        if not owners.remotes:
            return await self._local.handle(call, session)
        if method.route in _NAMED and method.verb == "read":
            return await self._remote(call, session, owners)
        if method.route in _NAMED or (method.object == "database" and method.verb == "ddl"):
            return _read_only(method, session, owners.remotes[0])
        return await self._local.handle(call, session)

    # One owner

    def _owners(self, call: Call) -> Owners:
        found: dict[str, RemoteDatabase] = {}
        local = False
        for catalog, database in _databases_in(call):
            remote = self._definitions.resolve(catalog, database)
            if remote is None:
                local = True
            else:
                found[remote.name] = remote
        return Owners(tuple(found.values()), local)

    async def _remote(self, call: Call, session: Session, owners: Owners) -> Reply:
        method, remotes = call.method, owners.remotes
        if owners.local or len({remote.endpoint for remote in remotes}) > 1:
            here = ["a local database"] if owners.local else []
            return Reply.failed(
                method,
                f"{method.name} names {', '.join([*here, *map(str, remotes)])} in one call, "
                "and no metastore knows them all; ask for the objects of each in a call of its own",
                session.version,
                InvalidOperationException,
            )
        if method.hook == "snapshot":
            return Reply.failed(
                method,
                f"{remotes[0]}: its transactional tables cannot be read through metastored, for their write ids"
                f" belong to "
                "the transactions of its own metastore; read them there",
                session.version,
                InvalidOperationException,
            )
        return await self._ask(call, session, remotes)

    async def _ask(self, call: Call, session: Session, remotes: tuple[RemoteDatabase, ...]) -> Reply:
        """One endpoint's answer about some of its databases, under their local names."""
        method, renaming = call.method, self._renaming(remotes)
        reply = await self._handler(remotes[0]).handle(renaming.call(call), session)
        if _is_failure(reply):
            return _failed(method, session, remotes[0], str(reply.error))
        try:
            return renaming.reply(method, reply)
        except RemoteProtocolError as error:
            return _failed(method, session, remotes[0], f"its answer to {method.name} cannot be read: {error}")

    def _handler(self, remote: RemoteDatabase) -> Handler:
        handler = self._handlers.get(remote.endpoint)
        if handler is None:
            handler = self._handlers[remote.endpoint] = self._connect(remote)
        return handler

    def _renaming(self, remotes: tuple[RemoteDatabase, ...]) -> Renaming:
        if len(remotes) > 1:
            return Renaming(remotes)
        renaming = self._renamings.get(remotes[0])
        if renaming is None:
            renaming = self._renamings[remotes[0]] = Renaming(remotes)
        return renaming

    # Several owners

    async def _merged(self, call: Call, session: Session) -> Reply:
        """A listing across databases: what the local metastore lists, and what each remote that matches does."""
        method = call.method
        reply = await self._local.handle(call, session)
        try:
            values = [reply.value(method)]
        except (MetastoreError, ApplicationError):
            return reply
        remotes = self._matching(call)
        if method.returns_role == "db":
            values.append(tuple(remote.name for remote in remotes))
        else:
            by_endpoint: dict[str, list[RemoteDatabase]] = {}
            for remote in remotes:
                by_endpoint.setdefault(remote.endpoint, []).append(remote)
            asked = [self._list(call, session, tuple(group)) for group in by_endpoint.values()]
            for answer in await asyncio.gather(*asked):
                if isinstance(answer, Reply):
                    return answer
                values += answer
        return Reply.of(method, MERGES[method.merge](values))

    def _matching(self, call: Call) -> list[RemoteDatabase]:
        """The remote databases that a listing is about: of its catalog, and matching its pattern."""
        method = call.method
        catalog = next((value for role, value in names_in(method, call.args) if role == "cat"), DEFAULT_CATALOG)
        pattern = None
        if method.route == "pattern":
            try:
                written = decode_catalog_name(first_pattern(method, call.args))
            except CatalogNameError:
                return []  # The local metastore has the error for it.
            pattern, catalog = written.database, written.catalog or catalog
        matches = compile_pattern(pattern)
        return [remote for remote in self._definitions if remote.catalog == catalog.lower() and matches(remote.name)]

    async def _list(self, call: Call, session: Session, remotes: tuple[RemoteDatabase, ...]) -> list[Any] | Reply:
        """What one endpoint lists of some of its databases; an error where it cannot."""
        method = call.method
        if method.route == "pattern":
            pattern = "|".join(sorted({remote.remote_name for remote in remotes}))
            call = Call(method, with_first_pattern(method, call.args, pattern), call.seqid)
        reply = await self._handler(remotes[0]).handle(call, session)
        try:
            everything = reply.value(method)
            if everything is None:
                raise RemoteProtocolError(f"its answer to {method.name} has no list in it")
            return [_as_listed_here(method, everything, remote) for remote in remotes]
        except (MetastoreError, ApplicationError, RemoteProtocolError) as error:
            return _failed(method, session, remotes[0], str(error))


def _as_listed_here(method: Method, everything: Any, remote: RemoteDatabase) -> Any:
    """Of what an endpoint lists, one database, under its local name."""
    reply = Reply.of(method, only_of_database(everything, remote.remote_name))
    return Renaming((remote,)).reply(method, reply).value(method)


@cache
def _lists_databases(method: Method) -> bool:
    """Whether a listing goes across databases: then it has a merge, and no argument names one database."""
    roles = {place.role for place in argument_names(method)}
    return method.route == "all" or (method.route == "pattern" and "db" not in roles)


def _databases_in(call: Call) -> Iterable[tuple[str | None, str]]:
    """Catalog and name of each database that the arguments name. A catalog in a field of its own is for all of them."""
    names = list(names_in(call.method, call.args))
    catalog = next((value for role, value in names if role == "cat"), None)
    for role, value in names:
        if role == "full_name":
            yield database_of(value)
        elif role == "db":
            try:
                written = decode_catalog_name(value)
            except CatalogNameError:
                continue  # No name of ours; the local metastore has the error for it.
            if written.database:
                yield written.catalog or catalog, written.database


def _read_only(method: Method, session: Session, remote: RemoteDatabase) -> Reply:
    if "CREATE_DATABASE" in method.event.split():
        text = f"database '{remote.name}' already exists: it is the {remote}; choose another name"
        return Reply.failed(method, text, session.version, AlreadyExistsException)
    text = f"{remote} is read-only: {method.name} would change it; make the change in its own metastore"
    return Reply.failed(method, text, session.version, InvalidOperationException)


def _is_failure(reply: Reply) -> bool:
    """Whether the remote's connector could not get an answer, unlike an answer that says no."""
    error = reply.error
    if isinstance(error, ApplicationError):
        return error.type == ApplicationError.INTERNAL_ERROR
    return isinstance(error, MetaException)


def _failed(method: Method, session: Session, remote: RemoteDatabase, what: str) -> Reply:
    return Reply.failed(method, f"{remote}: {what}", session.version)
