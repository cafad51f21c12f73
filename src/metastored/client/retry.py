"""Decides whether a failed call is retried, and after which delay. Pure: no clock, no socket.

A call that was not sent can always be retried. A call that was sent may have taken effect although its reply was lost:
`retry` in the method table says whether it is idempotent (safe), whether a read can find out if it took effect
(lookup), or neither (never).
"""

from __future__ import annotations

from typing import NamedTuple

from metastored.errors import ConfigError, ConnectError, ConnectionLost, RemoteProtocolError, ReplyRefused
from metastored.wire.methods import Method


class Retry(NamedTuple):
    """The number of attempts, and the delays between them."""

    attempts: int = 3
    first_delay: float = 0.1
    """Seconds before the second attempt; doubled before each further one."""
    jitter: float = 0.5
    """The largest share of a delay that is subtracted at random, so that many clients do not retry at the same time."""

    def checked(self) -> Retry:
        """Returns the settings; raises ConfigError if a value is not possible."""
        if self.attempts < 1 or self.first_delay < 0 or not 0 <= self.jitter <= 1:
            raise ConfigError(f"{self} is not valid: attempts from 1, first_delay from 0, jitter from 0 to 1")
        return self

    def delay(self, attempt: int, chance: float) -> float:
        """Seconds to wait after this attempt (the first is 1) failed; `chance` is a random number from 0 to 1."""
        return self.first_delay * 2.0 ** (attempt - 1) * (1.0 - self.jitter * chance)

    def again(self, method: Method, error: Exception, attempt: int, sent: bool) -> bool:
        """Whether the call is retried. A lookup method that was sent needs its lookup first.

        Errors of the transport and of the protocol are retried. A timeout is not: the time of the call is over. Nor is
        a reply that would be the same again.
        """
        if attempt >= self.attempts or isinstance(error, ReplyRefused):
            return False
        if not isinstance(error, (ConnectError, ConnectionLost, RemoteProtocolError)):
            return False
        return not sent or method.retry in ("safe", "lookup")
