"""How many connections a client keeps, and for how long; and what it says about them. Pure data."""

from __future__ import annotations

from typing import Final, NamedTuple

from metastored.errors import ConfigError

CLOSED: Final = "this client is closed"


class PoolSettings(NamedTuple):
    """What a pool may do."""

    max_size: int = 10
    """Connections, and so calls on their way at a time; a metastore spends a thread on each connection."""
    min_idle: int = 0
    """So many unused ones are there, if `max_size` allows: opened at the start, and again when they were closed."""
    idle_timeout: float = 60.0
    """Seconds after which an unused connection is closed: firewalls forget them without a word."""
    max_lifetime: float = 1800.0
    """Seconds after which a connection is replaced, so that load spreads again after a restart."""
    max_waiting: int = 1000
    """Calls that may wait for a connection; one more is refused."""
    check_after: float = 30.0
    """A connection unused for so many seconds is asked for a sign of life before it is trusted with a call."""
    look_every: float = 1.0
    """Seconds between two looks whether `min_idle` connections are there."""

    def checked(self) -> PoolSettings:
        if self.max_size < 1:
            raise ConfigError(f"max_size is {self.max_size}; at least one connection is needed")
        if not 0 <= self.min_idle <= self.max_size:
            raise ConfigError(f"min_idle is {self.min_idle}; it lies between 0 and max_size, {self.max_size}")
        for name in ("idle_timeout", "max_lifetime", "max_waiting", "check_after"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} is {getattr(self, name)}; it cannot be negative")
        if self.look_every <= 0:
            raise ConfigError(f"look_every is {self.look_every}; there has to be some time between two looks")
        return self


class PoolStats(NamedTuple):
    """A pool as it is now, and what it has done so far."""

    size: int
    """Connections that are open or being opened for a call."""
    idle: int
    busy: int
    waiting: int
    acquired: int
    opened: int
    failed: int
    """Attempts to connect, at any address, that did not succeed."""
    replaced: int
    """Connections closed for their age, for being unused, or for not answering the health check."""
    refused: int
    """Calls turned away because too many waited."""
