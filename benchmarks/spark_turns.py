"""The functions with which scripts for Spark measure several works in turn, as text that comes before such a script."""

from __future__ import annotations

from typing import Final

TURNS: Final = """
import statistics, time

def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start

def in_turns(works, times):
    # The median of each work; the first turn warms up and is not counted.
    found = {name: [] for name in works}
    for turn in range(times + 1):
        for name, work in works.items():
            taken = seconds(work)
            if turn:
                found[name].append(taken)
    return {name: statistics.median(each) for name, each in found.items()}
"""
