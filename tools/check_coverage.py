"""Prints the branch coverage of some packages in the last test run, and fails if one is below the limit.

    python tools/check_coverage.py client hive

`make coverage` runs it after the tests; pyproject.toml has the limit for all packages together.
"""

from __future__ import annotations

import io
import sys

import coverage

LEAST = 90.0


def covered(data: coverage.Coverage, package: str) -> float:
    """The coverage of a package in percent; 0 if nothing of it ran."""
    try:
        return data.report(include=[f"*/metastored/{package}/*"], file=io.StringIO())
    except coverage.exceptions.NoDataError:
        return 0.0


def main(packages: list[str]) -> int:
    data = coverage.Coverage()
    data.load()
    percents = {package: covered(data, package) for package in packages}
    for package, percent in percents.items():
        print(
            f"coverage of {package}: {percent:.1f} %"
            + ("" if percent >= LEAST else f", which is less than {LEAST:g} %")
        )
    return 1 if any(percent < LEAST for percent in percents.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
