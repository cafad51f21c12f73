"""A lock between processes and threads: an exclusive flock on a file. It never writes to that file.

The kernel releases it when its holder dies, so nothing has to be cleaned up after a crash.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType


class FileLock:
    """One holder's handle on the lock. Every thread needs its own: flock cannot tell users of one apart."""

    __slots__ = ("_descriptor",)

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def __enter__(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Unlocked by name: a child process between fork and exec may share the handle for a moment.
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
