"""Runs groups, prints one table, and writes the figures as JSON and as plots."""

from __future__ import annotations

import argparse
import compileall
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import metastored
from benchmarks.figures import FILE, Figures
from benchmarks.plots import plot
from benchmarks.publishing import PAGE, publish
from benchmarks.releases import FILE as BASELINE
from benchmarks.releases import Baseline, changes, failures
from benchmarks.rows import HEADER, Results, line

GROUPS = (
    "imports",
    "slice",
    "lists",
    "tail",
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
NAMED = ("operations_large", "growth_soak")
"""Groups that take long and run only when they are named."""
ALL = "all"
LONGEST = 3600
"""Seconds that all groups may take together."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ", ".join(GROUPS + NAMED)
    parser.add_argument(
        "groups", nargs="*", help=f"of {known}; all but {' and '.join(NAMED)} if none is named, or by the word {ALL}"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a first look")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="write the plots and tables of all figures into docs/; without groups nothing is measured",
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="exit with 1 if a row of the figures is below its least, or a group has none; without groups nothing is "
        "measured",
    )
    parser.add_argument(
        "--release",
        action="store_true",
        help=f"write the figures to {BASELINE.name}, with which later figures are compared; measures nothing by itself",
    )
    options = parser.parse_args()
    for group in options.groups:
        if group not in (*GROUPS, *NAMED, ALL):
            parser.error(f"unknown group {group!r}; known are {known} and {ALL}")
    figures = Figures.read()
    idle = options.publish or options.check or options.release
    groups = GROUPS if ALL in options.groups or not (options.groups or idle) else options.groups
    failed = measure(figures, groups, options.quick)
    if options.publish:
        publish(figures, Baseline.read())
        print(f"published: {', '.join(figures.groups) or 'nothing'}, in {PAGE}")
    if groups:
        print(f"\n{changes(figures, Baseline.read())}")
    if options.release:
        Baseline.of(figures, metastored.__version__).write()
        print(f"written: {BASELINE}")
    problems = list(failures(figures, GROUPS)) if options.check else []
    if problems:
        print("\nNot the figures of a release:", *problems, sep="\n  ")
    if failed:
        print(f"\nended with an error: {', '.join(failed)}")
    sys.exit(1 if problems or failed else 0)


def measure(figures: Figures, groups: Sequence[str], quick: bool) -> list[str]:
    """Runs groups and writes the figures of each when it ends; those of other groups stay in the file.

    Returns the groups that ended with an error. They lose their earlier figures, and the next groups run all the same:
    an hour of measurements is not lost for one of them.
    """
    # Compiles the bytecode: an installed package has it, a checkout may not, and the start-up time would include it.
    compileall.compile_dir(Path(metastored.__file__).parent, quiet=1)
    failed = []
    for group in groups:
        print(f"\n== {group}", flush=True)
        results = Results()
        start = time.perf_counter()
        try:
            import_module(f"benchmarks.{group}").run(results, quick)
        except Exception:
            traceback.print_exc()
            failed.append(group)
            figures.groups.pop(group, None)
            figures.write()
            continue
        seconds = time.perf_counter() - start
        print(f"== {group}: {seconds:.0f} s", flush=True)
        figures.put(group, results, quick, seconds)
        figures.write()
        plot(figures, group, FILE.parent / f"{group}.png")
    if done := [group for group in groups if group not in failed]:
        print(f"\n{HEADER}")
        for group in done:
            print(*(line(row) for row in figures.rows(group)), sep="\n")
        print(f"\nwritten: {FILE}, and a plot of each group beside it\n")
        print(*times(figures, done), sep="\n")
    return failed


def times(figures: Figures, groups: Sequence[str]) -> list[str]:
    """The seconds of each group, the longest first, and of all."""
    seconds = {group: float(figures.groups[group]["seconds"]) for group in groups}
    lines = [f"{group:20} {seconds[group]:7,.0f} s" for group in sorted(seconds, key=lambda each: -seconds[each])]
    total = sum(seconds.values())
    over = f": more than {LONGEST:,} s" if total > LONGEST else ""
    return [*lines, f"{'together':20} {total:7,.0f} s{over}"]


if __name__ == "__main__":
    main()
