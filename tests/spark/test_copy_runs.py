"""Runs of copies at the same time, without Spark: what one of them removes, and what belongs to another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.errors import LockFailed
from metastored.hive.locations import local_path
from metastored.hive.transactions import leases
from metastored.model.names import table_name
from metastored.spark.copying.files import Made, _Copy, _publish
from metastored.spark.copying.planning import plan_copy
from metastored.spark.copying.runs import CopyRun, copy_run
from metastored.spark.copying.staging import Staged
from metastored.spark.files import LocalFiles
from metastored.structs import Partition, StorageDescriptor
from metastored.testing import RunningServer, running_server
from metastored.wire.structs import replace
from tests.support.waiting import eventually

pytestmark = pytest.mark.slow

TARGET = table_name("near.t")
RUN = """
import sys
import metastored
from metastored.hive.transactions import leases
from metastored.model.names import table_name
from metastored.spark.files import LocalFiles
from metastored.spark.copying.runs import copy_run
leases.HEARTBEAT, leases.EXPIRES = 0.2, 1.5
with metastored.connect(sys.argv[1]) as client, copy_run(client, table_name("near.t"), LocalFiles()) as run:
    LocalFiles().make(f"{sys.argv[2]}/{run.staging}/rows")
    LocalFiles().make(f"{sys.argv[2]}/ds=1/{run.directory}")
    print(run.directory, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as found:
        yield found


@pytest.fixture
def client(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[metastored.Client]:
    """A client of a metastore with the target, whose partition ds=1 has no files; leases last a second and a half."""
    monkeypatch.setattr(leases, "HEARTBEAT", 0.2)
    monkeypatch.setattr(leases, "EXPIRES", 1.5)
    with metastored.connect(server.uri, cache=False) as found:
        found.create_database("near")
        found.create_table(metastored.table(str(TARGET), {"id": "int"}, partitioned_by={"ds": "string"}))
        found.add_partitions(str(TARGET), [["1"]])
        yield found
        found.drop_database("near", cascade=True)


def root(client: metastored.Client) -> Path:
    return Path(local_path((client.fresh_table(TARGET).sd or StorageDescriptor()).location or ""))


def uri(path: Path) -> str:
    """Locations of Hive are not escaped as URIs are."""
    return f"file:{path}"


def made(client: metastored.Client, run: CopyRun) -> Path:
    """The directory of the partition that a run has written and not published."""
    directory = root(client) / "ds=1" / run.directory
    directory.mkdir(parents=True)
    return directory


def publish(client: metastored.Client, directory: Path, partition: str = "ds=1") -> None:
    def changed(now: Partition) -> Partition:
        return replace(now, sd=replace(now.sd or StorageDescriptor(), location=uri(directory)))

    client.change_partitions(TARGET, [partition], changed)


def clean(client: metastored.Client) -> None:
    with copy_run(client, TARGET, LocalFiles()) as run:
        run.clean(uri(root(client)))
        run.clean(uri(root(client) / "ds=1"))


def started(server: RunningServer, client: metastored.Client) -> tuple[subprocess.Popen[str], Path, Path]:
    """A run in another process, its directory with what is staged, and that of the partition."""
    words = [sys.executable, "-c", RUN, server.uri, uri(root(client))]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    name = process.stdout.readline().strip()
    return process, root(client) / f".{name}", root(client) / "ds=1" / name


def test_the_directory_of_a_run_that_published_it_and_ended_meanwhile_is_kept(client: metastored.Client) -> None:
    with copy_run(client, TARGET, LocalFiles()) as first:
        # The first run knows the directory of the partition before the second one changes it.
        with copy_run(client, TARGET, LocalFiles()) as second:
            directory = made(client, second)
            publish(client, directory)
        first.clean(uri(directory.parent), ["as it was"])
    assert directory.exists()


def test_what_a_run_did_not_publish_is_removed_when_it_has_ended(client: metastored.Client) -> None:
    with copy_run(client, TARGET, LocalFiles()) as run:
        directory = made(client, run)
        clean(client)
        assert directory.exists()
    clean(client)
    assert not directory.exists() and directory.parent.exists()


def test_a_directory_that_another_partition_refers_to_is_kept(client: metastored.Client) -> None:
    client.add_partitions(str(TARGET), [["2"]])
    with copy_run(client, TARGET, LocalFiles()) as run:
        directory = made(client, run)
        (directory / "below").mkdir()
        publish(client, directory / "below", "ds=2")
    clean(client)
    assert directory.exists()


def test_directories_of_a_killed_process_are_removed_once_its_lease_is_over(
    server: RunningServer, client: metastored.Client
) -> None:
    process, staged, directory = started(server, client)
    clean(client)
    assert staged.exists() and directory.exists(), "it is at work"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    clean(client)
    assert staged.exists() and directory.exists(), "that the process is gone is not known before"

    def gone() -> bool:
        clean(client)
        return not staged.exists() and not directory.exists()

    eventually(gone)


def test_a_run_whose_heartbeats_stopped_cannot_publish(client: metastored.Client) -> None:
    with copy_run(client, TARGET, LocalFiles()) as run:
        lease = run._lease
        assert lease is not None
        lease._heart.stop()
        directory = made(client, run)

        def gone() -> bool:
            clean(client)
            return not directory.exists()

        eventually(gone)
        with pytest.raises(LockFailed, match=r"the lease of the copy to near\.t was lost"):
            run.renew()


def test_directories_of_others_are_never_removed(client: metastored.Client) -> None:
    names = ["copy-of-mine", "copy-1000-worker-1-1-77-ab12cd34", "copy-1000-0123456789abcdef-unleased", "ds=2"]
    for name in names:
        (root(client) / name).mkdir(parents=True)
    (root(client) / "copy-1000-0123456789abcdea").touch()
    clean(client)
    assert {*names, "copy-1000-0123456789abcdea"} <= {path.name for path in root(client).iterdir()}


def test_of_two_copies_of_one_partition_at_once_the_last_one_stays_and_nothing_else(client: metastored.Client) -> None:
    client.create_table(metastored.table("near.source", {"id": "int"}, partitioned_by={"ds": "string"}))
    client.add_partitions("near.source", [["1"], ["2"]])
    client.drop_partition(TARGET, "ds=1")
    # Both are planned while the target has no partition.
    plans = [
        plan_copy(None, client, table_name("near.source"), TARGET, None, None, "incremental") for _ in ("one", "other")
    ]
    directories = []
    for plan in plans:
        copy = _Copy(None, client, plan, client.fresh_table(TARGET))
        with copy_run(client, TARGET, LocalFiles()) as run:
            made = []
            for part in plan.changed:
                final = f"{copy.location}/{part.name}/{run.directory}"
                LocalFiles().make(final)
                made.append(Made(Staged(part, final, 0, "0"), final, 0, 0))
            _publish(copy, made)
            directories.append(run.directory)
    for each in client.partitions(TARGET):
        location = Path(local_path((each.sd or StorageDescriptor()).location or ""))
        assert [path.name for path in location.parent.iterdir()] == [location.name] == [directories[1]]
    assert client.partition_names(TARGET) == ("ds=1", "ds=2")
