"""Timers of the synchronous client: functions that run later, in one thread for all clients of the process.

The thread is started with the first timer and ends with the last one. It is a daemon thread: it never keeps the process
alive. A timer holds the object of its method weakly: a client that is no longer used is not kept in memory.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from bisect import insort
from collections.abc import Callable
from typing import Final
from weakref import WeakMethod

log = logging.getLogger("metastored.client")

LONGEST_WAIT: Final = 3600.0
"""Seconds. A wait for a later time is repeated: `Condition.wait` refuses very long ones."""


class Timer:
    """Runs a method once, in the thread of the timers. The method must not block."""

    __slots__ = ("_method", "due")

    def __init__(self, due: float, method: Callable[[], None]) -> None:
        self.due = due
        self._method = WeakMethod(method)

    def cancel(self) -> None:
        """Removes the timer. Does nothing if it has run."""
        _schedule.remove(self)

    def run(self) -> None:
        method = self._method()
        if method is not None:
            method()


class _Schedule:
    """The timers that are pending, by the time they are due, and the thread that runs them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._timers: list[Timer] = []
        self._thread: threading.Thread | None = None

    def add(self, timer: Timer) -> None:
        with self._changed:
            insort(self._timers, timer, key=lambda each: each.due)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="metastored-timers", daemon=True)
                self._thread.start()
            else:
                self._changed.notify()

    def remove(self, timer: Timer) -> None:
        with self._changed:
            if timer in self._timers:
                self._timers.remove(timer)
                self._changed.notify()

    def _run(self) -> None:
        while (timer := self._next()) is not None:
            try:
                timer.run()
            except Exception:
                log.exception("a timer of the client failed")
            del timer  # The next wait must not keep the client in memory.

    def _next(self) -> Timer | None:
        """The next timer, when it is due; None when there is none and the thread ends."""
        with self._changed:
            while self._timers:
                seconds = self._timers[0].due - time.monotonic()
                if seconds <= 0:
                    return self._timers.pop(0)
                self._changed.wait(min(seconds, LONGEST_WAIT))
            self._thread = None
            return None


_schedule = _Schedule()


def _restart() -> None:
    """A child process has no thread of its parent, and its lock may be held by one that does not exist."""
    global _schedule
    _schedule = _Schedule()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart)


def later(seconds: float, method: Callable[[], None]) -> Timer:
    """Runs the method after so many seconds, unless its object is gone by then."""
    timer = Timer(time.monotonic() + seconds, method)
    _schedule.add(timer)
    return timer
