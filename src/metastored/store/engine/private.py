"""The modes of files and folders that hold secrets: only their owner may read them.

The database holds password hashes and token keys, and so do its write-ahead log, its shared memory and its backups. New
files are created 0600 and new folders 0700. Files of an older metastored get these modes when they are opened. A folder
that existed before keeps its mode: its owner may share the warehouse in it. Nothing here reads or writes the files'
content.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from metastored.errors import StoreError

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700
EVERYBODY: Final = "everybody"
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

SECRETS: Final = ("metastored.*", "http-*.pem", "http-*.lock", "import-*.journal")
"""The files that metastored writes into a data folder besides the warehouse."""


def make_folder(folder: Path) -> None:
    """Creates the folder, and those above it, if it does not exist. Raises StoreError when it cannot be used."""
    try:
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    except FileExistsError:
        raise StoreError(f"the data folder {folder} is a file; name a directory, or one that does not exist") from None
    except OSError as error:
        raise StoreError(f"the data folder {folder} cannot be made: {error.strerror or error}") from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise StoreError(
            f"the data folder {folder} cannot be written by the user who runs metastored: change its owner, or name "
            "another one with --data"
        )


def create(file: Path, flags: int = 0, *, shown: Path | None = None) -> int:
    """A descriptor of the file, open for reading and writing; it is created with FILE_MODE, whatever the umask is.

    Raises StoreError, also where a symbolic link has this name: somebody else may have put it there. `shown` is the
    name in the error, for a file that is renamed when it is complete.
    """
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | flags, FILE_MODE)
        if flags & os.O_EXCL:
            os.fchmod(descriptor, FILE_MODE)
        return descriptor
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StoreError(f"{shown or file} cannot be written: it is a symbolic link") from error
        raise StoreError(f"{shown or file} cannot be written: {error.strerror or error}") from error


def opener(path: str, flags: int) -> int:
    """For `open(…, opener=opener)`: a file that this call creates has FILE_MODE."""
    return os.open(path, flags, FILE_MODE)


def secure(folder: Path) -> None:
    """Removes the rights of other users from the files in a data folder.

    Raises StoreError when everybody may write to the folder: any user could replace the database.
    """
    if _mode(folder) & stat.S_IWOTH:
        raise StoreError(
            f"everybody may write to the data folder {folder}, and so replace the database: chmod o-w {folder}, "
            "or name a directory in it, which is then created for its owner alone"
        )
    for file in _secrets(folder):
        mode = _mode(file)
        if mode & OTHERS and not _is_link_of_another(file):
            # A file of another user stays as it is: `exposed` reports it.
            with suppress(OSError):
                file.chmod(mode & ~OTHERS)


def exposed(path: Path) -> str | None:
    """The rights of other users on a file or folder, as `its group may read, everybody may read`.

    None if they have none.
    """
    mode = _mode(path)
    texts = []
    for name, read, write in (("its group", stat.S_IRGRP, stat.S_IWGRP), (EVERYBODY, stat.S_IROTH, stat.S_IWOTH)):
        rights = [word for word, bit in (("read", read), ("write", write)) if mode & bit]
        if rights:
            texts.append(f"{name} may {' and '.join(rights)}")
    return ", ".join(texts) or None


def _secrets(folder: Path) -> Iterator[Path]:
    for pattern in SECRETS:
        yield from folder.glob(pattern)


def _is_link_of_another(path: Path) -> bool:
    """Whether it is a symbolic link that another user has made, who may not choose a file to be changed."""
    with suppress(OSError):
        status = path.lstat()
        return stat.S_ISLNK(status.st_mode) and status.st_uid != os.geteuid()
    return False


def _mode(path: Path) -> int:
    """The permission bits; 0 for a path that does not exist or cannot be read."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0
