"""When a call is made again after its connection failed, and how long to wait before. Pure: no clock, no socket.

A call that was never sent can always be made again. One that was sent may have taken effect although its answer was
lost: `retry` in the method table says whether a repeat does no harm (safe), whether a read tells what happened
(lookup), or neither (never).
"""

from __future__ import annotations

from typing import NamedTuple

from metastored.errors import ConfigError, ConnectError, ConnectionLost
from metastored.wire.methods import Method


class Retry(NamedTuple):
    """How often, and after how long."""

    attempts: int = 3
    first_delay: float = 0.1
    """Seconds before the second attempt; doubled before each further one."""
    jitter: float = 0.5
    """Up to this share of a delay is taken off by chance, so that many clients do not return at once."""

    def checked(self) -> Retry:
        if self.attempts < 1 or self.first_delay < 0 or not 0 <= self.jitter <= 1:
            raise ConfigError(f"{self} cannot be: attempts from 1, first_delay from 0, jitter from 0 to 1")
        return self

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds to wait after this attempt (1 is the first) failed; `chance` lies between 0 and 1."""
        return self.first_delay * 2.0 ** (attempt - 1) * (1.0 - self.jitter * chance)

    def again(self, method: Method, error: Exception, attempt: int, sent: bool) -> bool:
        """Whether another attempt makes sense. For a lookup method, ask first."""
        if attempt >= self.attempts or not isinstance(error, (ConnectError, ConnectionLost)):
            return False
        return not sent or method.retry in ("safe", "lookup")
