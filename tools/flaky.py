"""Prints which tests failed at first and passed alone, from pytest's lists of failures of both runs.

    tools/flaky.py FIRST SECOND

Each file is a copy of `.pytest_cache/v/cache/lastfailed`: after `make test`, and after `make retest`. A file that does
not exist is an empty list. It always exits with 0: which run decides is up to `.ci/run`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def failed(file: Path) -> list[str]:
    """The ids of the tests that failed, in pytest's order."""
    return list(json.loads(file.read_text("utf-8"))) if file.exists() else []


def summary(first: list[str], second: list[str]) -> str:
    """One line: the number of flaky tests, and their names."""
    flaky = [test for test in first if test not in set(second)]
    if not flaky:
        return "flaky: no test failed at first and passed alone"
    count = f"{len(flaky)} test{'s' if len(flaky) > 1 else ''}"
    return f"flaky: {count} failed at first and passed alone: {', '.join(flaky)}"


if __name__ == "__main__":
    print(summary(failed(Path(sys.argv[1])), failed(Path(sys.argv[2]))))
