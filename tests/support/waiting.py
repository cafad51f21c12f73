"""Waits in tests: until something has happened, and while the event loop of an asynchronous client runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 60.0
"""Seconds; only a failing test waits as long."""


def eventually(condition: Callable[[], bool], client: Any = None) -> None:
    """Waits until the condition is true, while the event loop of the client runs; fails the test after a timeout."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"it was not true within {PATIENCE:g} seconds"
        pause(client, 0.01)


def unchanged(value: Callable[[], object], client: Any = None, seconds: float = 0.2) -> None:
    """Waits until the value has stayed the same for so many seconds; fails the test after a timeout."""
    deadline = time.monotonic() + PATIENCE
    before, since = value(), time.monotonic()
    while time.monotonic() - since < seconds:
        assert time.monotonic() < deadline, f"it still changed after {PATIENCE:g} seconds"
        pause(client, seconds / 4)
        now = value()
        if now != before:
            before, since = now, time.monotonic()


def repeated_within(limit: float, times: int, step: Callable[[], object], client: Any = None) -> bool:
    """Takes a step so many times, with short pauses; False if two of them were more than `limit` seconds apart.

    A test of what happens within a limit starts again then: the machine was busy with something else.
    """
    last = time.monotonic()
    for _ in range(times):
        pause(client, limit / 4)
        step()
        now = time.monotonic()
        if now - last > limit:
            return False
        last = now
    return True


def pause(client: Any, seconds: float) -> None:
    """Lets time pass, in which the event loop of an asynchronous client runs."""
    client.wait(seconds) if hasattr(client, "wait") else time.sleep(seconds)
