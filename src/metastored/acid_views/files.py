"""The files that a snapshot of an ACID table consists of, as the parts of a view. Pure: the caller lists directories.

A view reads complete directories, and tells them apart by their paths. What cannot be read that way raises NotShown:
then the view fails with a sentence, and never shows wrong rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from metastored.acid_views.names import Content, Snapshot
from metastored.hive.locations import join, parse_location
from metastored.hive.transactions.layout import Directory, bucket_of_file, is_side_file, parse_directory
from metastored.hive.transactions.resolution import File, Listing, NotEnoughHistory, data_files, resolve

MAX_PATHS: Final = 50_000
"""Directories of one view."""
_SPECIAL: Final = "{}[]*?,\\"
"""Signs that a pattern of Hadoop's gives a meaning to."""


class NotShown(Exception):
    """Why a table cannot be shown as a view, as the end of a sentence."""


class TablePlace(NamedTuple):
    """The directory of a partition, or of a table without partitions."""

    location: str
    values: tuple[str | None, ...] = ()
    """The values of the keys; None in the default partition."""


class Files(NamedTuple):
    """The locations that a view reads: directories, and of rows without ids files."""

    rows: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    partly_visible: bool = False
    """Whether the directories also have rows of write ids that the snapshot does not see."""

    def of(self, content: Content) -> tuple[str, ...]:
        return {Content.ROWS: self.rows, Content.DELETES: self.deletes, Content.PLAIN: self.plain}[content]


def compactions_in(listings: Iterable[Listing]) -> list[int]:
    """The transactions of the compactions that wrote directories."""
    parsed = (parse_directory(name) for listing in listings for name in listing.directories)
    return sorted({each.visibility for each in parsed if each is not None and each.visibility})


def files_of(places: Mapping[TablePlace, Listing], snapshot: Snapshot, insert_only: bool) -> Files:
    """The files of a snapshot. Raises NotShown."""
    rows: list[str] = []
    deletes: list[str] = []
    plain: list[str] = []
    partly = False
    for place, listing in places.items():
        try:
            resolved = resolve(listing, snapshot.write_ids, snapshot.transactions)
        except NotEnoughHistory as error:
            raise NotShown(f"the cleaner has removed files of this snapshot: {error}") from error
        partly = partly or bool(resolved.partly_visible)
        gone = _directories(place, listing, resolved.delete_deltas, with_ids=True)
        rows += _directories(place, listing, resolved.data, with_ids=not insert_only)
        deletes += gone
        if resolved.originals and gone:
            raise NotShown(
                f"rows of files without ids are deleted in {place.location}; a major compaction gives them ids"
            )
        plain += _originals(place, resolved.originals)
        if len(rows) + len(deletes) + len(plain) > MAX_PATHS:
            raise NotShown(f"it has more than {MAX_PATHS:,} directories; compact it")
    return Files(tuple(rows), tuple(deletes), tuple(plain), partly)


def _directories(place: TablePlace, listing: Listing, directories: Sequence[Directory], *, with_ids: bool) -> list[str]:
    """The locations of the directories that have rows."""
    locations = []
    for directory in directories:
        location = join(place.location, directory.name)
        if any(is_side_file(file.path.rpartition("/")[2]) for file in listing.directories[directory.name]):
            raise NotShown(f"a stream still writes {location}; compact the table")
        files = data_files(listing.directories[directory.name])
        for file in files:
            _check(location, file, with_ids)
        if files:
            locations.append(location)
    return locations


def _check(location: str, file: File, with_ids: bool) -> None:
    name = file.path.rpartition("/")[2]
    if file.path.count("/") != 1:
        raise NotShown(f"{location} has directories in it; a major compaction makes them one")
    if with_ids and bucket_of_file(name) is None:
        raise NotShown(f"{location}/{name} was loaded without ids; a major compaction gives its rows ids")


def _originals(place: TablePlace, files: Sequence[File]) -> list[str]:
    for file in files:
        if "/" in file.path:
            raise NotShown(f"{place.location} has files in directories that are not Hive's")
    return [join(place.location, file.path) for file in files]


def pattern_of(locations: Sequence[str]) -> str:
    """One path for Spark that matches these locations and nothing else. Raises NotShown."""
    parsed = [parse_location(each) for each in locations]
    if len({(each.scheme, each.authority) for each in parsed}) != 1:
        raise NotShown("its partitions are on several file systems")
    parts = [each.path.strip("/").split("/") for each in parsed]
    depth = 0
    while all(len(each) > depth + 1 and each[depth] == parts[0][depth] for each in parts):
        depth += 1
    first = parsed[0]
    root = str(first._replace(path="/" + "".join(f"{_literal(each)}/" for each in parts[0][:depth])))
    rest = ["/".join(map(_literal, each[depth:])) for each in parts]
    return root.rstrip("/") + "/" + (rest[0] if len(rest) == 1 else "{" + ",".join(rest) + "}")


def _literal(part: str) -> str:
    return "".join(f"\\{each}" if each in _SPECIAL else each for each in part)
