"""How times grow up to ten million partitions and tables; not among the groups that run unless they are named."""

from __future__ import annotations

from benchmarks.growth import SIZES, grow
from benchmarks.rows import Results


def run(results: Results, quick: bool) -> None:
    grow(results, (1_000, 10_000) if quick else (*SIZES, 10_000_000))
