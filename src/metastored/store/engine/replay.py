"""Runs a function that reads a few rows on the event loop, without waiting in it.

The function is called with a database that knows no rows. Where it needs one, the call ends; the row is read, and the
function is called again, with the rows that are known by then. It must only read, and do the same with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from metastored.errors import StoreError
from metastored.store.engine.database import Database, LoopReader
from metastored.store.engine.statements import POSTGRESQL, Statement
from metastored.store.engine.transaction import Params, Row, Snapshot, Transaction

if TYPE_CHECKING:
    from sqlalchemy import Engine

__all__ = ["Replayed", "replayed"]

MOST_READS: Final = 8
"""Statements of one function; one with more runs on a thread."""

T = TypeVar("T")


class _Needed(BaseException):
    """Rows that are not known yet. It is not an Exception: no function may take it for an error."""

    def __init__(self, key: tuple[Any, ...], statement: Statement, params: dict[str, Any]) -> None:
        self.key: Final = key
        self.statement: Final = statement
        self.params: Final = params


class _NeedsThread(BaseException):
    """The function does something else than to read by single statements."""


class Replayed(NamedTuple, Generic[T]):
    """The result of a function, and the oldest version of the database that it read in; None if that is not known."""

    value: T
    version: int | None


async def replayed(reader: LoopReader, function: Callable[[Database], T]) -> Replayed[T] | None:
    """The result of a function that reads from a database; None if it has to run on a thread."""
    database, version = _Known(), None
    for number in range(MOST_READS):
        try:
            return Replayed(function(database), version)
        except _Needed as needed:
            pending = reader.read(needed.statement, needed.params)
            if pending is None:
                return None
            try:
                read = await pending
            except StoreError:
                return None  # The thread reports what is wrong, if it still is.
            database.rows[needed.key] = read.rows
            if number == 0:
                version = read.version
        except _NeedsThread:
            return None
    return None


def _refuse(*args: object, **named: object) -> NoReturn:
    raise _NeedsThread


class _KnownRows(Transaction):
    """Replies to statements that were run before."""

    __slots__ = ("_rows",)
    dialect = POSTGRESQL

    def __init__(self, rows: dict[tuple[Any, ...], list[Row]]) -> None:
        self._rows = rows

    def one(self, statement: Statement, **params: Any) -> Row | None:
        rows = self.all(statement, **params)
        return rows[0] if rows else None

    def all(self, statement: Statement, **params: Any) -> list[Row]:
        try:
            key = (statement, *params.items())
            rows = self._rows.get(key)
        except TypeError:
            raise _NeedsThread from None  # A list is a parameter.
        if rows is None:
            raise _Needed(key, statement, params)
        return rows

    def each(self, statement: Statement, **params: Any) -> Iterator[Row]:
        _refuse()

    def run(self, statement: Statement, **params: Any) -> int:
        _refuse()

    def many(self, statement: Statement, rows: Sequence[Params]) -> None:
        _refuse()

    def list(self, items: Sequence[Any]) -> object:
        _refuse()


class _Known(Database):
    """A database of rows that are known. Transactions and snapshots need a thread."""

    dialect = POSTGRESQL
    _retries = False

    def __init__(self) -> None:
        self.rows: Final[dict[tuple[Any, ...], list[Row]]] = {}
        self._reader: Final = _KnownRows(self.rows)

    def reader(self) -> Transaction:
        return self._reader

    def read(self) -> AbstractContextManager[Transaction]:
        _refuse()

    def write(self) -> AbstractContextManager[Transaction]:
        _refuse()

    def snapshot(self) -> Snapshot:
        _refuse()

    def version(self) -> int:
        _refuse()

    def claim(self, *names: str) -> AbstractContextManager[None]:
        _refuse()

    def creation(self) -> AbstractContextManager[Transaction]:
        _refuse()

    def migration(self) -> AbstractContextManager[Engine]:
        _refuse()

    def close(self) -> None:
        _refuse()
