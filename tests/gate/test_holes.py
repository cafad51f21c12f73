"""Regression tests: ways around the gate that were open once. `test_all_methods.py` tests all methods."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import ApplicationError, MetaException, MetastoreError, NoSuchObjectException
from metastored.gate.read_only import ReadOnly
from metastored.gate.services import ForServices
from metastored.hive.generation import Generation
from metastored.hive.transactions.leases import LEASES
from metastored.store.objects import tables
from metastored.wire.generated.common import GetProjectionsSpec, SerDeInfo, StorageDescriptor
from metastored.wire.generated.databases import Database
from metastored.wire.generated.partitions import PartitionSpec
from metastored.wire.generated.roles import HiveObjectRef, HiveObjectType
from metastored.wire.generated.tables import GetTablesRequest
from metastored.wire.message import Session
from metastored.wire.methods import METHODS
from metastored.wire.structs import replace
from tests.gate.conftest import (
    EVERYTHING,
    ROLE,
    USER,
    Guarded,
    bag,
    on_database,
    on_table,
    session_of,
    table,
)
from tests.gate.victim import made

DENIED = "Permission denied"


# --- the database default -------------------------------------------------------------------------------------------


def test_all_users_create_tables_in_default_and_none_owns_it(guarded: Guarded) -> None:
    guarded.call("alice", "create_table", table("mine", "alice", "default"))
    default = guarded.unguarded("get_database", "default")
    mine = replace(default, ownerName="alice", ownerType=USER)
    for name, *args in (
        ("alter_database", "default", mine),
        ("drop_database", "default", False, True),
        ("grant_privileges", bag(on_database("default"), "SELECT", "alice")),
        ("grant_privileges", bag(on_database("default"), "ALL", "public", ROLE)),
        ("create_stored_procedure", made("StoredProcedure", name="p", dbName="default", catName="hive", source="x")),
    ):
        with pytest.raises(MetastoreError, match=f"{DENIED}: user alice needs"):
            guarded.call("alice", name, *args)
    assert guarded.unguarded("get_database", "default").ownerName == "public"


def test_a_table_that_is_not_in_default_is_missing_and_not_forbidden(guarded: Guarded) -> None:
    with pytest.raises(NoSuchObjectException):
        guarded.call("alice", "get_table", "default", "nope")


def test_a_table_in_default_is_its_owners_alone(guarded: Guarded) -> None:
    guarded.call("alice", "create_table", table("mine", "alice", "default"))
    for name, *args in (
        ("get_table", "default", "mine"),
        ("drop_table", "default", "mine", True),
        ("grant_privileges", bag(on_table("default", "mine"), "SELECT", "bob")),
    ):
        with pytest.raises(MetastoreError, match=f"{DENIED}: user bob needs"):
            guarded.call("bob", name, *args)


def test_an_owner_renames_a_table_that_stays_where_it_is(guarded: Guarded) -> None:
    guarded.call("alice", "create_table", table("mine", "alice", "default"))
    found = guarded.call("alice", "get_table", "default", "mine")
    guarded.call("alice", "alter_table", "default", "mine", replace(found, tableName="renamed"))
    assert guarded.call("alice", "get_table", "default", "renamed").owner == "alice"


# --- transactions and locks -----------------------------------------------------------------------------------------


def opened(guarded: Guarded, user: str, count: int = 1) -> tuple[int, ...]:
    # The request names another user, as a service does that works for its users.
    request = made("OpenTxnRequest", num_txns=count, user="somebody", hostname="h")
    return tuple(guarded.call(user, "open_txns", request).txn_ids)


def locked(guarded: Guarded, user: str, txn: int | None = None, **other: Any) -> int:
    component = made("LockComponent", type=1, level=2, dbname="d", tablename="t", operationType=1)
    request = made("LockRequest", component=(component,), txnid=txn, user="somebody", hostname="h", **other)
    lock: int = guarded.call(user, "lock", request).lockid
    return lock


def by_number(txn: int, lock: int) -> dict[str, Any]:
    """Calls that use a transaction or a lock by its id."""
    return {
        "abort_txn": made("AbortTxnRequest", txnid=txn),
        "abort_txns": made("AbortTxnsRequest", txn_ids=(txn,)),
        "commit_txn": made("CommitTxnRequest", txnid=txn),
        "heartbeat_txn_range": made("HeartbeatTxnRangeRequest", min=txn, max=txn),
        "heartbeat": made("HeartbeatRequest", lockid=lock),
        "check_lock": made("CheckLockRequest", lockid=lock),
        "unlock": made("UnlockRequest", lockid=lock),
    }


def test_a_transaction_and_a_lock_are_used_by_their_opener_and_by_admins(guarded: Guarded) -> None:
    (txn,), lock = opened(guarded, "tom"), locked(guarded, "tom")
    for name, request in by_number(txn, lock).items():
        for user in ("alice", "somebody", None):
            with pytest.raises(Exception, match=DENIED):
                guarded.call(user, name, request)
    for user in ("tom", "root"):
        (txn,), lock = opened(guarded, "tom"), locked(guarded, "tom")
        guarded.call(user, "heartbeat_txn_range", made("HeartbeatTxnRangeRequest", min=txn, max=txn))
        guarded.call(user, "check_lock", made("CheckLockRequest", lockid=lock))
        guarded.call(user, "unlock", made("UnlockRequest", lockid=lock))
        guarded.call(user, "commit_txn", made("CommitTxnRequest", txnid=txn))


def test_a_range_of_transactions_must_not_include_those_of_another_user(guarded: Guarded) -> None:
    first = opened(guarded, "alice")[0]
    between = opened(guarded, "tom")[0]
    last = opened(guarded, "alice")[0]
    assert first < between < last
    with pytest.raises(Exception, match="to have opened each of these transactions"):
        guarded.call("alice", "heartbeat_txn_range", made("HeartbeatTxnRangeRequest", min=first, max=last))


def test_a_lock_is_not_put_into_anothers_transaction(guarded: Guarded) -> None:
    (txn,) = opened(guarded, "alice")
    with pytest.raises(Exception, match="to have opened each of these transactions"):
        locked(guarded, "tom", txn)


def test_a_write_id_is_not_allocated_for_anothers_transaction(guarded: Guarded) -> None:
    (txn,) = opened(guarded, "alice")
    request = made("AllocateTableWriteIdsRequest", dbName="d", tableName="t", txnIds=(txn,))
    with pytest.raises(Exception, match="to have opened each of these transactions"):
        guarded.call("tom", "allocate_table_write_ids", request)


def test_a_commit_sets_parameters_only_of_tables_that_the_caller_may_write(guarded: Guarded) -> None:
    found = guarded.unguarded("get_table", "d", "t")
    guarded.unguarded("alter_table", "d", "t", replace(found, parameters={**found.parameters, "_meta": "1"}))
    row = tables.find(guarded.service.database.reader(), "hive", "d", "t")
    assert row is not None
    key = made("CommitTxnKeyValue", tableId=row.id, key="_meta", value="2")
    last = made("ReplLastIdInfo", database="d", lastReplId=9, table="t")
    for user, field, value in (("alice", "keyValue", key), ("tom", "replLastIdInfo", last), ("tom", "replPolicy", "x")):
        (txn,) = opened(guarded, user)
        with pytest.raises(Exception, match=DENIED):
            guarded.call(user, "commit_txn", made("CommitTxnRequest", txnid=txn, **{field: value}))
    assert guarded.unguarded("get_table", "d", "t").parameters["_meta"] == "1"
    (txn,) = opened(guarded, "tom")
    guarded.call("tom", "commit_txn", made("CommitTxnRequest", txnid=txn, keyValue=key))
    assert guarded.unguarded("get_table", "d", "t").parameters["_meta"] == "2"


def test_a_commit_changes_no_parameter_of_a_read_only_server(guarded: Guarded) -> None:
    (txn,) = opened(guarded, "tom")
    guarded.handler = ReadOnly(guarded.local)
    last = made("ReplLastIdInfo", database="d", lastReplId=9)
    for field in ({"replLastIdInfo": last}, {"keyValue": made("CommitTxnKeyValue", tableId=1, key="_meta", value="2")}):
        with pytest.raises(Exception, match="read-only"):
            guarded.call("tom", "commit_txn", made("CommitTxnRequest", txnid=txn, **field))
    guarded.call("tom", "commit_txn", made("CommitTxnRequest", txnid=txn))


# --- names that gate and metastore read -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t\u00a0", "\u2003t", "T ", "t\u3000"])
def test_a_unicode_space_is_part_of_a_name(guarded: Guarded, name: str) -> None:
    request = made("GetValidWriteIdsRequest", fullTableNames=(f"d.{name}",))
    dynamic = made("AddDynamicPartitions", txnid=1, writeid=1, dbname="d", tablename=name, partitionnames=("p=1",))
    for method, request_of_method in (("get_valid_write_ids", request), ("add_dynamic_partitions", dynamic)):
        with pytest.raises(Exception, match=DENIED):
            guarded.call("alice", method, request_of_method)


def test_an_empty_catalog_names_no_schema(guarded: Guarded) -> None:
    schema = made("ISchema", name="s", catName="hive", dbName="d", schemaType=1)
    guarded.unguarded("create_ischema", schema)
    for catalog in ("", " "):
        with pytest.raises(MetastoreError):
            guarded.call("alice", "get_ischema", made("ISchemaName", catName=catalog, dbName="d", schemaName="s"))
        with pytest.raises(NoSuchObjectException):
            guarded.unguarded("get_ischema", made("ISchemaName", catName=catalog, dbName="d", schemaName="s"))


# --- reading --------------------------------------------------------------------------------------------------------


def test_texts_in_a_database_are_read_with_select_on_it(guarded: Guarded) -> None:
    named = {"catName": "hive", "dbName": "d"}
    guarded.unguarded("create_stored_procedure", made("StoredProcedure", name="p", source="secret", **named))
    guarded.unguarded("add_package", made("AddPackageRequest", packageName="k", header="secret", body="b", **named))
    guarded.unguarded("create_ischema", made("ISchema", name="s", schemaType=1, **named))
    version = made("SchemaVersion", schema=made("ISchemaName", schemaName="s", **named), version=1, schemaText="secret")
    guarded.unguarded("add_schema_version", version)
    calls = {
        "get_stored_procedure": made("StoredProcedureRequest", procName="p", **named),
        "find_package": made("GetPackageRequest", packageName="k", **named),
        "get_schema_latest_version": made("ISchemaName", schemaName="s", **named),
    }
    guarded.grant(on_database("d"), "SELECT", "reader")
    for name, request in calls.items():
        with pytest.raises(MetastoreError, match="user alice needs SELECT on database d"):
            guarded.call("alice", name, request)
        for user in ("dana", "reader", "root"):
            assert "secret" in repr(guarded.call(user, name, request))


def test_a_connector_is_read_by_its_owner_and_grantees(guarded: Guarded) -> None:
    guarded.grant(EVERYTHING, "CREATE", "carl")
    connector = made("DataConnector", name="c", type="mysql", url="u", parameters={"password": "secret"})
    guarded.call("carl", "create_dataconnector", replace(connector, ownerName="carl"))
    request = made("GetDataConnectorRequest", connectorName=" C ")
    with pytest.raises(MetastoreError, match="user alice needs SELECT on connector c"):
        guarded.call("alice", "get_dataconnector_req", request)
    with pytest.raises(MetastoreError, match="user alice needs SELECT on connector c"):
        guarded.grant(EVERYTHING, "CREATE", "alice")
        remote = Database(name="r", connector_name="c", ownerName="alice", ownerType=USER)
        guarded.call("alice", "create_database", remote)
    ref = HiveObjectRef(objectType=HiveObjectType.DATACONNECTOR, objectName="c")
    guarded.call("carl", "grant_privileges", bag(ref, "SELECT", "alice"))
    for user in ("alice", "carl", "root"):
        assert guarded.call(user, "get_dataconnector_req", request).parameters == {"password": "secret"}
    with pytest.raises(MetastoreError, match="user alice needs ownership of connector c"):
        guarded.call("alice", "drop_dataconnector", "c", False, False)
    guarded.call("carl", "drop_dataconnector", "c", False, False)


def test_the_owner_of_a_connector_does_not_own_a_database_of_its_name_in_a_catalog_named_connector(
    guarded: Guarded,
) -> None:
    catalog = made("Catalog", name="connector", locationUri="file:/nowhere/connector")
    guarded.unguarded("create_catalog", made("CreateCatalogRequest", catalog=catalog))
    guarded.unguarded("create_database", Database(name="c", catalogName="connector", ownerName="dana", ownerType=USER))
    guarded.unguarded("create_dataconnector", made("DataConnector", name="c", type="mysql", url="u", ownerName="carl"))
    # The gate caches both; the connector is cached first.
    guarded.call("carl", "get_dataconnector_req", made("GetDataConnectorRequest", connectorName="c"))
    with pytest.raises(MetastoreError, match=r"user carl needs ownership of database connector\.c"):
        guarded.call("carl", "drop_database", "@connector#c", False, False)
    guarded.call("dana", "drop_database", "@connector#c", False, False)


def test_lists_omit_objects_that_the_caller_may_not_read(guarded: Guarded) -> None:
    guarded.unguarded("create_table", table("u", "alice", parameters={"comment": "hers"}))
    locked(guarded, "tom")
    assert [each.tableName for each in guarded.call("alice", "get_table_meta", "d", "*", None)] == ["u"]
    assert guarded.call("alice", "show_locks", made("ShowLocksRequest")).locks == ()
    assert len(guarded.call("tom", "show_locks", made("ShowLocksRequest")).locks) == 1
    opened(guarded, "tom")
    assert guarded.call("alice", "get_open_txns_info").open_txns == ()
    assert len(guarded.call("tom", "get_open_txns_info").open_txns) == 1
    assert len(guarded.call("root", "get_open_txns_info").open_txns) == 1


def test_a_lease_that_belongs_to_no_table_is_open_to_all_users_and_ended_by_its_own(guarded: Guarded) -> None:
    component = made("LockComponent", type=3, level=2, dbname=LEASES, tablename="abc", operationType=6)
    lock = guarded.call("tom", "lock", made("LockRequest", component=(component,), user="tom", hostname="h")).lockid
    (seen,) = guarded.call("alice", "show_locks", made("ShowLocksRequest", dbname=LEASES)).locks
    assert (seen.user, seen.hostname) == ("tom", "h")
    with pytest.raises(ApplicationError, match=f"{DENIED}: user alice needs to have requested the lock"):
        guarded.call("alice", "unlock", made("UnlockRequest", lockid=lock))
    guarded.call("tom", "unlock", made("UnlockRequest", lockid=lock))


def test_materialized_views_are_listed_to_callers_who_may_read_them(guarded: Guarded) -> None:
    source = made("CreationMetadata", catName="hive", dbName="d", tblName="v", tablesUsed=frozenset({"d.t"}))
    view = table("v", "tom", creationMetadata=source, rewriteEnabled=True)
    guarded.unguarded("create_table", replace(view, tableType="MATERIALIZED_VIEW", partitionKeys=()))
    name = "get_all_materialized_view_objects_for_rewriting"
    assert guarded.call("alice", name) == ()
    assert [each.tableName for each in guarded.call("tom", name)] == ["v"]


def test_parameters_are_not_guessed_by_a_filter(guarded: Guarded) -> None:
    guarded.unguarded("create_table", table("s", "tom", parameters={"pw": "hunter2"}))
    guarded.unguarded("create_table", table("z", "alice", parameters={"pw": "hunter2"}))
    guess = 'hive_filter_field_params__pw like "hunter%"'
    assert guarded.call("alice", "get_table_names_by_filter", "d", guess, -1) == ("z",)
    assert guarded.call("tom", "get_table_names_by_filter", "d", guess, -1) == ("s",)
    # With a limit, a hidden table would be revealed by the shorter list.
    with pytest.raises(MetaException, match="user alice needs SELECT on database d to limit this list"):
        guarded.call("alice", "get_table_names_by_filter", "d", guess, 1)
    assert guarded.call("dana", "get_table_names_by_filter", "d", guess, 1) == ()


def test_patterns_match_readable_tables_and_projections_must_include_names(guarded: Guarded) -> None:
    guarded.unguarded("create_table", table("z", "alice"))

    def found(user: str, **request: Any) -> list[tuple[str, str]]:
        session = Session("10.0.0.7:4711", Generation.HIVE_4_0, user)
        reply = guarded.reply(session, "get_table_objects_by_name_req", GetTablesRequest(**request))
        tables = reply.value(METHODS["get_table_objects_by_name_req"]).tables
        return [(each.dbName, each.tableName) for each in tables]

    assert found("alice", dbName="*", tablesPattern="*") == [("d", "z")]
    assert found("tom", dbName="*", tablesPattern="*") == [("d", "t")]
    named = GetProjectionsSpec(fieldList=("dbName", "tableName", "sd.location"))
    assert found("alice", dbName="*", tablesPattern="*", projectionSpec=named) == [("d", "z")]
    for fields in (("sd.location",), ("tableName", "sd.location"), ("dbName", "parameters")):
        unnamed = GetProjectionsSpec(fieldList=fields)
        with pytest.raises(MetaException, match=r"user alice needs .* in the projection"):
            found("alice", dbName="*", tablesPattern="*", projectionSpec=unnamed)


def test_a_request_that_names_no_table_is_not_about_every_table(guarded: Guarded) -> None:
    for request in (made("ForeignKeysRequest"), made("ForeignKeysRequest", parent_db_name="d")):
        with pytest.raises(MetastoreError, match=DENIED):
            guarded.call("alice", "get_foreign_keys", request)


# --- locations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/../secret", "/p=1/../../secret"])
def test_a_relative_path_leads_nowhere_else(guarded: Guarded, path: str) -> None:
    root = guarded.unguarded("get_table", "d", "t").sd.location
    part = made("PartitionWithoutSD", values=("1",), relativePath=path)
    sd = StorageDescriptor(cols=(), serdeInfo=SerDeInfo())
    kind = "PartitionSpecWithSharedSD"
    for spec in (
        PartitionSpec(rootPath=root, sharedSDPartitionSpec=made(kind, partitions=(part,), sd=sd)),
        PartitionSpec(sharedSDPartitionSpec=made(kind, partitions=(part,), sd=replace(sd, location=root))),
    ):
        with pytest.raises(MetastoreError, match="USE_LOCATION on the metastore for the location"):
            guarded.call("tom", "add_partitions_pspec", (replace(spec, dbName="d", tableName="t"),))


def test_a_relative_path_below_the_table_is_its_own(guarded: Guarded) -> None:
    root = guarded.unguarded("get_table", "d", "t").sd.location
    part = made("PartitionWithoutSD", values=("1",), relativePath="/p=1")
    sd = StorageDescriptor(cols=(), serdeInfo=SerDeInfo())
    shared = made("PartitionSpecWithSharedSD", partitions=(part,), sd=sd)
    spec = PartitionSpec(rootPath=root, sharedSDPartitionSpec=shared, dbName="d", tableName="t")
    assert guarded.call("tom", "add_partitions_pspec", (spec,)) == 1


# --- the store of tokens --------------------------------------------------------------------------------------------

STORE = [method.name for method in METHODS.values() if method.privileges == "service"]


def test_the_store_of_tokens_and_keys_is_marked_in_the_method_table() -> None:
    assert set(STORE) == {
        *("add_token", "get_token", "remove_token", "get_all_token_identifiers"),
        *("add_master_key", "get_master_keys", "remove_master_key", "update_master_key"),
    }


def authenticated(user: str, *, by_token: bool = False) -> Session:
    session = session_of(user)
    session.authenticated, session.by_token = True, by_token
    return session


@pytest.mark.parametrize("name", STORE)
def test_only_authenticated_services_and_admins_use_the_token_store(guarded: Guarded, name: str) -> None:
    """Without `authorization: sql`, too."""
    guarded.handler = ForServices(guarded.local, ("root", "hive"))
    for session in (authenticated("alice"), session_of("root"), session_of(None), authenticated("root", by_token=True)):
        assert f"{DENIED}: {name} is for an authenticated user" in str(guarded.reply(session, name).error)
    for session in (authenticated("root"), authenticated("hive")):
        assert DENIED not in str(guarded.reply(session, name).error)


def test_a_tokens_holder_gets_no_further_token(guarded: Guarded) -> None:
    assert guarded.reply(authenticated("alice"), "get_delegation_token", "alice", "alice").error is None
    refused = guarded.reply(authenticated("alice", by_token=True), "get_delegation_token", "alice", "alice")
    assert "was authenticated by a delegation token" in str(refused.error)
