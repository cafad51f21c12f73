"""Runs groups, prints one table, and writes the figures as JSON and as plots."""

from __future__ import annotations

import argparse
import compileall
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import metastored
from benchmarks.figures import FILE, Figures
from benchmarks.plots import plot
from benchmarks.publishing import PAGE, publish
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
    "iceberg_rest",
    "lance_spark",
    "lance",
    "acid",
    "analyze",
    "copy",
)
NAMED = ("operations_large",)
"""Groups that take long and run only when they are named."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS + NAMED)}; all but the last if none is named")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a first look")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write the plots and tables of all figures into docs/; without groups nothing is measured",
    )
    options = parser.parse_args()
    for group in options.groups:
        if group not in GROUPS + NAMED:
            parser.error(f"unknown group {group!r}; known are {', '.join(GROUPS + NAMED)}")
    figures = Figures.read()
    measure(figures, options.groups or ([] if options.publish else GROUPS), options.quick)
    if options.publish:
        publish(figures)
        print(f"published: {', '.join(figures.groups) or 'nothing'}, in {PAGE}")


def measure(figures: Figures, groups: Sequence[str], quick: bool) -> None:
    """Runs groups and writes the figures of each when it ends; those of other groups stay in the file."""
    # Compiles the bytecode: an installed package has it, a checkout may not, and the start-up time would include it.
    compileall.compile_dir(Path(metastored.__file__).parent, quiet=1)
    for group in groups:
        results = Results()
        import_module(f"benchmarks.{group}").run(results, quick)
        figures.put(group, results, quick)
        figures.write()
        plot(figures, group, FILE.parent / f"{group}.png")
    if groups:
        print(f"\n{HEADER}")
        for group in groups:
            print(*(line(row) for row in figures.rows(group)), sep="\n")
        print(f"\nwritten: {FILE}, and a plot of each group beside it")


if __name__ == "__main__":
    main()
