"""Ends commands that run until they are stopped: SIGINT and SIGTERM set an event, and the command ends with 0."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set: what is being done is finished first.

    Outside of the main thread, where Python allows no handlers, nothing sets it.
    """
    stopped = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stopped
        return
    before = {each: signal.signal(each, lambda *_: stopped.set()) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
