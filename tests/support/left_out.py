"""The end of a test run: which suites were skipped, why, and the command that installs what they need.

A skip's reason is one sentence that names that command ("… is not on this machine: make peers installs it");
here equal reasons are counted together. Soak tests that a marker expression deselected are reported likewise. In a
run with several processes each process deselects, and reports to the one that prints.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

import pytest

OUTPUT = "metastored_left_out"
"""The key under which a worker process of xdist reports deselected tests."""
SOAK_REASON = "large forms: make soak runs them"


class LeftOut:
    """Collects what a run did not run, and prints it last."""

    def __init__(self) -> None:
        self._deselected: Counter[str] = Counter()

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self._deselected.update(
            PurePath(item.nodeid.partition("::")[0]).as_posix() for item in items if item.get_closest_marker("soak")
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        # All of them have collected the same.
        self._deselected = Counter(getattr(node, "workeroutput", {}).get(OUTPUT, {}))

    # Outermost, so that its lines come after the lines of every other reporter.
    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[OUTPUT] = dict(self._deselected)
        yield
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is None or session.config.option.collectonly:
            return
        by_reason: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for report in reporter.stats.get("skipped", []):
            by_reason[_reason(report)][report.nodeid.partition("::")[0]] += 1
        if self._deselected:
            by_reason[SOAK_REASON] = self._deselected
        for line in summary(by_reason):
            reporter.write_line(line)


def summary(by_reason: dict[str, Counter[str]]) -> list[str]:
    """The lines to print: each reason, with the skipped files and their number of tests."""
    if not by_reason:
        return ["left out: nothing"]
    lines = ["left out:"]
    for reason, files in sorted(by_reason.items()):
        count = files.total()
        lines.append(f"  {count} test{'s' if count > 1 else ''} in {', '.join(sorted(files))}: {reason}")
    return lines


def _reason(report: pytest.TestReport) -> str:
    # pytest keeps a skip as (file, line, "Skipped: reason").
    detail = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return detail.removeprefix("Skipped: ")
