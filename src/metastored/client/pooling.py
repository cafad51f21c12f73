"""Settings and statistics of the connection pool. Pure data."""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.errors import ConfigError

CLOSED: Final = "this client is closed"


class PoolSettings(NamedTuple):
    """The limits of a connection pool."""

    max_size: int = 10
    """Maximum number of connections, and so of concurrent calls. A metastore uses a thread for each connection."""
    min_idle: int = 0
    """Idle connections that are kept open, within `max_size`: opened at the start and replaced when closed."""
    idle_timeout: float = 60.0
    """Seconds after which an idle connection above `min_idle` is closed. Firewalls drop idle connections silently."""
    max_lifetime: float = 1800.0
    """Seconds after which a connection is replaced, so that load is balanced again after a restart."""
    max_waiting: int = 1000
    """Maximum number of calls that wait for a connection; further calls are refused."""
    check_after: float = 30.0
    """Seconds of idleness after which a connection is tested by a call before it is used."""
    look_every: float = 1.0
    """Seconds between two checks that `min_idle` connections are open."""
    acquire_timeout: float | None = None
    """Seconds within which a call gets a connection: the wait for a free one and the opening of a new one together.
    None: only the timeout of the call applies."""

    def checked(self) -> PoolSettings:
        """Returns the settings; raises ConfigError if a value is not possible."""
        if self.max_size < 1:
            raise ConfigError(f"max_size is {self.max_size}; at least one connection is needed")
        if not 0 <= self.min_idle <= self.max_size:
            raise ConfigError(f"min_idle is {self.min_idle}; it must be between 0 and max_size, {self.max_size}")
        for name in ("idle_timeout", "max_lifetime", "max_waiting", "check_after"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if self.look_every <= 0:
            raise ConfigError(f"look_every is {self.look_every}; it must be more than 0")
        if self.acquire_timeout is not None and self.acquire_timeout <= 0:
            raise ConfigError(f"acquire_timeout is {self.acquire_timeout}; it must be more than 0, or None")
        return self


class PoolStats(NamedTuple):
    """The current state of a pool, and counts since it was created."""

    size: int
    """Connections that are open or being opened for a call."""
    idle: int
    busy: int
    waiting: int
    acquired: int
    opened: int
    failed: int
    """Failed attempts to connect, at any address."""
    replaced: int
    """Connections closed because of their age, their idle time, or a failed health check."""
    refused: int
    """Calls refused because too many were waiting."""
