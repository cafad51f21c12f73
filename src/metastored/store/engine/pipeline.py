"""Reads of PostgreSQL for the event loop: statements in a row over one connection, without waiting on a thread.

libpq's pipeline mode lets many calls share the connection: each statement is sent at once and is a transaction of its
own, and the replies arrive in the order of the statements. A statement with a value that cannot be sent exactly runs on
a thread, as all statements do while there is no connection.

Where it can, a statement also reads the version of the database, in the same snapshot as its rows.

It never writes, and it never blocks the loop: the connection is opened on a thread.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final

import psycopg
from psycopg import pq
from psycopg.abc import Transformer

from metastored.direct_future import DirectFuture
from metastored.errors import StoreError
from metastored.store.engine.database import Versioned
from metastored.store.engine.libpq import Typed, Unsendable, decoded, encoded, transformer_of
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


class _Prepared:
    """A statement on the present connection."""

    __slots__ = ("is_ready", "name", "text", "versioned")

    def __init__(self, name: bytes, statement: Statement) -> None:
        text = statement.numbered.text
        self.name: Final = name
        # The order of a query is lost in another one.
        self.versioned: Final = text.startswith(b"SELECT") and b"ORDER BY" not in text
        self.text: Final = _WITH_VERSION % (VERSION_COUNTER.encode(), text) if self.versioned else text
        self.is_ready = False
        """Whether PostgreSQL has accepted it."""


class _Sent:
    """A statement whose reply is awaited."""

    __slots__ = ("future", "key", "prepared", "rows", "since")

    def __init__(self, key: Typed, prepared: _Prepared, future: DirectFuture[Versioned]) -> None:
        self.key: Final = key
        self.prepared: Final = prepared
        self.future: Final = future
        self.rows: Versioned | None = None
        """Its reply, before the transaction of the statement has ended."""
        self.since: Final = time.monotonic()


class Pipeline:
    """The connection of one event loop. Only the loop's thread may use it; `close` may be called after the loop."""

    def __init__(self, connect: Connect) -> None:
        """`connect` opens a connection in autocommit mode, on a thread. Raises StoreError."""
        self._connect = connect
        self._loop: asyncio.AbstractEventLoop | None = None
        self._connection: psycopg.Connection[Row] | None = None
        self._transformer: Transformer | None = None
        """Decodes the rows of the connection."""
        self._socket = -1
        """Of the connection; libpq does not tell it any more when the connection is lost."""
        self._prepared: dict[Typed, _Prepared | None] = {}
        self._sent: deque[_Sent] = deque()
        self._opening: threading.Thread | None = None
        self._opened: psycopg.Connection[Row] | None = None
        """A new connection, until the loop takes it."""
        self._not_before = 0.0
        self._closed = False
        self._guard = threading.Lock()
        """For the three fields that the opening thread changes, too."""
        self._numbers = count()

    def read(self, statement: Statement, params: Mapping[str, Any]) -> DirectFuture[Versioned] | None:
        """The rows of a statement; None if it has to run on a thread. The future raises StoreError."""
        connection = self._usable()
        if connection is None:
            return None
        try:
            values, types, formats = encoded([params[name] for name in statement.numbered.names])
        except (Unsendable, UnicodeEncodeError):
            return None
        key = (statement, types)
        prepared, is_new = self._prepared.get(key), key not in self._prepared
        if is_new and len(self._prepared) < MOST_STATEMENTS:
            prepared = _Prepared(b"metastored_%d" % next(self._numbers), statement)
        if prepared is None:
            return None
        assert self._loop is not None
        future = DirectFuture[Versioned](loop=self._loop)
        try:
            if is_new:
                connection.send_prepare(prepared.name, prepared.text, types)
                self._prepared[key] = prepared
            connection.send_query_prepared(prepared.name, values, formats, 1)
            connection.pipeline_sync()
            self._sent.append(_Sent(key, prepared, future))
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
        self._connection, self._transformer = connection, transformer_of(connection)
        self._prepared, self._socket = {}, pgconn.socket
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
                    each.future.fail(StoreError(f"the connection to PostgreSQL was lost: {error}"))
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
        arrived: list[_Sent] = []
        try:
            connection.consume_input()
            while self._sent and not connection.is_busy() and connection.status == pq.ConnStatus.OK:
                result = connection.get_result()
                if result is not None:
                    self._take(result, arrived)
            if connection.status != pq.ConnStatus.OK:
                raise psycopg.OperationalError("the server closed it")
        except psycopg.Error as error:
            self._lose(error)
        # Whoever continues may send the next statement: the replies of this turn are read by then.
        for each in arrived:
            if each.rows is not None and not each.future.done():
                each.future.succeed(each.rows)

    def _take(self, result: pq.abc.PGresult, arrived: list[_Sent]) -> None:
        """Takes one result of the first statement that waits. A statement whose rows are complete has arrived."""
        sent, status = self._sent[0], result.status
        if status == pq.ExecStatus.PIPELINE_SYNC:
            self._sent.popleft()
            if sent.rows is not None:
                arrived.append(sent)
            elif not sent.future.done():
                sent.future.fail(StoreError("PostgreSQL has not answered a statement"))
        elif status == pq.ExecStatus.COMMAND_OK:
            sent.prepared.is_ready = True
        elif status == pq.ExecStatus.FATAL_ERROR:
            self._failed(sent, result)
        elif status == pq.ExecStatus.TUPLES_OK and not sent.future.done():
            try:
                sent.rows = self._versioned(result, sent.prepared)
            except (psycopg.Error, ValueError) as error:
                sent.future.fail(StoreError(f"a value of PostgreSQL cannot be read: {error}"))

    def _failed(self, sent: _Sent, result: pq.abc.PGresult) -> None:
        if not sent.prepared.is_ready:
            self._prepared[sent.key] = None
        elif result.error_field(pq.DiagnosticField.SQLSTATE) == CHANGED:
            self._prepared.pop(sent.key, None)  # The next call prepares it again, under another name.
        if not sent.future.done():
            sent.future.fail(StoreError(result.error_message.decode("utf-8", "replace")))

    def _versioned(self, result: pq.abc.PGresult, prepared: _Prepared) -> Versioned:
        assert self._transformer is not None
        rows = decoded(result, self._transformer)
        if not prepared.versioned or not rows:
            return Versioned(None, rows)
        return Versioned(rows[0][0], [row[1:] for row in rows])
