"""What a client tells about its calls: a hook for any system of metrics, and one that has Prometheus' names.

metrics = Prometheus()                                  # in prometheus_client's own registry
client = metastored.connect("thrift://…", metrics=metrics)

metastored_client_calls_total{method,outcome}         outcome: ok, error (the server said no), failed (no answer)
metastored_client_call_seconds{method}                repetitions and their waits included
metastored_client_repeats_total{method}
metastored_client_connections{state}                  idle, busy
metastored_client_connections_opened_total, …_failed_total
metastored_client_waiting_calls
metastored_client_cache_lookups_total{outcome}        hit, miss
metastored_client_cache_entries
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol
from weakref import WeakSet

from metastored.client.cache import CacheStats
from metastored.client.pooling import PoolStats

BOUNDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Seconds: the upper bounds of the histogram's buckets."""


class Watched(Protocol):
    """A client, as far as its figures go."""

    def pool_stats(self) -> PoolStats | None: ...

    def cache_stats(self) -> CacheStats | None: ...


class Metrics(Protocol):
    """Is told of each call that leaves the client. It must be quick, and raise nothing."""

    def called(self, method: str, seconds: float, outcome: str) -> None: ...

    def repeated(self, method: str) -> None: ...

    def watch(self, client: Watched) -> None:
        """A client was made, whose figures may be asked for at any time."""


class Prometheus:
    """Metrics in a registry of prometheus_client. One of these serves any number of clients."""

    def __init__(self, registry: Any = None) -> None:
        from prometheus_client import REGISTRY, Counter, Histogram

        into = REGISTRY if registry is None else registry
        self._calls = Counter(
            "metastored_client_calls", "Calls, by how they ended", ["method", "outcome"], registry=into
        )
        self._seconds = Histogram(
            "metastored_client_call_seconds", "The time of calls", ["method"], registry=into, buckets=BOUNDS
        )
        self._repeats = Counter("metastored_client_repeats", "Repetitions of calls", ["method"], registry=into)
        self._clients: WeakSet[Watched] = WeakSet()
        into.register(self)

    def called(self, method: str, seconds: float, outcome: str) -> None:
        self._calls.labels(method, outcome).inc()
        self._seconds.labels(method).observe(seconds)

    def repeated(self, method: str) -> None:
        self._repeats.labels(method).inc()

    def watch(self, client: Watched) -> None:
        self._clients.add(client)

    def collect(self) -> Iterator[Any]:
        """The figures of pools and caches as they are now; prometheus_client asks for them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        clients = list(self._clients)
        pools = [stats for client in clients if (stats := client.pool_stats()) is not None]
        caches = [kept for client in clients if (kept := client.cache_stats()) is not None]
        connections = GaugeMetricFamily("metastored_client_connections", "Connections that are open", labels=["state"])
        connections.add_metric(["idle"], sum(each.idle for each in pools))
        connections.add_metric(["busy"], sum(each.busy for each in pools))
        yield connections
        opened, failed = sum(each.opened for each in pools), sum(each.failed for each in pools)
        yield CounterMetricFamily("metastored_client_connections_opened", "Connections that were made", opened)
        yield CounterMetricFamily("metastored_client_connections_failed", "Attempts to connect that failed", failed)
        waiting = sum(each.waiting for each in pools)
        yield GaugeMetricFamily("metastored_client_waiting_calls", "Calls that wait for a connection", waiting)
        lookups = CounterMetricFamily("metastored_client_cache_lookups", "Questions to the cache", labels=["outcome"])
        lookups.add_metric(["hit"], sum(each.hits for each in caches))
        lookups.add_metric(["miss"], sum(each.misses for each in caches))
        yield lookups
        yield GaugeMetricFamily(
            "metastored_client_cache_entries", "Answers in caches", sum(each.entries for each in caches)
        )
