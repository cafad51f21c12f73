"""What a server has counted: calls, errors and times by method, in memory that all workers of a server see.

Each worker writes only its own part, so nothing is locked; whoever asks gets the sum. A worker that is replaced goes
on where the last one stopped. It never opens a port and knows no format of metrics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from mmap import mmap
from typing import Final, NamedTuple, TypeVar

from skep.wire.methods import METHODS, Method

BOUNDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Seconds: the upper bounds of the histogram's buckets. One more bucket has no bound."""
GAUGES: Final = ("connections", "waiting_calls", "waiting_chunks", "long_replies")
"""What is true now, put by each worker once a second."""

T = TypeVar("T", int, float)

_BUCKETS = len(BOUNDS) + 1
_WIDTH = _BUCKETS + 1
_INDEX = {name: at for at, name in enumerate(METHODS)}


class MethodTally(NamedTuple):
    """One method's figures, of all workers."""

    method: Method
    buckets: tuple[int, ...]
    """Calls by time, one number for each of BOUNDS and one for the rest."""
    errors: int
    seconds: float


class WorkerTally:
    """One worker's part."""

    def __init__(self, counts: memoryview[int], seconds: memoryview[float], gauges: memoryview[int]) -> None:
        self._counts = counts
        self._seconds = seconds
        self._gauges = gauges

    def add(self, method: Method, seconds: float, failed: bool) -> None:
        at = _INDEX[method.name]
        self._counts[at * _WIDTH + bisect_left(BOUNDS, seconds)] += 1
        self._seconds[at] += seconds
        if failed:
            self._counts[at * _WIDTH + _BUCKETS] += 1

    def put(self, **gauges: int) -> None:
        for name, value in gauges.items():
            self._gauges[GAUGES.index(name)] = value


class Tallies:
    """All workers' parts. Made before they are forked."""

    def __init__(self, workers: int = 1) -> None:
        self.workers: Final = workers
        methods = len(METHODS)
        self._counts = memoryview(mmap(-1, workers * methods * _WIDTH * 8)).cast("q")
        self._seconds = memoryview(mmap(-1, workers * methods * 8)).cast("d")
        self._gauges = memoryview(mmap(-1, workers * len(GAUGES) * 8)).cast("q")

    def worker(self, slot: int) -> WorkerTally:
        return WorkerTally(
            self._part(self._counts, slot), self._part(self._seconds, slot), self._part(self._gauges, slot)
        )

    def methods(self) -> Iterator[MethodTally]:
        """Those that were called."""
        counts = [self._part(self._counts, slot) for slot in range(self.workers)]
        seconds = [self._part(self._seconds, slot) for slot in range(self.workers)]
        for name, at in _INDEX.items():
            sums = [sum(part[at * _WIDTH + each] for part in counts) for each in range(_WIDTH)]
            if any(sums):
                yield MethodTally(METHODS[name], tuple(sums[:_BUCKETS]), sums[_BUCKETS], sum(p[at] for p in seconds))

    def gauge(self, name: str) -> int:
        """The sum over the workers."""
        at = GAUGES.index(name)
        return sum(self._part(self._gauges, slot)[at] for slot in range(self.workers))

    def leave(self, slot: int) -> None:
        """The worker is gone: nothing is true of it any more. What it counted stays."""
        self.worker(slot).put(**dict.fromkeys(GAUGES, 0))

    def _part(self, whole: memoryview[T], slot: int) -> memoryview[T]:
        size = len(whole) // self.workers
        return whole[slot * size : (slot + 1) * size]
