"""The interfaces that run statements: a transaction, and a snapshot that outlives one call.

They never commit by themselves.

Rows are plain tuples. Errors of either driver become StoreError here and in the two files that implement
this, so no other package depends on the driver.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, ClassVar, Self

from metastored.errors import StoreError
from metastored.store.engine.statements import Statement

Row = tuple[Any, ...]

Params = Mapping[str, Any] | tuple[Any, ...]
"""By name, or by position if the statement has `positions`."""


class WriteConflict(StoreError):
    """A conflict with another transaction. Nothing was written, and `Database.run` retries."""


class ConstraintViolated(StoreError):
    """A row with that key exists already, or a row that it refers to does not. Nothing was written."""


class Transaction(ABC):
    """Runs statements on one connection. Parameters are passed by name."""

    __slots__ = ()
    dialect: ClassVar[str]

    @abstractmethod
    def one(self, statement: Statement, **params: Any) -> Row | None:
        """The first row, or None."""

    @abstractmethod
    def all(self, statement: Statement, **params: Any) -> list[Row]:
        """All rows at once."""

    @abstractmethod
    def each(self, statement: Statement, **params: Any) -> Iterator[Row]:
        """Row by row, in bounded memory inside a snapshot. Closing the iterator ends the query."""

    @abstractmethod
    def run(self, statement: Statement, **params: Any) -> int:
        """Runs a statement; returns the number of rows that it changed."""

    @abstractmethod
    def many(self, statement: Statement, rows: Sequence[Params]) -> None:
        """Run once for each row of parameters."""

    @abstractmethod
    def list(self, items: Sequence[Any]) -> object:
        """A list as a parameter of `IN :names`."""

    def insert(self, statement: Statement, **params: Any) -> int:
        """Runs an INSERT … RETURNING id; returns the new id."""
        row = self.one(statement, **params)
        assert row is not None
        new_id: int = row[0]
        return new_id


class Snapshot(Transaction):
    """A read transaction on a connection of its own, usable from any thread, one at a time."""

    __slots__ = ()

    @abstractmethod
    def close(self) -> None:
        """Ends the transaction and returns the connection. A second call does nothing."""

    def __del__(self) -> None:
        # A reply that is never read does not reach its end, where it would close its snapshot.
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
