"""Counters: by method, by remote, by worker, and summed over the workers."""

from __future__ import annotations

import asyncio

import pytest

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.gate.measured import Measured
from metastored.gate.tallies import MAX_REMOTES, OTHERS, Tallies, WorkerTally
from metastored.model.remotes.definitions import Definitions
from metastored.remotes.definitions import Known
from metastored.remotes.endpoints import Endpoints
from metastored.remotes.routing import Routed
from metastored.server.metrics import Metrics
from metastored.wire.message import Call, Handler, Session
from metastored.wire.methods import METHODS
from tests.support.memory_metastore import MemoryMetastore
from tests.support.remotes import remote_database

POOLS = {"calls": 8, "streams": 4, "authentication": 2}


def figures(tallies: Tallies) -> dict[str, float]:
    """The page that Prometheus reads, as a dict of its lines."""
    lines = Metrics(tallies, POOLS).text().decode().splitlines()
    return {name: float(value) for name, _, value in (x.rpartition(" ") for x in lines if not x.startswith("#"))}


def call(handler: Handler, name: str, *args: object) -> None:
    method = METHODS[name]
    asyncio.run(handler.handle(Call(method, args), Session())).value(method)


def test_calls_are_counted_by_method_and_calls_to_remotes_also_by_remote() -> None:
    tallies = Tallies(2)
    local = MemoryMetastore({"default": ("orders",)})
    far = MemoryMetastore({"raw": ("clicks",)})
    for slot in range(2):
        tally = tallies.worker(slot)
        known = Known(Definitions([remote_database("sales", "raw", "thrift://far:9083")]))

        async def definitions(known: Known = known) -> Known:
            return known

        def measure(name: str, inner: Handler, tally: WorkerTally = tally) -> Handler:
            return Measured(inner, tally.remote(name))

        endpoints = Endpoints(lambda endpoint: far)
        endpoints.measure = measure
        handler = Measured(Routed(local, definitions, endpoints), tally.calls)
        call(handler, "get_table", "default", "orders")
        call(handler, "get_table", "sales", "clicks")
        with pytest.raises((NoSuchObjectException, ApplicationError)):
            call(handler, "get_table", "sales", "nothing")
    found = figures(tallies)
    assert found['metastored_calls_total{method="get_table"}'] == 6
    assert found['metastored_errors_total{method="get_table"}'] == 2
    assert found['metastored_remote_calls_total{method="get_table",remote="thrift://far:9083"}'] == 4
    assert found['metastored_remote_errors_total{method="get_table",remote="thrift://far:9083"}'] == 2
    assert found['metastored_remote_call_seconds_bucket{le="+Inf",method="get_table",remote="thrift://far:9083"}'] == 4
    assert found['metastored_remote_call_seconds_sum{method="get_table",remote="thrift://far:9083"}'] > 0


def test_a_worker_that_takes_anothers_place_goes_on_counting() -> None:
    tallies, method = Tallies(1), METHODS["get_table"]
    tallies.worker(0).remote("sales").add(method, 0.5, False)
    tallies.worker(0).remote("other").add(method, 0.5, False)
    tallies.leave(0)
    tallies.worker(0).remote("sales").add(method, 0.5, True)
    assert {name: (sum(tally.buckets), tally.errors) for name, tally in tallies.remotes()} == {
        "other": (1, 0),
        "sales": (2, 1),
    }


def test_remotes_without_a_slot_are_counted_together() -> None:
    tallies, method = Tallies(1), METHODS["get_table"]
    for number in range(MAX_REMOTES + 5):
        tallies.worker(0).remote(f"remote {number}").add(method, 0.0, False)
    found = {name: sum(tally.buckets) for name, tally in tallies.remotes()}
    assert len(found) == MAX_REMOTES
    assert found["remote 0"] == 1 and found[OTHERS] == 6


def test_pools_and_their_queues_are_summed_over_the_workers() -> None:
    tallies = Tallies(2)
    tallies.worker(0).put(connections=3, waiting_logins=1)
    tallies.worker(1).put(connections=4, waiting_calls=2)
    found = figures(tallies)
    assert (found["metastored_connections"], found["metastored_workers"]) == (7, 2)
    assert found['metastored_pool_threads{pool="calls"}'] == 16
    assert found['metastored_pool_waiting{pool="calls"}'] == 2
    assert found['metastored_pool_waiting{pool="authentication"}'] == 1
    tallies.leave(1)
    assert figures(tallies)["metastored_connections"] == 3
