"""The files of a Lance table that the namespace itself touches: its manifests, and all of them when it is dropped.

A commit writes its manifest under a name of its own (the staged manifest). It becomes a version of the table when it is
published: it gets the final name of the version, once and completely. Paths on this machine are published by a hard
link, which fails if the name exists; in object stores the staged manifest is copied by Lance's own drivers. Nothing
here knows the metastore.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from lance_namespace import InvalidInputError

from metastored.hive.locations import parse_location
from metastored.lance.locations import is_local

if TYPE_CHECKING:
    from lance.file import LanceFileSession

VERSIONS: Final = "_versions"
NEWEST_FIRST: Final = 2**64 - 1
"""Lance's second naming scheme counts down from here, so that the newest version is listed first."""

_FINAL: Final = re.compile(r"(\d{1,20})\.manifest")
_STAGED: Final = re.compile(r"\d{1,20}\.manifest[A-Za-z0-9_.-]*")
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK})


class Manifest(NamedTuple):
    """The manifest of a version, staged or published."""

    version: int
    name: str
    size: int | None = None
    timestamp_millis: int | None = None


class Directory(Protocol):
    """The directory `_versions` of a table."""

    def manifest(self, name: str, version: int) -> Manifest | None: ...
    def names(self) -> list[str]: ...
    def read(self, name: str, offset: int, length: int) -> bytes | None: ...
    def content(self, name: str) -> bytes | None: ...
    def publish(self, staged: str, final: str) -> bool: ...
    def remove(self, name: str) -> bool: ...


class Manifests:
    """The versions of a table by their files."""

    def __init__(self, location: str, storage_options: Mapping[str, str]) -> None:
        """`location` is that of the table, in Lance's form."""
        path = parse_location(location).path
        self._prefix = f"{path.strip('/')}/{VERSIONS}/"
        self.directory: Directory = (
            LocalDirectory(os.path.join(path, VERSIONS))
            if is_local(location)
            else RemoteDirectory(location, storage_options)
        )

    def path(self, name: str) -> str:
        """The path of a manifest as Lance's requests have it: from the root of the object store."""
        return self._prefix + name

    def find(self, version: int, scheme: str | None = None) -> Manifest | None:
        """The published manifest of a version, by one naming scheme or by either; None if there is none."""
        for each in ("V2", "V1") if scheme is None else (scheme,):
            manifest = self.directory.manifest(final_name(version, each), version)
            if manifest is not None:
                return manifest
        return None

    def versions(self) -> list[int]:
        """The versions that have a published manifest, in ascending order."""
        return sorted(version for name in self.directory.names() if (version := version_of_name(name)) is not None)

    def publish(self, staged: str, version: int) -> bool:
        """Publishes a staged manifest; returns whether the version is now this manifest, not another one's.

        It can be repeated: whoever does it first, the result is the same. The final name has the naming scheme of the
        staged one.
        """
        return self.directory.publish(staged, final_name(version, scheme_of(staged)))

    def is_published(self, staged: str, version: int) -> bool:
        """Whether the manifest of a version is the one that was staged under this name."""
        manifest = self.find(version)
        if manifest is None:
            return False
        content = self.directory.content(staged)
        # A staged manifest disappears only when it is published.
        return content is None or content == self.directory.content(manifest.name)

    def delete(self, version: int) -> bool:
        """Deletes the manifest of a version; returns whether it existed."""
        manifest = self.find(version)
        return manifest is not None and self.directory.remove(manifest.name)


def final_name(version: int, scheme: str = "V2") -> str:
    """The name of the manifest of a version, in one of Lance's naming schemes."""
    return f"{version}.manifest" if scheme == "V1" else f"{NEWEST_FIRST - version:020d}.manifest"


def scheme_of(name: str) -> str:
    """The naming scheme of a manifest, staged or published: names of the second one begin with 20 digits."""
    return "V2" if len(name.partition(".")[0]) == 20 else "V1"


def version_of_name(name: str) -> int | None:
    """The version of a published manifest; None for any other file."""
    match = _FINAL.fullmatch(name)
    if match is None:
        return None
    return NEWEST_FIRST - int(name[:20]) if len(match[1]) == 20 else int(match[1])


def staged_name(path: str) -> str:
    """The name of a staged manifest in a request. Raises InvalidInputError if it is not in a table's `_versions`."""
    above, _, name = path.rpartition("/")
    if above.rpartition("/")[2] != VERSIONS or _STAGED.fullmatch(name) is None or ".." in name:
        raise InvalidInputError(f"manifest_path is {path!r}: it is the path of a manifest in the table's {VERSIONS}")
    return name


class LocalDirectory:
    """A directory of this machine."""

    def __init__(self, path: str) -> None:
        self._path = path

    def manifest(self, name: str, version: int) -> Manifest | None:
        try:
            status = os.stat(os.path.join(self._path, name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return Manifest(version, name, status.st_size, status.st_mtime_ns // 1_000_000)

    def names(self) -> list[str]:
        try:
            return os.listdir(self._path)
        except (FileNotFoundError, NotADirectoryError):
            return []

    def read(self, name: str, offset: int, length: int) -> bytes | None:
        """`length` bytes from `offset`, which is negative from the end."""
        try:
            with open(os.path.join(self._path, name), "rb", buffering=0) as file:
                file.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
                return file.read(length)
        except OSError:
            return None

    def content(self, name: str) -> bytes | None:
        try:
            return Path(self._path, name).read_bytes()
        except FileNotFoundError:
            return None

    def publish(self, staged: str, final: str) -> bool:
        source, target = os.path.join(self._path, staged), os.path.join(self._path, final)
        try:
            os.link(source, target)
        except FileExistsError:
            if self.content(staged) not in (None, self.content(final)):
                return False
        except FileNotFoundError:
            return os.path.exists(target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._renamed(source, target)
        self.remove(staged)
        return True

    def _renamed(self, source: str, target: str) -> bool:
        """For file systems without links."""
        if os.path.exists(target):
            return not os.path.exists(source) or Path(source).read_bytes() == Path(target).read_bytes()
        try:
            os.rename(source, target)
        except FileNotFoundError:
            return os.path.exists(target)
        return True

    def remove(self, name: str) -> bool:
        try:
            os.unlink(os.path.join(self._path, name))
        except FileNotFoundError:
            return False
        return True


class RemoteDirectory:
    """A directory of an object store, by Lance's own drivers, for one operation.

    Each access is a request, and a manifest never changes under its name. So one that was read is cached.
    """

    def __init__(self, location: str, storage_options: Mapping[str, str]) -> None:
        self._location = location
        self._options = dict(storage_options)
        self._opened: Any = None
        self._contents: dict[str, bytes] = {}

    @property
    def _files(self) -> LanceFileSession:
        if self._opened is None:
            from lance.file import LanceFileSession

            self._opened = LanceFileSession(self._location, storage_options=self._options or None)
        session: LanceFileSession = self._opened
        return session

    def manifest(self, name: str, version: int) -> Manifest | None:
        return Manifest(version, name) if self._files.contains(f"{VERSIONS}/{name}") else None

    def names(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self._files.list(VERSIONS)]

    def read(self, name: str, offset: int, length: int) -> bytes | None:
        content = self.content(name)
        if content is None:
            return None
        start = max(0, len(content) + offset) if offset < 0 else offset
        return content[start : start + length]

    def content(self, name: str) -> bytes | None:
        if name in self._contents:
            return self._contents[name]
        if not self._files.contains(f"{VERSIONS}/{name}"):
            return None
        with tempfile.TemporaryDirectory(prefix="metastored-lance-") as folder:
            copy = Path(folder, "manifest")
            self._files.download_file(f"{VERSIONS}/{name}", copy)
            self._contents[name] = copy.read_bytes()
        return self._contents[name]

    def publish(self, staged: str, final: str) -> bool:
        content, published = self.content(staged), self.content(final)
        if published is not None or content is None:
            if content is not None and content != published:
                return False
            if content is not None:
                self.remove(staged)
            return published is not None
        with tempfile.TemporaryDirectory(prefix="metastored-lance-") as folder:
            copy = Path(folder, "manifest")
            copy.write_bytes(content)
            self._files.upload_file(copy, f"{VERSIONS}/{final}")
        self._contents[final] = content
        self.remove(staged)
        return True

    def remove(self, name: str) -> bool:
        path = f"{VERSIONS}/{name}"
        self._contents.pop(name, None)
        if not self._files.contains(path):
            return False
        self._files.delete_file(path)
        return True


def has_data(location: str, storage_options: Mapping[str, str]) -> bool:
    """Whether there is a published version at a location."""
    return any(version_of_name(name) is not None for name in Manifests(location, storage_options).directory.names())


def remove_dataset(location: str, storage_options: Mapping[str, str]) -> None:
    """Removes a dataset and its directory, if it is there; a directory without a dataset only if it is empty.

    Raises OSError if it could not be removed.
    """
    from lance import LanceDataset

    # ValueError: there is no manifest in it, so the table was declared and nobody wrote to it.
    with contextlib.suppress(ValueError):
        LanceDataset.drop(location, dict(storage_options) or None, ignore_not_found=True)
    remove_empty_directory(location)


def remove_empty_directory(location: str) -> None:
    """Removes a local directory if it is there and has nothing in it. Raises OSError if it could not be removed."""
    if is_local(location):
        try:
            os.rmdir(parse_location(location).path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
