"""Ends commands by signals.

A command that runs until it is stopped ends with 0 after SIGINT and SIGTERM. A command that has started programs ends
them after SIGTERM, which would otherwise end only the command itself.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Stop:
    """Whether a signal has asked the command to end.

    A handler runs in the middle of whatever the main thread does. `threading.Event` would wait for ever there for the
    lock that the interrupted `wait()` holds; a `SimpleQueue` may be written to by a handler.
    """

    def __init__(self) -> None:
        self._set = False
        self._wakes = queue.SimpleQueue[None]()

    def set(self) -> None:
        self._set = True
        self._wakes.put(None)

    def is_set(self) -> bool:
        return self._set

    def wait(self, seconds: float) -> None:
        """Returns when the time is over, or at once when it is set. For one thread."""
        if not self._set:
            with contextlib.suppress(queue.Empty):
                self._wakes.get(timeout=seconds)


@contextmanager
def stopping() -> Iterator[Stop]:
    """What SIGINT and SIGTERM set: what is being done is finished first.

    Outside of the main thread, where Python allows no handlers, nothing sets it.
    """
    stopped = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def cleaning_up() -> Iterator[None]:
    """SIGTERM ends the command as an error does: what it has started and opened is ended and closed.

    Outside of the main thread nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
