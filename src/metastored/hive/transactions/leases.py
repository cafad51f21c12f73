"""Leases: locks by which a process shows that it is still at work. Here are their names and when they are over. Pure.

A lease is a lock of the metastore that belongs to no transaction, kept alive by heartbeats, so every Hive metastore has
it. It is the only rule by which metastored decides that the process of a copy, of a compaction or of a pipeline is
gone: its lease can be taken. Host names and process ids are shown to people and are compared nowhere.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

LEASES: Final = "_metastored_leases"
"""The database in the locks of leases that belong to no table. No such database exists."""
HEARTBEAT: Final = 10.0
"""Seconds between two heartbeats of a lease."""
EXPIRES: Final = 60.0
"""Seconds without a heartbeat after which a lease is over."""
_AGENT: Final = re.compile(r"metastored lease of process (\d{1,10})")
_KEY: Final = "metastored_lease"


def lease_table(name: str) -> str:
    """The table in the lock of a lease that belongs to no table. A digest: servers limit the length of names."""
    return hashlib.sha256(name.encode()).hexdigest()[:40]


def lease_partition(name: str) -> str:
    """The partition in the lock of a lease that belongs to a table. Hive 4 requires a key and a value."""
    return f"{_KEY}={name}"


def agent(pid: int) -> str:
    """The text by which a lease is known among other locks."""
    return f"metastored lease of process {pid}"


class Seen(NamedTuple):
    """A lock as a metastore lists it. Times are in milliseconds, by the server's clock."""

    id: int
    held: bool
    """Whether it is held; else it waits."""
    silent: int
    """How long ago its last heartbeat was; 0 if that is not known."""
    acquired: int
    """Since 1970; 0 if it waits."""
    user: str
    host: str
    agent: str

    def is_over(self, expires: float) -> bool:
        """Whether it is a lease without a heartbeat for so many seconds. Locks of other programs never are."""
        return _AGENT.fullmatch(self.agent) is not None and self.silent > expires * 1000

    @property
    def text(self) -> str:
        """Who has it and since when. Names are from other programs: signs that are not printable are escaped."""
        match = _AGENT.fullmatch(self.agent)
        process = f", process {match[1]}" if match else ""
        since = ""
        try:
            if self.acquired > 0:
                since = f" since {datetime.fromtimestamp(self.acquired / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
        except (OverflowError, ValueError, OSError):
            pass  # A time that is none.
        return f"{_printable(self.user) or 'somebody'} on {_printable(self.host) or 'an unknown host'}{process}{since}"


def _printable(text: str) -> str:
    return text if text.isprintable() else ascii(text)[1:-1]
