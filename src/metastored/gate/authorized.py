"""A handler that authorizes each call. A refused call never reaches the inner handler.

Lists of objects that the request did not name (hook `filter`, and the list of remotes) are returned without objects
that the caller may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from functools import partial
from typing import Final

from metastored.errors import (
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    StoreError,
)
from metastored.gate.authorization_cache import AuthorizationCache
from metastored.gate.caller import Denied, Policy
from metastored.gate.filtering import only
from metastored.gate.needs import is_open
from metastored.gate.remote_definitions import lists_definitions
from metastored.gate.rules import Decision
from metastored.model.names import TableName
from metastored.model.refusals import DENIED
from metastored.model.remotes.definitions import Definitions
from metastored.model.remotes.lists import name_of
from metastored.service.remotes.definitions import Remotes
from metastored.store.engine.database import Database
from metastored.store.security.remote_secrets import RemoteSecrets
from metastored.threads import Pool
from metastored.wire.generated.service import PropertyGetResponse
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

KINDS: Final = (MetaException, InvalidOperationException, InvalidObjectException, NoSuchObjectException)
"""The exception of a refusal: the first of these that a method declares."""

PLAIN: Final = (str, int, bool, type(None))


class Authorized:
    """SQL-standard authorization; see `rules.py`.

    It reads the store directly from SQLite, and on the pool's threads from PostgreSQL.
    """

    def __init__(
        self,
        inner: Handler,
        database: Database,
        pool: Pool,
        policy: Policy,
        definitions: Callable[[], Definitions] | None = None,
    ) -> None:
        """`definitions` returns the present definitions of remotes; they are read from the database where absent."""
        self._inner = inner
        self._pool = pool
        self._policy = policy
        self._cache = AuthorizationCache(database, definitions or Remotes(database, RemoteSecrets()).current)
        self._waits = database.dialect != "sqlite"

    async def handle(self, call: Call, session: Session) -> Reply:
        if not is_open(call.method):
            try:
                if self._waits:
                    refusal = await self._pool.run(partial(self._refusal, call, session))
                else:
                    refusal = self._refusal(call, session)
            except StoreError as error:
                return Reply.failed(call.method, f"the call could not be authorized: {error}", session.version)
            if refusal is not None:
                return refusal
        filtered = call.method.hook == "filter" or lists_definitions(call)
        if filtered:
            call.relays = False
        reply = await self._inner.handle(call, session)
        if reply.error is not None or not filtered:
            return reply
        if self._waits:
            return await self._pool.run(partial(self._filtered, call, session, reply))
        return self._filtered(call, session, reply)

    async def lacking(self, location: str, session: Session) -> str | None:
        """The privilege that a caller lacks to use a location that no object of this metastore has; None if none."""

        def missing() -> str | None:
            try:
                Decision(self._policy, self._cache.at(), session).check_location(location)
            except Denied as lacking:
                return str(lacking)
            return None

        return await self._pool.run(missing) if self._waits else missing()

    async def holds(self, table: TableName, privileges: Collection[str], session: Session) -> bool:
        """Whether a caller has all of these privileges on the rows of a table."""

        def decided() -> bool:
            decision = Decision(self._policy, self._cache.at(), session)
            return all(decision.may(table, privilege) for privilege in privileges)

        return await self._pool.run(decided) if self._waits else decided()

    def _filtered(self, call: Call, session: Session, reply: Reply) -> Reply:
        decision = Decision(self._policy, self._cache.at(), session)
        if decision.is_admin:
            return reply
        if lists_definitions(call):
            listed = reply.value(call.method).properties or {}
            seen = {key: value for key, value in listed.items() if decision.sees_definition(name_of(key))}
            return Reply.of(call.method, PropertyGetResponse(properties=seen))
        return Reply.of(call.method, only(reply.value(call.method), lambda each: decision.sees(each, call)))

    def _refusal(self, call: Call, session: Session) -> Reply | None:
        state = self._cache.at()
        key = _cache_key(call, session)
        if key is not None and state.was_allowed(key):
            return None
        try:
            Decision(self._policy, state, session).check(call)
        except Denied as lacking:
            return _denied(call.method, session, str(lacking))
        if key is not None:
            state.allow(key)
        return None


def _cache_key(call: Call, session: Session) -> Hashable | None:
    """The key of an allowed call in the cache; None unless all arguments are plain names and numbers, and all sessions
    of the user may make the call."""
    if not session.entrusted and all(type(arg) in PLAIN for arg in call.args):
        return call.method.name, session.user, session.groups, call.args
    return None


def _denied(method: Method, session: Session, lacking: str) -> Reply:
    caller = f"user {session.user}" if session.user else "a caller without a name"
    return Reply.failed(method, f"{DENIED}{caller} needs {lacking}", session.version, *KINDS)
