"""Names of the directories and files of transactional tables: base_5, delta_3_3_0001, bucket_00000. Pure.

    base_0000005            all rows up to write id 5: written by INSERT OVERWRITE, or by a major compaction
    delta_0000003_0000003_0001          rows of write id 3, of the second statement of its transaction
    delta_0000003_0000007_v0000042      rows of write ids 3 to 7: a minor compaction by transaction 42
    delete_delta_…                      the ids of deleted rows, named in the same way

Numbers are written with a minimum width and may be longer. Nothing is listed or opened here, and nothing here decides
which directories a reader uses: see resolution.py.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from metastored.hive.transactions.snapshots import NO_OPEN_ID

VERSION_FILE: Final = "_orc_acid_version"
"""A file in each directory of a fully ACID table; its content is VERSION."""
VERSION: Final = b"2"
METADATA_FILE: Final = "_metadata_acid"
"""A file in a base that Hive 3.1's compactor wrote, and in bases of TRUNCATE and DROP PARTITION of Hive 4."""
SIDE_FILE_SUFFIX: Final = "_flush_length"
"""The suffix of a file next to a bucket file that a stream is still writing: the length that readers may use."""

CONVERTED_BASE: Final = -NO_OPEN_ID - 1
"""The write id of the first base of a converted table that has only files from before its conversion."""

_MAX_BUCKET: Final = 0xFFF
_MAX_STATEMENT: Final = 0xFFF
_CODEC_VERSION: Final = 1

_BASE = re.compile(r"base_(-?\d+)(?:_v(\d+))?")
_DELTA = re.compile(r"(delete_)?delta_(\d+)_(\d+)(?:_(\d+))?(?:_v(\d+))?")
_BUCKET = re.compile(r"bucket_(\d+)(?:_(\d+))?")
_ORIGINAL = re.compile(r"(\d+)_\d+(?:_copy_(\d+))?")


class Kind(Enum):
    """What a directory of a transactional table has."""

    BASE = "base"
    DELTA = "delta"
    DELETE_DELTA = "delete_delta"


class Directory(NamedTuple):
    """A directory of a transactional table, by its name."""

    kind: Kind
    low: int
    """The lowest write id in it; 0 for a base."""
    high: int
    """The highest write id in it; that of a base is in its name."""
    statement: int | None = None
    """The number of the statement in its transaction; None where the name has none."""
    visibility: int = 0
    """The transaction of the compaction that made it; 0 where the name has none."""
    name: str = ""
    """The name as it was read."""

    def __str__(self) -> str:
        visibility = f"_v{self.visibility:07d}" if self.visibility else ""
        if self.kind is Kind.BASE:
            return f"base_{self.high:07d}{visibility}"
        statement = "" if self.statement is None else f"_{self.statement:04d}"
        return f"{self.kind.value}_{self.low:07d}_{self.high:07d}{statement}{visibility}"


def base(write_id: int, visibility: int = 0) -> Directory:
    """The directory of all rows up to a write id."""
    return _named(Directory(Kind.BASE, 0, write_id, None, visibility))


def delta(low: int, high: int, statement: int | None = None, visibility: int = 0) -> Directory:
    """The directory of rows that were added by these write ids."""
    return _named(Directory(Kind.DELTA, low, high, statement, visibility))


def delete_delta(low: int, high: int, statement: int | None = None, visibility: int = 0) -> Directory:
    """The directory of the ids of rows that were deleted by these write ids."""
    return _named(Directory(Kind.DELETE_DELTA, low, high, statement, visibility))


def _named(directory: Directory) -> Directory:
    return directory._replace(name=str(directory))


def parse_directory(name: str) -> Directory | None:
    """A directory from its name; None for a name that is not one of a base, a delta or a delete delta."""
    if (match := _BASE.fullmatch(name)) is not None:
        return Directory(Kind.BASE, 0, int(match[1]), None, int(match[2] or 0), name)
    if (match := _DELTA.fullmatch(name)) is not None:
        kind = Kind.DELETE_DELTA if match[1] else Kind.DELTA
        statement = None if match[4] is None else int(match[4])
        return Directory(kind, int(match[2]), int(match[3]), statement, int(match[5] or 0), name)
    return None


def is_hidden(path: str) -> bool:
    """Whether a file is not data: a part of its relative path begins with `_` or `.`."""
    return any(part.startswith(("_", ".")) for part in path.split("/"))


# --- bucket files ------------------------------------------------------------------------------------------


def bucket_file(bucket: int) -> str:
    """The name of the file of a bucket: `bucket_00003`."""
    return f"bucket_{bucket:05d}"


def bucket_of_file(name: str) -> int | None:
    """The bucket of a file `bucket_00003` or `bucket_00003_1`, which has an attempt id; None for other names."""
    match = _BUCKET.fullmatch(name)
    return None if match is None else int(match[1])


def bucket_of_original(name: str) -> int | None:
    """The bucket of a file from before a table was transactional: 3 for `000003_0` and `000003_0_copy_2`."""
    match = _ORIGINAL.fullmatch(name)
    return None if match is None else int(match[1])


def is_side_file(name: str) -> bool:
    """Whether a file has the length of a bucket file that a stream is still writing."""
    return name.endswith(SIDE_FILE_SUFFIX) and bucket_of_file(name.removesuffix(SIDE_FILE_SUFFIX)) is not None


def flush_length(content: bytes) -> int:
    """The length that readers may use, from the content of a side file; -1 if it has no complete number."""
    complete = len(content) // 8 * 8
    return int.from_bytes(content[complete - 8 : complete], "big", signed=True) if complete else -1


# --- the number in the column `bucket` ---------------------------------------------------------------------


def encode_bucket(bucket: int, statement: int) -> int:
    """The value of the column `bucket`: a version, the bucket and the statement. Raises ValueError above 4095."""
    if not 0 <= bucket <= _MAX_BUCKET or not 0 <= statement <= _MAX_STATEMENT:
        raise ValueError(f"bucket {bucket} or statement {statement} is not between 0 and {_MAX_BUCKET}")
    return _CODEC_VERSION << 29 | bucket << 16 | statement


def decode_bucket(value: int) -> tuple[int, int]:
    """The bucket and the statement of a value of the column `bucket`. Files of Hive before 3 have only the bucket."""
    if value >> 29 & 7 == 0:
        return value, 0
    return value >> 16 & _MAX_BUCKET, value & _MAX_STATEMENT
