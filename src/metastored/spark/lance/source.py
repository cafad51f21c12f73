"""The data source that Spark runs: executors write and read fragments, the driver's side commits. Imports pyspark.

`writing` and `reading` prepare a task in the program's own process and pass it as an option; nothing here calls a
metastore, except the commit of a table whose versions the metastore keeps.

Options can also come from a catalog: anybody who may create a table there can name this data source. A task is pickled,
so it is signed with a key of this program, which Spark gets with the class, and nothing else is unpickled.
"""

from __future__ import annotations

import base64
import hmac
import json
import pickle
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.types import StructType

from metastored.errors import PermissionDenied
from metastored.spark.lance.commits import Job, commit, lance_module
from metastored.spark.lance.schemas import arrow, conformed, transfer_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NAME", "TASK", "Scan", "packed", "signed_source"]

NAME: Final = "metastored-lance"
TASK: Final = "task-secret"
"""The option with the task. Spark hides the values of options whose names contain `secret` in plans and logs; the task
may have the credentials of an object store."""
BATCH: Final = 8192
"""Rows of a batch that is read."""
DIGEST: Final = "sha256"
SIGNATURE: Final = 32
"""Bytes of a signature."""
_KEY: Final = secrets.token_bytes(32)
"""The key of this program."""


@dataclass(frozen=True, slots=True)
class Scan:
    """One read."""

    location: str
    storage_options: Mapping[str, str]
    version: int
    fragments: tuple[int, ...]
    columns: tuple[str, ...]
    filter: str | None


@dataclass(frozen=True, slots=True)
class Fragments(WriterCommitMessage):
    """The fragments that one task wrote, as Lance's JSON."""

    written: tuple[str, ...]


def packed(task: Job | Scan) -> str:
    """A task as the value of an option, signed."""
    content = pickle.dumps(task)
    return base64.b64encode(_signature(_KEY, content) + content).decode()


def _signature(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, DIGEST)


class LanceSource(DataSource):
    """A Lance table as a data source of Spark, for tasks that this package prepares."""

    key = b""
    """The key of the program; see `signed_source`."""

    def _task(self) -> Any:
        """The task of the options. Raises PermissionDenied for one that this program did not prepare."""
        try:
            data = base64.b64decode(self.options.get(TASK) or "", validate=True)
        except ValueError:
            data = b""
        signature, content = data[:SIGNATURE], data[SIGNATURE:]
        if not self.key or not hmac.compare_digest(signature, _signature(self.key, content)):
            raise PermissionDenied(
                f"a table or a query names the data source {NAME} with a task that this program did not prepare: use "
                "metastored.spark.lance.read and write"
            )
        return pickle.loads(content)

    @classmethod
    def name(cls) -> str:
        return NAME

    def reader(self, schema: StructType) -> DataSourceReader:
        return LanceReader(self._task(), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        job: Job = self._task()
        return LanceWriter(job)


def signed_source() -> type[LanceSource]:
    """The class to register. It has the key, and it cannot be imported by its name: so Spark gets it by value."""
    return type("SignedLanceSource", (LanceSource,), {"key": _KEY})


class LanceReader(DataSourceReader):
    """Reads each fragment in a task of its own."""

    def __init__(self, scan: Scan, schema: StructType) -> None:
        self._scan = scan
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        return [InputPartition(fragment) for fragment in self._scan.fragments]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:
            return  # Spark's own partition, where the table has no fragments.
        scan, schema = self._scan, transfer_schema(self._schema)
        options = dict(scan.storage_options) or None
        dataset = lance_module().dataset(scan.location, version=scan.version, storage_options=options)
        batches = dataset.scanner(
            columns=list(scan.columns),
            filter=scan.filter,
            fragments=[dataset.get_fragment(partition.value)],
            batch_size=BATCH,
        )
        for batch in batches.to_batches():
            if batch.num_rows:
                yield conformed(batch, schema)


class LanceWriter(DataSourceArrowWriter):
    """Writes fragments in the executors and commits them once. Files of tasks that failed are never visible."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Fragments:
        return Fragments(tuple(written(self._job, iterator)))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        from lance.fragment import FragmentMetadata

        texts = [text for each in messages if isinstance(each, Fragments) for text in each.written]
        if texts or self._job.change != "append":
            commit(self._job, [FragmentMetadata.from_json(text) for text in texts])


def written(job: Job, batches: Iterator[pa.RecordBatch]) -> list[str]:
    """Writes rows as files of the table, which nobody sees before the commit. Returns the fragments as JSON."""
    first = next((each for each in batches if each.num_rows), None)
    if first is None:
        return []
    from lance.fragment import write_fragments

    pa = arrow()
    rows = (conformed(each, job.schema) for each in chain((first,), batches) if each.num_rows)
    fragments = write_fragments(
        pa.RecordBatchReader.from_batches(job.schema, rows),
        job.location,
        schema=job.schema,
        mode=job.change,
        storage_options=dict(job.storage_options) or None,
    )
    return [json.dumps(each.to_json()) for each in fragments]
