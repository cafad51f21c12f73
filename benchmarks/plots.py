"""Plots of the figures of one group: ratios as bars with the limits beside them, growth as curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Figures
from benchmarks.rows import Row

COLOURS: Final = {"aim": "#2a7f62", "ok": "#c8922a", "MISSED": "#b23a48", "": "#5b6c8f"}
"""By verdict; a row without a limit has none."""
MORE: Final = "times better than the peer (more is better)"
LESS: Final = "multiple of the peer's figure (less is better)"


def plot(figures: Figures, group: str, file: Path) -> None:
    """Writes the plot of a group, in the format that the file's name ends with. Equal figures give equal files."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = figures.rows(group)
    sections = [
        (title, chosen)
        for title, higher in ((MORE, True), (LESS, False))
        if (chosen := [row for row in rows if row.higher_is_better is higher])
    ]
    families = _families({name: curve for name, curve in figures.growth(group).items() if len(curve) > 1})
    heights = [1 + len(chosen) for _, chosen in sections] + [12] * len(families)
    if not heights:
        return
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": group}):
        figure, axes = pyplot.subplots(
            len(heights), 1, figsize=(9, 0.36 * sum(heights) + 0.5), height_ratios=heights, squeeze=False
        )
        panels = list(axes[:, 0])
        for panel, (title, chosen) in zip(panels, sections, strict=False):
            _bars(panel, title, chosen)
        for panel, (title, curves) in zip(panels[len(sections) :], families.items(), strict=True):
            _curves(panel, title, curves)
        figure.tight_layout()
        file.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)
        pyplot.close(figure)
    if file.suffix == ".svg":
        # matplotlib ends lines with spaces, which editors and git remove.
        lines = file.read_text("utf-8").splitlines()
        file.write_text("".join(f"{line.rstrip()}\n" for line in lines), "utf-8")


def _bars(panel: Any, title: str, rows: list[Row]) -> None:
    places = range(len(rows))[::-1]
    panel.barh(places, [row.ratio for row in rows], color=[COLOURS[row.verdict] for row in rows], height=0.6)
    for place, row in zip(places, rows, strict=True):
        if row.least is not None:
            panel.plot([row.least] * 2, [place - 0.4, place + 0.4], color="black", linewidth=1.5)
        panel.annotate(f" {row.ratio:.3g}", (row.ratio, place), va="center", fontsize=8)
    ratios = [row.ratio for row in rows if row.ratio > 0]
    if ratios and max(ratios) > 20 * min(ratios):
        panel.set_xscale("log")
    panel.set_yticks(list(places), [row.name for row in rows], fontsize=8)
    panel.margins(x=0.12)
    panel.set_title(title, fontsize=9)


def _families(curves: dict[str, dict[int, float]]) -> dict[str, dict[str, dict[int, float]]]:
    """The curves of each panel by its title: a name such as `SQLite: get_table` begins with the title."""
    families: dict[str, dict[str, dict[int, float]]] = {}
    for name, curve in curves.items():
        title, separator, rest = name.partition(": ")
        families.setdefault(title if separator else "", {})[rest or name] = curve
    return families


def _curves(panel: Any, title: str, curves: dict[str, dict[int, float]]) -> None:
    for number, (name, curve) in enumerate(curves.items()):
        # Ten colours, then the same ones as dashed lines.
        style = "-" if number < 10 else "--"
        panel.loglog(list(curve), list(curve.values()), marker="o", linestyle=style, label=name)
    panel.set_title("seconds by number of objects" + (f", {title}" if title else ""), fontsize=9)
    # Beside the curves: there may be more names than fit between them.
    panel.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
