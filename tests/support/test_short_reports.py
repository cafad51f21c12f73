"""Reports come from another process as they were sent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.short_reports import FIELD

REPORT: dict[str, Any] = {
    "$report_type": "TestReport",
    "nodeid": "tests/test_a.py::test_a",
    "location": ("tests/test_a.py", 1, "test_a"),
    "keywords": {"test_a": 1},
    "outcome": "skipped",
    "longrepr": ("tests/test_a.py", 1, "Skipped: no \udcff"),
    "when": "call",
    "sections": [("Captured stdout", "1")],
    "duration": 0.5,
}


def sent(config: pytest.Config, report: Any) -> dict[str, Any]:
    found: dict[str, Any] = config.hook.pytest_report_to_serializable(config=config, report=report)
    return found


def test_a_report_is_one_value_and_is_read_with_its_tuples(pytestconfig: pytest.Config) -> None:
    report = pytest.TestReport._from_json(dict(REPORT))
    fields = sent(pytestconfig, report)
    assert set(fields) == {FIELD}
    read = pytestconfig.hook.pytest_report_from_serializable(
        config=pytestconfig, data={**fields, "worker_id": "gw1", "item_index": 7}
    )
    assert (read.longrepr, read.location, read.outcome) == (REPORT["longrepr"], REPORT["location"], "skipped")
    assert (read.worker_id, read.item_index) == ("gw1", 7)


def test_a_report_with_objects_of_a_plugin_is_sent_as_before(pytestconfig: pytest.Config) -> None:
    report = pytest.TestReport._from_json({**REPORT, "of_a_plugin": object})
    fields = sent(pytestconfig, report)
    assert fields["nodeid"] == REPORT["nodeid"] and FIELD not in fields
