"""Fixtures for anybody's tests: put `pytest_plugins = ["metastored.pytest_plugin"]` into your conftest.py.

`metastored_server` is a real, empty server for one test (see `metastored.testing`).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from metastored.testing import RunningServer, running_server

__all__ = ["metastored_server"]


@pytest.fixture
def metastored_server() -> Iterator[RunningServer]:
    """A real, empty server on a free port of 127.0.0.1, for one test."""
    with running_server() as server:
        yield server
