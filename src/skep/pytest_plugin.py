"""Fixtures for anybody's tests: put `pytest_plugins = ["skep.pytest_plugin"]` into your conftest.py.

`skep_server` is a real, empty server for one test (see `skep.testing`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skep.testing import RunningServer, running_server

__all__ = ["skep_server"]


@pytest.fixture
def skep_server() -> Iterator[RunningServer]:
    """A real, empty server on a free port of 127.0.0.1, for one test."""
    with running_server() as server:
        yield server
