"""The operations of hmsbench at 10,000; not among the groups that run unless they are named."""

from __future__ import annotations

from benchmarks.operations import compare
from benchmarks.rows import Results


def run(results: Results, quick: bool) -> None:
    compare(results, (10_000,))
