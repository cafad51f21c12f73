"""Who may do what by Lance's REST namespaces: SQL-standard authorization, ownership, locations, read-only servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lance
import lance_namespace as models
import pytest
from lance_namespace.errors import InvalidInputError, PermissionDeniedError, TableNotFoundError

import metastored
from metastored.errors import PermissionDenied
from metastored.testing import RunningServer
from tests.lance.rest_server import grant, lance_server, make_table, rest
from tests.lance.rest_support import NEAR, POINTS, ipc
from tests.server.http.support import DATABASES, USER
from tests.support.forks import running_server

pytestmark = pytest.mark.slow

MANAGED = pytest.mark.parametrize("managed_by", ["storage", "impl"])


@pytest.fixture(scope="module", params=DATABASES)
def guarded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that enforces privileges: maja is an administrator, bob is not."""
    folder = tmp_path_factory.mktemp("guarded")
    settings = {"authorization": "sql", "admin_users": USER, "audit": "on"}
    with lance_server(folder, request.param, {"bob": "b"}, **settings) as running:
        yield running


def bobs(server: RunningServer) -> Any:
    """The client of bob."""
    return rest(server, who="bob", password="b")


def stored(server: RunningServer, table: list[str]) -> Mapping[str, str]:
    """The parameters of a table in the metastore."""
    with metastored.connect(server.uri, user=USER, cache=False) as client:
        return client.table((table[0], table[1])).parameters or {}


READS: dict[str, Any] = {
    "describe": lambda n, t: n.describe_table(models.DescribeTableRequest(id=t)),
    "exists": lambda n, t: n.table_exists(models.TableExistsRequest(id=t)),
    "count": lambda n, t: n.count_table_rows(models.CountTableRowsRequest(id=t)),
    "query": lambda n, t: n.query_table(models.QueryTableRequest(id=t, k=1, vector=NEAR)),
    "versions": lambda n, t: n.list_table_versions(models.ListTableVersionsRequest(id=t)),
    "indices": lambda n, t: n.list_table_indices(models.ListTableIndicesRequest(id=t)),
    "tags": lambda n, t: n.list_table_tags(models.ListTableTagsRequest(id=t)),
}
CHANGES: dict[str, tuple[str, Any]] = {
    "insert": ("INSERT", lambda n, t: n.insert_into_table(models.InsertIntoTableRequest(id=t), ipc(POINTS))),
    "update": (
        "UPDATE",
        lambda n, t: n.update_table(models.UpdateTableRequest(id=t, updates=[["id", "id + 1"]])),
    ),
    "delete": ("DELETE", lambda n, t: n.delete_from_table(models.DeleteFromTableRequest(id=t, predicate="id = 1"))),
}
ALTERS: dict[str, Any] = {
    "overwrite": lambda n, t: n.create_table(models.CreateTableRequest(id=t, mode="over_write"), ipc(POINTS)),
    "index": lambda n, t: n.create_table_scalar_index(
        models.CreateTableIndexRequest(id=t, column="id", index_type="BTREE")
    ),
    "tag": lambda n, t: n.create_table_tag(models.CreateTableTagRequest(id=t, tag="x", version=1)),
    "columns": lambda n, t: n.alter_table_drop_columns(models.AlterTableDropColumnsRequest(id=t, columns=["vector"])),
    "metadata": lambda n, t: n.update_table_schema_metadata(
        models.UpdateTableSchemaMetadataRequest(id=t, metadata={"a": "b"})
    ),
    "restore": lambda n, t: n.restore_table(models.RestoreTableRequest(id=t, version=1)),
    "rename": lambda n, t: n.rename_table(models.RenameTableRequest(id=t, new_table_name="mine")),
    "deregister": lambda n, t: n.deregister_table(models.DeregisterTableRequest(id=t)),
    "drop": lambda n, t: n.drop_table(models.DropTableRequest(id=t)),
    "delete versions": lambda n, t: n.batch_delete_table_versions(
        {"id": t, "ranges": [{"start_version": 0, "end_version": -1}]}
    ),
}


def test_a_caller_without_privileges_reads_nothing(guarded: RunningServer) -> None:
    table = make_table(rest(guarded), "hidden")
    bob = bobs(guarded)
    for name, read in READS.items():
        with pytest.raises(PermissionDeniedError):
            print(name, read(bob, table))


@MANAGED
def test_a_reader_may_change_neither_rows_nor_the_table(guarded: RunningServer, managed_by: str) -> None:
    maja, bob = rest(guarded), bobs(guarded)
    table = make_table(maja, f"readable_{managed_by}", managed_by=managed_by)
    grant(guarded, table, "SELECT")
    for read in READS.values():
        read(bob, table)
    before = maja.list_table_versions(models.ListTableVersionsRequest(id=table)).versions
    for name, change in {**{name: each for name, (_, each) in CHANGES.items()}, **ALTERS}.items():
        with pytest.raises(PermissionDeniedError):
            print(name, change(bob, table))
    assert maja.list_table_versions(models.ListTableVersionsRequest(id=table)).versions == before
    assert maja.count_table_rows(models.CountTableRowsRequest(id=table)).count == 3


@MANAGED
@pytest.mark.parametrize("name", CHANGES)
def test_each_change_of_rows_needs_its_own_privilege(guarded: RunningServer, name: str, managed_by: str) -> None:
    maja, bob = rest(guarded), bobs(guarded)
    table = make_table(maja, f"changed_{managed_by}", name, managed_by=managed_by)
    privilege, change = CHANGES[name]
    grant(guarded, table, "SELECT", privilege)
    change(bob, table)
    assert stored(guarded, table)["version"] == "2"
    for other, (_, refused) in CHANGES.items():
        if other != name:
            with pytest.raises(PermissionDeniedError):
                refused(bob, table)
    assert stored(guarded, table)["version"] == "2"


@MANAGED
def test_a_writer_who_is_not_the_owner_may_not_change_the_table_itself(guarded: RunningServer, managed_by: str) -> None:
    bob = bobs(guarded)
    table = make_table(rest(guarded), f"written_{managed_by}", managed_by=managed_by)
    grant(guarded, table, "SELECT", "INSERT", "UPDATE", "DELETE")
    for _, change in CHANGES.values():
        change(bob, table)
    for name, alter in ALTERS.items():
        with pytest.raises(PermissionDeniedError):
            print(name, alter(bob, table))
    with metastored.connect(guarded.uri, user="bob", cache=False) as client, pytest.raises(PermissionDenied):
        client.set_parameters((table[0], table[1]), version="9")


def test_a_commit_of_lances_own_client_needs_all_privileges_to_change_rows(guarded: RunningServer) -> None:
    bob = bobs(guarded)
    table = make_table(rest(guarded), "committed", managed_by="impl")

    def append() -> int:
        return int(lance.write_dataset(POINTS, namespace_client=bob, table_id=table, mode="append").version)

    grant(guarded, table, "SELECT", "INSERT", "UPDATE")
    path = "warehouse/committed.db/t/_versions/18446744073709551613.manifest-x"
    with pytest.raises(PermissionDeniedError, match=r"DELETE on table committed\.t"):
        bob.create_table_version({"id": table, "version": 2, "manifest_path": path})
    with pytest.raises(OSError, match="version 2 is unknown"):  # As pylance reports every refusal of a commit.
        append()
    assert stored(guarded, table)["version"] == "1"
    grant(guarded, table, "DELETE")
    assert append() == 2
    assert stored(guarded, table)["version"] == "2"


def test_the_first_rows_of_a_declared_table_need_the_privilege_to_insert(guarded: RunningServer) -> None:
    maja, bob = rest(guarded), bobs(guarded)
    table = ["first", "t"]
    maja.create_namespace(models.CreateNamespaceRequest(id=["first"]))
    maja.declare_table(models.DeclareTableRequest(id=table, properties={"managed_by": "impl"}))
    grant(guarded, table, "SELECT")
    insert = CHANGES["insert"][1]
    with pytest.raises(PermissionDeniedError):
        insert(bob, table)
    grant(guarded, table, "INSERT")
    assert insert(bob, table).version == 1
    with metastored.connect(guarded.uri, user=USER, cache=False) as client:
        found = client.table(("first", "t"))
    assert found.sd is not None and [column.name for column in found.sd.cols or ()] == ["id", "vector"]
    assert found.owner == USER


def test_a_writer_commits_by_the_namespace_with_catalogs_and_by_names_in_any_case(guarded: RunningServer) -> None:
    table = make_table(rest(guarded), "cased", managed_by="impl")
    grant(guarded, table, "SELECT", "INSERT")
    bob = rest(guarded, "hive3", "bob", "b")
    assert CHANGES["insert"][1](bob, ["hive", *table]).version == 2
    assert CHANGES["insert"][1](bob, ["HIVE", "Cased", "T"]).version == 3


def test_a_commit_for_a_writer_is_in_the_audit_log_under_the_writer(guarded: RunningServer) -> None:
    table = make_table(rest(guarded), "logged", managed_by="impl")
    grant(guarded, table, "SELECT", "INSERT")
    CHANGES["insert"][1](bobs(guarded), table)
    lines = [line for line in guarded.log.splitlines() if "method=alter_table_with_environment" in line]
    assert any("user=bob " in line and "logged" in line for line in lines)


@MANAGED
def test_overwriting_rows_needs_the_privileges_to_insert_and_to_delete(guarded: RunningServer, managed_by: str) -> None:
    bob = bobs(guarded)
    table = make_table(rest(guarded), f"overwritten_{managed_by}", managed_by=managed_by)
    grant(guarded, table, "SELECT", "INSERT")
    request = models.InsertIntoTableRequest(id=table, mode="overwrite")
    with pytest.raises(PermissionDeniedError):
        bob.insert_into_table(request, ipc(POINTS))
    grant(guarded, table, "DELETE")
    bob.insert_into_table(request, ipc(POINTS))


@MANAGED
def test_the_owner_of_a_table_may_alter_and_drop_it(guarded: RunningServer, managed_by: str) -> None:
    bob = bobs(guarded)
    request = models.CreateTableRequest(id=["default", "bobs"], properties={"managed_by": managed_by})
    bob.create_table(request, ipc(POINTS))
    for name in ("index", "tag", "metadata", "columns", "overwrite", "drop"):
        ALTERS[name](bob, ["default", "bobs"])
    with pytest.raises(TableNotFoundError):
        bob.describe_table(models.DescribeTableRequest(id=["default", "bobs"]))


def test_a_location_of_somebody_else_is_refused(guarded: RunningServer) -> None:
    maja, bob = rest(guarded), bobs(guarded)
    location = maja.describe_table(models.DescribeTableRequest(id=make_table(maja, "private"))).location
    with pytest.raises(PermissionDeniedError):
        bob.register_table(models.RegisterTableRequest(id=["default", "stolen"], location=location))
    with pytest.raises(PermissionDeniedError):
        bob.declare_table(models.DeclareTableRequest(id=["default", "stolen"], location=location))


def test_whether_there_is_a_dataset_at_a_location_is_not_told_to_callers_who_may_not_use_it(
    guarded: RunningServer, tmp_path: Path
) -> None:
    bob = bobs(guarded)
    for location in (tmp_path / "nothing", tmp_path):
        with pytest.raises(PermissionDeniedError, match="USE_LOCATION"):
            bob.register_table(models.RegisterTableRequest(id=["default", "probe"], location=str(location)))
    with pytest.raises(InvalidInputError, match="no Lance dataset"):
        rest(guarded).register_table(models.RegisterTableRequest(id=["default", "probe"], location=str(tmp_path)))
    with pytest.raises(TableNotFoundError):
        bob.describe_table(models.DescribeTableRequest(id=["default", "probe"]))


def test_an_owner_may_register_a_dataset_again_and_nobody_can_point_a_table_elsewhere(
    guarded: RunningServer, tmp_path: Path
) -> None:
    bob = bobs(guarded)
    id = ["default", "registered"]
    bob.create_table(models.CreateTableRequest(id=id), ipc(POINTS))
    location = bob.deregister_table(models.DeregisterTableRequest(id=id)).location
    bob.register_table(models.RegisterTableRequest(id=id, location=location))
    bob.register_table(models.RegisterTableRequest(id=id, location=location, mode="Overwrite"))
    assert bob.count_table_rows(models.CountTableRowsRequest(id=id)).count == 3
    lance.write_dataset(POINTS, tmp_path / "other")
    with pytest.raises(PermissionDeniedError, match="USE_LOCATION"):
        bob.register_table(models.RegisterTableRequest(id=id, location=str(tmp_path / "other"), mode="Overwrite"))


def test_a_read_only_server_changes_nothing(tmp_path: Path) -> None:
    with lance_server(tmp_path) as server:
        make_table(rest(server), "fixed")
        warehouse = server.warehouse
    with lance_server_again(tmp_path, warehouse, read_only="on") as server:
        namespace = rest(server)
        assert namespace.list_tables(models.ListTablesRequest(id=["default"])).tables == []
        for change in [each for _, each in CHANGES.values()] + list(ALTERS.values()):
            with pytest.raises(PermissionDeniedError):
                change(namespace, ["fixed", "t"])


@contextmanager
def lance_server_again(folder: Path, warehouse: str, **settings: Any) -> Iterator[RunningServer]:
    """A server on the database of another that has stopped."""
    with running_server(
        http_port=0, data=folder / "data", warehouse=warehouse, lance="on",
        **settings,
    ) as server:  # fmt: skip
        yield server
