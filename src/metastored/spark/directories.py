"""Directories that Spark's catalog changes itself, because a Hive metastore leaves them as they are."""

from __future__ import annotations

from typing import Final

from metastored.hive.locations import is_local, local_path, parse_location
from metastored.store.warehouse.file_systems import LOCAL, FileSystem, open_remote

TIMEOUT: Final = 60.0
"""Seconds for an operation of a remote file system."""


def remove(uri: str) -> None:
    """Removes a directory with all that is in it, if it exists."""
    system, path = _opened(uri)
    if system.exists(path):
        system.remove(path)


def make(uri: str) -> None:
    """Creates a directory and those above it."""
    system, path = _opened(uri)
    system.make(path)


def exists(uri: str) -> bool:
    """Whether there is a directory, or a file."""
    system, path = _opened(uri)
    return system.exists(path)


def is_empty(uri: str) -> bool:
    """Whether a directory has no entries."""
    system, path = _opened(uri)
    return system.is_empty(path)


def move(source: str, target: str) -> None:
    """Renames a directory. Both locations are on one file system."""
    system, path = _opened(source)
    system.move(path, _opened(target)[1])


def _opened(uri: str) -> tuple[FileSystem, str]:
    if is_local(uri):
        return LOCAL, local_path(uri)
    return open_remote(uri, parse_location(uri).scheme, TIMEOUT)
