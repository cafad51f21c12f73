"""Writes rows into a directory that nobody reads yet, and reads them back: a copy is published only if they are equal.

The checksum of the source is computed while its rows are written, so the source is read once.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from metastored.errors import CopyMismatch
from metastored.hive.locations import join
from metastored.spark.copying.checksums import NOTHING, Checksum, aggregates, checksum, checksum_of
from metastored.spark.copying.marks import COPY_SOURCE, Mark
from metastored.spark.copying.planning import CopyPlan, Part
from metastored.spark.copying.reading import spelled
from metastored.spark.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PATIENCE: Final = 30.0
"""Seconds to wait for the figures of rows that were written."""
_NO_MARKER: Final = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
_ORC: Final = {"compression": "zlib"}
"""All versions of Hive read it; Hive 3.1 cannot read zstd, which is Spark's own default."""


class Staged(NamedTuple):
    """A partition, or a table without partitions, that was written and verified, and is not published yet."""

    part: Part
    directory: str | None
    """None if there are no rows, and no directory for them."""
    rows: int
    checksum: str
    """As in its mark."""
    copied_files: int = 0
    """Files that were copied byte for byte."""


def observed(frame: DataFrame) -> tuple[DataFrame, Any]:
    """The frame, and an observation that has the checksum of its rows once they were written."""
    from pyspark.sql import Observation

    observation = Observation()
    first, *others = aggregates(frame.schema)
    return frame.observe(observation, first, *others), observation


def stage(frame: DataFrame, format: str, location: str, keys: Sequence[str]) -> Checksum:
    """Writes rows as files below a directory, which is made. Returns the checksum of what was read."""
    watched, observation = observed(frame)
    options = _NO_MARKER | _ORC if format == "orc" else _NO_MARKER
    watched.write.format(format).options(**options).partitionBy(*keys).mode("error").save(location)
    return observed_checksum(frame, observation)


def observed_checksum(frame: DataFrame, observation: Any) -> Checksum:
    """The checksum of an observation whose rows were written.

    Spark reports no figures for a part of a plan that it has optimized away. `get` would then wait for ever, so the
    checksum is computed by another read.
    """
    checksums: list[Checksum] = []
    waiting = threading.Thread(target=lambda: checksums.append(checksum_of(observation.get)), daemon=True)
    waiting.start()
    waiting.join(PATIENCE)
    return checksums[0] if checksums else checksum(frame)


def verify(what: str, expected: Checksum, actual: Checksum) -> None:
    """Raises CopyMismatch."""
    if expected != actual:
        raise CopyMismatch(
            f"the copy of {what} is not equal to its source and is not published: {expected.rows} rows with the "
            f"checksum {expected.text} were read, {actual.rows} rows with {actual.text} were written"
        )


def staged_checksum(spark: Any, frame: DataFrame, format: str, location: str) -> Checksum:
    """The checksum of the files below a directory."""
    return checksum(spark.read.schema(frame.schema).format(format).load(location))


def staged_checksums(
    spark: Any, frame: DataFrame, format: str, location: str, keys: Sequence[str]
) -> dict[tuple[str, ...], Checksum]:
    """The checksums of the files below a directory, by the values of the partition keys."""
    frame_read = spark.read.schema(frame.schema).format(format).load(location)
    rows = frame_read.groupBy(*(f"`{key}`" for key in keys)).agg(*aggregates(frame.schema)).collect()
    return {spelled(frame.schema, keys, [row[key] for key in keys]): checksum_of(row) for row in rows}


def total(checksums: Sequence[Checksum]) -> Checksum:
    checksum = NOTHING
    for each in checksums:
        checksum = checksum + each
    return checksum


def mark_parameters(plan: CopyPlan, checksum: Checksum) -> dict[str, str]:
    """The parameter by which a later copy sees what this one has copied, for a table that is replaced as a whole."""
    return {COPY_SOURCE: Mark(str(plan.source), plan.state, checksum.rows, checksum.text).text()}


def size_of(files: Files, location: str) -> tuple[int, int]:
    """The number and the size of the files in a directory and below."""
    count = size = 0
    for entry in files.entries(location):
        if entry.is_directory:
            more = size_of(files, join(location, entry.name))
            count, size = count + more[0], size + more[1]
        elif not entry.name.startswith((".", "_")):
            count, size = count + 1, size + entry.size
    return count, size
