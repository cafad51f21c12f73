"""The load of the benchmarks: its order, its percentiles, and replies that are not as long as expected."""

from __future__ import annotations

import dataclasses
from collections import Counter

import pytest

from benchmarks.client import reply_length, request_for
from benchmarks.load import Call, Times, load, order_of, percentile
from metastored.testing import running_server


def call(kind: str, share: float) -> Call:
    return Call(kind, "get_table", b"", 100, share)


def test_a_connection_repeats_its_order_in_every_run_and_others_have_another() -> None:
    calls = [call("read", 900), call("write", 80), call("list", 20)]
    assert order_of(calls, 1) == order_of(calls, 1)
    assert order_of(calls, 1) != order_of(calls, 2)
    counts = Counter(each.kind for number in range(64) for each in order_of(calls, number))
    total = counts.total()
    assert [counts[kind] / total for kind in ("read", "write", "list")] == pytest.approx([0.9, 0.08, 0.02], abs=0.005)


def test_percentiles() -> None:
    values = [float(number) for number in range(1_000)]
    assert [percentile(values, share) for share in (0.5, 0.99, 0.999, 1.0)] == [500.0, 990.0, 999.0, 999.0]
    assert percentile([7.0], 0.99) == 7.0
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_times_of_some_kinds_are_sorted_together() -> None:
    times = Times(by_kind={"read": [3.0, 1.0], "write": [2.0]})
    assert times.of() == [1.0, 2.0, 3.0]
    assert times.of("read") == [1.0, 3.0]
    assert times.of("list") == []


@pytest.mark.slow
def test_results_and_errors_are_told_apart_and_all_calls_are_timed() -> None:
    with running_server() as server:
        request = request_for("get_database", "default")
        length = reply_length(server.host, server.port, request)
        found = Call("found", "get_database", request, length, 1)
        missing = dataclasses.replace(found, kind="missing", request=request_for("get_database", "none"))
        times = load(server.host, server.port, [[found], [found, missing], [found, missing]], 0.1, 0.4)
    assert times.by_kind["found"] and times.errors == len(times.by_kind["missing"]) > 0
    assert all(0 < taken < 5 for taken in times.of())
