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


def pause(client: Any, seconds: float) -> None:
    """Lets time pass, in which the event loop of an asynchronous client runs."""
    client.wait(seconds) if hasattr(client, "wait") else time.sleep(seconds)
