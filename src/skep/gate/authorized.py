"""A handler that asks first whether the caller may do this. What is refused never reaches the handler behind it."""

from __future__ import annotations

from functools import partial

from skep.errors import (
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
    NoSuchObjectException,
    StoreError,
)
from skep.gate.knowledge import Knowledge
from skep.gate.needs import is_open
from skep.gate.rules import Decision, Denied, Policy
from skep.store.database import Database
from skep.store.pool import Pool
from skep.wire.message import Call, Handler, Reply, Session
from skep.wire.methods import Method

KINDS = (MetaException, InvalidOperationException, InvalidObjectException, NoSuchObjectException)
"""How a refusal is told: the first of these that a method declares."""


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
        return await self._inner.handle(call, session)

    def _refusal(self, call: Call, session: Session) -> Reply | None:
        try:
            Decision(self._policy, self._knowledge.at(), session).check(call)
        except Denied as lacking:
            return _denied(call.method, session, str(lacking))
        return None


def _denied(method: Method, session: Session, lacking: str) -> Reply:
    who = f"user {session.user}" if session.user else "a caller without a name"
    return Reply.failed(method, f"Permission denied: {who} needs {lacking}", session.version, *KINDS)
