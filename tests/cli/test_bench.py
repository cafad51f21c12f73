"""`metastored bench`: its figures in both forms, and that it leaves nothing behind."""

from __future__ import annotations

import metastored
from tests.cli.running import refused, run

QUICK = ("--seconds", "0.05", "--clients", "2", "--partitions", "10")


def test_every_kind_of_call_is_measured_and_nothing_is_left(shop: str) -> None:
    with metastored.connect(shop, cache=False) as client:
        before = client.databases()
        rows = run("bench", "--uri", shop, *QUICK, "--output", "json").dicts
        assert client.databases() == before
    assert [row["call"] for row in rows] == [
        "add_partitions (10)",
        "get_database",
        "get_table",
        "get_partition",
        "get_partition_names",
        "get_partitions (10)",
        "create_table, drop_table",
    ]
    assert all(row["calls"] >= 1 and 0 < row["median_ms"] <= row["p99_ms"] for row in rows)
    assert {row["clients"] for row in rows[1:]} == {2}


def test_the_figures_are_printed_as_a_table(shop: str) -> None:
    done = run("bench", "--uri", shop, *QUICK)
    assert done.code == 0
    assert done.out.splitlines()[0].split() == [
        *("call", "|", "clients", "|", "calls", "|", "calls_per_second", "|", "median_ms", "|", "p99_ms")
    ]


def test_a_number_of_clients_that_is_none_is_one_sentence() -> None:
    refused(("bench", "--clients", "0"), "--clients")
