"""A handler that asks first whether the caller may do this. What is refused never reaches the handler behind it.

Lists that name objects of their own accord (hook `filter`) are returned without those that the caller may not see.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Final

from metastored.errors import (
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    StoreError,
)
from metastored.gate.caller import Denied, Policy
from metastored.gate.filtering import only
from metastored.gate.knowledge import Knowledge
from metastored.gate.needs import is_open
from metastored.gate.rules import Decision
from metastored.model.refusals import DENIED
from metastored.store.engine.database import Database
from metastored.threads import Pool
from metastored.wire.message import Call, Handler, Reply, Session
from metastored.wire.methods import Method

KINDS: Final = (MetaException, InvalidOperationException, InvalidObjectException, NoSuchObjectException)
"""How a refusal is told: the first of these that a method declares."""

PLAIN: Final = (str, int, bool, type(None))


class Authorized:
    """SQL-standard authorisation; see `rules.py`.

    What it must know of the store it reads on the spot from SQLite, and on the pool's threads from PostgreSQL.
    """

    def __init__(self, inner: Handler, database: Database, pool: Pool, policy: Policy) -> None:
        self._inner = inner
        self._pool = pool
        self._policy = policy
        self._knowledge = Knowledge(database)
        self._waits = database.dialect != "sqlite"

    async def handle(self, call: Call, session: Session) -> Reply:
        if not is_open(call.method):
            try:
                if self._waits:
                    refusal = await self._pool.run(partial(self._refusal, call, session))
                else:
                    refusal = self._refusal(call, session)
            except StoreError as error:
                return Reply.failed(call.method, f"whether this is allowed is not known: {error}", session.version)
            if refusal is not None:
                return refusal
        reply = await self._inner.handle(call, session)
        if call.method.hook != "filter" or reply.error is not None:
            return reply
        if self._waits:
            return await self._pool.run(partial(self._filtered, call, session, reply))
        return self._filtered(call, session, reply)

    def _filtered(self, call: Call, session: Session, reply: Reply) -> Reply:
        decision = Decision(self._policy, self._knowledge.at(), session)
        if decision.is_admin:
            return reply
        return Reply.of(call.method, only(reply.value(call.method), lambda each: decision.sees(each, call)))

    def _refusal(self, call: Call, session: Session) -> Reply | None:
        state = self._knowledge.at()
        asked = _question(call, session)
        if asked is not None and state.was_allowed(asked):
            return None
        try:
            Decision(self._policy, state, session).check(call)
        except Denied as lacking:
            return _denied(call.method, session, str(lacking))
        if asked is not None:
            state.allow(asked)
        return None


def _question(call: Call, session: Session) -> Hashable | None:
    """What is the same when the same user asks again, for calls whose arguments are plain names and numbers."""
    if all(type(arg) in PLAIN for arg in call.args):
        return call.method.name, session.user, session.groups, call.args
    return None


def _denied(method: Method, session: Session, lacking: str) -> Reply:
    who = f"user {session.user}" if session.user else "a caller without a name"
    return Reply.failed(method, f"{DENIED}{who} needs {lacking}", session.version, *KINDS)
