"""Metrics of a client, for Prometheus and for any other metrics system."""

from __future__ import annotations

import logging

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from metastored.client.metrics import Prometheus, Watched
from metastored.errors import ApplicationError, ConnectionLost, TableNotFound
from metastored.wire.message import Call, Reply, Session
from tests.client.handlers import WritableMetastore, table_of
from tests.support.driven import connected


class Flaky(WritableMetastore):
    """Loses the first reply to a call."""

    lost = False

    async def handle(self, call: Call, session: Session) -> Reply:
        if not self.lost:
            self.lost = True
            raise ConnectionLost("on purpose")
        return await super().handle(call, session)


class Notes:
    """The smallest implementation of the interface."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def called(self, method: str, seconds: float, outcome: str) -> None:
        assert seconds >= 0
        self.told.append((method, outcome))

    def repeated(self, method: str) -> None:
        self.told.append((method,))

    def watch(self, client: Watched) -> None:
        stats = client.pool_stats(), client.cache_stats()
        self.told.append(("watching", "without a pool" if stats[0] is None else "with one"))


def test_each_call_is_counted_with_its_outcome(half: str) -> None:
    notes = Notes()
    with connected(half, handler=WritableMetastore((table_of("sales", "t"),)), metrics=notes, cache=False) as client:
        client.table("sales.t")
        with pytest.raises(TableNotFound):
            client.table("sales.none")
        with pytest.raises(ApplicationError):
            client.api.get_lock_materialization_rebuild("a", "b", 1)
    assert notes.told == [
        ("watching", "without a pool"),
        ("get_table_req", "ok"),
        ("get_table_req", "error"),
        ("get_lock_materialization_rebuild", "error"),
    ]


def test_retries_are_counted_and_logged(half: str, caplog: pytest.LogCaptureFixture) -> None:
    notes = Notes()
    with caplog.at_level(logging.INFO, "metastored.client"):
        with connected(half, handler=Flaky(), metrics=notes, cache=False) as client:
            client.databases()
    assert notes.told[1:] == [("get_all_databases",), ("get_all_databases", "ok")]
    assert "get_all_databases at this process failed and is retried" in caplog.text


def test_a_call_without_a_reply_has_failed(half: str) -> None:
    class Dead(WritableMetastore):
        async def handle(self, call: Call, session: Session) -> Reply:
            raise ConnectionLost("on purpose")

    notes = Notes()
    with connected(half, handler=Dead(), metrics=notes, cache=False) as client:
        with pytest.raises(ConnectionLost):
            client.databases()
    assert notes.told[-1] == ("get_all_databases", "failed")


def test_prometheus_gets_the_statistics_of_all_clients(half: str) -> None:
    registry = CollectorRegistry()
    metrics = Prometheus(registry)
    there = WritableMetastore((table_of("sales", "t"),))
    with connected(half, handler=Flaky((table_of("sales", "t"),)), metrics=metrics, cache=True) as one:
        with connected(half, handler=there, metrics=metrics, cache=False) as two:
            one.table("sales.t")
            one.table("sales.t")
            two.table("sales.t")
            text = generate_latest(registry).decode()
    for line in (
        'metastored_client_calls_total{method="get_table_req",outcome="ok"} 2.0',
        'metastored_client_call_seconds_count{method="get_table_req"} 2.0',
        'metastored_client_connections{state="idle"} 0.0',
        "metastored_client_connections_opened_total 0.0",
        "metastored_client_connections_failed_total 0.0",
        "metastored_client_waiting_calls 0.0",
        'metastored_client_cache_lookups_total{outcome="hit"} 1.0',
        "metastored_client_cache_entries 1.0",
    ):
        assert line in text
    assert "metastored_client_repeats_total" in text


def test_connections_are_counted(half: str) -> None:
    from metastored.testing import running_server

    registry = CollectorRegistry()
    with running_server() as server, connected(half, server.uri, metrics=Prometheus(registry)) as client:
        client.databases()
        assert registry.get_sample_value("metastored_client_connections", {"state": "idle"}) == 1
        assert registry.get_sample_value("metastored_client_connections_opened_total") == 1
