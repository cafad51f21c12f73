"""What real Hives honour and lack: 2.3.10 and 4.0.1 honour the condition of an alter, 3.1.3 ignores it, and 2.3 has no
catalogs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lance_namespace as ns
import pytest

from metastored.errors import MetaException
from metastored.lance.conditions import conditional, is_conflict
from metastored.lance.files import final_name
from metastored.wire.structs import replace
from tests.support.apache import ApacheMetastore
from tests.support.lance import Space, new_space, opened

pytestmark = pytest.mark.slow

WRITERS = 4
WITH_CONDITIONS = pytest.mark.parametrize(
    "honest",
    [
        pytest.param("hive_2_3", marks=pytest.mark.apache),
        pytest.param("hive_4_0_1", marks=pytest.mark.peers),
    ],
    indirect=True,
)


@pytest.fixture
def honest(request: pytest.FixtureRequest) -> ApacheMetastore:
    """A real Hive that honours the condition of an alter."""
    found: ApacheMetastore = request.getfixturevalue(request.param)
    return found


def everything(space: Space) -> tuple[str, ...]:
    found: tuple[str, ...] = space.namespace.client.tables(space.name)
    return found


def test_a_server_that_ignores_conditions_gets_no_table_of_which_it_keeps_the_versions(
    hive_3_1: ApacheMetastore, tmp_path: Path
) -> None:
    with new_space(hive_3_1.uri, "hive2", tmp_path, "impl") as space:
        for call in (
            lambda: space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("t"))),
            lambda: space.create("t"),
        ):
            with pytest.raises(ns.UnsupportedOperationError, match=r"ignores the condition.*managed_by=storage"):
                call()
            assert everything(space) == ()
        assert not (tmp_path / f"{space.name}.db" / "t").exists()


def test_a_commit_to_a_table_that_somebody_else_declared_there_is_refused(
    hive_3_1: ApacheMetastore, tmp_path: Path
) -> None:
    with new_space(hive_3_1.uri, "hive2", tmp_path) as space:
        space.create("t")
        client = space.namespace.client
        table = client.table((space.name, "t"))
        changed = replace(table, parameters={**table.parameters, "managed_by": "impl"})
        client.alter((space.name, "t"), changed)
        versions = tmp_path / f"{space.name}.db" / "t" / "_versions"
        staged = versions / "18446744073709551613.manifest-x"
        staged.write_bytes(next(versions.glob("*.manifest")).read_bytes())
        request = ns.CreateTableVersionRequest(id=space.id("t"), version=2, manifest_path=str(staged)[1:])
        with pytest.raises(ns.UnsupportedOperationError, match="ignores the condition"):
            space.namespace.create_table_version(request)
        assert client.table((space.name, "t")).parameters["version"] == "1"


@WITH_CONDITIONS
def test_a_server_with_conditions_is_probed_without_a_trace(honest: ApacheMetastore, tmp_path: Path) -> None:
    with new_space(honest.uri, "hive2", tmp_path, "impl") as space:
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("t")))
        assert everything(space) == ("t",)


@WITH_CONDITIONS
def test_an_alter_whose_condition_does_not_hold_changes_nothing(honest: ApacheMetastore, tmp_path: Path) -> None:
    with new_space(honest.uri, "hive2", tmp_path, "impl") as space:
        space.create("t")
        client, name = space.namespace.client, (space.name, "t")
        table = client.table(name)
        changed = replace(table, parameters={**table.parameters, "version": "2"})
        with pytest.raises(MetaException) as refused:
            client.alter(name, changed, environment=conditional("0"))
        assert is_conflict(refused.value)
        assert client.table(name).parameters["version"] == "1"
        client.alter(name, changed, environment=conditional("1"))
        assert client.table(name).parameters["version"] == "2"


@WITH_CONDITIONS
def test_a_server_that_does_not_compare_definitions_is_read_for_each_commit(
    honest: ApacheMetastore, tmp_path: Path
) -> None:
    with new_space(honest.uri, "hive2", tmp_path, "impl") as space:
        space.create("t")
        client, name = space.namespace.client, (space.name, "t")
        newest = ns.ListTableVersionsRequest(id=space.id("t"), limit=1, descending=True)
        space.namespace.list_table_versions(newest)
        table = client.table(name)
        client.alter(name, replace(table, parameters={**table.parameters, "note": "kept"}))
        versions = tmp_path / f"{space.name}.db" / "t" / "_versions"
        staged = versions / f"{final_name(2)}-x"
        staged.write_bytes((versions / final_name(1)).read_bytes())
        request = ns.CreateTableVersionRequest(id=space.id("t"), version=2, manifest_path=str(staged)[1:])
        space.namespace.create_table_version(request)
        found = client.table(name).parameters
        assert (found["version"], found["note"]) == ("2", "kept")


@WITH_CONDITIONS
def test_of_several_commits_of_one_version_one_succeeds(honest: ApacheMetastore, tmp_path: Path) -> None:
    with new_space(honest.uri, "hive2", tmp_path, "impl") as space:
        space.create("t")
        versions = tmp_path / f"{space.name}.db" / "t" / "_versions"
        content = next(versions.glob("*.manifest")).read_bytes()

        def commit(writer: int) -> str:
            staged = versions / f"{final_name(2)}-{writer}"
            staged.write_bytes(content + b"%d" % writer)
            request = ns.CreateTableVersionRequest(id=space.id("t"), version=2, manifest_path=str(staged)[1:])
            try:
                space.namespace.create_table_version(request)
            except ns.ConcurrentModificationError:
                return "lost"
            return f"won {writer}"

        with ThreadPoolExecutor(WRITERS) as threads:
            found = sorted(threads.map(commit, range(WRITERS)))
        assert found[:-1] == ["lost"] * (WRITERS - 1)
        winner = found[-1].removeprefix("won ")
        assert (versions / final_name(2)).read_bytes() == content + winner.encode()
        assert space.namespace.client.table((space.name, "t")).parameters["version"] == "2"


def test_a_server_without_catalogs_is_not_supported_and_the_error_names_the_other_namespace(
    hive_2_3: ApacheMetastore, tmp_path: Path
) -> None:
    with opened(hive_2_3.uri, "hive3", tmp_path) as space:
        calls: list[Callable[[], Any]] = [
            lambda: space.list_namespaces(ns.ListNamespacesRequest(id=[])),
            lambda: space.list_tables(ns.ListTablesRequest(id=["hive", "default"])),
            lambda: space.create_namespace(ns.CreateNamespaceRequest(id=["hive", "x"])),
            lambda: space.create_namespace(ns.CreateNamespaceRequest(id=["x"])),
            lambda: space.declare_table(ns.DeclareTableRequest(id=["hive", "default", "t"])),
            lambda: space.describe_table(ns.DescribeTableRequest(id=["hive", "default", "t"])),
        ]
        for call in calls:
            with pytest.raises(ns.UnsupportedOperationError, match="Hive2Namespace"):
                call()
