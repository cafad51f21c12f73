"""The results of a benchmark: rows of a table, each with the peer's figure and the goal."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Row:
    """One line: metastored's figure, the peer's, and how many times better metastored is."""

    name: str
    metastored: float
    peer: float
    unit: str
    ratio: float
    least: float | None = None
    aim: float | None = None
    higher_is_better: bool = True
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.least is None:
            return ""
        if self.aim is not None and self._reaches(self.aim):
            return "aim"
        return "ok" if self._reaches(self.least) else "MISSED"

    def _reaches(self, limit: float) -> bool:
        return self.ratio >= limit if self.higher_is_better else self.ratio <= limit


@dataclass
class Results:
    """All rows of a run, and the growth curves."""

    rows: list[Row] = field(default_factory=list)
    growth: dict[str, dict[int, float]] = field(default_factory=dict)

    def faster(self, name: str, metastored: float, peer: float, *, unit: str = "ms", least: float, aim: float) -> None:
        """Times: the smaller the better."""
        scale = 1e3 if unit == "ms" else 1.0
        self.add(Row(name, metastored * scale, peer * scale, unit, peer / metastored, least, aim))

    def more(self, name: str, metastored: float, peer: float, *, unit: str, least: float, aim: float) -> None:
        """Rates: the larger the better."""
        self.add(Row(name, metastored, peer, unit, metastored / peer, least, aim))

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(line(row), flush=True)

    def as_json(self) -> dict[str, Any]:
        return {
            "rows": [asdict(row) | {"verdict": row.verdict} for row in self.rows],
            "growth": {
                name: {str(size): value for size, value in curve.items()} for name, curve in self.growth.items()
            },
        }


HEADER = f"{'':58} {'metastored':>12} {'peer':>12} {'':6} {'ratio':>8}   least / aim"


def line(row: Row) -> str:
    goals = "" if row.least is None else f"{row.least:g} / {row.aim:g}" if row.aim is not None else f"{row.least:g}"
    return (
        f"{row.name:58} {row.metastored:12,.3f} {row.peer:12,.3f} {row.unit:6} {row.ratio:8.2f}   "
        f"{goals:12} {row.verdict} {row.note}".rstrip()
    )
