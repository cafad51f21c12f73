"""The time to import metastored, beside that of pyiceberg's catalog: what a script waits for before its first call.

Each import is a new process, and the two take turns, so that both have the same load. The ratio is the share of
pyiceberg's time.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from benchmarks.rows import Results, Row

ROUNDS = 9
QUICK_ROUNDS = 3
LEAST = 0.15
"""The share of the time of pyiceberg that may be taken."""
AIM = 0.1


def seconds(module: str) -> float:
    """The time of one import in a new process, without the start of Python."""
    program = f"import time; start = time.perf_counter(); import {module}; print(time.perf_counter() - start)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    return float(done.stdout)


def run(results: Results, quick: bool) -> None:
    pairs = [
        (seconds("metastored"), seconds("metastored.cli.app"), seconds("pyiceberg.catalog"))
        for _ in range(QUICK_ROUNDS if quick else ROUNDS)
    ]
    ours, command, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    share = ours / theirs
    results.add(
        Row("import metastored", ours * 1e3, theirs * 1e3, "ms", share, LEAST, AIM, False, "peer: pyiceberg.catalog")
    )
    # No goal: most of it is typer. `metastored serve` with plain flags does not import it.
    note = "peer: pyiceberg.catalog"
    share = command / theirs
    results.add(
        Row("import of the command line", command * 1e3, theirs * 1e3, "ms", share, higher_is_better=False, note=note)
    )
