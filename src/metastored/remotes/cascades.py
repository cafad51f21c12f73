"""Recognizes DROP DATABASE … CASCADE of a remote database by Hive's clients, so that no remote table is dropped.

Before it drops a database with CASCADE, Hive's client lists its tables (`get_all_tables`), then reads and drops each,
in the order of the list and on the same connection, and ignores that a table does not exist. Such drops are answered
with "no such table" and sent to nobody. Any other call in between ends the sequence.

Over HTTP a sequence is recognized on one connection too, which Hive's client keeps open. A proxy may send each call on
another one, so that a drop can be part of a cascade that is not seen. Therefore no other drop of a table in a remote
database is sent on over HTTP: it is refused (`Session.one_call`).
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from metastored.errors import NoSuchObjectException
from metastored.model.objects import objects_of
from metastored.model.remotes.values import Remote
from metastored.remotes.owners import Owners
from metastored.wire.edit.splice import carries_exception
from metastored.wire.message import REPLY, Call, Reply, Session
from metastored.wire.methods import Method
from metastored.wire.methods.naming import argument_names


class Cascade(NamedTuple):
    """The tables of a remote database that a client would drop next."""

    remote: Remote
    tables: tuple[str, ...]


def listed(call: Call, session: Session, remote: Remote, reply: Reply) -> Reply:
    """Notes that all tables of a remote database were listed. Returns the reply."""
    if _lists_all_tables(call.method) and remote.table is None and reply.error is None:
        body = reply.body
        if reply.kind == REPLY and isinstance(body, bytes) and not carries_exception(body):
            tables = Reply(body).value(call.method)
            session.cascade = Cascade(remote, tables) if tables else None
    return reply


def next_in(cascade: object, call: Call, session: Session, owners: Owners) -> Reply | None:
    """The reply to a drop that belongs to a cascade; None for every other call, of which reads can belong to it."""
    if not isinstance(cascade, Cascade) or owners.remotes != (cascade.remote,):
        return None
    method, named = call.method, objects_of(call).tables
    if method.object != "table" or [each.table for each in named] != list(cascade.tables[:1]):
        return None
    if method.verb == "read":
        session.cascade = cascade
        return None
    if "DROP_TABLE" not in method.event.split():
        return None
    session.cascade = Cascade(cascade.remote, cascade.tables[1:]) if len(cascade.tables) > 1 else None
    text = (
        f"{cascade.remote}: its table {cascade.tables[0]} is not dropped, because the tables of a remote database stay "
        "when it is dropped with CASCADE; to drop this table only, do so before the tables are listed"
    )
    return Reply.failed(method, text, session.version, NoSuchObjectException)


@cache
def _lists_all_tables(method: Method) -> bool:
    """Whether a method returns the names of all tables of the database that is its only argument."""
    roles = [position.role for position in argument_names(method)]
    return method.returns_role == "table" and method.object == "table" and roles == ["db"]
