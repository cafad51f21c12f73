"""The data files of a partition, or of a table without partitions: how many, how large, and whether they changed.

The fingerprint is a hash of the paths, sizes and times of all files. It is stored with the statistics, and a partition
whose files still have it is not analyzed again. Files of transactional tables never change, so their times are left
out. No file is opened here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from metastored.errors import NotSupported
from metastored.hive.locations import is_local, local_path
from metastored.hive.transactions.layout import is_hidden
from metastored.hive.transactions.resolution import data_files
from metastored.spark.acid.files import files_of, list_location
from metastored.spark.acid.state import PartitionState


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
    found = sorted(_local(local_path(location)) if is_local(location) else _hadoop(spark, location))
    return replace(_fingerprinted(found), listed=tuple((path, size) for path, size, _ in found))


def acid_files(spark: Any, partition: PartitionState) -> DataFiles:
    """The files of a partition of a transactional table that its snapshot uses."""
    listing = list_location(files_of(spark, partition.location), partition.location)
    used = {each.name for each in (*partition.resolved.data, *partition.resolved.delete_deltas)}
    files = [file for name in used for file in data_files(listing.directories.get(name, ()))]
    return _fingerprinted((each.path, each.size, 0) for each in (*files, *partition.resolved.originals))


def _fingerprinted(files: Iterable[tuple[str, int, int]]) -> DataFiles:
    found = sorted(files)
    digest = hashlib.sha256(repr(found).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return DataFiles(len(found), sum(size for _, size, _ in found), digest)


def _local(root: str, below: str = "") -> Iterator[tuple[str, int, int]]:
    try:
        with os.scandir(os.path.join(root, below) if below else root) as entries:
            for entry in entries:
                path = f"{below}/{entry.name}" if below else entry.name
                if is_hidden(entry.name):
                    continue
                if entry.is_dir():
                    yield from _local(root, path)
                else:
                    found = entry.stat()
                    yield path, found.st_size, found.st_mtime_ns
    except FileNotFoundError:
        return


def _hadoop(spark: Any, location: str) -> Iterator[tuple[str, int, int]]:
    if not hasattr(spark, "_jsparkSession"):
        raise NotSupported(
            f"{location} is listed through the JVM of the Spark driver, which a session of Spark Connect does not have"
        )
    path = spark._jvm.org.apache.hadoop.fs.Path(location)
    system = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if not system.exists(path):
        return
    root = system.makeQualified(path).toString()
    found = system.listFiles(path, True)
    while found.hasNext():
        each = found.next()
        relative = each.getPath().toString().removeprefix(root).lstrip("/")
        if not is_hidden(relative):
            yield relative, each.getLen(), each.getModificationTime()
