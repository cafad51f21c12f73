"""Removes many local directories at once, as a drop of partitions needs: by few system calls, several at a time.

A removal may wait without using the processor: for an NFS server, or for a disk that discards free blocks at once (ext4
without a journal, mounted with `discard`: a millisecond each). Threads share this time.

Each step is relative to the open directory above it and follows no symbolic link below what is trusted. A directory
that cannot be removed in this way is left alone and returned: `Warehouse.remove` then removes it, or says why it is not
removed. Nothing here knows jobs.
"""

import errno
import os
import shutil
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from threading import Thread
from typing import Final, NamedTuple

from metastored.hive.location_rules import plain_path

THREADS: Final = 8
"""How many directories are removed at the same time."""

AT_ONCE: Final = 32
"""Directories of one parent that a thread removes one after the other."""

_DIRECTORY: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_TRUSTED: Final = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


class Removal(NamedTuple):
    """A directory to be removed, and the one below which those above it are removed too if they become empty."""

    source: str
    below: str | None


class _Siblings(NamedTuple):
    """Directories of one parent."""

    trusted: str
    parents: tuple[str, ...]
    """The names of the directories from the trusted one down to the parent."""
    keep: int
    """How many of them, counted from the trusted one, stay even if they are empty."""
    names: list[str]
    positions: list[int]
    """Of the removals."""


def remove_together(removals: Sequence[Removal], warehouse: str | None) -> list[int]:
    """Removes local directories with their content; returns the positions of those that it left alone, in their order.

    `warehouse` is the path of a local warehouse: links in it are trusted, and it is never removed. A directory that
    does not exist counts as removed.
    """
    groups = deque(_grouped(removals, warehouse))
    removed: list[int] = []

    def work() -> None:
        with suppress(IndexError):
            while True:
                removed.extend(_removed(groups.popleft()))

    if len(groups) > 1 and not _nested(groups):
        # They do not keep a server from stopping: what is not removed then is removed after the next start.
        threads = [Thread(target=work, name="metastored-removal", daemon=True) for _ in range(THREADS - 1)]
        with suppress(RuntimeError):  # A thread more than the system allows.
            for thread in threads[: len(groups) - 1]:
                thread.start()
        work()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    else:
        work()
    done = frozenset(removed)
    return [at for at in range(len(removals)) if at not in done]


def _grouped(removals: Iterable[Removal], warehouse: str | None) -> Iterator[_Siblings]:
    """The removals of directories in normal form, by their parents."""
    inside = f"{warehouse}/"
    known: dict[tuple[str, str | None], tuple[str, tuple[str, ...], int] | None] = {}
    open_groups: dict[tuple[str, str | None], _Siblings] = {}
    for at, (source, below) in enumerate(removals):
        path = plain_path(source)
        if path is None or (warehouse is not None and inside.startswith(f"{path}/")):
            continue
        parent, _, name = path.rpartition("/")
        key = parent, below
        if key not in known:
            trusted = warehouse if warehouse is not None and f"{parent}/".startswith(inside) else "/"
            known[key] = _above(parent, below, trusted)
        place = known[key]
        if place is None:
            continue
        group = open_groups.setdefault(key, _Siblings(*place, [], []))
        group.names.append(name)
        group.positions.append(at)
        if len(group.names) == AT_ONCE:
            yield open_groups.pop(key)
    yield from open_groups.values()


def _above(parent: str, below: str | None, trusted: str) -> tuple[str, tuple[str, ...], int] | None:
    """The first fields of `_Siblings`; None if `below` is no directory from the trusted one on."""
    parents = _names(parent, trusted)
    if below is None:
        return trusted, parents, len(parents)
    path = plain_path(below)
    if path is None or not f"{path}/".startswith(f"{trusted.rstrip('/')}/"):
        return None
    kept = _names(path, trusted)
    return trusted, parents, len(kept) if parents[: len(kept)] == kept else len(parents)


def _names(path: str, trusted: str) -> tuple[str, ...]:
    return tuple(filter(None, path[len(trusted) :].split("/")))


def _nested(groups: Iterable[_Siblings]) -> bool:
    """Whether one directory is inside of another one: they are removed in their order then."""
    parents = {(group.trusted, group.parents) for group in groups}
    sources = {(group.trusted, (*group.parents, name)) for group in groups for name in group.names}
    outer = {(trusted, names[:depth]) for trusted, names in parents for depth in range(1, len(names) + 1)}
    return len({trusted for trusted, _ in parents}) > 1 or not outer.isdisjoint(sources)


def _removed(group: _Siblings) -> list[int]:
    """Removes the directories of one parent, and it if it becomes empty; returns the positions of those removed."""
    opened: list[int] = []
    try:
        opened.append(os.open(group.trusted, _TRUSTED))
        for name in group.parents:
            opened.append(os.open(name, _DIRECTORY, dir_fd=opened[-1]))
        named = zip(group.names, group.positions, strict=True)
        removed = [at for name, at in named if _is_removed(name, opened[-1])]
        for depth in range(len(group.parents), group.keep, -1):
            if not _is_removed_if_empty(group.parents[depth - 1], opened[depth - 1]):
                break
    except (OSError, ValueError):  # ValueError for a name that is no text of the file system.
        return []
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return removed


def _is_removed(name: str, directory: int) -> bool:
    """Removes a directory in another one with its content; returns False if that fails."""
    try:
        # One call removes an empty directory, and shows whether it is one.
        if not _is_removed_if_empty(name, directory):
            shutil.rmtree(name, dir_fd=directory)
    except OSError:
        return False
    return True


def _is_removed_if_empty(name: str, directory: int) -> bool:
    try:
        os.rmdir(name, dir_fd=directory)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True
