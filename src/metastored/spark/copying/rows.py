"""Rewrites rows into a directory that nobody reads yet, and verifies them there: for all formats of a source.

    <staging>/part-….parquet         a table without partitions
    <staging>/ds=1/part-….parquet    partitions, as Spark writes them

Executors read and write the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from metastored.errors import CopyMismatch, NotSupported
from metastored.hive.locations import join
from metastored.hive.names import partition_values
from metastored.spark.copying.checksums import NOTHING
from metastored.spark.copying.planning import CopyPlan, Part
from metastored.spark.copying.reading import of_partitions, spelled
from metastored.spark.copying.staging import Staged, stage, staged_checksum, staged_checksums, total, verify
from metastored.spark.files import Files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def stage_rows(
    spark: Any, files: Files, plan: CopyPlan, frame: DataFrame, parts: Sequence[Part], staging: str
) -> list[Staged]:
    """Writes the rows of some partitions, or of a table without partitions. Raises CopyMismatch."""
    if plan.keys:
        return _stage_partitions(spark, files, plan, frame, parts, staging)
    (part,) = parts
    expected = stage(frame, plan.format, staging, ())
    verify(str(plan.source), expected, staged_checksum(spark, frame, plan.format, staging))
    return [Staged(part, staging, expected.rows, expected.text)]


def _stage_partitions(
    spark: Any, files: Files, plan: CopyPlan, frame: DataFrame, parts: Sequence[Part], staging: str
) -> list[Staged]:
    keys = _as_in(frame, plan.keys)
    chosen = of_partitions(frame, keys, [part.values for part in parts])
    names = _by_spelling(plan, chosen, keys, parts)
    expected = stage(chosen, plan.format, staging, keys)
    staged_sums = staged_checksums(spark, chosen, plan.format, staging, keys) if expected.rows else {}
    verify(str(plan.source), expected, total(list(staged_sums.values())))
    if others := staged_sums.keys() - names.keys():
        raise CopyMismatch(f"rows of {plan.source} are in none of its partitions: {', '.join(min(others))}")
    directories = _staged_directories(files, staging, keys, chosen) if expected.rows else {}
    checksums = {values: staged_sums.get(values, NOTHING) for values in names}
    return [
        Staged(part, directories.get(values), checksums[values].rows, checksums[values].text)
        for values, part in names.items()
    ]


def _as_in(frame: DataFrame, keys: Sequence[str]) -> list[str]:
    """The keys as the DataFrame writes them."""
    spellings = {field.lower(): field for field in frame.columns}
    return [spellings[key] for key in keys]


def _by_spelling(
    plan: CopyPlan, frame: DataFrame, keys: Sequence[str], batch: Sequence[Part]
) -> dict[tuple[str, ...], Part]:
    by_values: dict[tuple[str, ...], Part] = {}
    for part in batch:
        values = spelled(frame.schema, keys, part.values)
        if values in by_values:
            raise NotSupported(
                f"the partitions {by_values[values].name} and {part.name} of {plan.source} are the same for Spark"
            )
        by_values[values] = part
    return by_values


def _staged_directories(
    files: Files, staging: str, keys: Sequence[str], frame: DataFrame
) -> dict[tuple[str, ...], str]:
    """The directories that Spark wrote, by the values in their names."""
    directories: dict[tuple[str, ...], str] = {}

    def walk(path: str, depth: int) -> None:
        for entry in files.entries(join(staging, path) if path else staging):
            below = f"{path}/{entry.name}" if path else entry.name
            if not entry.is_directory:
                continue
            if depth + 1 < len(keys):
                walk(below, depth + 1)
            else:
                directories[spelled(frame.schema, keys, partition_values(below, keys))] = join(staging, below)

    walk("", 0)
    return directories
