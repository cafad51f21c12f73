"""A circuit breaker: after several failures in a row a remote is left alone for a while. Pure, but for the clock.

Then one call is let through. If it succeeds, all are; if not, the pause doubles.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

FAILURES: Final = 5
"""Failures in a row that open the circuit."""
PAUSE: Final = 1.0
"""Seconds of the first pause."""
LONGEST_PAUSE: Final = 30.0


class CircuitBreaker:
    """`allows` before a call; `succeeded`, `failed` or `abandoned` after each that was allowed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pause = PAUSE
        self._open_until: float | None = None
        self._trying = False
        self.failures = 0
        """In a row."""
        self.last_error = ""

    @property
    def is_open(self) -> bool:
        """Whether calls are refused."""
        return self._open_until is not None

    def remaining(self) -> float:
        """Seconds until the next call is let through."""
        return 0.0 if self._open_until is None else max(0.0, self._open_until - self._clock())

    def allows(self) -> bool:
        if self._open_until is None:
            return True
        if self._trying or self._clock() < self._open_until:
            return False
        self._trying = True
        return True

    def succeeded(self) -> None:
        self.failures, self.last_error = 0, ""
        self._pause, self._open_until, self._trying = PAUSE, None, False

    def failed(self, error: str) -> None:
        self.failures += 1
        self.last_error = error
        if self._open_until is not None and not self._trying:
            return  # It was under way before the circuit opened.
        if self._trying:
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
        if self._trying or self.failures >= FAILURES:
            self._open_until = self._clock() + self._pause
        self._trying = False

    def abandoned(self) -> None:
        """The caller went away before there was an answer."""
        self._trying = False
