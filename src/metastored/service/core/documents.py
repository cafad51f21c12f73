"""Objects of the API stored as documents: a kind is a name and the Thrift struct of its documents. No methods here.

The table (`store/objects/documents.py`) serves every topic that only stores objects and finds them again by name:
resource plans, schemas, scheduled queries, procedures, metrics, types, connectors, indexes. Each topic's own file has
its checks and messages; reading and writing documents is here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from metastored.service.core import rows
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import documents
from metastored.store.objects.documents import DocumentRow
from metastored.wire.codec import binary

T = TypeVar("T", bound=tuple[Any, ...])


@dataclass(frozen=True, slots=True)
class Document(Generic[T]):
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

    def _document(self, row: DocumentRow) -> Document[T]:
        rows.check_format(row.fmt, f"{self.name} {row.key}")
        return Document(row.id, row.parent, row.key, row.at, binary.decode(self._cls, row.body))

    def find(self, tx: Transaction, key: str, parent: str = "") -> Document[T] | None:
        row = documents.find(tx, self.name, key, parent)
        return None if row is None else self._document(row)

    def find_by_id(self, tx: Transaction, id: int) -> Document[T] | None:
        row = documents.find_by_id(tx, self.name, id)
        return None if row is None else self._document(row)

    def below(self, tx: Transaction, parent: str = "") -> list[Document[T]]:
        """The documents of one parent, sorted by key."""
        return list(map(self._document, documents.below(tx, self.name, parent)))

    def all(self, tx: Transaction) -> list[Document[T]]:
        """The documents of every parent, sorted by parent and key."""
        return list(map(self._document, documents.of_kind(tx, self.name)))

    def newest(self, tx: Transaction, parent: str = "", limit: int = -1) -> list[Document[T]]:
        """The documents of one parent, sorted by number, greatest first."""
        return list(map(self._document, documents.newest(tx, self.name, parent, limit)))

    def lock(self, tx: Transaction, parent: str = "") -> None:
        """Locks the documents of one parent until the transaction ends; read them after this."""
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
        """Adds a document; returns its id. With a database or a table it is deleted together with that."""
        body = binary.encode(value)
        return documents.insert(tx, self.name, key, body, parent=parent, at=at, db_id=db_id, table_id=table_id)

    def update(
        self, tx: Transaction, document: Document[T], value: T, *, key: str | None = None, at: int | None = None
    ) -> None:
        """Replaces a document; its key and number stay unless new ones are passed."""
        body = binary.encode(value)
        documents.update(
            tx, document.id, document.key if key is None else key, body, at=document.at if at is None else at
        )

    def delete(self, tx: Transaction, document: Document[T]) -> None:
        documents.delete(tx, document.id)
