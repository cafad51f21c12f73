"""Runs the groups, prints one table, and writes the figures as JSON and as a plot."""

from __future__ import annotations

import argparse
import compileall
import json
import platform
from importlib import import_module
from pathlib import Path

import metastored
from benchmarks.rows import HEADER, Results, line

GROUPS = (
    "imports",
    "slice",
    "statistics",
    "remote",
    "operations",
    "growth",
    "transactions",
    "events",
    "clients",
    "cached",
    "http",
    "spark_catalog",
    "lance_spark",
    "lance",
    "acid",
    "analyze",
    "copy",
)
NAMED = ("operations_large",)
"""Groups that take long and run only when they are named."""
OUT = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help=f"of {', '.join(GROUPS + NAMED)}")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a first look")
    options = parser.parse_args()
    # Compiles the bytecode: an installed package has it, a checkout may not, and the start-up time would include it.
    compileall.compile_dir(Path(metastored.__file__).parent, quiet=1)
    results = Results()
    for group in options.groups:
        if group not in GROUPS + NAMED:
            parser.error(f"unknown group {group!r}; known are {', '.join(GROUPS + NAMED)}")
        import_module(f"benchmarks.{group}").run(results, options.quick)
    print(f"\n{HEADER}")
    for row in results.rows:
        print(line(row))
    OUT.mkdir(exist_ok=True)
    figures = {"python": platform.python_version(), "machine": platform.machine(), **results.as_json()}
    (OUT / "figures.json").write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    plot(results)
    print(f"\nwritten: {OUT / 'figures.json'} and {OUT / 'figures.png'}")


def plot(results: Results) -> None:
    """Ratios as bars, growth as curves."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(16, 6))
    rows = [row for row in results.rows if row.higher_is_better][::-1]
    left.barh([row.name for row in rows], [row.ratio for row in rows], color="#c8922a")
    left.set_title("times better than the Apache metastore")
    for label, curve in results.growth.items():
        if len(curve) > 1:
            right.loglog(list(curve), list(curve.values()), marker="o", label=label)
    right.set_title("seconds by number of objects")
    if results.growth:
        right.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(OUT / "figures.png", dpi=110)


if __name__ == "__main__":
    main()
