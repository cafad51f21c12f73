"""The fixture `metastored_server` for the tests of any project: a real, empty server (see `metastored.testing`).

pytest loads this module automatically where metastored is installed. So it imports nothing until the fixture is used:
other test runs have no overhead, and no module is imported before the measurement of coverage starts.
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
