"""The files below a directory, each with what tells whether it was rewritten: its etag, or the time of its last change.

An object store has an etag for each object, which is better than its time: the same bytes written again keep it in most
stores. No file is opened here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from metastored.errors import NotSupported
from metastored.hive.locations import is_local, local_path

_ETAG_SOURCE: Final = "org.apache.hadoop.fs.EtagSource"


class Listed(NamedTuple):
    """A file."""

    path: str
    """From the directory that was listed."""
    size: int
    version: str
    """Changes when the file is rewritten, also with as many bytes."""


def files_below(spark: Any, location: str) -> Iterator[Listed]:
    """All files, in no order; none if the directory does not exist.

    Raises NotSupported if it needs a JVM and the session is remote.
    """
    return _local(local_path(location)) if is_local(location) else _hadoop(spark, location)


def _local(root: str, below: str = "") -> Iterator[Listed]:
    try:
        with os.scandir(os.path.join(root, below) if below else root) as scanned:
            entries = list(scanned)
    except FileNotFoundError:
        return
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        if entry.is_dir():
            yield from _local(root, path)
            continue
        try:
            status = entry.stat()
        except FileNotFoundError:
            continue  # It was removed meanwhile, or is a link to nothing.
        yield Listed(path, status.st_size, str(status.st_mtime_ns))


def _hadoop(spark: Any, location: str) -> Iterator[Listed]:
    if not hasattr(spark, "_jsparkSession"):
        raise NotSupported(
            f"{location} is listed through the JVM of the Spark driver, which a session of Spark Connect does not have"
        )
    path = spark._jvm.org.apache.hadoop.fs.Path(location)
    system = path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
    if not system.exists(path):
        return
    root = system.makeQualified(path).toString()
    files = system.listFiles(path, True)
    has_etags: bool | None = None
    while files.hasNext():
        each = files.next()
        if has_etags is None:
            has_etags = _has_etag(spark, each)
        relative = each.getPath().toString().removeprefix(root).lstrip("/")
        version = (each.getEtag() if has_etags else None) or str(each.getModificationTime())
        yield Listed(relative, each.getLen(), version)


def _has_etag(spark: Any, status: Any) -> bool:
    from py4j.java_gateway import is_instance_of
    from py4j.protocol import Py4JError

    try:
        return bool(is_instance_of(spark.sparkContext._gateway, status, _ETAG_SOURCE))
    except Py4JError:
        return False  # A Hadoop before 3.3.2.
