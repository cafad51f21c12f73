"""Whether processes of this machine still exist: those of workers and copies that may have been killed."""

from __future__ import annotations

import os


def is_running(pid: int) -> bool:
    """Whether there is a process with this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # It is another user's.
    return True
