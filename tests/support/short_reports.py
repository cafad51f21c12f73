"""The reports of tests, as a process of `pytest -n` sends them to the one that prints: one value instead of many.

xdist writes each field of a report with code in Python, which takes as long as a small test. The reports come from
processes that this run has started, with the same Python: they may be marshalled.
"""

from __future__ import annotations

import marshal
from collections.abc import Generator
from typing import Any, Final

import pytest

FIELD: Final = "marshalled"


class ShortReports:
    """A plugin of pytest."""

    @pytest.hookimpl(wrapper=True)
    def pytest_report_to_serializable(self) -> Generator[None, Any, Any]:
        fields = yield
        try:
            return {FIELD: marshal.dumps(fields)}
        except ValueError:  # It is not made of Python's own types.
            return fields

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_from_serializable(self, config: pytest.Config, data: dict[str, Any]) -> Any:
        if FIELD not in data:
            return None
        # xdist adds fields of its own.
        fields = marshal.loads(data.pop(FIELD)) | data
        return config.hook.pytest_report_from_serializable(config=config, data=fields)
