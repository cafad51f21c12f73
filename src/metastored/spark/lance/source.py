"""The data source that Spark runs: executors write and read fragments, the driver's side commits. Imports pyspark.

`writing` and `reading` prepare a task in the program's own process and pass it as an option; nothing here calls a
metastore, except the commit of a table whose versions the metastore keeps.
"""

from __future__ import annotations

import base64
import json
import pickle
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

from metastored.spark.lance.commits import Job, commit, lance_module
from metastored.spark.lance.schemas import arrow, conformed, transfer_schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NAME", "TASK", "LanceSource", "Scan", "packed"]

NAME: Final = "metastored-lance"
TASK: Final = "task-secret"
"""The option with the task. Spark hides the values of options whose names contain `secret` in plans and logs; the task
may have the credentials of an object store."""
BATCH: Final = 8192
"""Rows of a batch that is read."""


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
    """A task as the value of an option."""
    return base64.b64encode(pickle.dumps(task)).decode()


def _unpacked(options: Mapping[str, str]) -> Any:
    return pickle.loads(base64.b64decode(options[TASK]))


class LanceSource(DataSource):
    """A Lance table as a data source of Spark, for tasks that this package prepares."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def reader(self, schema: StructType) -> DataSourceReader:
        return LanceReader(_unpacked(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceArrowWriter:
        job: Job = _unpacked(self.options)
        return LanceWriter(job)


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
        found = dataset.scanner(
            columns=list(scan.columns),
            filter=scan.filter,
            fragments=[dataset.get_fragment(partition.value)],
            batch_size=BATCH,
        )
        for batch in found.to_batches():
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
    found = write_fragments(
        pa.RecordBatchReader.from_batches(job.schema, rows),
        job.location,
        schema=job.schema,
        mode=job.change,
        storage_options=dict(job.storage_options) or None,
    )
    return [json.dumps(each.to_json()) for each in found]
