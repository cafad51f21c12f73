"""The summary of skipped tests."""

from __future__ import annotations

from collections import Counter

from tests.support.left_out import summary


def test_a_run_without_skips_prints_that() -> None:
    assert summary({}) == ["left out: nothing"]


def test_equal_reasons_are_counted_together_with_their_files() -> None:
    by_reason = {
        "no KDC: make system installs it": Counter({"tests/server/test_gssapi.py": 3}),
        "Hive 4 is not here: make peers installs it": Counter({"tests/b.py": 1, "tests/a.py": 1}),
        "one more": Counter({"tests/a.py": 1}),
    }
    assert summary(by_reason) == [
        "left out:",
        "  2 tests in tests/a.py, tests/b.py: Hive 4 is not here: make peers installs it",
        "  3 tests in tests/server/test_gssapi.py: no KDC: make system installs it",
        "  1 test in tests/a.py: one more",
    ]
