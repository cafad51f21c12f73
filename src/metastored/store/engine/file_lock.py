"""A lock between processes and threads: a flock on a file. It never writes to that file.

The kernel releases it when its holder dies, so nothing has to be cleaned up after a crash.
"""

import fcntl
import os
from pathlib import Path
from types import TracebackType

from metastored.store.engine import private


class FileLock:
    """One holder's handle on the lock. Every thread needs its own: flock does not distinguish users of one handle."""

    __slots__ = ("_descriptor",)

    def __init__(self, path: Path) -> None:
        """Raises StoreError when the file can be neither opened nor created."""
        self._descriptor = private.create(path)

    def __enter__(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Unlocked explicitly: a child process between fork and exec may share the handle for a moment.
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def try_shared(self) -> bool:
        """Takes the lock shared with other holders; False when another holds it exclusively. Held until `close`."""
        return self._try(fcntl.LOCK_SH)

    def try_alone(self) -> bool:
        """Takes the lock exclusively; False when another holds it. Held until `close`."""
        return self._try(fcntl.LOCK_EX)

    def _try(self, kind: int) -> bool:
        try:
            fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
