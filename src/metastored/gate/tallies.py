"""The counters of a server: calls, errors and times by method, of clients and of remotes, in memory that all workers
share.

Each worker writes only its own part, so no locks are needed; readers get the sum. A replaced worker continues the
counters of its predecessor. This module is independent of ports and formats of metrics.
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
GAUGES: Final = ("connections", "waiting_calls", "waiting_chunks", "waiting_logins", "long_replies", "failed_jobs")
"""Gauges: current values, set by each worker once a second."""
REMOTE_GAUGES: Final = ("available", "running", "waiting")
"""Gauges of a remote: whether calls are sent to it, how many are in progress and how many wait."""
MAX_REMOTES: Final = 64
"""The most remotes that are counted separately; further remotes share the last slot. Unused memory costs nothing."""
OTHERS: Final = "(others)"
MAX_NAME: Final = 128
"""Bytes of a remote's name; longer names are truncated."""

_BUCKETS = len(BOUNDS) + 1
_WIDTH = _BUCKETS + 1
_INDEX = {name: at for at, name in enumerate(METHODS)}
_CALLS = len(METHODS) * _WIDTH * 8
_COUNTED = _CALLS + len(METHODS) * 8
"""Bytes of one `Counts`: numbers, then seconds."""
_NAMES = MAX_REMOTES * MAX_NAME
_STATES = MAX_REMOTES * len(REMOTE_GAUGES) * 8
_PART = _COUNTED * (1 + MAX_REMOTES) + _STATES + _NAMES + len(GAUGES) * 8
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
        """Calls of clients."""
        self.gauges: Final = memory[gauges:].cast("q")
        self._remotes = memory[_COUNTED : gauges - _NAMES - _STATES]
        self._states = memory[gauges - _NAMES - _STATES : gauges - _NAMES].cast("q")
        self._names = memory[gauges - _NAMES : gauges]

    def put(self, **gauges: int) -> None:
        for name, value in gauges.items():
            self.gauges[GAUGES.index(name)] = value

    def remote(self, name: str) -> Counts:
        """Calls to this remote. A name always has the same slot, also after a worker is replaced."""
        return self._counts(self._slot(name))

    def put_remote(self, name: str, **gauges: int) -> None:
        """Sets the gauges of a remote. Numbers are stored plus one: 0 means that no value was set."""
        at = self._slot(name)
        for gauge, value in gauges.items():
            self._states[at * len(REMOTE_GAUGES) + REMOTE_GAUGES.index(gauge)] = value + 1

    def remote_gauges(self) -> Iterator[tuple[str, dict[str, int]]]:
        """The gauges of the remotes that this worker uses."""
        width = len(REMOTE_GAUGES)
        for at, name in enumerate(self._named()):
            values = list(self._states[at * width : (at + 1) * width])
            if all(values):
                gauges = dict(zip(REMOTE_GAUGES, (value - 1 for value in values), strict=True))
                yield name.decode("utf-8", "replace"), gauges

    def forget_remotes(self) -> None:
        """Resets the gauges of all remotes."""
        for at in range(len(self._states)):
            self._states[at] = 0

    def _slot(self, name: str) -> int:
        """The slot of a remote; a new remote takes the next."""
        key = _key(name)
        names = list(self._named())
        if key in names:
            return names.index(key)
        at = len(names)
        if at >= MAX_REMOTES - 1:
            at, key = MAX_REMOTES - 1, _key(OTHERS)
        self._names[at * MAX_NAME : at * MAX_NAME + len(key)] = key
        return at

    def remotes(self) -> Iterator[tuple[str, Counts]]:
        """The remotes that were ever counted."""
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
    """All workers' parts. Created before the workers are forked."""

    def __init__(self, workers: int = 1) -> None:
        self.workers: Final = workers
        self._memory = memoryview(mmap(-1, workers * _PART))

    def worker(self, slot: int) -> WorkerTally:
        return WorkerTally(self._memory[slot * _PART : (slot + 1) * _PART])

    def methods(self) -> Iterator[MethodTally]:
        """The methods that were called."""
        return _summed([worker.calls for worker in self._each()])

    def remotes(self) -> Iterator[tuple[str, MethodTally]]:
        """By remote and method."""
        by_name: dict[str, list[Counts]] = {}
        for worker in self._each():
            for name, counts in worker.remotes():
                by_name.setdefault(name, []).append(counts)
        for name, parts in sorted(by_name.items()):
            for tally in _summed(parts):
                yield name, tally

    def remote_gauges(self) -> Iterator[tuple[str, dict[str, int]]]:
        """By remote: it is available if no worker found otherwise; calls are those of all workers."""
        by_remote: dict[str, list[dict[str, int]]] = {}
        for worker in self._each():
            for name, gauges in worker.remote_gauges():
                by_remote.setdefault(name, []).append(gauges)
        for name, parts in sorted(by_remote.items()):
            sums = {gauge: sum(part[gauge] for part in parts) for gauge in REMOTE_GAUGES}
            yield name, sums | {"available": min(part["available"] for part in parts)}

    def gauge(self, name: str) -> int:
        """The sum over the workers."""
        at = GAUGES.index(name)
        return sum(worker.gauges[at] for worker in self._each())

    def highest(self, name: str) -> int:
        """The highest value of the workers, for gauges that are the same in all workers."""
        at = GAUGES.index(name)
        return max(worker.gauges[at] for worker in self._each())

    def leave(self, slot: int) -> None:
        """The worker has died: its gauges are reset, its counters stay."""
        worker = self.worker(slot)
        worker.put(**dict.fromkeys(GAUGES, 0))
        worker.forget_remotes()

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
