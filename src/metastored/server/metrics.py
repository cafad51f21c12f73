"""The metrics at /metrics: the tallies of all workers, in Prometheus's text format.

prometheus-client is imported here, and here only: when the HTTP port is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from metastored import __version__
from metastored.gate.tallies import BOUNDS, MethodTally, Tallies

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_WAITING = {"calls": "waiting_calls", "streams": "waiting_chunks", "authentication": "waiting_logins"}
"""The gauge of each pool's queue."""
_REMOTE_GAUGES = {
    "available": "1 while calls are sent to a remote, 0 while its circuit breaker is open.",
    "running": "Calls that are under way to a remote.",
    "waiting": "Calls that wait until a remote has fewer calls under way.",
}


class _Tallied(Collector):
    def __init__(self, tallies: Tallies, pools: Mapping[str, int]) -> None:
        self._tallies = tallies
        self._pools = pools

    def collect(self) -> Iterator[Metric]:
        tallies = self._tallies
        clients = (([tally.method.name], tally) for tally in tallies.methods())
        yield from _families("metastored", "Calls of clients", ["method"], clients)
        remotes = (([tally.method.name, remote], tally) for remote, tally in tallies.remotes())
        yield from _families("metastored_remote", "Calls to remotes", ["method", "remote"], remotes)
        states = {
            gauge: GaugeMetricFamily(f"metastored_remote_{gauge}", text, labels=["remote"])
            for gauge, text in _REMOTE_GAUGES.items()
        }
        for remote, gauges in tallies.remote_gauges():
            for gauge, value in gauges.items():
                states[gauge].add_metric([remote], value)
        yield from states.values()
        yield GaugeMetricFamily(
            "metastored_connections", "Open connections, on both ports.", tallies.gauge("connections")
        )
        yield GaugeMetricFamily(
            "metastored_streams", "Long replies that hold a snapshot of the database.", tallies.gauge("long_replies")
        )
        yield GaugeMetricFamily(
            "metastored_failed_jobs",
            "Directories that could not be moved or removed; metastored doctor lists them.",
            tallies.highest("failed_jobs"),
        )
        threads = GaugeMetricFamily("metastored_pool_threads", "Threads that a pool can have.", labels=["pool"])
        queues = GaugeMetricFamily(
            "metastored_pool_waiting", "Work that waits for a thread of a pool.", labels=["pool"]
        )
        for pool, size in self._pools.items():
            threads.add_metric([pool], size * tallies.workers)
            queues.add_metric([pool], tallies.gauge(_WAITING[pool]))
        yield from (threads, queues)
        yield GaugeMetricFamily("metastored_workers", "Processes that serve.", tallies.workers)
        info = GaugeMetricFamily("metastored_build_info", "The version that runs.", labels=["version"])
        info.add_metric([__version__], 1)
        yield info


def _families(
    prefix: str, what: str, labels: list[str], tallies: Iterable[tuple[list[str], MethodTally]]
) -> tuple[Metric, ...]:
    """Calls, errors and times, each by the same labels."""
    calls = CounterMetricFamily(f"{prefix}_calls", f"{what}.", labels=labels)
    errors = CounterMetricFamily(f"{prefix}_errors", f"{what} that failed with an error.", labels=labels)
    times = HistogramMetricFamily(f"{prefix}_call_seconds", f"{what}: the time they took.", labels=labels)
    for values, tally in tallies:
        calls.add_metric(values, sum(tally.buckets))
        errors.add_metric(values, tally.errors)
        total, buckets = 0, []
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), tally.buckets, strict=True):
            total += count
            buckets.append((bound, float(total)))
        times.add_metric(values, buckets, tally.seconds)
    return calls, errors, times


class Metrics:
    """The page. `pools`: the threads that each pool of a worker can have."""

    def __init__(self, tallies: Tallies, pools: Mapping[str, int]) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Tallied(tallies, pools))

    def text(self) -> bytes:
        return generate_latest(self._registry)
