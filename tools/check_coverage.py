"""Says how much of some rooms the last test run covered, branches included, and fails when one is below the limit.

    python tools/check_coverage.py client hive

`make test` runs it on the .coverage that it has just made; pyproject.toml has the limit for the whole.
"""

from __future__ import annotations

import io
import sys

import coverage

LEAST = 90.0


def covered(data: coverage.Coverage, room: str) -> float:
    """Percent of a room; a room of which nothing ran has none."""
    try:
        return data.report(include=[f"*/metastored/{room}/*"], file=io.StringIO())
    except coverage.exceptions.NoDataError:
        return 0.0


def main(rooms: list[str]) -> int:
    data = coverage.Coverage()
    data.load()
    found = {room: covered(data, room) for room in rooms}
    for room, percent in found.items():
        print(
            f"coverage of {room}: {percent:.1f} %" + ("" if percent >= LEAST else f", which is less than {LEAST:g} %")
        )
    return 1 if any(percent < LEAST for percent in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
