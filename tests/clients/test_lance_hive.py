"""Lance's namespaces of Hive 2 and Hive 3, unmodified, on metastored: Lance datasets under names of the metastore."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.foreign import run_foreign
from tests.support.forks import running_server

pytestmark = pytest.mark.witness

SCRIPT = """
import logging, os
import lance, lance_namespace_impls, pyarrow
from lance_namespace import (
    CreateNamespaceRequest, DeclareTableRequest, DeregisterTableRequest, DescribeNamespaceRequest,
    DescribeTableRequest, DropNamespaceRequest, DropTableRequest, ListNamespacesRequest, ListTablesRequest, connect
)

logging.disable(logging.CRITICAL)  # both log every error that is provoked below

def refused(call, request):
    try:
        call(request)
    except Exception as error:
        return f"{type(error).__name__}: {error}"

result = {}
for kind, above in (("hive2", []), ("hive3", ["hive"])):
    found = result[kind] = {}
    root = os.path.join(warehouse, kind)
    space = connect(kind, {"uri": uri, "root": root, "ugi": "ann:staff"})
    database = [*above, kind + "_db"]
    found["roots"] = space.list_namespaces(ListNamespacesRequest(id=[])).namespaces
    create = CreateNamespaceRequest(id=database, properties={"comment": "vectors", "team": "blue"})
    space.create_namespace(create)
    found["namespace again"] = refused(space.create_namespace, create)
    found["namespaces"] = space.list_namespaces(ListNamespacesRequest(id=above)).namespaces
    found["namespace"] = space.describe_namespace(DescribeNamespaceRequest(id=database)).properties
    found["no namespace"] = refused(space.describe_namespace, DescribeNamespaceRequest(id=[*above, "nope"]))

    table, other = [*database, "points"], [*database, "drafts"]
    rows = pyarrow.table({"id": [1, 2, 3], "vector": [[0.0, 1.0]] * 3})
    location = space.declare_table(DeclareTableRequest(id=table, properties={"model": "m1"})).location
    lance.write_dataset(rows, location, mode="overwrite")
    space.declare_table(DeclareTableRequest(id=other))
    found["table again"] = refused(space.declare_table, DeclareTableRequest(id=table))
    found["table without namespace"] = refused(space.declare_table, DeclareTableRequest(id=[*above, "nope", "t"]))
    found["tables"] = space.list_tables(ListTablesRequest(id=database, include_declared=True)).tables
    found["filled"] = space.list_tables(ListTablesRequest(id=database, include_declared=False)).tables
    described = space.describe_table(DescribeTableRequest(id=table))
    found["table"] = [described.location.removeprefix("file:") == location, described.properties]
    found["only declared"] = [
        space.describe_table(DescribeTableRequest(id=id, check_declared=True)).is_only_declared
        for id in (table, other)
    ]
    found["rows"] = lance.dataset(described.location).count_rows()
    found["no table"] = refused(space.describe_table, DescribeTableRequest(id=[*database, "nope"]))
    found["not empty"] = refused(space.drop_namespace, DropNamespaceRequest(id=database))

    space.deregister_table(DeregisterTableRequest(id=table))
    found["rows after deregister"] = lance.dataset(location).count_rows()
    space.declare_table(DeclareTableRequest(id=table, location=location))
    found["adopted"] = space.list_tables(ListTablesRequest(id=database, include_declared=False)).tables
    space.drop_table(DropTableRequest(id=table))
    found["data after drop"] = os.path.exists(location)
    space.drop_table(DropTableRequest(id=other))
    space.drop_namespace(DropNamespaceRequest(id=database))
    found["left"] = space.list_namespaces(ListNamespacesRequest(id=above)).namespaces
"""


@pytest.fixture(scope="module")
def results() -> dict[str, dict[str, Any]]:
    return run_namespaces()


def run_namespaces(**settings: str) -> dict[str, dict[str, Any]]:
    with running_server(**settings) as server:
        result: dict[str, dict[str, Any]] = run_foreign(
            SCRIPT, uri=server.uri, warehouse=server.warehouse.removeprefix("file:")
        )
        return result


@pytest.fixture(params=["hive2", "hive3"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def found(results: dict[str, dict[str, Any]], kind: str) -> dict[str, Any]:
    """The results of the namespace of one kind."""
    return results[kind]


def test_a_namespace_is_created_once_with_its_properties(found: dict[str, Any], kind: str) -> None:
    assert found["roots"] == ([] if kind == "hive2" else ["hive"])
    assert found["namespaces"] == [f"{kind}_db"]
    properties = found["namespace"]
    assert (properties["comment"], properties["team"]) == ("vectors", "blue")
    assert properties["location"].endswith(f"/warehouse/{kind}/{kind}_db.db")
    assert found["namespace again"].endswith("already exists")
    assert found["no namespace"].endswith("does not exist")


def test_a_declared_table_is_described_and_its_rows_are_read(found: dict[str, Any]) -> None:
    in_its_place, properties = found["table"]
    assert in_its_place
    assert properties["table_type"] == "lance"
    assert properties["model"] == "m1"
    assert found["rows"] == 3
    assert found["no table"].endswith("does not exist")


def test_tables_with_and_without_data_are_distinguished(found: dict[str, Any]) -> None:
    assert found["tables"] == ["drafts", "points"]
    assert found["filled"] == ["points"]
    assert found["only declared"] == [False, True]


def test_a_table_is_declared_once_and_in_a_namespace_that_is_there(found: dict[str, Any]) -> None:
    assert found["table again"].endswith("already exists")
    assert found["table without namespace"].startswith("InvalidObjectException")


def test_a_table_that_is_deregistered_keeps_its_data_and_can_come_back(found: dict[str, Any]) -> None:
    assert found["rows after deregister"] == 3
    assert found["adopted"] == ["points"]


def test_a_dropped_table_leaves_its_data(found: dict[str, Any]) -> None:
    """These clients make managed tables. The server makes them external: any DROP TABLE would delete the dataset."""
    assert found["table"][1]["EXTERNAL"] == "TRUE"
    assert found["data after drop"] is True


def test_a_dropped_table_takes_its_data_along_where_hives_rule_is_wanted() -> None:
    for found in run_namespaces(lance_external="off").values():
        assert "EXTERNAL" not in found["table"][1]
        assert found["data after drop"] is False


def test_a_namespace_is_dropped_when_it_is_empty(found: dict[str, Any]) -> None:
    assert found["not empty"].endswith("is not empty")
    assert found["left"] == []
