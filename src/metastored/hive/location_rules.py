"""Which locations a client may name, and how their directories contain each other. Pure functions over `locations.py`.

Every location that a client sends passes `accepted`: one spelling for the local file system, no `..` above a root,
only known schemes. Nothing here opens a directory or knows which scheme has a driver.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final, Generic, NamedTuple, TypeVar

from metastored.hive.locations import LOCAL_SCHEME, Location, LocationError, is_under, parse_location, qualified

Item = TypeVar("Item")

LOCAL_ALIASES: Final = frozenset({"local", "asynclocal", "pfile"})
"""Other schemes of this machine's own file system: fsspec's and Hive's. They are read as `file`."""

ARCHIVE_SCHEME: Final = "har"
"""Hadoop archives: the location of an archived partition. It is stored and never opened."""

_PLAIN: Final = f"{LOCAL_SCHEME}:/"

TRASH: Final = ".Trash"
"""The name of the directory in which Hadoop keeps removed files."""


@lru_cache(maxsize=4096)
def unaliased(text: str) -> str:
    """A location in canonical form, with `file` for every alias of the local file system."""
    return str(_local_as_file(parse_location(text)))


def plain_path(text: str) -> str | None:
    """The path of a local location that is in its canonical form; None for any other, which has to be parsed.

    Most locations of partitions are, and a call may have a hundred thousand.
    """
    if not text.startswith(_PLAIN) or "//" in text or "/." in text or "\0" in text or text[-1] == "/":
        return None
    return text[len(_PLAIN) - 1 :]


def _local_as_file(location: Location) -> Location:
    scheme, authority = location.scheme, location.authority
    if scheme in LOCAL_ALIASES:
        scheme = LOCAL_SCHEME
    if scheme == LOCAL_SCHEME and authority.lower() == "localhost":
        authority = ""
    return Location(scheme, authority, location.path)


def accepted(text: str, root: str, schemes: Collection[str] | None) -> str:
    """A location that a client sent, in canonical form; a path without a scheme is on the file system of `root`.

    `schemes` are the schemes that may be used, None for all: a location that is never opened is only a text. Raises
    LocationError for any other scheme, for a path that leads above the root, and for a local one on a host.
    """
    if "\0" in text:
        raise LocationError(f"{text!r} has a null character in it; a location is a URI or a path")
    location = parse_location(qualified(unaliased(text), root))
    if location.path.split("/", 2)[:2] == ["", ".."]:
        raise LocationError(f"{text!r} leads above the root of its file system by '..'; write where it is instead")
    if schemes is not None and location.scheme not in schemes and location.scheme != ARCHIVE_SCHEME:
        known = ", ".join(sorted(schemes))
        raise LocationError(
            f"{text!r} has the scheme {location.scheme!r}, which this server does not use; the setting"
            f" location_schemes has {known}"
        )
    return str(location)


def relative(root: str, path: str) -> str:
    """A location as a root and the text that follows it, such as `/ds=1`. Raises LocationError if it is not below.

    Hive concatenates the texts. Without this check `/../other` and `-other` would be other directories.
    """
    location = f"{root.rstrip('/')}{path}" if path.startswith("/") else f"{root}{path}"
    if not is_under(location, root):
        raise LocationError(f"the relative path {path!r} leads out of {root}; write one below it, such as /ds=1")
    return location


def archive_directory(location: str, original: str | None, root: str) -> str | None:
    """The directory of an archived partition below its table's `root`; None if neither text names one there.

    `original` is the former location of the partition (Hive's parameter `original_location`). If the table was renamed
    since, the root differs: then it is the directory that contains the archive.
    """
    candidates = [original or ""]
    parsed = parse_location(location)
    if parsed.scheme == ARCHIVE_SCHEME and ".har" in parsed.path:
        archive = parsed.path[: parsed.path.index(".har")].rpartition("/")[0]
        candidates.append(str(parse_location(root)._replace(path=archive or "/")))
    for candidate in candidates:
        if candidate and is_under(candidate, root) and location_key(candidate) != location_key(root):
            return unaliased(candidate)
    return None


# --- containment --------------------------------------------------------------------------------------------------


class LocationKey(NamedTuple):
    """A location that can be compared and looked up: all spellings of a directory are one LocationKey."""

    scheme: str
    authority: str
    path: str
    """Without a slash at its end; the root is empty."""


@lru_cache(maxsize=4096)
def location_key(text: str) -> LocationKey:
    path = plain_path(text)
    if path is not None:
        return LocationKey(LOCAL_SCHEME, "", path)
    scheme, authority, path = _local_as_file(parse_location(text))
    return LocationKey(scheme or LOCAL_SCHEME, authority.lower(), path.rstrip("/"))


def location_key_or_none(text: str) -> LocationKey | None:
    """The LocationKey of a text that may be no location, as an import may have stored it."""
    try:
        return location_key(text)
    except LocationError:
        return None


def above(inner: LocationKey) -> Iterator[LocationKey]:
    """The locations that contain this one, the nearest first."""
    path = inner.path
    while path:
        path = path.rpartition("/")[0]
        yield inner._replace(path=path)


def is_above(outer: str, inner: str) -> bool:
    """Whether a directory contains another one, which is not the same."""
    return location_key(outer) in above(location_key(inner))


class LocationIndex(Generic[Item]):
    """An index of items by their locations.

    Lookups of the items at, above and below a location take time by its depth, not by their number.
    """

    def __init__(self, items: Iterable[tuple[str, Item]]) -> None:
        self._at: dict[LocationKey, list[Item]] = {}
        self._below: dict[LocationKey, list[Item]] = {}
        for text, item in items:
            here = location_key_or_none(text)
            if here is None:
                continue
            self._at.setdefault(here, []).append(item)
            for outer in above(here):
                self._below.setdefault(outer, []).append(item)

    def at(self, here: LocationKey) -> list[Item]:
        return self._at.get(here, [])

    def around(self, here: LocationKey) -> Iterator[Item]:
        """The items above and below a location, without those at it."""
        yield from self._below.get(here, ())
        for outer in above(here):
            yield from self._at.get(outer, ())
