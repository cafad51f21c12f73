"""What a copy leaves at its target: the state of the source in a parameter, and the names of its directories. Pure.

The parameter `metastored.copy.source` of a partition, or of a table without partitions, has the state of the source
when it was copied. A copy whose source has the same state again has nothing to do.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

COPY_SOURCE: Final = "metastored.copy.source"
DIRECTORY: Final = "copy-"
STAGING: Final = ".copy-"
"""Directories that nobody reads: a name with a dot."""
UNLEASED: Final = "unleased"
"""The end of the token of a copy that has no lease: its directories are removed by nobody else."""
_COPY: Final = re.compile(r"\.?copy-(\d+-[0-9a-f]{16})(-unleased)?")
_EARLIER: Final = re.compile(r"\.?copy-\d+-.+-\d+-[0-9a-f]+")
"""Directories of earlier versions, which named the host and the process."""


class Mark(NamedTuple):
    """What was copied."""

    source: str
    state: str
    rows: int
    checksum: str
    """For information. The sum of the hashes of rows, as 16 digits; or `sha256:…`, that of files that were copied."""

    def text(self) -> str:
        return json.dumps(self._asdict(), sort_keys=True)


def mark_of(parameters: Mapping[str, str] | None) -> Mark | None:
    """The mark in the parameters of a table or partition; None where there is none that can be read."""
    try:
        return Mark(**json.loads((parameters or {})[COPY_SOURCE]))
    except (KeyError, ValueError, TypeError):
        return None


def state_of(files: Iterable[tuple[str, int, str]], version: str | None) -> str:
    """A digest that changes when files are added, removed, replaced or rewritten in place.

    A file has its path, its size, and its etag or time. `version` is what the metastore says.
    """
    content = json.dumps([sorted(files), version])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def token(now: float, random: str, leased: bool) -> str:
    """The name of a copy: when it began, and 16 random digits. It is a part of the names of its directories."""
    return f"{int(now)}-{random}" if leased else f"{int(now)}-{random}-{UNLEASED}"


def lease_of(directory: str) -> str | None:
    """The lease of the copy that made a directory; None if no copy made it, or one without a lease."""
    match = _COPY.fullmatch(directory)
    return None if match is None or match[2] else match[1]


def base_of(location: str) -> str:
    """The directory of a table or partition without that of a copy in it."""
    parent, _, last = location.rstrip("/").rpartition("/")
    return parent if _COPY.fullmatch(last) or _EARLIER.fullmatch(last) else location.rstrip("/")
