"""pyiceberg 0.12, unmodified, on metastored: an Iceberg table from its creation to its drop, and concurrent writers of
it.

pyiceberg commits under Hive's locks: a writer that finds the table changed takes its commit back and tries again.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyiceberg.catalog.hive import HiveCatalog
from pyiceberg.exceptions import (
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.table import Table
from pyiceberg.transforms import DayTransform
from pyiceberg.types import DoubleType

from metastored.testing import RunningServer
from tests.support.forks import running_server
from tests.support.postgres import shared_postgres
from tests.support.processes import finish_python, start_python

pytestmark = pytest.mark.slow

WRITERS = 8
APPENDS = 3
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])

# Waits are short and many: eight on two cores are refused more often than pyiceberg expects.
PATIENT = {
    "commit.retry.num-retries": "200",
    "commit.retry.min-wait-ms": "50",
    "commit.retry.max-wait-ms": "500",
}

# The imports, most of a writer's time, are done once; then there are as many processes as writers.
_WRITING = """
import os, sys, traceback
import pyarrow as pa
from pyiceberg.catalog.hive import HiveCatalog

uri, writers, appends = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
waits = {"lock-check-min-wait-time": "0.02", "lock-check-max-wait-time": "0.2", "lock-check-retries": "1000"}

def write(number):
    catalog = HiveCatalog("hive", uri=uri, **waits)
    for turn in range(appends):
        rows = pa.table({"id": [number * 1000 + turn], "name": [f"writer {number}"]})
        catalog.load_table("lab.shared").append(rows)

processes = []
for number in range(writers):
    process = os.fork()
    if process:
        processes.append(process)
        continue
    try:
        write(number)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    os._exit(1)
print([os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes])
"""


@pytest.fixture(
    scope="module",
    params=[
        "sqlite with two workers",
        pytest.param("postgresql with two workers", marks=pytest.mark.postgres),
    ],
)
def server(request: pytest.FixtureRequest) -> Iterator[RunningServer]:
    if request.param.startswith("postgresql"):
        with shared_postgres().database() as url:
            with running_server(database_url=url, workers=2) as running:
                yield running
    else:
        with running_server(workers=2) as running:
            yield running


@pytest.fixture
def catalog(server: RunningServer) -> Iterator[HiveCatalog]:
    """A catalog with the namespace `lab`, which is emptied afterwards."""
    catalog = HiveCatalog("hive", uri=server.uri)
    catalog.create_namespace("lab", {"comment": "experiments", "team": "blue"})
    yield catalog
    for table in catalog.list_tables("lab"):
        catalog.drop_table(table)
    catalog.drop_namespace("lab")


def fruit(ids: list[int]) -> pa.Table:
    return pa.table({"id": ids, "name": [f"fruit {id}" for id in ids]}, schema=SCHEMA)


def ids(table: Table) -> list[int]:
    return sorted(table.scan().to_arrow()["id"].to_pylist())


def test_a_namespace_has_its_properties(catalog: HiveCatalog, server: RunningServer) -> None:
    assert catalog.list_namespaces() == [("default",), ("lab",)]
    properties = catalog.load_namespace_properties("lab")
    assert (properties["comment"], properties["team"]) == ("experiments", "blue")
    assert properties["location"] == server.warehouse.replace("file://", "file:") + "/lab.db"
    catalog.update_namespace_properties("lab", removals={"team"}, updates={"owner.team": "green"})
    properties = catalog.load_namespace_properties("lab")
    assert "team" not in properties
    assert properties["owner.team"] == "green"
    with pytest.raises(NamespaceAlreadyExistsError):
        catalog.create_namespace("lab")
    with pytest.raises(NoSuchNamespaceError):
        catalog.load_namespace_properties("nowhere")


def test_rows_are_appended_overwritten_and_deleted(catalog: HiveCatalog) -> None:
    table = catalog.create_table("lab.fruit", SCHEMA)
    table.append(fruit([1, 2]))
    table.append(fruit([3]))
    assert ids(catalog.load_table("lab.fruit")) == [1, 2, 3]
    table.delete("id = 2")
    assert ids(catalog.load_table("lab.fruit")) == [1, 3]
    table.overwrite(fruit([7]))
    assert ids(catalog.load_table("lab.fruit")) == [7]


def test_a_schema_evolves_and_old_rows_are_read(catalog: HiveCatalog) -> None:
    table = catalog.create_table("lab.fruit", SCHEMA)
    table.append(fruit([1]))
    with table.update_schema() as update:
        update.add_column("price", DoubleType())
        update.rename_column("name", "label")
    table.append(pa.table({"id": [2], "label": ["plum"], "price": [1.5]}))
    found = catalog.load_table("lab.fruit").scan().to_arrow().sort_by("id").to_pylist()
    assert found == [{"id": 1, "label": "fruit 1", "price": None}, {"id": 2, "label": "plum", "price": 1.5}]


def test_properties_and_partitions_evolve(catalog: HiveCatalog) -> None:
    schema = pa.schema([("id", pa.int64()), ("at", pa.timestamp("us"))])
    table = catalog.create_table("lab.fruit", schema, properties={"team": "blue"})
    with table.transaction() as transaction:
        transaction.set_properties(team="green")
        with transaction.update_spec() as spec:
            spec.add_field("at", DayTransform(), "day")
    found = catalog.load_table("lab.fruit")
    assert found.properties["team"] == "green"
    assert [field.name for field in found.spec().fields] == ["day"]


def test_a_renamed_table_keeps_its_history(catalog: HiveCatalog) -> None:
    table = catalog.create_table("lab.fruit", SCHEMA)
    table.append(fruit([1]))
    table.append(fruit([2]))
    catalog.rename_table("lab.fruit", "lab.plants")
    assert catalog.list_tables("lab") == [("lab", "plants")]
    renamed = catalog.load_table("lab.plants")
    assert len(renamed.snapshots()) == 2
    renamed.append(fruit([3]))
    assert ids(catalog.load_table("lab.plants")) == [1, 2, 3]
    with pytest.raises(NoSuchTableError):
        catalog.load_table("lab.fruit")
    with pytest.raises(NoSuchNamespaceError):
        catalog.rename_table("lab.plants", "nowhere.plants")


def test_a_table_is_created_once(catalog: HiveCatalog) -> None:
    catalog.create_table("lab.fruit", SCHEMA)
    with pytest.raises(TableAlreadyExistsError):
        catalog.create_table("lab.fruit", SCHEMA)
    with pytest.raises(NoSuchNamespaceError):
        catalog.create_table("nowhere.fruit", SCHEMA)


def test_a_dropped_table_is_gone_and_can_be_registered_again(catalog: HiveCatalog) -> None:
    table = catalog.create_table("lab.fruit", SCHEMA)
    table.append(fruit([1]))
    with pytest.raises(NamespaceNotEmptyError):
        catalog.drop_namespace("lab")
    catalog.drop_table("lab.fruit")
    assert not catalog.table_exists("lab.fruit")
    with pytest.raises(NoSuchTableError):
        catalog.drop_table("lab.fruit")
    assert ids(catalog.register_table("lab.back", table.metadata_location)) == [1]


def test_eight_writers_lose_no_commit(catalog: HiveCatalog, server: RunningServer) -> None:
    catalog.create_table("lab.shared", SCHEMA, properties=PATIENT)
    writing = start_python(_WRITING, server.uri, str(WRITERS), str(APPENDS))
    assert finish_python(writing) == str([0] * WRITERS)
    table = catalog.load_table("lab.shared")
    assert len(table.snapshots()) == WRITERS * APPENDS
    assert ids(table) == sorted(number * 1000 + turn for number in range(WRITERS) for turn in range(APPENDS))


def test_a_namespace_and_a_table_with_hyphens(catalog: HiveCatalog) -> None:
    catalog.create_namespace("my-lab")
    try:
        made = catalog.create_table("my-lab.my-table", SCHEMA)
        made.append(pa.table({"id": [1], "name": ["ann"]}, schema=SCHEMA))
        assert catalog.load_table("my-lab.my-table").scan().to_arrow().num_rows == 1
        catalog.drop_table("my-lab.my-table")
    finally:
        catalog.drop_namespace("my-lab")
