"""What a release is compared with: the limits of the rows, and the figures of the last release.

The figures of the last release are in `baseline.json`, which `--release` writes. Functions are pure, except for the two
methods that read and write that file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from benchmarks.figures import Figures
from benchmarks.rows import Row

FILE: Final = Path(__file__).parent / "baseline.json"
FELL: Final = 0.2
"""The share by which a row must be worse to be named: figures differ by less from run to run."""
CHANGES: Final = """| | last release | now | |
|---|---:|---:|---:|
"""


class Fallen(NamedTuple):
    """A row that is worse than in the last release."""

    group: str
    name: str
    before: float
    now: float
    change: float
    """How much worse: -0.25 is a quarter."""


@dataclass(frozen=True)
class Baseline:
    """The ratios of a release, by group and by the name of the row."""

    version: str
    ratios: Mapping[str, Mapping[str, float]]

    @classmethod
    def of(cls, figures: Figures, version: str) -> Baseline:
        """Those of complete groups: a short look is not what a release is compared with."""
        return cls(
            version,
            {
                group: {row.name: row.ratio for row in figures.rows(group)}
                for group, about in figures.groups.items()
                if not about["quick"]
            },
        )

    @classmethod
    def read(cls, file: Path = FILE) -> Baseline | None:
        """The baseline in a file; None if there is none, as before the first release."""
        if not file.exists():
            return None
        content: dict[str, Any] = json.loads(file.read_text("utf-8"))
        return cls(content["version"], content["ratios"])

    def write(self, file: Path = FILE) -> None:
        rounded = {
            group: {name: float(f"{ratio:.4g}") for name, ratio in rows.items()} for group, rows in self.ratios.items()
        }
        content = {"version": self.version, "ratios": rounded}
        file.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def fallen(figures: Figures, baseline: Baseline, by: float = FELL) -> list[Fallen]:
    """The rows of complete groups that are worse than in the baseline by more than this share, the worst first.

    Rows that only one of both has are not compared.
    """
    found = [
        Fallen(group, row.name, before, row.ratio, change)
        for group, about in figures.groups.items()
        if not about["quick"]
        for row in figures.rows(group)
        if (before := baseline.ratios.get(group, {}).get(row.name)) is not None
        if (change := _change(row, before)) < -by
    ]
    return sorted(found, key=lambda each: each.change)


def _change(row: Row, before: float) -> float:
    better, worse = (row.ratio, before) if row.higher_is_better else (before, row.ratio)
    return better / worse - 1 if worse else 0.0


def failures(figures: Figures, groups: Sequence[str]) -> Iterator[str]:
    """Why these figures are not those of a release: rows below their least, and groups without complete figures."""
    for group in groups:
        if group not in figures.groups:
            yield f"{group}: not measured"
            continue
        if figures.groups[group]["quick"]:
            yield f"{group}: measured with --quick"
        for row in figures.rows(group):
            if row.verdict == "MISSED":
                sign = "≥" if row.higher_is_better else "≤"
                yield f"{group}: {row.name}: {row.ratio:.2f}, not {sign} {row.least:g}"


def changes(figures: Figures, baseline: Baseline | None) -> str:
    """The table of what fell since the last release, in Markdown."""
    if baseline is None:
        return "There is no release to compare with.\n"
    compared = sum(name in baseline.ratios.get(group, {}) for group, name in _rows(figures))
    rows = fallen(figures, baseline)
    summary = (
        f"{compared} rows were compared with those of {baseline.version}; {len(rows)} fell by more than {FELL:.0%}.\n"
    )
    if not rows:
        return summary
    lines = (f"| {row.group}: {row.name} | {row.before:.3g} | {row.now:.3g} | {row.change:.0%} |\n" for row in rows)
    return f"{summary}\n{CHANGES}{''.join(lines)}"


def _rows(figures: Figures) -> Iterator[tuple[str, str]]:
    for group, about in figures.groups.items():
        if not about["quick"]:
            yield from ((group, row.name) for row in figures.rows(group))
