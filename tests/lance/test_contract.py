"""The contract of Lance's namespaces, on every server: the cases of Lance's own tests of Hive and of directories."""

from __future__ import annotations

import threading
from pathlib import Path

import lance
import lance_namespace as ns
import pytest

import metastored
from metastored.wire.structs import replace
from tests.lance.conftest import Place
from tests.support.lance import POINTS, Space, opened, rows_of, stream

pytestmark = pytest.mark.slow


def test_databases_are_listed(anywhere: Space) -> None:
    above = anywhere.database[:-1]
    found = anywhere.namespace.list_namespaces(ns.ListNamespacesRequest(id=above)).namespaces
    assert anywhere.name in found
    assert "default" in found
    assert found == sorted(found)


def test_a_namespace_is_created_described_and_dropped(anywhere: Space) -> None:
    id = [*anywhere.database[:-1], f"{anywhere.name}_more"]
    properties = {"comment": "for vectors", "team": "blue"}
    anywhere.namespace.create_namespace(ns.CreateNamespaceRequest(id=id, properties=properties))
    described = anywhere.namespace.describe_namespace(ns.DescribeNamespaceRequest(id=id)).properties
    assert {key: described[key] for key in properties} == properties
    assert described["database.description"] == "for vectors"
    anywhere.namespace.namespace_exists(ns.NamespaceExistsRequest(id=id))
    dropped = anywhere.namespace.drop_namespace(ns.DropNamespaceRequest(id=id))
    assert dropped.properties["team"] == "blue"
    with pytest.raises(ns.NamespaceNotFoundError):
        anywhere.namespace.namespace_exists(ns.NamespaceExistsRequest(id=id))


def test_a_declared_table_is_described_listed_and_deregistered(anywhere: Space) -> None:
    id = anywhere.id("points")
    declared = anywhere.namespace.declare_table(ns.DeclareTableRequest(id=id, properties={"model": "m1"}))
    described = anywhere.namespace.describe_table(ns.DescribeTableRequest(id=id))
    assert described.location == declared.location == str(anywhere.root / f"{anywhere.name}.db" / "points")
    assert described.properties is not None
    assert (described.properties["table_type"], described.properties["model"]) == ("lance", "m1")
    assert described.is_only_declared is None
    checked = anywhere.namespace.describe_table(ns.DescribeTableRequest(id=id, check_declared=True))
    assert checked.is_only_declared is True
    assert anywhere.namespace.list_tables(ns.ListTablesRequest(id=anywhere.database)).tables == ["points"]
    filled = ns.ListTablesRequest(id=anywhere.database, include_declared=False)
    assert anywhere.namespace.list_tables(filled).tables == []
    gone = anywhere.namespace.deregister_table(ns.DeregisterTableRequest(id=id))
    assert (gone.id, gone.location) == (id, declared.location)
    with pytest.raises(ns.TableNotFoundError):
        anywhere.namespace.describe_table(ns.DescribeTableRequest(id=id))


def test_a_table_is_declared_at_a_location(anywhere: Space, tmp_path: Path) -> None:
    location = str(tmp_path / "elsewhere" / "points")
    declared = anywhere.namespace.declare_table(ns.DeclareTableRequest(id=anywhere.id("points"), location=location))
    assert declared.location == location
    described = anywhere.namespace.describe_table(ns.DescribeTableRequest(id=anywhere.id("points")))
    assert described.location == location


def test_a_table_is_created_with_rows_and_read_by_pylance(anywhere: Space) -> None:
    created = anywhere.create("points")
    assert created.version == 1
    dataset = lance.dataset(namespace_client=anywhere.namespace, table_id=anywhere.id("points"))
    assert dataset.to_table() == POINTS
    filled = ns.ListTablesRequest(id=anywhere.database, include_declared=False)
    assert anywhere.namespace.list_tables(filled).tables == ["points"]


def test_pylance_creates_appends_and_overwrites_by_the_namespace(anywhere: Space) -> None:
    id = anywhere.id("points")
    lance.write_dataset(POINTS, namespace_client=anywhere.namespace, table_id=id, mode="create")
    lance.write_dataset(POINTS, namespace_client=anywhere.namespace, table_id=id, mode="append")
    dataset = lance.dataset(namespace_client=anywhere.namespace, table_id=id)
    assert (dataset.version, dataset.count_rows()) == (2, 6)
    lance.write_dataset(POINTS, namespace_client=anywhere.namespace, table_id=id, mode="overwrite")
    assert lance.dataset(namespace_client=anywhere.namespace, table_id=id).count_rows() == 3
    assert lance.dataset(namespace_client=anywhere.namespace, table_id=id, version=2).count_rows() == 6
    assert lance.dataset(anywhere.root / f"{anywhere.name}.db" / "points").version == 3


def test_rows_are_counted_inserted_and_queried(anywhere: Space) -> None:
    id = anywhere.id("points")
    anywhere.create("points")
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=id)).count == 3
    inserted = anywhere.namespace.insert_into_table(ns.InsertIntoTableRequest(id=id), stream(POINTS))
    assert (inserted.num_inserted_rows, inserted.version) == (3, 2)
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=id, version=1)).count == 3
    query = {"id": id, "k": 2, "vector": {"single_vector": [0.0, 0.1]}, "columns": {"column_names": ["id"]}}
    nearest = anywhere.namespace.query_table(ns.QueryTableRequest.from_dict(query))
    assert {row["id"] for row in rows_of(nearest.data)} == {1}


def test_a_dropped_table_takes_its_data_along(anywhere: Space) -> None:
    created = anywhere.create("points")
    assert created.location is not None and Path(created.location).is_dir()
    dropped = anywhere.namespace.drop_table(ns.DropTableRequest(id=anywhere.id("points")))
    assert (dropped.id, dropped.location) == (anywhere.id("points"), created.location)
    assert not Path(created.location).exists()
    with pytest.raises(ns.TableNotFoundError):
        anywhere.namespace.table_exists(ns.TableExistsRequest(id=anywhere.id("points")))


def test_the_data_of_a_deregistered_table_can_be_registered_again(anywhere: Space) -> None:
    created = anywhere.create("points")
    anywhere.namespace.deregister_table(ns.DeregisterTableRequest(id=anywhere.id("points")))
    assert created.location is not None and lance.dataset(created.location).count_rows() == 3
    request = ns.RegisterTableRequest(id=anywhere.id("again"), location=created.location)
    assert anywhere.namespace.register_table(request).location == created.location
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=anywhere.id("again"))).count == 3
    lance.write_dataset(POINTS, namespace_client=anywhere.namespace, table_id=anywhere.id("again"), mode="append")
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=anywhere.id("again"))).count == 6


def test_a_renamed_table_keeps_its_rows(anywhere: Space) -> None:
    anywhere.create("points")
    anywhere.namespace.rename_table(ns.RenameTableRequest(id=anywhere.id("points"), new_table_name="spots"))
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=anywhere.id("spots"))).count == 3
    lance.write_dataset(POINTS, namespace_client=anywhere.namespace, table_id=anywhere.id("spots"), mode="append")
    with pytest.raises(ns.TableNotFoundError):
        anywhere.namespace.table_exists(ns.TableExistsRequest(id=anywhere.id("points")))


def test_a_namespace_with_a_table_is_not_dropped_unless_by_cascade(anywhere: Space) -> None:
    created = anywhere.create("points")
    with pytest.raises(ns.NamespaceNotEmptyError):
        anywhere.namespace.drop_namespace(ns.DropNamespaceRequest(id=anywhere.database))
    anywhere.namespace.drop_namespace(ns.DropNamespaceRequest(id=anywhere.database, behavior="Cascade"))
    with pytest.raises(ns.NamespaceNotFoundError):
        anywhere.namespace.describe_namespace(ns.DescribeNamespaceRequest(id=anywhere.database))
    assert created.location is not None and not Path(created.location).exists()


def test_tables_of_the_same_name_in_two_namespaces_are_separate(anywhere: Space) -> None:
    other = [*anywhere.database[:-1], f"{anywhere.name}_two"]
    anywhere.namespace.create_namespace(ns.CreateNamespaceRequest(id=other))
    anywhere.create("points")
    anywhere.namespace.create_table(ns.CreateTableRequest(id=[*other, "points"]), stream(POINTS.slice(0, 1)))
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=anywhere.id("points"))).count == 3
    assert anywhere.namespace.count_table_rows(ns.CountTableRowsRequest(id=[*other, "points"])).count == 1


def test_the_columns_of_a_table_are_in_the_metastore(anywhere: Space) -> None:
    anywhere.create("points")
    table = anywhere.namespace.client.table(tuple(anywhere.id("points")))
    assert table.tableType == "EXTERNAL_TABLE"
    assert [(column.name, column.type) for column in table.sd.cols] == [
        ("id", "bigint"),
        ("name", "string"),
        ("vector", "array<float>"),
    ]


def test_only_lance_tables_are_listed_whatever_the_case_of_their_parameter(anywhere: Space) -> None:
    client = anywhere.namespace.client
    for number, word in enumerate(("lance", "LANCE", "Lance", "lAnCe", "delta", "ICEBERG", "lances")):
        table = metastored.table((*anywhere.database, f"t{number}"), {"a": "int"}, properties={"table_type": word})
        client.create_table(replace(table, tableType="EXTERNAL_TABLE"))
    client.create_table(metastored.table((*anywhere.database, "plain"), {"a": "int"}))
    found = anywhere.namespace.list_tables(ns.ListTablesRequest(id=anywhere.database)).tables
    assert found == ["t0", "t1", "t2", "t3"]


@pytest.mark.parametrize("instances", ["one", "many"])
def test_ten_tables_are_created_and_dropped_concurrently(anywhere: Space, place: Place, instances: str) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        id = anywhere.id(f"t{number}")
        own = anywhere.namespace
        if instances == "many":
            own = opened(anywhere.uri, place.kind, anywhere.root, place.managed_by)
        try:
            own.create_table(ns.CreateTableRequest(id=id), stream(POINTS))
            own.drop_table(ns.DropTableRequest(id=id))
        except BaseException as error:
            failures.append(error)
        finally:
            if own is not anywhere.namespace:
                own.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    assert anywhere.namespace.list_tables(ns.ListTablesRequest(id=anywhere.database)).tables == []
