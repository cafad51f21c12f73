"""Servers that lack something: Hive 3.1.3 ignores the condition of an alter, and Hive 2.3 has no catalogs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance_namespace as ns
import pytest

from metastored.wire.structs import replace
from tests.support.apache import ApacheMetastore
from tests.support.lance import Space, new_space, opened

pytestmark = pytest.mark.slow


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


def test_a_server_with_conditions_is_probed_without_a_trace(hive_2_3: ApacheMetastore, tmp_path: Path) -> None:
    with new_space(hive_2_3.uri, "hive2", tmp_path, "impl") as space:
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("t")))
        assert everything(space) == ("t",)


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
