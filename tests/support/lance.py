"""Namespaces for tests: a root of its own, a database of its own, and Arrow data in the forms of Lance's requests."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
from lance_namespace import (
    CreateNamespaceRequest,
    CreateTableRequest,
    CreateTableResponse,
    LanceNamespace,
    connect,
)

import metastored.lance

POINTS = pyarrow.table(
    {
        "id": pyarrow.array([1, 2, 3], pyarrow.int64()),
        "name": ["a", "b", "c"],
        "vector": pyarrow.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]], pyarrow.list_(pyarrow.float32(), 2)),
    }
)
"""Three rows with a vector each."""


class Space(NamedTuple):
    """A namespace and a database in it."""

    namespace: Any
    """A Hive2Namespace or Hive3Namespace."""
    database: list[str]
    """The identifier of the database."""
    root: Any
    """The Path of a directory, or the location of one in an object store."""
    uri: str

    def id(self, table: str) -> list[str]:
        """The identifier of a table in the database."""
        return [*self.database, table]

    def create(self, table: str, rows: pyarrow.Table = POINTS, **more: Any) -> CreateTableResponse:
        """Creates a table with rows."""
        created: CreateTableResponse = self.namespace.create_table(
            CreateTableRequest(id=self.id(table), **more), stream(rows)
        )
        return created

    @property
    def name(self) -> str:
        """The name of the database."""
        return self.database[-1]


def stream(rows: pyarrow.Table) -> bytes:
    """Rows as an Arrow IPC stream."""
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def rows_of(data: Any) -> list[dict[str, Any]]:
    """The rows of an Arrow IPC file."""
    found: list[dict[str, Any]] = pyarrow.ipc.open_file(data).read_all().to_pylist()
    return found


def opened(uri: str, kind: str, root: Path | str, managed_by: str = "storage", **more: str) -> Any:
    """A namespace, by Lance's own `connect`."""
    assert metastored.lance.__all__
    properties = {"uri": uri, "root": str(root), "managed_by": managed_by, "ugi": "ann:staff", **more}
    found: LanceNamespace = connect(f"metastored-{kind}", properties)
    return found


@contextmanager
def new_space(uri: str, kind: str, root: Path | str, managed_by: str = "storage", **more: str) -> Iterator[Space]:
    """A namespace with a new database."""
    with opened(uri, kind, root, managed_by, **more) as namespace:
        database = [*(["hive"] if kind == "hive3" else []), f"lance_{uuid.uuid4().hex[:12]}"]
        namespace.create_namespace(CreateNamespaceRequest(id=database))
        yield Space(namespace, database, root, uri)
