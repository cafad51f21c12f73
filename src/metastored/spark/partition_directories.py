"""Directories that are partitions: found below a table's location by their names, `ds=2024-01-01/h=1`.

Local directories are listed by this process, or, if there are many, by tasks of Spark; other file systems by threads
through the Hadoop file systems of the driver's JVM. Names are checked before anything is changed: two names of one
partition, and a name that no partition can have, are refused. No metastore is called here.
"""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from typing import Any, Final, NamedTuple, TypeVar

from metastored.errors import InvalidInputException, NotSupported
from metastored.hive.limits import MAX_PARTITION_NAME, shortened
from metastored.hive.locations import canonical, is_local, local_path
from metastored.hive.names import DEFAULT_PARTITION, make_part_name, unescape
from metastored.hive.transactions.layout import is_hidden
from metastored.spark.arrow_tasks import map_in_arrow
from metastored.spark.files import in_threads

MANY: Final = 500_000
"""From so many local directories on, they are listed by tasks of Spark: one process lists 100,000 in a second, and the
first tasks of Python need several seconds to start."""
CHUNK: Final = 20_000
"""The directories that a task lists."""

Result = TypeVar("Result")
_INTEGER: Final = re.compile(r"[+-]?\d+")
_BITS: Final = {"tinyint": 8, "smallint": 16, "int": 32, "integer": 32, "bigint": 64}
_STATUS: Final = re.compile(r"^\w+\{path=(?P<path>.*?); isDirectory=(?P<directory>true|false);")


class Found(NamedTuple):
    """A directory that is a partition."""

    values: tuple[str, ...]
    location: str


class Key(NamedTuple):
    """A partition key, with its Hive type."""

    name: str
    type: str


def find(spark: Any, location: str, keys: Sequence[Key]) -> dict[str, Found]:
    """The partitions below a location, by name, in the order of their directories.

    Directories whose names are not `key=value` of the expected key are ignored, as are files and hidden names. Raises
    InvalidInputException for a name that no partition can have, for a symbolic link, and for two directories of one
    partition.
    """
    root = canonical(location)
    level = [Found((), root)]
    for key in keys:
        listed = _listed(spark, root, [each.location for each in level])
        level = [
            Found((*above.values, value), f"{above.location.rstrip('/')}/{name}")
            for above, names in zip(level, listed, strict=True)
            for name, value in _partitions(above.location, names, key)
        ]
    names = tuple(each.name for each in keys)
    by_name: dict[str, Found] = {}
    for each in level:
        name = make_part_name(names, each.values)
        if name in by_name:
            raise InvalidInputException(
                f"the directories {by_name[name].location} and {each.location} are both the partition {name}: rename "
                "or remove one of them"
            )
        if len(name) > MAX_PARTITION_NAME:
            raise InvalidInputException(f"the name of a partition is too long: {shortened(name)}")
        by_name[name] = each
    return by_name


def _partitions(above: str, names: Iterable[str], key: Key) -> Iterator[tuple[str, str]]:
    """The names that are values of a key, with the values."""
    for name in names:
        written, sign, text = name.partition("=")
        if not sign or unescape(written).lower() != key.name.lower():
            continue
        value = unescape(text)
        if wrong := _wrong(name, value, key):
            raise InvalidInputException(f"{_legible(above)}/{_legible(name)} is not a partition: {wrong}")
        yield name, value


def _wrong(name: str, value: str, key: Key) -> str | None:
    """Why a directory cannot be a partition; None if it can."""
    if name.endswith("/"):
        return "it is a symbolic link, which can lead anywhere: use ALTER TABLE … ADD PARTITION … LOCATION"
    if not value:
        return f"it has no value; that of the default partition is {DEFAULT_PARTITION}"
    if any("\ud800" <= each <= "\udfff" for each in name):
        return "its name is not UTF-8"
    if any(ord(each) < 0x20 or each == "\x7f" for each in name):
        return "its name has control characters"
    if value in (".", ".."):
        return f"the value {value!r} is a path"
    if value == DEFAULT_PARTITION:
        return None
    type = key.type.lower()
    if type in _BITS:
        highest = 1 << _BITS[type] - 1
        if not _INTEGER.fullmatch(value) or not -highest <= int(value) < highest:
            return f"{value!r} is not of the type {key.type}"
    elif type == "date":
        try:
            date.fromisoformat(value)
        except ValueError:
            return f"{value!r} is not a date"
    return None


def _legible(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


# --- listing -----------------------------------------------------------------------------------------------


def _listed(spark: Any, root: str, locations: Sequence[str]) -> list[list[str]]:
    """The names of the directories in each directory, sorted. That of a symbolic link ends with a slash."""
    if is_local(root):
        return spread(spark, _local_directories, [local_path(each) for each in locations])
    files = HadoopDirectories(spark, root)
    return in_threads(files.directories, locations)


def _local_directories(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            names = [
                entry.name + ("/" if entry.is_symlink() else "")
                for entry in entries
                if "=" in entry.name and not is_hidden(entry.name) and entry.is_dir()
            ]
    except FileNotFoundError:
        return []
    return sorted(names)


def measure(path: str) -> tuple[int, int]:
    """The number and the size of the files below a local directory that are not hidden."""
    count = size = 0
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if is_hidden(entry.name):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    more = measure(entry.path)
                    count, size = count + more[0], size + more[1]
                else:
                    count, size = count + 1, size + entry.stat().st_size
    except FileNotFoundError:
        pass
    return count, size


class HadoopDirectories:
    """Directories of a Hadoop file system, through the driver's JVM. One call returns the entries of a directory."""

    def __init__(self, spark: Any, location: str) -> None:
        if not hasattr(spark, "_jsparkSession"):
            raise NotSupported(
                f"{location} is listed through the JVM of the Spark driver, which a session of Spark Connect does not "
                "have"
            )
        self._path = spark._jvm.org.apache.hadoop.fs.Path
        self._jvm, self._new_array = spark._jvm, spark.sparkContext._gateway.new_array
        self._system = self._path(location).getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())

    def exists(self, location: str) -> bool:
        """Whether a directory exists."""
        return bool(self._system.exists(self._path(location)))

    def directories(self, location: str) -> list[str]:
        """The names of the directories in a directory, sorted. Raises InvalidInputException for a line break in one."""
        path = self._path(location)
        if not self._system.exists(path):
            return []
        statuses = self._system.listStatus(path)
        lines = self._lines(statuses)
        matches = [_STATUS.match(line) for line in lines]
        if len(lines) != len(statuses) or not all(matches):
            raise InvalidInputException(f"a directory in {location} has a line break in its name: rename it")
        names = [each["path"].rpartition("/")[2] for each in matches if each and each["directory"] == "true"]
        return sorted(name for name in names if "=" in name and not is_hidden(name))

    def _lines(self, statuses: Any) -> list[str]:
        """The text of each status. One call for each directory would take longer than the listing."""
        count = len(statuses)
        if not count:
            return []
        objects = self._new_array(self._jvm.java.lang.Object, count)  # py4j matches types of arrays exactly.
        self._jvm.java.lang.System.arraycopy(statuses, 0, objects, 0, count)
        text: str = self._jvm.org.apache.commons.lang3.StringUtils.join(objects, "\n")
        return text.split("\n")


def spread(spark: Any, work: Callable[[str], Result], items: Sequence[str]) -> list[Result]:
    """The results of a function for local paths, in their order: by tasks of Spark if there are many."""
    if len(items) < MANY:
        return [work(each) for each in items]
    chunks = [items[at : at + CHUNK] for at in range(0, len(items), CHUNK)]
    rows = [(at, bytearray(pickle.dumps((work, chunk)))) for at, chunk in enumerate(chunks)]
    frame = spark.createDataFrame(rows, "at int, content binary").repartition(len(rows))
    by_part = {
        row.at: pickle.loads(row.content) for row in map_in_arrow(frame, _work_on, "at int, content binary").collect()
    }
    return [each for at in range(len(chunks)) for each in by_part[at]]


def _work_on(batches: Any) -> Any:
    """What a task does with its chunks."""
    import pyarrow as pa

    for batch in batches:
        results = []
        for content in batch.column(1).to_pylist():
            work, items = pickle.loads(content)
            results.append(pickle.dumps([work(each) for each in items]))
        yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(results, pa.binary())], ["at", "content"])
