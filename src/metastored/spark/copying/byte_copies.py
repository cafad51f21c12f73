"""Copies files byte for byte into a directory that nobody reads yet, and verifies them there.

    <staging>/copy_part=0/part-….parquet    the files of the first partition of a batch, with their own names

Each file is compared with its source by size and SHA-256 digest. Spark then counts the rows of the staged files, and
they are compared with the numbers in the footers of the source's files. The driver copies; it decodes no row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from metastored.errors import CopyMismatch
from metastored.hive.locations import is_local, join
from metastored.spark.copying.conditions import data_files
from metastored.spark.copying.footers import UnknownFooter, rows_of
from metastored.spark.copying.planning import Part
from metastored.spark.copying.staging import Staged
from metastored.spark.files import Files, HadoopFiles, files_of, in_threads

LIMIT: Final = 16 << 30
"""The most bytes that the driver copies. Executors rewrite the rows of what is larger, with all their machines."""
_PART: Final = "copy_part"
"""The directories of a batch as a partition key, by which Spark counts their rows."""


class _File(NamedTuple):
    """A file of the source, with its number of rows."""

    part: int
    source: str
    name: str
    size: int
    rows: int


class Batch(NamedTuple):
    """Partitions whose files can be copied, with the numbers of rows that their footers have."""

    parts: Sequence[Part]
    files: Sequence[_File]
    format: str


def read_footers(spark: Any, parts: Sequence[Part], format: str) -> Batch | None:
    """The files of some partitions; None if a footer cannot be read here, so that rows must be rewritten."""
    systems = [files_of(spark, part.location) for part in parts]
    listed = [(at, *file) for at, part in enumerate(parts) for file in data_files(part)]

    def read(item: tuple[int, str, int]) -> _File:
        at, name, size = item
        location = parts[at].location
        return _File(at, join(location, name), name, size, rows_of(systems[at], location, name, size, format))

    try:
        return Batch(parts, in_threads(read, listed), format)
    except UnknownFooter:
        return None


def stage_files(spark: Any, files: Files, batch: Batch, staging: str) -> list[Staged]:
    """Copies the files of a batch below `staging`. Raises CopyMismatch if they are not equal to their sources."""
    copying: Files = files
    if not is_local(staging) or any(not is_local(part.location) for part in batch.parts):
        copying = HadoopFiles(spark, staging)
    directories = [join(staging, f"{_PART}={at}") for at in range(len(batch.parts))]
    for directory in directories:
        files.make(directory)
    digests = in_threads(lambda file: _copied(copying, file, directories[file.part]), batch.files)
    copied: list[dict[_File, str]] = [{} for _ in batch.parts]
    for file, digest in zip(batch.files, digests, strict=True):
        copied[file.part][file] = digest
    in_threads(lambda at: _check_sizes(files, batch.parts[at], directories[at], copied[at]), range(len(directories)))
    counts = _rows_by_part(spark, batch, staging)
    staged = []
    for at, (part, directory, own) in enumerate(zip(batch.parts, directories, copied, strict=True)):
        rows = sum(file.rows for file in own)
        if rows != counts.get(at, 0):
            raise CopyMismatch(
                f"the copy of {part.name or part.location} is not published: its files have {rows} rows, and Spark "
                f"reads {counts.get(at, 0)} rows of their copies"
            )
        checksum = digest_of_files({file.name: digest for file, digest in own.items()})
        staged.append(Staged(part, directory, rows, checksum, len(own)))
    return staged


def digest_of_files(digests: Mapping[str, str]) -> str:
    """The checksum of a directory for its mark, from the digests of its files by name."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(digests.items()))
    return f"sha256:{hashlib.sha256(lines.encode()).hexdigest()}"


def _copied(files: Files, file: _File, directory: str) -> str:
    """Copies a file and reads the copy. Returns the digest of both."""
    target = join(directory, file.name)
    digest = files.copy(file.source, target)
    written = files.digest(target)
    if digest != written:
        raise CopyMismatch(
            f"the copy of {file.source} is not equal to it and is not published: its SHA-256 digest is {written} "
            f"instead of {digest}"
        )
    return digest


def _check_sizes(files: Files, part: Part, directory: str, copied: Iterable[_File]) -> None:
    """A file may have been replaced since the source was listed; its old state would then be marked as copied."""
    expected = {file.name: file.size for file in copied}
    sizes = {each.name: each.size for each in files.entries(directory) if not each.name.startswith(".")}
    if expected != sizes:
        raise CopyMismatch(
            f"the copy of {part.location} is not published: its files have changed while they were copied"
        )


def _rows_by_part(spark: Any, batch: Batch, staging: str) -> dict[int, int]:
    """The numbers of rows that Spark reads. It needs no column for them, and reads only footers."""
    if not batch.files:
        return {}
    frame = spark.read.schema(f"{_PART} INT").format(batch.format).load(staging)
    return {row[0]: row[1] for row in frame.groupBy(_PART).count().collect()}
