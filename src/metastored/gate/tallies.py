"""What a server has counted: calls, errors and times by method, of clients and of remotes, in memory that all workers
of a server see.

Each worker writes only its own part, so nothing is locked; whoever asks gets the sum. A worker that is replaced goes
on where the last one stopped. It never opens a port and knows no format of metrics.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from mmap import mmap
from typing import Final, NamedTuple

from metastored.wire.methods import METHODS, Method

BOUNDS: Final = (
    *(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)
"""Seconds: the upper bounds of the histogram's buckets. One more bucket has no bound."""
GAUGES: Final = ("connections", "waiting_calls", "waiting_chunks", "waiting_proofs", "long_replies", "failed_jobs")
"""What is true now, put by each worker once a second."""
MAX_REMOTES: Final = 64
"""Remotes that are counted apart; further ones share the last place. Memory that is not used costs nothing."""
OTHERS: Final = "(others)"
MAX_NAME: Final = 128
"""Bytes of a remote's name; longer ones are cut."""

_BUCKETS = len(BOUNDS) + 1
_WIDTH = _BUCKETS + 1
_INDEX = {name: at for at, name in enumerate(METHODS)}
_CALLS = len(METHODS) * _WIDTH * 8
_COUNTED = _CALLS + len(METHODS) * 8
"""Bytes of one `Counts`: numbers, then seconds."""
_NAMES = MAX_REMOTES * MAX_NAME
_PART = _COUNTED * (1 + MAX_REMOTES) + _NAMES + len(GAUGES) * 8
"""Bytes of one worker."""


class MethodTally(NamedTuple):
    """One method's figures, of all workers."""

    method: Method
    buckets: tuple[int, ...]
    """Calls by time, one number for each of BOUNDS and one for the rest."""
    errors: int
    seconds: float


class Counts:
    """Calls by method, as one worker counts them."""

    def __init__(self, memory: memoryview[int]) -> None:
        self.numbers: Final = memory[:_CALLS].cast("q")
        self.seconds: Final = memory[_CALLS:].cast("d")

    def add(self, method: Method, seconds: float, failed: bool) -> None:
        at = _INDEX[method.name]
        self.numbers[at * _WIDTH + bisect_left(BOUNDS, seconds)] += 1
        self.seconds[at] += seconds
        if failed:
            self.numbers[at * _WIDTH + _BUCKETS] += 1


class WorkerTally:
    """One worker's part."""

    def __init__(self, memory: memoryview[int]) -> None:
        gauges = len(memory) - len(GAUGES) * 8
        self.calls: Final = Counts(memory[:_COUNTED])
        """What clients asked."""
        self.gauges: Final = memory[gauges:].cast("q")
        self._remotes = memory[_COUNTED : gauges - _NAMES]
        self._names = memory[gauges - _NAMES : gauges]

    def put(self, **gauges: int) -> None:
        for name, value in gauges.items():
            self.gauges[GAUGES.index(name)] = value

    def remote(self, name: str) -> Counts:
        """What this remote was asked. Always the same place for the same name, also for a worker's successor."""
        key = _key(name)
        places = list(self._named())
        for at, known in enumerate(places):
            if known == key:
                return self._counts(at)
        at = len(places)
        if at >= MAX_REMOTES - 1:
            at, key = MAX_REMOTES - 1, _key(OTHERS)
        self._names[at * MAX_NAME : at * MAX_NAME + len(key)] = key
        return self._counts(at)

    def remotes(self) -> Iterator[tuple[str, Counts]]:
        """Those that were ever counted."""
        for at, name in enumerate(self._named()):
            yield name.decode("utf-8", "replace"), self._counts(at)

    def _named(self) -> Iterator[bytes]:
        for at in range(MAX_REMOTES):
            name = bytes(self._names[at * MAX_NAME : (at + 1) * MAX_NAME]).rstrip(b"\0")
            if not name:
                return
            yield name

    def _counts(self, at: int) -> Counts:
        return Counts(self._remotes[at * _COUNTED : (at + 1) * _COUNTED])


class Tallies:
    """All workers' parts. Made before they are forked."""

    def __init__(self, workers: int = 1) -> None:
        self.workers: Final = workers
        self._memory = memoryview(mmap(-1, workers * _PART))

    def worker(self, slot: int) -> WorkerTally:
        return WorkerTally(self._memory[slot * _PART : (slot + 1) * _PART])

    def methods(self) -> Iterator[MethodTally]:
        """Those that were called."""
        return _summed([worker.calls for worker in self._each()])

    def remotes(self) -> Iterator[tuple[str, MethodTally]]:
        """By remote and method."""
        found: dict[str, list[Counts]] = {}
        for worker in self._each():
            for name, counts in worker.remotes():
                found.setdefault(name, []).append(counts)
        for name, parts in sorted(found.items()):
            for tally in _summed(parts):
                yield name, tally

    def gauge(self, name: str) -> int:
        """The sum over the workers."""
        at = GAUGES.index(name)
        return sum(worker.gauges[at] for worker in self._each())

    def highest(self, name: str) -> int:
        """The highest of the workers, for what they all see alike."""
        at = GAUGES.index(name)
        return max(worker.gauges[at] for worker in self._each())

    def leave(self, slot: int) -> None:
        """The worker is gone: nothing is true of it any more. What it counted stays."""
        self.worker(slot).put(**dict.fromkeys(GAUGES, 0))

    def _each(self) -> list[WorkerTally]:
        return [self.worker(slot) for slot in range(self.workers)]


def _key(name: str) -> bytes:
    return name.encode()[:MAX_NAME]


def _summed(parts: list[Counts]) -> Iterator[MethodTally]:
    for name, at in _INDEX.items():
        sums = [sum(part.numbers[at * _WIDTH + each] for part in parts) for each in range(_WIDTH)]
        if any(sums):
            seconds = sum(part.seconds[at] for part in parts)
            yield MethodTally(METHODS[name], tuple(sums[:_BUCKETS]), sums[_BUCKETS], seconds)
