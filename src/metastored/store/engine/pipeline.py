"""Reads of PostgreSQL for the event loop: statements in a row over one connection, without waiting on a thread.

libpq's pipeline mode lets many calls share the connection: each statement is sent at once and is a transaction of its
own, and the replies arrive in the order of the statements. A statement that cannot be sent this way (a list as its
parameter, a type that is not decoded here) runs on a thread, as all statements do while there is no connection.

Where it can, a statement also reads the version of the database, in the same snapshot as its rows.

It never writes, and it never blocks the loop: the connection is opened on a thread.
"""

from __future__ import annotations

import asyncio
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

import psycopg
from psycopg import pq

from metastored.errors import StoreError
from metastored.store.engine.database import Versioned
from metastored.store.engine.statements import Statement
from metastored.store.engine.stored import VERSION_COUNTER
from metastored.store.engine.transaction import Row

__all__ = ["Pipeline"]

Connect = Callable[[], "psycopg.Connection[Row]"]

PAUSE: Final = 1.0
"""Seconds after a failure before the connection is opened again."""
STALLED: Final = 10.0
"""Seconds without a reply after which a connection is given up: its server may be gone without a word."""
MOST_STATEMENTS: Final = 500
"""Prepared on one connection; further ones run on threads."""

CHANGED: Final = b"0A000"
"""The code of the error of a plan that no longer fits a changed table."""

_WITH_VERSION: Final = b"SELECT (SELECT value FROM counters WHERE name = '%b'), s.* FROM (%b) s"
"""The version is the first column. A join would give it without any row, too, and take twice the time."""

_INT2, _INT4, _INT8, _FLOAT8 = (struct.Struct(form) for form in ("!h", "!i", "!q", "!d"))

_DECODERS: Final[Mapping[int, Callable[[bytes], Any]]] = {
    16: lambda data: data == b"\x01",  # bool
    17: lambda data: data,  # bytea
    20: lambda data: _INT8.unpack(data)[0],
    21: lambda data: _INT2.unpack(data)[0],
    23: lambda data: _INT4.unpack(data)[0],
    25: bytes.decode,  # text
    701: lambda data: _FLOAT8.unpack(data)[0],
    1043: bytes.decode,  # varchar
}
"""Python's values of PostgreSQL's binary ones, by the number of their type: the same as psycopg's."""


class _Prepared:
    """A statement on the present connection."""

    __slots__ = ("decoders", "is_ready", "name", "names", "text", "versioned")

    def __init__(self, name: bytes, statement: Statement) -> None:
        text, self.names = statement.numbered
        self.name: Final = name
        # The order of a query is lost in another one.
        self.versioned: Final = text.startswith(b"SELECT") and b"ORDER BY" not in text
        self.text: Final = _WITH_VERSION % (VERSION_COUNTER.encode(), text) if self.versioned else text
        self.is_ready = False
        """Whether PostgreSQL has accepted it."""
        self.decoders: tuple[Callable[[bytes], Any], ...] | None = None
        """Of its columns; None before the first reply."""


class _Sent:
    """A statement whose reply is awaited."""

    __slots__ = ("future", "prepared", "since", "statement")

    def __init__(self, statement: Statement, prepared: _Prepared, future: asyncio.Future[Versioned]) -> None:
        self.statement: Final = statement
        self.prepared: Final = prepared
        self.future: Final = future
        self.since: Final = time.monotonic()


class Pipeline:
    """The connection of one event loop. Only the loop's thread may use it; `close` may be called after the loop."""

    def __init__(self, connect: Connect) -> None:
        """`connect` opens a connection in autocommit mode, on a thread. Raises StoreError."""
        self._connect = connect
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connection: psycopg.Connection[Row] | None = None
        self._socket = -1
        """Of the connection; libpq does not tell it any more when the connection is lost."""
        self._prepared: dict[Statement, _Prepared | None] = {}
        self._sent: deque[_Sent] = deque()
        self._opening: threading.Thread | None = None
        self._opened: psycopg.Connection[Row] | None = None
        """A new connection, until the loop takes it."""
        self._not_before = 0.0
        self._closed = False
        self._guard = threading.Lock()
        """For the three fields that the opening thread changes, too."""
        self._numbers = count()

    def read(self, statement: Statement, params: Mapping[str, Any]) -> asyncio.Future[Versioned] | None:
        """The rows of a statement; None if it has to run on a thread. The future raises StoreError."""
        connection = self._usable()
        if connection is None:
            return None
        prepared, is_new = self._prepared.get(statement), statement not in self._prepared
        if is_new and len(self._prepared) < MOST_STATEMENTS:
            prepared = _Prepared(b"metastored_%d" % next(self._numbers), statement)
        if prepared is None:
            return None
        values = _encoded(params, prepared.names)
        if values is None:
            return None
        assert self._loop is not None
        future: asyncio.Future[Versioned] = self._loop.create_future()
        try:
            if is_new:
                connection.send_prepare(prepared.name, prepared.text)
                self._prepared[statement] = prepared
            connection.send_query_prepared(prepared.name, values, None, 1)
            connection.pipeline_sync()
            self._sent.append(_Sent(statement, prepared, future))
            self._flush()
        except psycopg.Error as error:
            future.cancel()
            self._lose(error)
            return None
        return future

    def close(self) -> None:
        """Closes the connection. Statements that are under way fail."""
        self._lose(None)
        with self._guard:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    # --- the connection ---

    def _usable(self) -> pq.abc.PGconn | None:
        """The connection for this loop; None while there is none. Then one is opened."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._lose(None)
            self._loop, self._not_before = loop, 0.0
        if self._connection is not None:
            if not self._sent or time.monotonic() - self._sent[0].since < STALLED:
                return self._connection.pgconn
            self._lose(None)
        with self._guard:
            opened, self._opened = self._opened, None
            if opened is None and self._opening is None and not self._closed and time.monotonic() >= self._not_before:
                self._opening = threading.Thread(target=self._open, name="metastored-pipeline", daemon=True)
                self._opening.start()
        return None if opened is None else self._use(opened, loop)

    def _open(self) -> None:
        """Opens a connection, on a thread of its own."""
        try:
            connection = self._connect()
        except StoreError:
            connection = None  # The calls, which use threads meanwhile, report it.
        with self._guard:
            self._opening = None
            self._not_before = time.monotonic() + PAUSE
            if not self._closed:
                self._opened, connection = connection, None
        if connection is not None:
            connection.close()

    def _use(self, connection: psycopg.Connection[Row], loop: asyncio.AbstractEventLoop) -> pq.abc.PGconn:
        pgconn = connection.pgconn
        pgconn.nonblocking = 1
        pgconn.enter_pipeline_mode()
        self._connection, self._prepared, self._socket = connection, {}, pgconn.socket
        loop.add_reader(self._socket, self._arrived)
        return pgconn

    def _lose(self, error: Exception | None) -> None:
        """Gives the connection up. Statements that wait for a reply fail, and whoever waits for them uses a thread."""
        connection, self._connection = self._connection, None
        sent, self._sent = self._sent, deque()
        self._not_before = time.monotonic() + PAUSE
        if connection is None:
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
            for each in sent:
                if not each.future.done():
                    each.future.set_exception(StoreError(f"the connection to PostgreSQL was lost: {error}"))
        connection.close()

    # --- statements and replies ---

    def _flush(self) -> None:
        assert self._connection is not None and self._loop is not None
        if self._connection.pgconn.flush():
            self._loop.add_writer(self._socket, self._writable)

    def _writable(self) -> None:
        assert self._loop is not None
        self._loop.remove_writer(self._socket)
        try:
            self._flush()
        except psycopg.Error as error:
            self._lose(error)

    def _arrived(self) -> None:
        assert self._connection is not None
        connection = self._connection.pgconn
        try:
            connection.consume_input()
            while self._sent and not connection.is_busy() and connection.status == pq.ConnStatus.OK:
                result = connection.get_result()
                if result is not None:
                    self._take(result)
            if connection.status != pq.ConnStatus.OK:
                raise psycopg.OperationalError("the server closed it")
        except psycopg.Error as error:
            self._lose(error)

    def _take(self, result: pq.abc.PGresult) -> None:
        sent, status = self._sent[0], result.status
        if status == pq.ExecStatus.PIPELINE_SYNC:
            self._sent.popleft()
            if not sent.future.done():
                sent.future.set_exception(StoreError("PostgreSQL has not answered a statement"))
        elif status == pq.ExecStatus.COMMAND_OK:
            sent.prepared.is_ready = True
        elif status == pq.ExecStatus.FATAL_ERROR:
            self._failed(sent, result)
        elif status == pq.ExecStatus.TUPLES_OK and not sent.future.done():
            try:
                sent.future.set_result(_rows(result, sent.prepared))
            except KeyError as error:
                self._prepared[sent.statement] = None
                sent.future.set_exception(StoreError(f"values of PostgreSQL's type {error} are read on threads"))

    def _failed(self, sent: _Sent, result: pq.abc.PGresult) -> None:
        if not sent.prepared.is_ready:
            self._prepared[sent.statement] = None
        elif result.error_field(pq.DiagnosticField.SQLSTATE) == CHANGED:
            self._prepared.pop(sent.statement, None)  # The next call prepares it again, under another name.
        if not sent.future.done():
            sent.future.set_exception(StoreError(result.error_message.decode("utf-8", "replace")))


def _encoded(params: Mapping[str, Any], names: tuple[str, ...]) -> list[bytes | None] | None:
    """Parameters as texts, whose types PostgreSQL finds by the statement; None if one is not a text or a number."""
    values: list[bytes | None] = []
    for name in names:
        value = params[name]
        if type(value) is str:
            try:
                data = value.encode()
            except UnicodeEncodeError:
                return None
            if b"\0" in data:
                return None  # libpq would cut it there, and find another row.
            values.append(data)
        elif type(value) is int:
            values.append(b"%d" % value)
        elif value is None:
            values.append(None)
        else:
            return None
    return values


def _rows(result: pq.abc.PGresult, prepared: _Prepared) -> Versioned:
    columns = range(result.nfields)
    if prepared.decoders is None:
        prepared.decoders = tuple([_DECODERS[result.ftype(at)] for at in columns])
    decoders, value = prepared.decoders, result.get_value
    rows: list[Row] = [
        tuple([None if (data := value(row, at)) is None else decoders[at](data) for at in columns])
        for row in range(result.ntuples)
    ]
    if not prepared.versioned or not rows:
        return Versioned(None, rows)
    return Versioned(rows[0][0], [row[1:] for row in rows])
