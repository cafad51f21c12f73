"""The markers of what tests need besides `.venv`: `make quick` leaves out by them what needs Java, Hive or PostgreSQL.

A test gets the marker of a fixture that it names (`FIXTURES`). One that starts a server in another way, or chooses a
fixture by a parameter, carries the marker itself: what starts such a server calls `require`, which refuses otherwise.
"""

from __future__ import annotations

from typing import Final

import pytest

FIXTURES: Final = {
    "postgres": "postgres",
    "hive_2_3": "apache",
    "hive_3_1": "apache",
    "hive_3_0": "peers",
    "hive_4_0_0": "peers",
    "hive_4_0_1": "peers",
    "hive_4_1_0": "peers",
    "hive_version": "peers",
    "kdc": "kerberos",
}
"""Fixtures that start servers or programs, and the marker of every test that names one."""


class Needs:
    """Marks the collected tests, and tracks the running test."""

    running: pytest.Item | None = None

    # First: pytest's own hook then selects by these markers too.
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            for name in getattr(item, "fixturenames", ()):
                if name in FIXTURES:
                    item.add_marker(FIXTURES[name])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        Needs.running = item


def require(marker: str) -> None:
    """Raises AssertionError if the running test does not carry the marker."""
    item = Needs.running
    assert item is None or item.get_closest_marker(marker) is not None, (
        f"{item.nodeid} needs the marker {marker}: without it make quick cannot leave it out"
    )
