"""Records how long each file of a run took, and writes `tests/durations.toml` from it, by which runs are divided.

`make test` leaves the seconds in `.pytest_cache/durations.json`; `python -m tests.support.durations` takes them over. A
new file that starts Spark or Hive is entered by hand in the section of what it starts; its seconds are filled in then.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from tests.support.sharing import FILE, NOTHING, Durations, durations, scope_of

RECORDED: Final = FILE.parent.parent / ".pytest_cache/durations.json"
LEAST: Final = 5.0
"""Shorter files are not listed, unless they start something."""
TITLE: Final = """\
# The seconds of test files that take long, by what they start and share: see support/sharing.py.
# Written by `python -m tests.support.durations` after `make test`; new files are entered by hand.
"""


class RecordedDurations:
    """A plugin of pytest: adds up the set-up, call and tear-down of all tests of a file."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[scope_of(report.nodeid)] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        config = session.config
        if hasattr(config, "workerinput") or not config.pluginmanager.hasplugin("cacheprovider"):
            return
        # `make retest` leaves the seconds of the run before it, and so does a look at which tests there are.
        if self.seconds and not config.option.lf:
            RECORDED.parent.mkdir(exist_ok=True)
            RECORDED.write_text(json.dumps(self.seconds), encoding="utf-8")


def updated(listed: Durations, recorded: dict[str, float]) -> Durations:
    """The sections of before, with the seconds of a run; long files that are new share nothing."""
    starting = {section: files for section, files in listed.items() if section != NOTHING}
    known = {file for files in starting.values() for file in files}
    alone = {file: took for file, took in recorded.items() if file not in known and took >= LEAST}
    sections = {
        name: {file: recorded.get(file, old) for file, old in files.items()} for name, files in starting.items()
    }
    return {**sections, NOTHING: alone}


def printed(measured: Durations) -> str:
    """The text of the file: the longest first."""
    sections = [
        f"\n[{name}]\n" + "".join(f'"{file}" = {took:.0f}\n' for file, took in sorted(files.items(), key=_longest))
        for name, files in measured.items()
    ]
    return TITLE + "".join(sections)


def _longest(entry: tuple[str, float]) -> tuple[float, str]:
    return -round(entry[1]), entry[0]


if __name__ == "__main__":
    FILE.write_text(printed(updated(durations(), json.loads(Path(RECORDED).read_text("utf-8")))), encoding="utf-8")
