"""Attacks by locations in the definitions of remotes: nobody sees another's table, or makes remotes elsewhere, by them.

The actors are those of `test_remotes.py`: Eve may make remotes, Maja is an administrator, Ann has a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from metastored.errors import MetaException
from metastored.structs import (
    AlterDataConnectorRequest,
    CreateDataConnectorRequest,
    Database,
    DataConnector,
    HiveObjectRef,
    HiveObjectType,
    PrincipalType,
    StorageDescriptor,
    Table,
)
from metastored.wire.structs import replace
from tests.attacks.test_remotes import Place, call, fresh, make
from tests.attacks.test_remotes import place as place
from tests.support.grants import granted

pytestmark = pytest.mark.slow

LOCATION = "Permission denied: user eve needs USE_LOCATION on the metastore"


class Lake(NamedTuple):
    """Ann's table, and a catalog in a file that lists it."""

    table: str
    metadata: str
    catalog: str


@pytest.fixture
def hers(tmp_path: Path) -> Lake:
    uri = f"sqlite:///{tmp_path / 'catalog.db'}"
    with SqlCatalog("default", uri=uri, warehouse=tmp_path.as_uri()) as catalog:
        catalog.create_namespace("ann")
        table = catalog.create_table("ann.salaries", pa.schema([("salary", pa.int64())]))
        return Lake(table.location(), table.metadata_location, uri)


@pytest.fixture
def home(place: Place) -> str:
    """A database of Eve's."""
    name = fresh()
    call(place, "eve", "create_database", Database(name))
    return name


def link(home: str, parameters: dict[str, str], name: str = "t") -> Table:
    return Table(name, home, owner="eve", sd=StorageDescriptor(cols=()), parameters=parameters)


@pytest.mark.parametrize("field", ["table", "metadata"])
def test_a_path_in_anothers_directory_needs_use_location(place: Place, hers: Lake, home: str, field: str) -> None:
    with pytest.raises(MetaException, match=LOCATION):
        call(place, "eve", "create_table", link(home, {"iceberg.table.path": getattr(hers, field)}))


@pytest.mark.parametrize("uri", ["sqlite", "postgresql"])
def test_a_sql_catalog_that_names_anothers_files_needs_use_location(place: Place, hers: Lake, uri: str) -> None:
    given = hers.catalog if uri == "sqlite" else f"postgresql+psycopg://u@{place.hers.address}/c"
    with pytest.raises(MetaException, match=LOCATION):
        make(place, "eve", {"metastored.remote.via": "iceberg", "iceberg.catalog.uri": given})


def test_an_alter_to_anothers_directory_needs_use_location(place: Place, hers: Lake, home: str) -> None:
    call(place, "maja", "create_table", link(home, {"iceberg.table.path": hers.metadata}))
    found = call(place, "eve", "get_table", home, "t")
    cached = {**found.parameters, "metastored.remote.cache": "10"}
    call(place, "eve", "alter_table", home, "t", replace(found, owner="eve", parameters=cached))
    changed = replace(found, parameters={**found.parameters, "iceberg.table.path": hers.table})
    with pytest.raises(MetaException, match=LOCATION):
        call(place, "eve", "alter_table", home, "t", changed)


def test_a_data_connector_to_anothers_files_needs_use_location(place: Place, hers: Lake) -> None:
    connector = DataConnector(fresh("c"), "iceberg", hers.catalog)
    with pytest.raises(MetaException, match=LOCATION):
        call(place, "eve", "create_dataconnector_req", CreateDataConnectorRequest(connector))
    call(place, "maja", "create_dataconnector_req", CreateDataConnectorRequest(
        DataConnector(connector.name, "iceberg", f"http://{place.hers.address}", ownerName="eve",
                      ownerType=PrincipalType.USER)
    ))  # fmt: skip
    # The type of an ALTER is ignored, and must not hide what the URL is.
    disguised = DataConnector(connector.name, "mysql", hers.catalog, ownerName="eve")
    with pytest.raises(MetaException, match=LOCATION):
        call(place, "eve", "alter_dataconnector_req", AlterDataConnectorRequest(connector.name, disguised))


def test_who_may_use_the_location_sees_the_table(place: Place, hers: Lake) -> None:
    granted(place.server, "ann", "USE_LOCATION", "CREATE", "CREATE_REMOTE")
    name = fresh()
    call(place, "ann", "create_database", Database(name))
    call(place, "ann", "create_table", replace(link(name, {"iceberg.table.path": hers.table}), owner="ann"))
    assert [each.name for each in call(place, "ann", "get_table", name, "t").sd.cols] == ["salary"]


def test_a_remote_table_is_not_moved_to_a_database_where_its_owner_makes_none(place: Place) -> None:
    allowed, other = fresh(), fresh()
    for name in (allowed, other):
        call(place, "maja", "create_database", Database(name, ownerName="tom", ownerType=PrincipalType.USER))
    granted(place.server, "tom", "CREATE_REMOTE", on=HiveObjectRef(HiveObjectType.DATABASE, allowed))
    given = {"hive.metastore.uris": f"http://{place.hers.address}/m"}
    call(place, "tom", "create_table", replace(link(allowed, given), owner="tom"))
    shown = {**given, "metastored.remote": f"{allowed}.t", "metastored.remote.via": "http",
             "metastored.remote.access": "read"}  # fmt: skip
    moved = replace(link(other, shown), owner="tom")
    with pytest.raises(MetaException, match=f"user tom needs CREATE_REMOTE on database {other}"):
        call(place, "tom", "alter_table", allowed, "t", moved)
    call(place, "tom", "alter_table", allowed, "t", replace(moved, dbName=allowed, tableName="u"))
