"""Metrics of a client: an interface for any metrics system, and an implementation for Prometheus.

metrics = Prometheus()                                  # in prometheus_client's own registry
client = metastored.connect("thrift://…", metrics=metrics)

metastored_client_calls_total{method,outcome}         outcome: ok, error (the server refused), failed (no reply)
metastored_client_call_seconds{method}                including retries and the delays before them
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
    """The statistics of a client."""

    def pool_stats(self) -> PoolStats | None: ...

    def cache_stats(self) -> CacheStats | None: ...


class Metrics(Protocol):
    """Receives each call that the client sends. The methods must be fast and raise nothing."""

    def called(self, method: str, seconds: float, outcome: str) -> None: ...

    def repeated(self, method: str) -> None:
        """A call of this method is retried."""

    def watch(self, client: Watched) -> None:
        """A client was created; its statistics may be read at any time."""


class Prometheus:
    """Metrics in a registry of prometheus_client, for any number of clients."""

    def __init__(self, registry: Any = None) -> None:
        from prometheus_client import REGISTRY, Counter, Histogram

        into = REGISTRY if registry is None else registry
        self._calls = Counter("metastored_client_calls", "Calls, by outcome", ["method", "outcome"], registry=into)
        self._seconds = Histogram(
            "metastored_client_call_seconds", "Duration of calls", ["method"], registry=into, buckets=BOUNDS
        )
        self._repeats = Counter("metastored_client_repeats", "Retries of calls", ["method"], registry=into)
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
        """The current statistics of pools and caches; prometheus_client calls it."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        clients = list(self._clients)
        pools = [stats for client in clients if (stats := client.pool_stats()) is not None]
        caches = [cache for client in clients if (cache := client.cache_stats()) is not None]
        connections = GaugeMetricFamily("metastored_client_connections", "Open connections", labels=["state"])
        connections.add_metric(["idle"], sum(each.idle for each in pools))
        connections.add_metric(["busy"], sum(each.busy for each in pools))
        yield connections
        opened, failed = sum(each.opened for each in pools), sum(each.failed for each in pools)
        yield CounterMetricFamily("metastored_client_connections_opened", "Connections that were opened", opened)
        yield CounterMetricFamily("metastored_client_connections_failed", "Attempts to connect that failed", failed)
        waiting = sum(each.waiting for each in pools)
        yield GaugeMetricFamily("metastored_client_waiting_calls", "Calls that wait for a connection", waiting)
        lookups = CounterMetricFamily("metastored_client_cache_lookups", "Lookups in the cache", labels=["outcome"])
        lookups.add_metric(["hit"], sum(each.hits for each in caches))
        lookups.add_metric(["miss"], sum(each.misses for each in caches))
        yield lookups
        yield GaugeMetricFamily(
            "metastored_client_cache_entries", "Entries in caches", sum(each.entries for each in caches)
        )
