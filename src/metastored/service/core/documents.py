"""Objects of the API kept as documents: a kind is a name and the Thrift struct that its documents are. No methods here.

The table (`store/objects/documents.py`) serves every topic that only stores objects and finds them again by name:
resource plans, schemas, scheduled queries, procedures, metrics, types, connectors, indexes. What each of them checks
and says is in the topic's own file; how a document is kept and read is here, once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from metastored.service.core import rows
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import documents
from metastored.store.objects.documents import DocumentRow
from metastored.wire import binary

T = TypeVar("T", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """A document that was read."""

    id: int
    parent: str
    key: str
    at: int
    value: T


class Kind(Generic[T]):
    """All documents of one kind."""

    def __init__(self, name: str, cls: type[T]) -> None:
        self.name = name
        self._cls = cls

    def _found(self, row: DocumentRow) -> Found[T]:
        rows.check_format(row.fmt, f"{self.name} {row.key}")
        return Found(row.id, row.parent, row.key, row.at, binary.decode(self._cls, row.body))

    def find(self, tx: Transaction, key: str, parent: str = "") -> Found[T] | None:
        row = documents.find(tx, self.name, key, parent)
        return None if row is None else self._found(row)

    def find_by_id(self, tx: Transaction, id: int) -> Found[T] | None:
        row = documents.find_by_id(tx, self.name, id)
        return None if row is None else self._found(row)

    def below(self, tx: Transaction, parent: str = "") -> list[Found[T]]:
        """Those of one parent, sorted by key."""
        return list(map(self._found, documents.below(tx, self.name, parent)))

    def all(self, tx: Transaction) -> list[Found[T]]:
        """Those of every parent, sorted by parent and key."""
        return list(map(self._found, documents.of_kind(tx, self.name)))

    def newest(self, tx: Transaction, parent: str = "", limit: int = -1) -> list[Found[T]]:
        """Those of one parent, the one with the greatest number first."""
        return list(map(self._found, documents.newest(tx, self.name, parent, limit)))

    def lock(self, tx: Transaction, parent: str = "") -> None:
        """Nobody else changes those of one parent until the transaction ends; find them after this."""
        documents.lock(tx, self.name, parent)

    def insert(
        self,
        tx: Transaction,
        key: str,
        value: T,
        *,
        parent: str = "",
        at: int = 0,
        db_id: int | None = None,
        table_id: int | None = None,
    ) -> int:
        """Adds one; its id. With a database or a table it goes away when that does."""
        body = binary.encode(value)
        return documents.insert(tx, self.name, key, body, parent=parent, at=at, db_id=db_id, table_id=table_id)

    def update(
        self, tx: Transaction, found: Found[T], value: T, *, key: str | None = None, at: int | None = None
    ) -> None:
        """Replaces one; its key and number stay unless others are given."""
        body = binary.encode(value)
        documents.update(tx, found.id, found.key if key is None else key, body, at=found.at if at is None else at)

    def delete(self, tx: Transaction, found: Found[T]) -> None:
        documents.delete(tx, found.id)
