"""Remote tables of local databases, as any client makes them: by CREATE TABLE with the keys of remotes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metastored.errors import (
    AlreadyExistsException,
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
)
from metastored.store.warehouse.directories import Warehouse
from metastored.wire.generated.common import EnvironmentContext, SQLPrimaryKey, Table
from metastored.wire.generated.databases import Database
from metastored.wire.generated.notifications import NotificationEventRequest
from metastored.wire.generated.tables import (
    AlterTableRequest,
    CreateTableRequest,
    GetTablesRequest,
    TableParamsUpdate,
)
from metastored.wire.structs import replace
from tests.service.conftest import Starter
from tests.service.remotes.test_remote_databases import remotes_of
from tests.support.metastore import Metastore
from tests.support.objects import bare_storage, bare_table

CLICKS = {"hive.metastore.uris": "thrift://old:9083", "metastored.remote": "raw.clicks"}
SPARKS = {"spark.sql.create.version": "4.0.0", "transient_lastDdlTime": "1"}


def link(name: str = "t", parameters: dict[str, str] | None = None, db: str = "d", **other: Any) -> Table:
    return bare_table(db, name, parameters=parameters or CLICKS | SPARKS, **other)


@pytest.fixture
def local(metastore: Metastore) -> Metastore:
    """A metastore with the local databases d and e."""
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_database", Database(name="e"))
    return metastore


def test_parameters_make_a_remote_table(local: Metastore) -> None:
    local.call("create_table", link("T"))
    (remote,) = remotes_of(local)
    assert (remote.database, remote.table, remote.remote_database, remote.remote_table) == ("d", "t", "raw", "clicks")
    assert local.call("get_all_tables", "d") == ("t",)


def test_its_columns_partitions_and_location_are_ignored(local: Metastore) -> None:
    local.call("create_table", link(keys=("p",)))
    found = local.call("get_table", "d", "t")
    assert (found.sd.cols, found.partitionKeys, found.sd.location, found.tableType) == ((), (), None, "EXTERNAL_TABLE")
    assert {key: value for key, value in found.parameters.items() if key.startswith(("meta", "hive"))} == CLICKS | {
        "metastored.remote.via": "thrift",
        "metastored.remote.access": "read",
    }
    assert "spark.sql.create.version" not in found.parameters


@pytest.mark.parametrize(
    ("method", "args"),
    [
        ("create_table_with_environment_context", (link(), EnvironmentContext({}))),
        ("create_table_with_constraints", (link(), (), (), (), (), (), ())),
        ("create_table_req", (CreateTableRequest(table=link()),)),
    ],
)
def test_every_call_that_creates_tables_makes_remotes(local: Metastore, method: str, args: tuple[Any, ...]) -> None:
    local.call(method, *args)
    assert [remote.name for remote in remotes_of(local)] == ["d.t"]


def test_no_directory_is_made_and_none_is_removed(start: Starter, tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    metastore = start(warehouse=Warehouse(f"file:{root}", "all"))
    metastore.call("create_database", Database(name="d"))
    metastore.call("create_table", link())
    assert not (root / "d.db" / "t").exists()
    (root / "d.db" / "t").mkdir()
    purge = EnvironmentContext({"ifPurge": "TRUE"})
    metastore.call("drop_table_with_environment_context", "d", "t", True, purge)
    assert (root / "d.db" / "t").exists() and remotes_of(metastore) == []


def test_a_name_that_is_taken_is_refused(local: Metastore) -> None:
    local.call("create_table", bare_table("d", "t"))
    with pytest.raises(AlreadyExistsException):
        local.call("create_table", link())
    local.call("create_table", link("u"))
    with pytest.raises(AlreadyExistsException):
        local.call("create_table", bare_table("d", "u"))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (link(parameters=CLICKS | {"colour": "red"}), "'colour' is not a key of a remote"),
        (link(parameters=CLICKS | {"metastored.remote.tables": "x"}), "is a key of remote databases and catalogs only"),
        (link(tableType="VIRTUAL_VIEW"), "a view is not made remote"),
        (link(db="nowhere"), "nowhere"),
    ],
)
def test_a_table_that_cannot_be_remote_is_refused(local: Metastore, table: Table, reason: str) -> None:
    with pytest.raises(InvalidObjectException, match=reason):
        local.call("create_table", table)
    assert local.call("get_all_tables", "d") == ()


def test_constraints_of_its_own_are_refused(local: Metastore) -> None:
    key = SQLPrimaryKey(table_db="d", table_name="t", column_name="a", key_seq=1, pk_name="k")
    with pytest.raises(InvalidObjectException, match="has the constraints of the remote"):
        local.call("create_table_with_constraints", link(), (key,), (), (), (), (), ())


def test_creation_change_and_drop_are_events(local: Metastore) -> None:
    local.call("create_table", link())
    found = local.call("get_table", "d", "t")
    local.call("alter_table", "d", "t", replace(found, owner="bob"))
    local.call("drop_table", "d", "t", True)
    events = local.call("get_next_notification", NotificationEventRequest(lastEvent=2)).events
    assert [(event.eventType, event.tableName) for event in events] == [
        ("CREATE_TABLE", "t"),
        ("ALTER_TABLE", "t"),
        ("DROP_TABLE", "t"),
    ]


def test_dropping_a_local_database_with_cascade_drops_the_links_in_it(local: Metastore) -> None:
    local.call("create_table", link())
    local.call("drop_database", "d", True, True)
    assert remotes_of(local) == []


def test_without_cascade_a_link_keeps_its_database(local: Metastore) -> None:
    local.call("create_table", link())
    with pytest.raises(InvalidOperationException, match="is not empty"):
        local.call("drop_database", "d", True, False)


# --- ALTER --------------------------------------------------------------------------------------------------------


def test_keys_cannot_be_added_to_a_local_table(local: Metastore) -> None:
    local.call("create_table", bare_table("d", "t"))
    found = local.call("get_table", "d", "t")
    with pytest.raises(InvalidOperationException, match=r"table d\.t is local"):
        local.call("alter_table", "d", "t", replace(found, parameters={**found.parameters, **CLICKS}))
    with pytest.raises(MetaException, match=r"table d\.t is local"):
        local.call("update_table_params", (TableParamsUpdate(db_name="d", table_name="t", params=CLICKS),))
    assert remotes_of(local) == []


def test_a_table_that_had_such_a_key_before_can_still_be_altered(local: Metastore) -> None:
    local.call("create_table", bare_table("d", "t"))
    # As an import writes it, below the API.
    _write_parameters(local, "t", {"hive.metastore.uris": "thrift://x:1"})
    found = local.call("get_table", "d", "t")
    local.call("alter_table", "d", "t", replace(found, owner="bob"))
    assert local.call("get_table", "d", "t").owner == "bob" and remotes_of(local) == []


def _write_parameters(metastore: Metastore, name: str, parameters: dict[str, str]) -> None:
    from metastored.service.core import rows
    from metastored.store.objects import tables

    def write(tx: Any) -> None:
        row = tables.find(tx, "hive", "d", name)
        assert row is not None
        table = rows.table_of(row, "hive", "d")
        after = replace(table, parameters={**(table.parameters or {}), **parameters})
        tables.update(tx, row.id, **rows.table_columns(after)._asdict())

    metastore.database.run(write)


@pytest.mark.parametrize("by_request", [False, True])
def test_an_alter_changes_the_definition(local: Metastore, by_request: bool) -> None:
    local.call("create_table", link())
    found = local.call("get_table", "d", "t")
    changed = replace(found, parameters={**found.parameters, "metastored.remote": "raw.views"})
    if by_request:
        local.call("alter_table_req", AlterTableRequest(dbName="d", tableName="t", table=changed))
    else:
        local.call("alter_table", "d", "t", changed)
    assert [remote.remote_table for remote in remotes_of(local)] == ["views"]


def test_columns_that_come_back_with_an_alter_are_not_stored(local: Metastore) -> None:
    local.call("create_table", link())
    found = local.call("get_table", "d", "t")
    seen = bare_table(
        "d", "t", sd=bare_storage(location="hdfs://old/t"), parameters={**found.parameters, "numRows": "7"}
    )
    local.call("alter_table", "d", "t", seen)
    now = local.call("get_table", "d", "t")
    assert (now.sd.cols, now.sd.location) == ((), None) and "numRows" not in now.parameters


def test_a_renamed_link_keeps_the_remote_table(local: Metastore) -> None:
    local.call("create_table", link("clicks", {"hive.metastore.uris": "thrift://old:9083"}))
    found = local.call("get_table", "d", "clicks")
    local.call("alter_table", "d", "clicks", replace(found, dbName="E", tableName="Old_Clicks"))
    (remote,) = remotes_of(local)
    assert (remote.name, remote.remote_name) == ("e.old_clicks", "d.clicks")
    assert (local.call("get_all_tables", "d"), local.call("get_all_tables", "e")) == ((), ("old_clicks",))


def test_a_link_cannot_be_renamed_to_a_name_that_is_taken(local: Metastore) -> None:
    local.call("create_table", link())
    local.call("create_table", bare_table("d", "u"))
    found = local.call("get_table", "d", "t")
    with pytest.raises(InvalidOperationException, match="already exists"):
        local.call("alter_table", "d", "t", replace(found, tableName="u"))


def test_a_link_cannot_be_moved_into_a_remote_database(local: Metastore) -> None:
    local.call("create_table", link())
    local.call("create_database", Database(name="far", parameters={"hive.metastore.uris": "thrift://old:9083"}))
    found = local.call("get_table", "d", "t")
    with pytest.raises(InvalidOperationException, match="database far is remote"):
        local.call("alter_table", "d", "t", replace(found, dbName="far"))


def test_a_local_table_cannot_be_moved_into_a_remote_database(local: Metastore) -> None:
    local.call("create_table", bare_table("d", "t"))
    local.call("create_database", Database(name="far", parameters={"hive.metastore.uris": "thrift://old:9083"}))
    found = local.call("get_table", "d", "t")
    with pytest.raises(InvalidOperationException, match="database far is remote"):
        local.call("alter_table", "d", "t", replace(found, dbName="far"))


def test_a_link_does_not_become_local(local: Metastore) -> None:
    local.call("create_table", link())
    found = local.call("get_table", "d", "t")
    with pytest.raises(InvalidOperationException, match="is remote, and stays so"):
        local.call("alter_table", "d", "t", replace(found, parameters={}))
    with pytest.raises(MetaException, match="is remote; its definition is changed by alter_table"):
        local.call("update_table_params", (TableParamsUpdate(db_name="d", table_name="t", params={"a": "1"}),))


def test_truncating_and_adding_partitions_find_nothing_here(local: Metastore) -> None:
    local.call("create_table", link())
    with pytest.raises(MetaException):
        local.call("truncate_table", "d", "t", None)


def test_a_conditional_change_of_the_remotes_own_parameters_is_refused_here(local: Metastore) -> None:
    local.call("create_table", link())
    found = local.call("get_table", "d", "t")
    request = AlterTableRequest(
        dbName="d",
        tableName="t",
        table=replace(found, parameters={**found.parameters, "metadata_location": "new"}),
        expectedParameterKey="metadata_location",
        expectedParameterValue="old",
    )
    with pytest.raises(MetaException, match="The table has been modified"):
        local.call("alter_table_req", request)


def test_listings_have_remote_tables_without_calling_the_remote(hive_4: Metastore) -> None:
    hive_4.call("create_database", Database(name="d"))
    hive_4.call("create_table", link())
    assert [each.tableName for each in hive_4.call("get_table_meta", "*", "*", ())] == ["t"]
    assert hive_4.call("get_tables_by_type", "d", "*", "EXTERNAL_TABLE") == ("t",)
    request = GetTablesRequest(dbName="d", tblNames=("t",))
    (found,) = hive_4.call("get_table_objects_by_name_req", request).tables
    assert found.parameters["metastored.remote"] == "raw.clicks"
