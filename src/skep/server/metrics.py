"""What Prometheus reads at /metrics: the tallies of all workers, in its text format.

prometheus-client is imported here, and here only: when the HTTP port is open.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from skep import __version__
from skep.config import Settings
from skep.gate.tallies import BOUNDS, Tallies

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_GAUGES = {
    "connections": ("skep_connections", "Open connections, on both ports."),
    "waiting_calls": ("skep_pool_waiting", "Calls that wait for a thread."),
    "waiting_chunks": ("skep_stream_pool_waiting", "Pieces of long replies that wait for a thread."),
    "long_replies": ("skep_streams", "Long replies that hold a snapshot of the database."),
}


class _Tallied(Collector):
    def __init__(self, tallies: Tallies, settings: Settings, stream_threads: int) -> None:
        self._tallies = tallies
        self._threads = {
            "skep_pool_threads": settings.threads * settings.workers,
            "skep_stream_pool_threads": stream_threads * settings.workers,
        }

    def collect(self) -> Iterator[Metric]:
        calls = CounterMetricFamily("skep_calls", "Calls by method.", labels=["method"])
        errors = CounterMetricFamily("skep_errors", "Calls that were answered with an error.", labels=["method"])
        times = HistogramMetricFamily("skep_call_seconds", "The time that calls took.", labels=["method"])
        for tally in self._tallies.methods():
            name = [tally.method.name]
            calls.add_metric(name, sum(tally.buckets))
            errors.add_metric(name, tally.errors)
            total, buckets = 0, []
            for bound, count in zip((*map(str, BOUNDS), "+Inf"), tally.buckets, strict=True):
                total += count
                buckets.append((bound, float(total)))
            times.add_metric(name, buckets, tally.seconds)
        yield from (calls, errors, times)
        for gauge, (metric, text) in _GAUGES.items():
            yield GaugeMetricFamily(metric, text, value=self._tallies.gauge(gauge))
        for metric, threads in self._threads.items():
            yield GaugeMetricFamily(metric, "Threads there can be.", value=threads)
        yield GaugeMetricFamily("skep_workers", "Processes that serve.", value=self._tallies.workers)
        info = GaugeMetricFamily("skep_build_info", "The version that runs.", labels=["version"])
        info.add_metric([__version__], 1)
        yield info


class Metrics:
    """The page."""

    def __init__(self, tallies: Tallies, settings: Settings, stream_threads: int) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(_Tallied(tallies, settings, stream_threads))

    def text(self) -> bytes:
        return generate_latest(self._registry)
