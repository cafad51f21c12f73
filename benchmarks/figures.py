"""The figures of all groups in one file: a run of some groups replaces theirs, and keeps those of the others."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.rows import Results, Row
from tests.support.postgres import postgres_version

FILE: Final = Path(__file__).parent / "results/figures.json"


def facts() -> dict[str, Any]:
    """What figures depend on beside the code: the machine and its versions."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "postgresql": postgres_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


class Figures:
    """The results by group, and for each group when and where it was measured."""

    def __init__(self, groups: dict[str, dict[str, Any]] | None = None) -> None:
        self.groups: Final = groups or {}

    @classmethod
    def read(cls, file: Path = FILE) -> Figures:
        """The figures of a file; none if it does not exist or has the form of an older version."""
        if not file.exists():
            return cls()
        return cls(json.loads(file.read_text("utf-8")).get("groups"))

    def put(self, group: str, results: Results, quick: bool, seconds: float = 0.0) -> None:
        """Replaces the figures of a group, which took some seconds to measure."""
        self.groups[group] = {
            "measured": datetime.now(UTC).date().isoformat(),
            "seconds": round(seconds, 1),
            **facts(),
            "quick": quick,
            **results.as_json(),
        }

    def rows(self, group: str) -> list[Row]:
        return [Row(**{key: row[key] for key in row if key != "verdict"}) for row in self.groups[group]["rows"]]

    def growth(self, group: str) -> dict[str, dict[int, float]]:
        """The growth curves of a group: seconds by number of objects."""
        curves = self.groups[group]["growth"]
        return {name: {int(size): value for size, value in curve.items()} for name, curve in curves.items()}

    def write(self, file: Path = FILE) -> None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"groups": self.groups}, indent=2) + "\n", "utf-8")
