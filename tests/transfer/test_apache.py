"""From Apache's own metastores into metastored and back: killed on the way, and equal in every field in the end."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import metastored as client_of
from metastored.errors import NotSupported
from metastored.transfer.ends import Mode
from metastored.transfer.places import Access, open_end
from metastored.transfer.report import Action
from metastored.transfer.running import Source, run
from metastored.transfer.selection import Selection
from tests.support.apache import ApacheMetastore, apache_2_3
from tests.support.forks import running_server
from tests.transfer.content import fill
from tests.transfer.support import command, environment, everything, metastored, unequal

STAMPED = frozenset({"Table.createTime", "Function.createTime"})
"""Fields that a metastore sets itself when it is written to through its API."""
NOT_IN_2_3 = frozenset({"Table.ownerType", "SQLPrimaryKey.catName", "SQLForeignKey.catName"})
"""Fields that metastored returns to a client of 2.3 too, which ignores them."""
PATIENCE = 240.0
EXPORT = 3600.0
"""Seconds: Hive adds 8,000 partitions with their directories in minutes, longer on a slow disk."""


@dataclass(frozen=True)
class Size:
    """How much there is to be imported, under which names."""

    prefix: str
    tables: int
    partitions: int

    @property
    def databases(self) -> tuple[str, str]:
        return "--databases", f"{self.prefix}*"


# Most of the partitions are in one table: more than one page, so that an import can be killed between two pages.
SMALL = Size("moved", 40, 1250)
LARGE = Size("large", 200, 8_000)


@pytest.fixture(scope="module", params=[SMALL, pytest.param(LARGE, marks=pytest.mark.soak)], ids=["small", "large"])
def size(request: pytest.FixtureRequest) -> Size:
    chosen: Size = request.param
    return chosen


@pytest.fixture(scope="module")
def filled_2_3(hive_2_3: ApacheMetastore, size: Size) -> ApacheMetastore:
    return _filled(hive_2_3, size)


@pytest.fixture(scope="module")
def filled_3_1(hive_3_1: ApacheMetastore, size: Size) -> ApacheMetastore:
    return _filled(hive_3_1, size)


def _filled(hive: ApacheMetastore, size: Size) -> ApacheMetastore:
    with client_of.connect(hive.uri, cache=False, timeout=PATIENCE) as client:
        fill(client, size.prefix, size.tables, size.partitions, few=size.partitions // 60)
    return hive


@pytest.fixture(scope="module")
def imported_2_3(filled_2_3: ApacheMetastore, size: Size, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("from_2_3")
    _import_with_three_deaths(filled_2_3, size, folder)
    return folder


def _import_with_three_deaths(hive: ApacheMetastore, size: Size, folder: Path) -> None:
    """Killed among the first tables, in the middle of many partitions, and among the last tables."""
    words = ("import", "metastore", hive.uri, "--into", str(folder), *size.databases)
    for text, times in (
        ('"done"', 3),
        (f'{size.prefix}_p", "reached"', 1),
        (f"{size.prefix}_other", size.tables // 3),
    ):
        _killed_when(text, times, words, folder)
    done = metastored(*words)
    assert done.returncode == 0, done.stderr
    assert list(folder.glob("*.journal")) == []


def _killed_when(text: str, times: int, words: tuple[str, ...], folder: Path) -> None:
    """Killed as soon as so many lines of the journal have this text."""
    process = subprocess.Popen(command(*words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        lines = [line for file in folder.glob("*.journal") for line in file.read_text("utf-8").splitlines()]
        if sum(text in line for line in lines) >= times:
            break
        time.sleep(0.005)
    process.kill()
    assert process.wait() == -signal.SIGKILL


def _answers(uri: str, size: Size, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    with client_of.connect(uri, cache=False, timeout=PATIENCE) as client:
        return everything(client, size.prefix, without=without)


@pytest.mark.apache
def test_an_import_from_2_3_that_was_killed_three_times_is_equal(
    filled_2_3: ApacheMetastore, imported_2_3: Path, size: Size
) -> None:
    with running_server(data=imported_2_3, compat="2.3") as server:
        found = _answers(server.uri, size, NOT_IN_2_3)
        assert sum(key.startswith("table ") for key in found) == size.tables
        assert sum(len(found[key]) for key in found if key.startswith("partitions ")) == size.partitions + 4
        assert unequal(_answers(filled_2_3.uri, size, NOT_IN_2_3), found) == {}


@pytest.mark.apache
def test_a_verification_finds_no_differences_and_names_the_methods_that_2_3_lacks(
    filled_2_3: ApacheMetastore, imported_2_3: Path, size: Size
) -> None:
    done = metastored("import", "metastore", filled_2_3.uri, "--into", str(imported_2_3), *size.databases, "--verify")
    assert (done.returncode, "both are equal" in done.stderr) == (0, True), done.stderr
    assert "has no get_unique_constraints" in done.stderr


@pytest.mark.apache
def test_an_import_from_3_1_that_was_killed_three_times_is_equal(
    filled_3_1: ApacheMetastore, size: Size, tmp_path: Path
) -> None:
    _import_with_three_deaths(filled_3_1, size, tmp_path)
    with running_server(data=tmp_path, compat="3.1") as server:
        assert unequal(_answers(filled_3_1.uri, size), _answers(server.uri, size)) == {}
    done = metastored("import", "metastore", filled_3_1.uri, "--into", str(tmp_path), *size.databases, "--verify")
    assert (done.returncode, "both are equal" in done.stderr) == (0, True), done.stderr


@pytest.fixture(scope="module")
def empty_2_3() -> Iterator[ApacheMetastore]:
    with apache_2_3() as metastore:
        yield metastore


@pytest.mark.apache
@pytest.mark.timeout(EXPORT)
def test_an_export_into_an_empty_2_3_is_equal(
    filled_2_3: ApacheMetastore, imported_2_3: Path, empty_2_3: ApacheMetastore, size: Size, tmp_path: Path
) -> None:
    words = ("export", "metastore", empty_2_3.uri, "--from", str(imported_2_3), *size.databases)
    done = metastored(*words, "--journal", str(tmp_path / "journal"), timeout=EXPORT)
    assert done.returncode == 0, done.stderr
    assert unequal(_answers(filled_2_3.uri, size, STAMPED), _answers(empty_2_3.uri, size, STAMPED)) == {}
    verified = metastored(*words, "--verify")
    assert (verified.returncode, "both are equal" in verified.stderr) == (0, True), verified.stderr


@pytest.mark.apache
def test_a_metastore_without_catalogs_can_become_one(filled_2_3: ApacheMetastore, size: Size, tmp_path: Path) -> None:
    source, few = Source(filled_2_3.uri, "old"), Selection(databases=f"{size.prefix}_other", tables="t01*")
    copied = run(source, str(tmp_path), Access(), selection=few)
    assert (copied.failures, copied.changes["table", Action.ADD]) == ([], 10)
    assert run(source, str(tmp_path), Access(), selection=few, mode=Mode.VERIFY).changes == {}
    with running_server(data=tmp_path) as server, client_of.connect(server.uri) as client:
        assert client.table(f"old.{size.prefix}_other.t011").owner == "ann"


@pytest.mark.apache
def test_a_metastore_without_catalogs_gets_none(hive_2_3: ApacheMetastore, tmp_path: Path) -> None:
    with open_end(str(tmp_path), Access()):
        pass
    with pytest.raises(NotSupported, match="has no catalogs, which came with Hive 3: sales cannot be created there"):
        run(Source(str(tmp_path), "sales"), hive_2_3.uri, Access(), journal=tmp_path / "sales.journal")


@pytest.mark.peers
@pytest.mark.parametrize(
    "version",
    # The newest, beside 2.3 and 3.1 above; the others with `make soak`.
    [*(pytest.param(each, marks=pytest.mark.soak) for each in ("3_0", "4_0_0", "4_0_1")), "4_1_0"],
)
def test_an_import_from_any_other_version_is_equal(
    version: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    hive: ApacheMetastore = request.getfixturevalue(f"hive_{version}")
    with client_of.connect(hive.uri, cache=False, timeout=PATIENCE) as client:
        fill(client, "peer", 30, 200)
    chosen = Selection(databases="peer*")
    tally = run(hive.uri, str(tmp_path), Access(), selection=chosen)
    assert (tally.failures, tally.changes["table", Action.ADD]) == ([], 30)
    assert tally.changes["partition", Action.ADD] == 204
    again = run(hive.uri, str(tmp_path), Access(), selection=chosen, mode=Mode.VERIFY)
    assert (again.failures, dict(again.changes)) == ([], {})
