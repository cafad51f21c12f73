"""Failed logins with passwords, counted by user and address: guesses are slowed down, and nobody is locked out.

Behind a gateway all clients may have one address, and anybody can name another user. Therefore a password is verified
whatever others did before, and a right one always opens. After MAX_FAILURES failures of a user from an address, further
attempts of that user from that address are verified one after the other, PAUSE seconds apart. An address with failures
of many users is slowed down in the same way. Tickets and tokens cannot be guessed and are not counted.

Each worker counts by itself. This module verifies nothing and waits for nothing.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final, NamedTuple, TypeVar

from metastored.errors import AuthenticationError

MAX_FAILURES: Final = 10
"""Failures of one user from one address within FAILURE_WINDOW, after which further attempts are slowed down."""
MAX_FAILURES_OF_ADDRESS: Final = 100
"""The same for all users of an address together; a user counts with its first MAX_FAILURES failures only."""
FAILURE_WINDOW: Final = 60.0
PAUSE: Final = 0.25
"""Seconds between two verifications of attempts that are slowed down."""
LONGEST_WAIT: Final = 30.0
"""Seconds. An attempt whose turn is later is refused without being verified, so that a flood cannot fill the memory."""
MAX_COUNTED: Final = 10_000
MAX_NAME: Final = 256

T = TypeVar("T")


class TooManyAttempts(AuthenticationError):
    """The password is wrong, or so many attempts wait that it was not verified."""

    def __init__(self, address: str, wait: int) -> None:
        super().__init__(f"too many failed attempts of this user from {address}: try again in {wait} s")
        self.wait: Final = wait


class _Count(NamedTuple):
    failures: int
    until: float
    """When the first of the failures is forgotten."""
    turn: float
    """When the next attempt may be verified."""


_NONE: Final = _Count(0, 0.0, 0.0)


class Attempts:
    """The failures of the last minute. Used by several threads."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._counts: OrderedDict[tuple[str, str], _Count] = OrderedDict()
        """By user and address; those of an address as a whole have an empty user, whom no password is for."""
        self._lock = threading.Lock()

    def wait(self, user: str, address: str) -> float:
        """Reserves the next turn; returns the seconds until it comes, 0 for users and addresses that are not slowed.

        Raises TooManyAttempts if that is longer than LONGEST_WAIT.
        """
        with self._lock:
            now = self._clock()
            for key, limit in ((_key(user, address), MAX_FAILURES), (("", address), MAX_FAILURES_OF_ADDRESS)):
                attempts = self._count(key, now)
                if attempts.failures >= limit:
                    turn = max(now, attempts.turn)
                    if turn - now > LONGEST_WAIT:
                        raise TooManyAttempts(address, int(LONGEST_WAIT))
                    self._put(key, attempts._replace(turn=turn + PAUSE))
                    return turn - now
        return 0.0

    def counted(self, user: str, address: str, verify: Callable[[], T]) -> T:
        """Returns what `verify` returns, and forgets the user's failures. An AuthenticationError is one more failure.

        Raises TooManyAttempts in its place if there were too many before.
        """
        try:
            value = verify()
        except AuthenticationError:
            left = self._failed(user, address)
            if left:
                raise TooManyAttempts(address, left) from None
            raise
        with self._lock:
            self._counts.pop(_key(user, address), None)
        return value

    def _failed(self, user: str, address: str) -> int:
        """Counts a failure; returns the seconds of the window that are left if there were too many before, else 0."""
        with self._lock:
            now = self._clock()
            key = _key(user, address)
            mine, all_of_it = self._count(key, now), self._count(("", address), now)
            if mine.failures >= MAX_FAILURES:
                return int(mine.until - now) + 1
            self._put(key, _more(mine, now))
            if all_of_it.failures >= MAX_FAILURES_OF_ADDRESS:
                return int(all_of_it.until - now) + 1
            self._put(("", address), _more(all_of_it, now))
        return 0

    def _count(self, key: tuple[str, str], now: float) -> _Count:
        count = self._counts.get(key, _NONE)
        return count if count.until > now else _NONE

    def _put(self, key: tuple[str, str], count: _Count) -> None:
        self._counts[key] = count
        self._counts.move_to_end(key)
        while len(self._counts) > MAX_COUNTED:
            self._counts.popitem(last=False)


def _key(user: str, address: str) -> tuple[str, str]:
    """Bounded: a client may send a name of any length. An empty name is not mixed up with the whole address."""
    return user[:MAX_NAME] or " ", address


def _more(count: _Count, now: float) -> _Count:
    if not count.failures:
        return _Count(1, now + FAILURE_WINDOW, 0.0)
    return count._replace(failures=count.failures + 1)
