"""Who may make a remote, change where it points, and read what a remote catalog shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from metastored.errors import MetaException
from metastored.wire.generated.catalogs import Catalog, CreateCatalogRequest
from metastored.wire.generated.common import Table
from metastored.wire.generated.connectors import AlterDataConnectorRequest, CreateDataConnectorRequest, DataConnector
from metastored.wire.generated.databases import CreateDatabaseRequest, Database, DatabaseType
from metastored.wire.generated.roles import GrantRevokePrivilegeRequest, GrantRevokeType, HiveObjectRef, HiveObjectType
from metastored.wire.structs import replace
from tests.gate.conftest import EVERYTHING, ROLE, USER, Guarded, bag, on_database, table
from tests.gate.test_authorized import allowed

URIS = {"hive.metastore.uris": "thrift://old:9083"}
CREATE_REMOTE = "CREATE_REMOTE"


def database(name: str = "far", **other: Any) -> Database:
    return Database(name=name, **{"parameters": URIS, "ownerName": "dana", "ownerType": USER, **other})


def link(name: str = "far", owner: str = "dana", **other: Any) -> Table:
    return table(name, owner, parameters=URIS, **other)


def connector(name: str = "old", kind: str = "thrift", url: str = "thrift://old:9083", **other: Any) -> DataConnector:
    return DataConnector(name=name, type=kind, url=url, **other)


MAKING: dict[str, Callable[[], tuple[str, Any]]] = {
    "a database": lambda: ("create_database", database()),
    "a database of hive 4": lambda: (
        "create_database_req",
        CreateDatabaseRequest(databaseName="far", parameters=URIS),
    ),
    "a table": lambda: ("create_table", link()),
    "a connector": lambda: ("create_dataconnector_req", CreateDataConnectorRequest(connector())),
}


@pytest.mark.parametrize("what", MAKING)
def test_owners_and_creators_make_no_remotes(guarded: Guarded, what: str) -> None:
    guarded.grant(EVERYTHING, "CREATE", "dana")
    name, given = MAKING[what]()
    assert not allowed(guarded, "dana", name, given)


@pytest.mark.parametrize("what", MAKING)
def test_who_has_create_remote_on_the_metastore_makes_them(guarded: Guarded, what: str) -> None:
    guarded.grant(EVERYTHING, CREATE_REMOTE, "rose")
    name, given = MAKING[what]()
    assert guarded.call("rose", name, given) is None


@pytest.mark.parametrize("what", MAKING)
def test_so_do_admins_and_members_of_a_role_that_has_it(guarded: Guarded, what: str) -> None:
    name, given = MAKING[what]()
    assert allowed(guarded, "root", name, given)
    guarded.grant(EVERYTHING, CREATE_REMOTE, "r", ROLE)
    assert allowed(guarded, "rose", name, given)


def test_a_refusal_names_the_privilege(guarded: Guarded) -> None:
    with pytest.raises(MetaException, match="user bob needs CREATE_REMOTE on the metastore"):
        guarded.call("bob", "create_database", database())
    with pytest.raises(MetaException, match="user bob needs CREATE_REMOTE on database d, or on the metastore"):
        guarded.call("bob", "create_table", link())


def test_on_a_database_it_is_for_the_remote_tables_in_it(guarded: Guarded) -> None:
    guarded.unguarded("create_database", Database(name="e", ownerName="dana", ownerType=USER))
    guarded.grant(on_database("d"), CREATE_REMOTE, "bob")
    assert guarded.call("bob", "create_table", link(owner="bob")) is None
    assert not allowed(guarded, "bob", "create_table", link(db="e"))
    assert not allowed(guarded, "bob", "create_database", database())


def test_it_is_no_privilege_to_create_anything_local(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    assert not allowed(guarded, "bob", "create_database", Database(name="new"))
    assert not allowed(guarded, "bob", "create_table", table("new", "bob"))


def test_the_location_of_a_remote_is_ignored_and_needs_no_privilege(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    assert guarded.call("bob", "create_database", database(locationUri="file:/spark/far.db")) is None


# --- granting -----------------------------------------------------------------------------------------------------


def test_an_owner_does_not_grant_it(guarded: Guarded) -> None:
    assert not allowed(guarded, "dana", "grant_privileges", bag(on_database("d"), CREATE_REMOTE, "dana"))
    assert not allowed(guarded, "dana", "grant_privileges", bag(on_database("d"), "SELECT,create_remote", "dana"))
    assert allowed(guarded, "dana", "grant_privileges", bag(on_database("d"), "SELECT", "bob"))


def test_all_on_a_database_does_not_include_it(guarded: Guarded) -> None:
    guarded.call("dana", "grant_privileges", bag(on_database("d"), "ALL", "bob"))
    assert not allowed(guarded, "bob", "create_table", link())
    guarded.grant(EVERYTHING, "ALL", "bob")
    assert allowed(guarded, "bob", "create_table", link())


def test_who_has_it_with_the_grant_option_passes_it_on(guarded: Guarded) -> None:
    guarded.grant(on_database("d"), CREATE_REMOTE, "dana", option=True)
    guarded.call("dana", "grant_privileges", bag(on_database("d"), CREATE_REMOTE, "bob"))
    assert allowed(guarded, "bob", "create_table", link())
    assert not allowed(guarded, "bob", "grant_privileges", bag(on_database("d"), CREATE_REMOTE, "eve"))
    assert not allowed(guarded, "dana", "grant_privileges", bag(EVERYTHING, CREATE_REMOTE, "bob"))


def test_it_can_be_revoked(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    assert allowed(guarded, "bob", "create_table", link("a"))
    request = GrantRevokePrivilegeRequest(
        requestType=GrantRevokeType.REVOKE, privileges=bag(EVERYTHING, CREATE_REMOTE, "bob")
    )
    assert guarded.call("root", "grant_revoke_privileges", request).success
    assert not allowed(guarded, "bob", "create_table", link("b"))


# --- changing -----------------------------------------------------------------------------------------------------


def test_an_owner_changes_all_but_where_a_remote_points(guarded: Guarded) -> None:
    guarded.unguarded("create_database", database())
    found = guarded.unguarded("get_database", "far")
    assert guarded.call("dana", "alter_database", "far", replace(found, description="seen")) is None
    moved = replace(found, parameters={**found.parameters, "hive.metastore.uris": "thrift://evil:9083"})
    assert not allowed(guarded, "dana", "alter_database", "far", moved)
    emptied = replace(found, parameters={})
    assert not allowed(guarded, "dana", "alter_database", "far", emptied)
    guarded.grant(EVERYTHING, CREATE_REMOTE, "dana")
    assert guarded.call("dana", "alter_database", "far", moved) is None


def test_create_remote_alone_does_not_change_what_is_somebody_elses(guarded: Guarded) -> None:
    guarded.unguarded("create_database", database())
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    found = guarded.unguarded("get_database", "far")
    moved = replace(found, parameters={**found.parameters, "metastored.remote.access": "write"})
    assert not allowed(guarded, "bob", "alter_database", "far", moved)


def test_the_owner_of_a_link_renames_and_drops_it(guarded: Guarded) -> None:
    guarded.unguarded("create_table", link(owner="tom"))
    found = guarded.unguarded("get_table", "d", "far")
    changed = {**found.parameters, "metastored.remote": "other.t"}
    assert not allowed(guarded, "tom", "alter_table", "d", "far", replace(found, parameters=changed))
    guarded.unguarded("create_database", Database(name="e", ownerName="tom", ownerType=USER))
    guarded.grant(on_database("e"), CREATE_REMOTE, "tom")
    assert guarded.call("tom", "alter_table", "d", "far", replace(found, dbName="e", tableName="near")) is None
    assert guarded.call("tom", "drop_table", "e", "near", True) is None


def test_a_link_is_moved_only_to_a_database_where_its_owner_may_make_one(guarded: Guarded) -> None:
    guarded.unguarded("create_table", link(owner="tom"))
    found = guarded.unguarded("get_table", "d", "far")
    guarded.unguarded("create_database", Database(name="e", ownerName="tom", ownerType=USER))
    moved = replace(found, dbName="e", tableName="near")
    with pytest.raises(MetaException, match="user tom needs CREATE_REMOTE on database e, or on the metastore"):
        guarded.call("tom", "alter_table", "d", "far", moved)
    guarded.grant(on_database("e"), CREATE_REMOTE, "tom")
    assert guarded.call("tom", "alter_table", "d", "far", moved) is None
    assert guarded.call("tom", "drop_table", "e", "near", True) is None


ICEBERG = {"iceberg.table.path": "file:/her/table"}


def test_a_location_that_the_server_opens_needs_use_location(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    given = table("far", "bob", parameters=ICEBERG)
    with pytest.raises(MetaException, match="USE_LOCATION on the metastore for the location file:/her/table"):
        guarded.call("bob", "create_table", given)
    guarded.grant(EVERYTHING, "USE_LOCATION", "bob")
    assert guarded.call("bob", "create_table", given) is None


def test_a_location_that_stays_needs_no_privilege_in_an_alter(guarded: Guarded) -> None:
    guarded.unguarded("create_table", table("far", "bob", parameters=ICEBERG))
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    found = guarded.unguarded("get_table", "d", "far")
    cached = {**found.parameters, "metastored.remote.cache": "10"}
    assert guarded.call("bob", "alter_table", "d", "far", replace(found, parameters=cached)) is None
    moved = {**found.parameters, "iceberg.table.path": "file:/other"}
    assert not allowed(guarded, "bob", "alter_table", "d", "far", replace(found, parameters=moved))


def test_keys_of_remotes_do_not_excuse_a_location_of_a_local_table(guarded: Guarded) -> None:
    found = guarded.unguarded("get_table", "d", "t")
    assert found.sd is not None
    moved = replace(found, sd=replace(found.sd, location="file:/secret"), parameters=URIS)
    assert not allowed(guarded, "tom", "alter_table", "d", "t", moved)
    guarded.grant(EVERYTHING, CREATE_REMOTE, "tom")
    assert not allowed(guarded, "tom", "alter_table", "d", "t", moved)


# --- connectors ---------------------------------------------------------------------------------------------------


def test_a_connectors_secrets_are_used_by_who_may_read_the_connector(guarded: Guarded) -> None:
    guarded.unguarded(
        "create_dataconnector_req", CreateDataConnectorRequest(connector(ownerName="dana", ownerType=USER))
    )
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    by_field = Database(name="far", type=DatabaseType.REMOTE, connector_name="old")
    by_key = Database(name="far", parameters={"metastored.remote.connector": "OLD"})
    for given in (by_field, by_key):
        assert not allowed(guarded, "bob", "create_database", given)
    guarded.grant(HiveObjectRef(objectType=HiveObjectType.DATACONNECTOR, objectName="old"), "SELECT", "bob")
    for name, given in (("far", by_field), ("farther", by_key)):
        assert guarded.call("bob", "create_database", replace(given, name=name)) is None


def test_a_database_with_a_connector_needs_create_remote_too(guarded: Guarded) -> None:
    guarded.unguarded(
        "create_dataconnector_req", CreateDataConnectorRequest(connector(ownerName="bob", ownerType=USER))
    )
    guarded.grant(EVERYTHING, "CREATE", "bob")
    given = Database(name="far", type=DatabaseType.REMOTE, connector_name="old")
    assert not allowed(guarded, "bob", "create_database", given)


def test_the_owner_of_a_connector_does_not_change_where_it_leads_to(guarded: Guarded) -> None:
    guarded.unguarded(
        "create_dataconnector_req", CreateDataConnectorRequest(connector(ownerName="bob", ownerType=USER))
    )
    moved = AlterDataConnectorRequest("old", connector(url="thrift://evil:9083", ownerName="bob"))
    assert not allowed(guarded, "bob", "alter_dataconnector_req", moved)
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    assert guarded.call("bob", "alter_dataconnector_req", moved) is None


def test_connectors_of_hives_own_types_need_what_they_needed(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, "CREATE", "bob")
    request = CreateDataConnectorRequest(connector("my", "mysql", "jdbc:mysql://h/d"))
    assert guarded.call("bob", "create_dataconnector_req", request) is None


# --- what remote catalogs show ------------------------------------------------------------------------------------


def show(guarded: Guarded, **given: str) -> None:
    parameters = URIS | {"metastored.remote.prefix": "dw_"}
    parameters |= {f"metastored.remote.{key}": value for key, value in given.items()}
    guarded.unguarded("create_catalog", CreateCatalogRequest(Catalog(name="dw", parameters=parameters)))


def test_only_admins_make_remote_catalogs(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, CREATE_REMOTE, "bob")
    request = CreateCatalogRequest(Catalog(name="dw", parameters=URIS))
    assert not allowed(guarded, "bob", "create_catalog", request)
    assert allowed(guarded, "root", "create_catalog", request)


def test_everybody_reads_a_catalog_that_names_no_readers_and_nobody_writes(guarded: Guarded) -> None:
    show(guarded, access="write")
    assert allowed(guarded, "bob", "get_table", "dw_sales", "t")
    assert not allowed(guarded, "bob", "drop_table", "dw_sales", "t", True)
    assert not allowed(guarded, "bob", "drop_database", "dw_sales", True, True)
    assert allowed(guarded, "root", "drop_table", "dw_sales", "t", True)


def test_readers_and_writers_are_roles(guarded: Guarded) -> None:
    guarded.unguarded("create_role", _role("w"))
    guarded.unguarded("grant_role", "w", "will", USER, "root", USER, False)
    show(guarded, readers="r", writers="w", access="write", writable="sales")
    assert [allowed(guarded, user, "get_table", "dw_sales", "t") for user in ("rose", "will", "bob")] == [
        *(True, True),
        False,
    ]
    assert [allowed(guarded, user, "drop_table", "dw_sales", "t", True) for user in ("rose", "will", "bob")] == [
        *(False, True),
        False,
    ]
    assert not allowed(guarded, "will", "drop_table", "dw_hr", "t", True), "that database is not writable"


def test_a_local_database_that_a_prefix_would_match_is_local(guarded: Guarded) -> None:
    guarded.unguarded("create_database", Database(name="dw_mine", ownerName="dana", ownerType=USER))
    show(guarded)
    assert not allowed(guarded, "bob", "get_table", "dw_mine", "t")
    assert allowed(guarded, "dana", "get_table", "dw_mine", "t")


def _role(name: str) -> Any:
    from metastored.wire.generated.roles import Role

    return Role(roleName=name)
