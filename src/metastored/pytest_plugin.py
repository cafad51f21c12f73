"""The fixture `metastored_server` for anybody's tests: a real, empty server for one test (see `metastored.testing`).

pytest loads this module by itself where metastored is installed. So it imports nothing until the fixture is used: a
test run without it pays nothing, and a package whose coverage is measured is not imported before the measurement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from metastored.testing import RunningServer

__all__ = ["metastored_server"]


@pytest.fixture
def metastored_server() -> Iterator[RunningServer]:
    """A real, empty server on a free port of 127.0.0.1, for one test."""
    from metastored.testing import running_server

    with running_server() as server:
        yield server
