"""A driver that is killed during an analyze or a repair: nothing wrong is stored, and the next run finishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import metastored
from metastored.hive.locations import local_path
from metastored.spark.statistics.storing import FINGERPRINT
from metastored.testing import running_server
from tests.support.spark import SparkFailure, run_spark

pytestmark = [pytest.mark.spark, pytest.mark.slow]

COMMON = """
import json, os, signal
import metastored
from metastored.client._sync.client import Client
from metastored.spark import partition_repair, statistics
from metastored.spark.statistics import storing

storing.BATCH, partition_repair.BATCH = 1, 2
WRITES = ("_set_columns", "_alter_table", "_alter_partitions")

def create(name):
    spark.sql(f"create table d.{name} (id bigint, v string, ds string) using parquet partitioned by (ds)")
    spark.sql(f"insert into d.{name} select id, concat('v', id), concat('d', id % 3) from range(30)")

def at_call(owner, names, number, act):
    '''Acts instead of the call with this number, of all calls of these functions.'''
    calls = []
    originals = {name: getattr(owner, name) for name in names}
    def replaced(name):
        def call(*args, **options):
            calls.append(name)
            if len(calls) == number:
                act()
            return originals[name](*args, **options)
        return call
    for name in names:
        setattr(owner, name, replaced(name))
    return lambda: [setattr(owner, name, original) for name, original in originals.items()]

def die():
    os.kill(os.getpid(), signal.SIGKILL)
"""

KILLED_ANALYZE = """
spark.sql("create database d")
create("p")
at_call(storing, WRITES, 5, die)
statistics.analyze(spark, "d.p")
"""

INTERRUPTED = """
done = statistics.analyze(spark, "d.p")
found = {"finished": [list(done.partitions), list(done.skipped)]}

class Stop(BaseException):
    pass
def stop():
    raise Stop
steps = []
with metastored.connect(URI) as client:
    for number in range(1, 9):
        name = f"t{number}"
        create(name)
        undo = at_call(storing, WRITES, number, stop)
        try:
            statistics.analyze(spark, f"d.{name}")
            stopped = False
        except Stop:
            stopped = True
        finally:
            undo()
        between = {
            part: sorted(columns) for part, columns in
            client.partition_statistics(f"d.{name}", client.partition_names(f"d.{name}"), ["id", "v"]).items()}
        marked = [each.values[0] for each in client.partitions(f"d.{name}") if storing.FINGERPRINT in each.parameters]
        done = statistics.analyze(spark, f"d.{name}")
        steps.append([stopped, between, marked, list(done.partitions), list(done.skipped)])
found["steps"] = steps
with open(FOUND, "w") as file:
    json.dump(found, file)
at_call(Client, ["add_partitions"], 3, die)
metastored.spark.repair(spark, "d.r")
"""

FINISHED_REPAIR = """
done = metastored.spark.repair(spark, "d.r", "sync")
result = [list(done.added), list(done.dropped)]
"""


class Done(NamedTuple):
    client: metastored.Client
    marked: list[str]
    """The partitions with a fingerprint after the analyze was killed."""
    killed: dict[str, str]
    """The parameters of the table then."""
    found: dict[str, Any]
    added_before: tuple[str, ...]
    """The partitions after the repair was killed."""
    repaired: list[list[str]]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Done]:
    file = tmp_path_factory.mktemp("interrupted") / "found.json"
    with running_server() as server, metastored.connect(server.uri) as client:

        def killed(script: str) -> None:
            script = COMMON + script.replace("URI", repr(server.uri)).replace("FOUND", repr(str(file)))
            with pytest.raises(SparkFailure, match="exit code -9"):
                run_spark(script, conf=metastored.spark.conf(server.uri), fresh=True)

        killed(KILLED_ANALYZE)
        marked = [
            (each.values or ("",))[0] for each in client.partitions("d.p") if FINGERPRINT in (each.parameters or {})
        ]
        parameters = dict(client.table("d.p").parameters or {})
        columns = {"id": "bigint"}
        client.create_table(metastored.table("d.r", columns, partitioned_by={"n": "int"}, format="parquet"))
        sd = client.table("d.r").sd
        assert sd is not None
        for number in range(9):
            (Path(local_path(sd.location or "")) / f"n={number}").mkdir(parents=True)
        killed(INTERRUPTED)
        before = client.partition_names("d.r")
        repaired = run_spark(COMMON + FINISHED_REPAIR, conf=metastored.spark.conf(server.uri))
        yield Done(client, marked, parameters, json.loads(file.read_text("utf-8")), before, repaired)


def test_after_a_kill_the_table_has_right_statistics_and_finished_partitions_are_marked(done: Done) -> None:
    assert done.marked == ["d0"]
    assert done.killed["spark.sql.statistics.numRows"] == "30"
    assert done.killed["spark.sql.statistics.colStats.id.max"] == "29"


def test_the_next_analyze_does_only_what_is_left(done: Done) -> None:
    assert done.found["finished"] == [["ds=d1", "ds=d2"], ["ds=d0"]]
    rows = {each.values: (each.parameters or {})["numRows"] for each in done.client.partitions("d.p")}
    assert rows == {("d0",): "10", ("d1",): "10", ("d2",): "10"}


def test_an_analyze_can_stop_at_each_of_its_writes(done: Done) -> None:
    steps = done.found["steps"]
    assert [stopped for stopped, *_ in steps] == [True] * 7 + [False]
    for _, between, marked, analyzed, skipped in steps:
        assert all(between[f"ds={each}"] == ["id", "v"] for each in marked), "a marked partition has all statistics"
        assert skipped == [f"ds={each}" for each in marked]
        assert sorted(analyzed + skipped) == ["ds=d0", "ds=d1", "ds=d2"]
    for number in range(1, 9):
        parameters = done.client.table(f"d.t{number}").parameters or {}
        assert parameters["spark.sql.statistics.numRows"] == "30"
        assert parameters["spark.sql.statistics.colStats.id.distinctCount"] == "30"


def test_the_next_repair_adds_what_is_left(done: Done) -> None:
    names = tuple(f"n={number}" for number in range(9))
    # Two batches are on their way at a time: when the third begins, at least one of the first two has been added.
    assert done.added_before in (names[:2], names[2:4], names[:4])
    assert done.repaired == [[each for each in names if each not in done.added_before], []]
    assert done.client.partition_names("d.r") == names
