"""The errors of calls about remotes that are refused or fail. Each message names the remote and the rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from metastored.errors import InvalidObjectException, InvalidOperationException, NoSuchObjectException
from metastored.model.remotes.catalogs import RemoteCatalog
from metastored.model.remotes.keys import ACCESS, TABLES, WRITERS
from metastored.model.remotes.values import Remote
from metastored.wire.message import Reply, Session
from metastored.wire.methods import Method

_LEAVE_OUT: Final = "a server with remotes_partial = on leaves out remotes that do not answer"


def read_only(method: Method, session: Session, remote: Remote) -> Reply:
    """A write to a remote that may only be read."""
    rule = f"the remote catalog '{remote.of_catalog}'" if remote.of_catalog else "its definition"
    text = (
        f"{remote} is read-only: {method.name} would change it, and {ACCESS} is '{remote.access}' by {rule}; make the "
        f"change in its own metastore, or set {ACCESS} to 'write'"
    )
    return Reply.failed(method, text, session.version, InvalidOperationException)


def not_a_writer(method: Method, session: Session, remote: Remote, writers: Iterable[str]) -> Reply:
    """A write by somebody who has none of the roles that may write."""
    who = f"user {session.user}" if session.user else "a caller without a name"
    text = f"{remote} may be written by the roles {', '.join(writers)} only ({WRITERS}), and {who} has none"
    return Reply.failed(method, text, session.version, InvalidOperationException)


def acid_write(method: Method, session: Session, remote: Remote) -> Reply:
    """A write to a transactional table of a remote."""
    text = (
        f"{remote}: {method.name} writes rows of a transactional table, which cannot be done through metastored,"
        " because no transaction spans two metastores; write them in its own metastore"
    )
    return Reply.failed(method, text, session.version, InvalidOperationException)


def hidden(method: Method, session: Session, remote: Remote, table: str) -> Reply:
    """A table of a remote database that its definition does not show."""
    text = f"{remote.database}.{table} table not found: {remote} shows only the tables {remote.tables} ({TABLES})"
    return Reply.failed(method, text, session.version, NoSuchObjectException)


def several(method: Method, session: Session, remotes: Iterable[Remote], local: bool) -> Reply:
    """A call that names objects of several metastores, and cannot be divided."""
    named = [*(["a local database"] if local else []), *map(str, remotes)]
    text = (
        f"{method.name} names objects of {', '.join(named)} in one call, and no metastore has them all; use a call of "
        "its own for each"
    )
    return Reply.failed(method, text, session.version, InvalidOperationException)


def drop_by_one_call(method: Method, session: Session, remote: Remote) -> Reply:
    """A DROP TABLE that may be a part of DROP DATABASE … CASCADE, of which nothing else was seen."""
    text = (
        f"{remote}: its tables are dropped over a Thrift connection or in its own metastore, and not over HTTP, where "
        f"{method.name} may be a part of DROP DATABASE … CASCADE, which must not drop tables of a remote"
    )
    return Reply.failed(method, text, session.version, InvalidOperationException)


def other_key(method: Method, session: Session, remote: Remote, key: str) -> Reply:
    """A change of a remote's configuration through one of its tables."""
    text = (
        f"'{key}' of a table of the {remote} cannot be changed: it is the configuration of the database; use "
        f"ALTER DATABASE {remote.database} SET DBPROPERTIES"
    )
    return Reply.failed(method, text, session.version, InvalidOperationException)


def nested(method: Method, session: Session, remote: Remote) -> Reply:
    """A remote table inside of a remote database."""
    text = f"a remote table cannot be created in the {remote}; create it in a local database"
    return Reply.failed(method, text, session.version, InvalidOperationException)


def privileges(method: Method, session: Session, remote: Remote, table: str) -> Reply:
    """A grant on a table inside of a remote database, which has no privileges of its own."""
    text = (
        f"{method.name} names {remote.database}.{table}, a table of the {remote}, which has the privileges of the "
        f"database: grant them on the database {remote.database}, or create a remote table for this one in a local "
        "database and grant them on it"
    )
    return Reply.failed(method, text, session.version, InvalidOperationException)


def nothing_there(method: Method, session: Session, remote: Remote) -> Reply:
    """A new remote of something that does not exist."""
    kind = "database" if remote.table is None else "table"
    text = f"{remote} is not created: there is no {kind} '{remote.remote_name}' at {remote.endpoint}"
    return Reply.failed(method, text, session.version, InvalidObjectException)


def no_host(method: Method, session: Session, catalog: RemoteCatalog, host: str) -> Reply:
    """A new remote catalog whose databases would be listed among the local ones, at a host that does not exist."""
    text = (
        f"{catalog} is not created: the name {host} cannot be resolved. With a prefix its databases belong to the list "
        f"of all databases, which would fail for everybody; {_LEAVE_OUT}"
    )
    return Reply.failed(method, text, session.version, InvalidObjectException)


def not_listed(method: Method, session: Session, remote: Remote | RemoteCatalog, what: str) -> Reply:
    """A listing that a remote is missing from: the statement that removes the remote repairs it."""
    from metastored.statements.printing import name  # A server that refuses nothing needs no statements.

    if isinstance(remote, RemoteCatalog):
        drop = f"DROP REMOTE CATALOG {name((remote.name,))}"
    elif remote.of_catalog is not None:
        drop = f"DROP REMOTE CATALOG {name((remote.of_catalog,))}"
    else:
        drop = f"DROP REMOTE DATABASE {name((remote.database,))}"
    text = (
        f"{remote}: {what.rstrip('.')}. Without it the list is not complete: repair the remote, or remove it ({drop}); "
        f"{_LEAVE_OUT}"
    )
    return Reply.failed(method, text, session.version)


def failed(method: Method, session: Session, remote: object, what: str) -> Reply:
    """A call that a remote did not answer, or not usably."""
    return Reply.failed(method, f"{remote}: {what}", session.version)
