"""A folder in memory for the temporary files of a test run: databases there wait for no disk.

`TESTS_IN_MEMORY=1 make test` uses it. A commit of SQLite waits until the disk has the data, and so does each removal of
a directory where the disk discards free blocks. What tests kill is a process: no test cuts the power. Large tests and
benchmarks use the disk (`run_costs.py`), and so does everybody who has set TMPDIR, or has little memory.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")
LEAST: Final = 4 << 30
"""The free bytes from which on the folder is used: a run needs less than one of these four GiB."""
VARIABLE: Final = "TMPDIR"
WANTED: Final = "TESTS_IN_MEMORY"
"""The variable of a run whose files are in memory. metastored refuses unknown ones with its own prefix."""


def use(memory: Path = MEMORY) -> None:
    """Makes a folder there the one for temporary files of this process, and of those that it starts."""
    folder = own_folder(memory) if os.environ.get(WANTED) and VARIABLE not in os.environ else None
    if folder is not None:
        os.environ[VARIABLE] = str(folder)
        tempfile.tempdir = None  # It is looked up again.


def own_folder(memory: Path) -> Path | None:
    """The folder of this user; None where there is no file system in memory, or little space."""
    try:
        if shutil.disk_usage(memory).free < LEAST:
            return None
        folder = memory / f"metastored-tests-{os.getuid()}"
        # Others may pass through it: as root, PostgreSQL runs as another user.
        folder.mkdir(mode=0o711, exist_ok=True)
        found = folder.lstat()
    except (OSError, AttributeError):  # Windows has no users with numbers.
        return None
    # Everybody may write to /dev/shm: a link, or the folder of somebody else, is not used.
    is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o066
    return folder if is_own else None
