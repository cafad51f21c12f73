"""Tables: creation by all modes, registration, description, lists and names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lance
import lance_namespace as ns
import pyarrow
import pytest

import metastored
from metastored.structs import NotificationEventRequest
from metastored.testing import RunningServer
from tests.support.lance import POINTS, Space, new_space, stream

pytestmark = pytest.mark.slow


def test_the_event_log_has_the_tables_that_were_created_and_no_others(
    own_server: RunningServer, tmp_path: Path
) -> None:
    with new_space(own_server.uri, "hive2", tmp_path / "root", "impl") as space:
        space.create("points")
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("lines")))
        with metastored.connect(own_server.uri, cache=False) as client:
            events = client.api.get_next_notification(NotificationEventRequest(0)).events or ()
    tables = [
        (event.eventType, event.tableName) for event in events if event.tableName and event.eventType != "ALTER_TABLE"
    ]
    assert tables == [("CREATE_TABLE", "points"), ("CREATE_TABLE", "lines")]


def count(space: Space, table: str) -> Any:
    return space.namespace.count_table_rows(ns.CountTableRowsRequest(id=space.id(table))).count


def test_a_table_that_exists_is_an_error_kept_or_overwritten_by_its_mode(space: Space) -> None:
    space.create("points")
    with pytest.raises(ns.TableAlreadyExistsError):
        space.create("points")
    with pytest.raises(ns.TableAlreadyExistsError):
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("points")))
    space.create("points", POINTS.slice(0, 1), mode="exist_ok")
    assert count(space, "points") == 3
    assert space.create("points", POINTS.slice(0, 1), mode="Overwrite").version == 2
    assert count(space, "points") == 1


@pytest.mark.parametrize("mode", ["overwrite", "exist_ok"])
def test_a_table_that_is_missing_is_created_by_every_mode(space: Space, mode: str) -> None:
    assert space.create("points", mode=mode).version == 1


def test_overwriting_may_change_the_columns_also_in_the_metastore(space: Space) -> None:
    space.create("points")
    space.create("points", pyarrow.table({"id": [1], "note": ["x"]}), mode="overwrite")
    table = space.namespace.client.table((space.name, "points"))
    assert [column.name for column in table.sd.cols] == ["id", "note"]
    assert table.parameters["version"] == "2"


def test_a_table_of_another_format_is_not_overwritten(space: Space) -> None:
    space.namespace.client.create_table(metastored.table((space.name, "plain"), {"a": "int"}))
    for mode in ("overwrite", "exist_ok"):
        with pytest.raises(ns.InvalidInputError, match="not a Lance table"):
            space.create("plain", mode=mode)
    with pytest.raises(ns.TableAlreadyExistsError):
        space.create("plain")


def test_a_table_whose_rows_cannot_be_written_is_not_left_behind(space: Space) -> None:
    directory = space.root / f"{space.name}.db" / "points"
    directory.mkdir(parents=True)
    (directory / "data").write_text("a file where Lance wants a directory")
    with pytest.raises(ns.LanceNamespaceError):
        space.create("points")
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []


def test_the_dataset_of_a_deregistered_table_is_not_written_over(space: Space) -> None:
    space.create("points")
    space.namespace.deregister_table(ns.DeregisterTableRequest(id=space.id("points")))
    for mode in ("create", "overwrite", "exist_ok"):
        with pytest.raises(ns.TableAlreadyExistsError, match="register it"):
            space.create("points", mode=mode)
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == []
    assert lance.dataset(space.root / f"{space.name}.db" / "points").count_rows() == 3


def test_names_are_in_lower_case_as_in_the_metastore(space: Space) -> None:
    space.namespace.declare_table(ns.DeclareTableRequest(id=[space.name.upper(), "Points"]))
    described = space.namespace.describe_table(ns.DescribeTableRequest(id=space.id("POINTS")))
    assert (described.table, described.namespace) == ("points", space.database)
    assert described.location == str(space.root / f"{space.name}.db" / "points")


def test_details_are_the_schema_the_version_and_the_statistics(space: Space) -> None:
    space.create("points")
    request = ns.DescribeTableRequest(id=space.id("points"), load_detailed_metadata=True, with_table_uri=True)
    described = space.namespace.describe_table(request)
    assert (described.version, described.table_uri) == (1, described.location)
    assert described.var_schema is not None and described.stats is not None
    assert [(field.name, field.type.type) for field in described.var_schema.fields] == [
        ("id", "int64"),
        ("name", "utf8"),
        ("vector", "fixed_size_list"),
    ]
    assert described.var_schema.fields[2].type.length == 2
    assert (described.stats.num_fragments, described.stats.num_deleted_rows) == (1, 0)


def test_a_version_or_a_tag_is_described(space: Space) -> None:
    space.create("points")
    space.namespace.insert_into_table(ns.InsertIntoTableRequest(id=space.id("points")), stream(POINTS))
    space.namespace.create_table_tag(ns.CreateTableTagRequest(id=space.id("points"), tag="first", version=1))
    for more in ({"version": 1}, {"tag": "first"}):
        assert space.namespace.describe_table(ns.DescribeTableRequest(id=space.id("points"), **more)).version == 1
    with pytest.raises(ns.TableTagNotFoundError):
        space.namespace.describe_table(ns.DescribeTableRequest(id=space.id("points"), tag="nope"))


def test_only_the_versions_that_the_metastore_keeps_are_read_back(space: Space) -> None:
    space.create("points")
    table = space.namespace.client.table((space.name, "points"))
    assert table.parameters["version"] == "1"
    described = space.namespace.describe_table(ns.DescribeTableRequest(id=space.id("points")))
    managed = table.parameters["managed_by"] == "impl"
    assert described.version == (1 if managed else None)
    assert described.managed_versioning is (True if managed else None)


def test_an_existing_dataset_is_registered_with_its_version_and_columns(space: Space, tmp_path: Path) -> None:
    location = str(tmp_path / "made")
    lance.write_dataset(POINTS, location)
    lance.write_dataset(POINTS, location, mode="append")
    properties = {"model": "m1"}
    space.namespace.register_table(
        ns.RegisterTableRequest(id=space.id("points"), location=location, properties=properties)
    )
    table = space.namespace.client.table((space.name, "points"))
    assert (table.parameters["version"], table.parameters["model"]) == ("2", "m1")
    assert [column.name for column in table.sd.cols] == ["id", "name", "vector"]
    with pytest.raises(ns.TableAlreadyExistsError):
        space.namespace.register_table(ns.RegisterTableRequest(id=space.id("points"), location=location))


def test_registering_again_lets_a_table_point_to_another_dataset(space: Space, tmp_path: Path) -> None:
    space.create("points")
    location = str(tmp_path / "made")
    lance.write_dataset(POINTS.slice(0, 1), location)
    request = ns.RegisterTableRequest(id=space.id("points"), location=location, mode="Overwrite")
    assert space.namespace.register_table(request).location == location
    assert count(space, "points") == 1


def test_a_table_is_renamed_into_another_namespace_but_not_over_another_table(space: Space) -> None:
    other = [f"{space.name}_two"]
    space.namespace.create_namespace(ns.CreateNamespaceRequest(id=other))
    space.create("points")
    space.create("more")
    with pytest.raises(ns.TableAlreadyExistsError):
        space.namespace.rename_table(ns.RenameTableRequest(id=space.id("points"), new_table_name="more"))
    with pytest.raises(ns.NamespaceNotFoundError):
        request = ns.RenameTableRequest(id=space.id("points"), new_table_name="t", new_namespace_id=["nope"])
        space.namespace.rename_table(request)
    request = ns.RenameTableRequest(id=space.id("points"), new_table_name="moved", new_namespace_id=other)
    space.namespace.rename_table(request)
    assert space.namespace.count_table_rows(ns.CountTableRowsRequest(id=[*other, "moved"])).count == 3
    assert space.namespace.list_tables(ns.ListTablesRequest(id=space.database)).tables == ["more"]


def test_tables_are_listed_in_pages(space: Space) -> None:
    for number in range(5):
        space.namespace.declare_table(ns.DeclareTableRequest(id=space.id(f"t{number}")))
    first = space.namespace.list_tables(ns.ListTablesRequest(id=space.database, limit=3))
    assert (first.tables, bool(first.page_token)) == (["t0", "t1", "t2"], True)
    rest = space.namespace.list_tables(ns.ListTablesRequest(id=space.database, limit=3, page_token=first.page_token))
    assert (rest.tables, rest.page_token) == (["t3", "t4"], None)
    with pytest.raises(ns.NamespaceNotFoundError):
        space.namespace.list_tables(ns.ListTablesRequest(id=["nope"]))


def test_all_tables_of_all_databases_are_listed_by_their_identifiers(space: Space) -> None:
    space.create("points")
    assert f"{space.name}$points" in space.namespace.list_all_tables(ns.ListTablesRequest()).tables


def test_dropping_a_table_without_data_removes_its_empty_directory_only(space: Space, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "note.txt").write_text("not of Lance")
    space.namespace.declare_table(ns.DeclareTableRequest(id=space.id("t"), location=str(kept)))
    space.namespace.drop_table(ns.DropTableRequest(id=space.id("t")))
    assert (kept / "note.txt").exists()


def test_requests_of_lances_rust_code_are_dicts(space: Space) -> None:
    class Request(dict):  # type: ignore[type-arg]
        """As pylance makes it."""

        def model_dump(self) -> dict[str, object]:
            return dict(self)

    space.create("points")
    described = space.namespace.describe_table(Request(id=space.id("points"), version=None))
    assert described.table == "points"
