"""Ends commands by signals.

A command that runs until it is stopped ends with 0 after SIGINT and SIGTERM. A command that has started programs ends
them after SIGTERM, which would otherwise end only the command itself.
"""

from __future__ import annotations

import signal
import sys
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
