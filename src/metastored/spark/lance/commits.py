"""One commit of the fragments that executors wrote, repeated safely: a commit that took effect is never made twice.

Lance appends the same fragments again if they are committed again. So each commit carries the id of its job, and before
a repetition the versions since the job began are searched for it. Imports lance late; never pyspark.
"""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from metastored.errors import ConversionError, MissingExtra

if TYPE_CHECKING:
    import pyarrow as pa
    from lance import LanceDataset

__all__ = ["Change", "Job", "commit", "committed", "connected", "lance_module", "opened"]

log = logging.getLogger("metastored.spark.lance")

ATTEMPTS: Final = 6
FIRST_WAIT: Final = 0.2
"""Seconds before the second attempt; each further wait is twice as long."""
MESSAGE: Final = "__lance_commit_message"
"""The property of Lance's transactions that has the message of a commit."""
MAX_SEARCHED: Final = 1000
"""Versions that are searched for a job."""

Change = Literal["create", "append", "overwrite"]
Managed = dict[str, Any]
"""Arguments of Lance's functions."""


@dataclass(frozen=True, slots=True)
class Job:
    """One write. It is sent to the executors, so it can be pickled."""

    id: str
    """Unique: the commit's message."""
    table_id: tuple[str, ...]
    location: str
    storage_options: Mapping[str, str]
    change: Change
    schema: pa.Schema
    read_version: int | None
    """The version that the write is based on; None for a table without data."""
    namespace: bytes | None
    """The namespace that commits go through, pickled: executors do not need it, and to import its modules takes longer
    than to write many rows. None where the directory of the table decides about commits."""


@contextmanager
def connected(job: Job) -> Iterator[Managed]:
    """The arguments of Lance for a table whose versions a namespace keeps; none for other tables."""
    if job.namespace is None:
        yield {}
        return
    namespace = pickle.loads(job.namespace)
    try:
        yield {"namespace_client": namespace, "table_id": list(job.table_id)}
    finally:
        if hasattr(namespace, "close"):
            namespace.close()


def opened(job: Job, managed: Managed) -> LanceDataset:
    """The newest version of the table. Raises ValueError if it has no data."""
    where = managed or {"uri": job.location}
    dataset: LanceDataset = lance_module().dataset(**where, storage_options=dict(job.storage_options) or None)
    return dataset


def lance_module() -> Any:
    """The module lance. Raises MissingExtra."""
    try:
        import lance
    except ImportError:
        raise MissingExtra("Lance from Spark", "lance") from None
    return lance


def commit(job: Job, fragments: Sequence[Any]) -> int:
    """Commits fragments and returns the version that has them. Raises what Lance raises for the last attempt."""
    wait, current = FIRST_WAIT, job
    with connected(job) as managed:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return _commit(current, fragments, managed)
            except Exception as error:
                committed = _committed(job, managed)
                if committed is not None:
                    log.warning("the commit of job %s failed, but version %d has it: %s", job.id, committed, error)
                    return committed
                if attempt == ATTEMPTS or not isinstance(error, (OSError, RuntimeError)):
                    raise
                log.warning("attempt %d to commit job %s failed and is repeated: %s", attempt, job.id, error)
            time.sleep(wait)
            wait *= 2
            current = _rebased(job, managed)
    raise AssertionError("the last attempt returns or raises")


def committed(job: Job) -> int | None:
    """The version that a job has committed; None if none has. Raises what Lance raises if the table cannot be read."""
    with connected(job) as managed:
        return _committed(job, managed)


def _commit(job: Job, fragments: Sequence[Any], managed: Managed) -> int:
    lance = lance_module()
    operation = (
        lance.LanceOperation.Append(list(fragments))
        if job.change == "append"
        else lance.LanceOperation.Overwrite(job.schema, list(fragments))
    )
    done = lance.LanceDataset.commit(
        job.location,
        operation,
        read_version=job.read_version,
        commit_message=job.id,
        storage_options=dict(job.storage_options) or None,
        **managed,
        **({"namespace_client_managed_versioning": True} if managed else {}),
    )
    return int(done.version)


def _committed(job: Job, managed: Managed) -> int | None:
    try:
        dataset = opened(job, managed)
    except ValueError:
        return None  # The table has no data yet.
    first = max(job.read_version or 0, dataset.version - MAX_SEARCHED) + 1
    for version in range(dataset.version, first - 1, -1):
        transaction = dataset.read_transaction(version)
        properties = getattr(transaction, "transaction_properties", None) or {}
        if properties.get(MESSAGE) == job.id:
            return version
    return None


def _rebased(job: Job, managed: Managed) -> Job:
    """The same append, to the newest version. Raises ConversionError if its columns have changed since."""
    if job.change != "append":
        return job
    dataset = opened(job, managed)
    if dataset.schema != job.schema:
        raise ConversionError(f"the columns of {'.'.join(job.table_id)} were changed while rows were written to it")
    return replace(job, read_version=dataset.version)
