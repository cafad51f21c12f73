"""The measurement of docs/guide/sizing.md runs."""

from __future__ import annotations

import pytest

from tools.sizing import measure


@pytest.mark.slow
def test_memory_and_disk_are_measured() -> None:
    lines: list[str] = []
    measure(2_000, 10, lines.append)
    assert len(lines) == 6
    assert all("memory" in line for line in lines[:5])
    assert lines[-1].startswith("disk")
