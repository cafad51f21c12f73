"""What a copy leaves at its target: the state of the source in a parameter, and the names of its directories. Pure.

The parameter `metastored.copy.source` of a partition, or of a table without partitions, has the state of the source
when it was copied. A copy whose source has the same state again has nothing to do.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

COPY_SOURCE: Final = "metastored.copy.source"
DIRECTORY: Final = "copy-"
STAGING: Final = ".copy-"
"""Directories that nobody reads: a name with a dot."""
ABANDONED: Final = 24 * 3600
"""Seconds after which a directory that no metadata names is taken for that of a copy that was killed."""
_TOKEN: Final = re.compile(r"\.?copy-(\d+)-(.+)-(\d+)-([0-9a-f]+)")


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


def state_of(files: Iterable[tuple[str, int]], version: str | None) -> str:
    """A digest that changes when files are added, removed or replaced; `version` is what the metastore says."""
    content = json.dumps([sorted(files), version])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def token(now: float, host: str, pid: int, random: str) -> str:
    """The name of a copy: when it began, and the process. It is a part of the names of its directories."""
    return f"{int(now)}-{re.sub(r'[^A-Za-z0-9]', '', host) or 'host'}-{pid}-{random}"


def is_abandoned(directory: str, now: float, host: str, is_running: Callable[[int], bool]) -> bool:
    """Whether a directory belongs to a copy that has ended: its process is gone, or it is old."""
    match = _TOKEN.fullmatch(directory)
    if match is None:
        return False
    began, where, pid = int(match[1]), match[2], int(match[3])
    same_host = where == (re.sub(r"[^A-Za-z0-9]", "", host) or "host")
    return now - began > ABANDONED or (same_host and not is_running(pid))


def base_of(location: str) -> str:
    """The directory of a table or partition without that of a copy in it."""
    parent, _, last = location.rstrip("/").rpartition("/")
    return parent if _TOKEN.fullmatch(last) else location.rstrip("/")
