"""The data files of a partition, or of a table without partitions: how many, how large, and whether they changed.

The fingerprint is a hash of the paths, sizes and times (or etags) of all files. It is stored with the statistics, and a
partition whose files still have it is not analyzed again. Files of transactional tables never change, so their times
are left out. No file is opened here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from metastored.hive.transactions.layout import is_hidden
from metastored.hive.transactions.resolution import data_files
from metastored.spark.acid.files.state import PartitionState
from metastored.spark.files import files_of, list_location
from metastored.spark.listing import files_below


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files of a partition that are data: not hidden."""

    count: int
    size: int
    fingerprint: str
    listed: tuple[tuple[str, int], ...] = field(default=(), repr=False, compare=False)
    """Their paths from the location of the partition, and their sizes; not of transactional tables."""


def plain_files(spark: Any, location: str) -> DataFiles:
    """The files below a location. Raises NotSupported if it needs a JVM and the session is remote."""
    listed = sorted(each for each in files_below(spark, location) if not is_hidden(each.path))
    return replace(_fingerprinted(listed), listed=tuple((path, size) for path, size, _ in listed))


def acid_files(spark: Any, partition: PartitionState) -> DataFiles:
    """The files of a partition of a transactional table that its snapshot uses."""
    listing = list_location(files_of(spark, partition.location), partition.location)
    used = {each.name for each in (*partition.resolved.data, *partition.resolved.delete_deltas)}
    files = [file for name in used for file in data_files(listing.directories.get(name, ()))]
    return _fingerprinted((each.path, each.size, "") for each in (*files, *partition.resolved.originals))


def _fingerprinted(files: Iterable[tuple[str, int, str]]) -> DataFiles:
    listed = sorted(files)
    digest = hashlib.sha256(repr([tuple(each) for each in listed]).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return DataFiles(len(listed), sum(size for _, size, _ in listed), digest)
