"""Statements on a connection to PostgreSQL by libpq's own calls, in a third of the time of psycopg's cursors.

Numbers are sent with the type that psycopg would give them, texts without a type, which PostgreSQL finds by the
statement, and binary values as they are. A statement is prepared when it is used for the second time with values of
these types. Rows are decoded by psycopg.

It never opens a connection, and it does not interpret errors: they are psycopg's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final

import psycopg
from psycopg import adapt, pq
from psycopg.abc import Transformer
from psycopg.errors import error_from_result

from metastored.store.engine.statements import Statement
from metastored.store.engine.transaction import Params, Row

__all__ = ["Executor", "Typed", "Unsendable", "decoded", "encoded", "transformer_of"]

Typed = tuple[Statement, tuple[int, ...]]
"""A statement with the types of its values."""

MOST_PREPARED: Final = 200
"""Statements of one connection; PostgreSQL keeps a plan of each in memory."""

_BINARY: Final = 1
_UNKNOWN, _BOOLEAN, _BYTEA, _BIGINT, _INTEGER = 0, 16, 17, 20, 23
"""The numbers of PostgreSQL's types."""
_POOLED: Final = (psycopg.errors.InvalidSqlStatementName, psycopg.errors.DuplicatePreparedStatement)
"""Errors of prepared statements behind a pool of connections, where each transaction may run on another one."""
_STALE: Final = (psycopg.errors.FeatureNotSupported, *_POOLED)
"""The same, and the error of a plan whose table was changed."""
_DONE: Final = (pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK)


class Unsendable(Exception):
    """A value that is left to psycopg: of another type, or one that PostgreSQL refuses."""


class Executor:
    """Runs statements on one connection, of one thread."""

    def __init__(self, connection: psycopg.Connection[Row], *, prepares: bool = True) -> None:
        """Without `prepares` the statements are parsed anew each time: for a connection that is used by others, too."""
        self._connection: Final = connection
        self._prepares = prepares
        self._prepared: dict[Typed, bytes | None] = {}
        """The names of the statements that were used; None for those that were used once."""
        self._numbers: Final = count()
        self._transformer = transformer_of(connection)

    def rows(self, statement: Statement, params: Params) -> list[Row]:
        """The rows of a statement. Raises psycopg.Error and UnicodeError."""
        try:
            result = self._run(statement, params)
        except Unsendable:
            return self._connection.execute(statement.postgresql, params, binary=True).fetchall()
        return decoded(result, self._transformer)

    def changes(self, statement: Statement, params: Params) -> int:
        """How many rows a statement has changed. Raises psycopg.Error and UnicodeError."""
        try:
            return self._run(statement, params).command_tuples or 0
        except Unsendable:
            return self._connection.execute(statement.postgresql, params).rowcount

    def simple(self, text: bytes) -> None:
        """Runs statements without parameters. Raises psycopg.Error."""
        self._check(self._connection.pgconn.exec_(text))

    def commit_after(self, statement: Statement) -> None:
        """Runs a statement without parameters and commits, in one round trip. Raises psycopg.Error."""
        key, text = (statement, ()), statement.numbered.text
        try:
            name = self._name(key, text)
            # A text that is not prepared is parsed and planned again with each commit.
            self.simple((text if name is None else b"EXECUTE %b" % name) + b"; COMMIT")
        except _STALE as error:
            self._give_up(key, error)
            raise

    def _run(self, statement: Statement, params: Params) -> pq.abc.PGresult:
        if statement.lists and not isinstance(params, tuple):
            statement, params = _with_values(statement, params)
        text, names = statement.numbered
        if isinstance(params, tuple):
            if len(params) != len(names):
                raise Unsendable  # A parameter stands at several positions.
            values, types, formats = encoded(params)
        else:
            values, types, formats = encoded([params[name] for name in names])
        pgconn: pq.abc.PGconn = self._connection.pgconn
        key = (statement, types)
        try:
            name = self._name(key, text)
            if name is None:
                return self._check(pgconn.exec_params(text, values, types, formats, _BINARY))
            return self._check(pgconn.exec_prepared(name, values, formats, _BINARY))
        except _STALE as error:
            self._give_up(key, error)
            raise

    def _name(self, key: Typed, text: bytes) -> bytes | None:
        """The name of a statement, which is prepared if it has to be; None for one that runs as a text."""
        name = self._prepared.get(key)
        return self._prepare(key, text) if name is None and self._prepares else name

    def _give_up(self, key: Typed, error: psycopg.Error) -> None:
        """Forgets a plan that does not fit any more, or all of them where they are lost."""
        if isinstance(error, psycopg.errors.FeatureNotSupported):
            self._prepared[key] = None  # Its table was changed: the next use prepares it anew.
        else:
            self._prepares = False
            self._prepared.clear()

    def _prepare(self, key: Typed, text: bytes) -> bytes | None:
        """The name of a statement that was used before; None for a new one, which may never be used again."""
        if key not in self._prepared:
            if len(self._prepared) >= MOST_PREPARED:
                self._forget()
            self._prepared[key] = None
            return None
        name = b"metastored_%d" % next(self._numbers)
        self._check(self._connection.pgconn.prepare(name, text, key[1]))
        self._prepared[key] = name
        return name

    def _forget(self) -> None:
        """Gives the plans up. psycopg has statements of its own on the connection, which stay."""
        names = [name for name in self._prepared.values() if name is not None]
        if names:
            self.simple(b"".join([b"DEALLOCATE %b;" % name for name in names]))
        self._prepared.clear()

    def _check(self, result: pq.abc.PGresult) -> pq.abc.PGresult:
        if result.status not in _DONE:
            raise error_from_result(result, encoding="utf-8")
        return result


def _with_values(statement: Statement, params: Mapping[str, Any]) -> tuple[Statement, Mapping[str, Any]]:
    """A statement for lists of one item and the items, where all of its lists have one."""
    if not all(type(params[name]) is list and len(params[name]) == 1 for name in statement.lists):
        return statement, params
    return statement.of_one, {**params, **{name: params[name][0] for name in statement.lists}}


def transformer_of(connection: psycopg.Connection[Row]) -> Transformer:
    """Decodes the rows of a connection."""
    return adapt.Transformer(connection)


def decoded(result: pq.abc.PGresult, transformer: Transformer) -> list[Row]:
    """The rows of a result, as psycopg's cursors return them."""
    transformer.set_pgresult(result)
    rows: list[Row] = transformer.load_rows(0, result.ntuples, tuple)
    # A long list would otherwise stay in memory until the next statement.
    transformer.set_pgresult(None)
    return rows


def encoded(values: Sequence[Any]) -> tuple[list[Any], tuple[int, ...], list[int] | None]:
    """Values as libpq takes them, their types, and which of them are binary; None if none is. Raises Unsendable."""
    sent: list[Any] = []
    types: list[int] = []
    formats: list[int] | None = None
    for value in values:
        kind = type(value)
        if kind is str:
            data = value.encode()
            if b"\0" in data:
                raise Unsendable  # libpq would cut it there.
            sent.append(data)
            types.append(_UNKNOWN)
        elif kind is int:
            sent.append(b"%d" % value)
            types.append(_number_type(value))
        elif value is None:
            sent.append(None)
            types.append(_UNKNOWN)
        elif kind is bytes:
            if formats is None:
                formats = [0] * len(values)
            formats[len(sent)] = _BINARY
            sent.append(value)
            types.append(_BYTEA)
        elif kind is bool:
            sent.append(b"t" if value else b"f")
            types.append(_BOOLEAN)
        elif kind is list:
            sent.append(_array(value))
            types.append(_UNKNOWN)
        else:
            raise Unsendable
    return sent, tuple(types), formats


def _number_type(value: int) -> int:
    """PostgreSQL chooses operators and functions by it: `substr` takes no bigint."""
    if -(2**31) <= value < 2**31:
        return _INTEGER
    if -(2**63) <= value < 2**63:
        return _BIGINT
    raise Unsendable


def _array(items: list[Any]) -> bytes:
    """A list of numbers or of texts, as PostgreSQL reads it."""
    kinds = set(map(type, items))
    if kinds <= {int}:
        return b"{%b}" % ",".join(map(str, items)).encode()
    if kinds != {str}:
        raise Unsendable
    quoted = [item.replace("\\", "\\\\").replace('"', '\\"') for item in items]
    data = '{"' + '","'.join(quoted) + '"}'
    if "\0" in data:
        raise Unsendable
    return data.encode()
