"""Ways around the gate that were open once: each has its test here, beside the one over all methods."""

from __future__ import annotations

from typing import Any

import pytest

from metastored.errors import MetaException, MetastoreError, NoSuchObjectException
from metastored.gate.read_only import ReadOnly
from metastored.gate.services import ForServices
from metastored.hive.generation import Generation
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
    House,
    bag,
    on_database,
    on_table,
    session_of,
    table,
)
from tests.gate.estate import made

DENIED = "Permission denied"


# --- the database default -------------------------------------------------------------------------------------------


def test_everybody_creates_in_default_and_nobody_owns_it(house: House) -> None:
    house.ask("alice", "create_table", table("mine", "alice", "default"))
    default = house.past("get_database", "default")
    mine = replace(default, ownerName="alice", ownerType=USER)
    for name, *args in (
        ("alter_database", "default", mine),
        ("drop_database", "default", False, True),
        ("grant_privileges", bag(on_database("default"), "SELECT", "alice")),
        ("grant_privileges", bag(on_database("default"), "ALL", "public", ROLE)),
        ("create_stored_procedure", made("StoredProcedure", name="p", dbName="default", catName="hive", source="x")),
    ):
        with pytest.raises(MetastoreError, match=f"{DENIED}: user alice needs"):
            house.ask("alice", name, *args)
    assert house.past("get_database", "default").ownerName == "public"


def test_a_table_that_is_not_in_default_is_missing_and_not_forbidden(house: House) -> None:
    with pytest.raises(NoSuchObjectException):
        house.ask("alice", "get_table", "default", "nope")


def test_a_table_in_default_is_its_owners_alone(house: House) -> None:
    house.ask("alice", "create_table", table("mine", "alice", "default"))
    for name, *args in (
        ("get_table", "default", "mine"),
        ("drop_table", "default", "mine", True),
        ("grant_privileges", bag(on_table("default", "mine"), "SELECT", "bob")),
    ):
        with pytest.raises(MetastoreError, match=f"{DENIED}: user bob needs"):
            house.ask("bob", name, *args)


def test_an_owner_renames_a_table_that_stays_where_it_is(house: House) -> None:
    house.ask("alice", "create_table", table("mine", "alice", "default"))
    found = house.ask("alice", "get_table", "default", "mine")
    house.ask("alice", "alter_table", "default", "mine", replace(found, tableName="renamed"))
    assert house.ask("alice", "get_table", "default", "renamed").owner == "alice"


# --- transactions and locks -----------------------------------------------------------------------------------------


def opened(house: House, user: str, count: int = 1) -> tuple[int, ...]:
    # The request names somebody else, as that of a service does that works for its users.
    request = made("OpenTxnRequest", num_txns=count, user="somebody", hostname="h")
    return tuple(house.ask(user, "open_txns", request).txn_ids)


def locked(house: House, user: str, txn: int | None = None, **other: Any) -> int:
    component = made("LockComponent", type=1, level=2, dbname="d", tablename="t", operationType=1)
    request = made("LockRequest", component=(component,), txnid=txn, user="somebody", hostname="h", **other)
    lock: int = house.ask(user, "lock", request).lockid
    return lock


def by_number(txn: int, lock: int) -> dict[str, Any]:
    """What is done with a transaction or a lock by its number."""
    return {
        "abort_txn": made("AbortTxnRequest", txnid=txn),
        "abort_txns": made("AbortTxnsRequest", txn_ids=(txn,)),
        "commit_txn": made("CommitTxnRequest", txnid=txn),
        "heartbeat_txn_range": made("HeartbeatTxnRangeRequest", min=txn, max=txn),
        "heartbeat": made("HeartbeatRequest", lockid=lock),
        "check_lock": made("CheckLockRequest", lockid=lock),
        "unlock": made("UnlockRequest", lockid=lock),
    }


def test_a_transaction_and_a_lock_are_used_by_who_opened_them_and_by_admins(house: House) -> None:
    (txn,), lock = opened(house, "tom"), locked(house, "tom")
    for name, request in by_number(txn, lock).items():
        for user in ("alice", "somebody", None):
            with pytest.raises(Exception, match=DENIED):
                house.ask(user, name, request)
    for user in ("tom", "root"):
        (txn,), lock = opened(house, "tom"), locked(house, "tom")
        house.ask(user, "heartbeat_txn_range", made("HeartbeatTxnRangeRequest", min=txn, max=txn))
        house.ask(user, "check_lock", made("CheckLockRequest", lockid=lock))
        house.ask(user, "unlock", made("UnlockRequest", lockid=lock))
        house.ask(user, "commit_txn", made("CommitTxnRequest", txnid=txn))


def test_a_range_of_transactions_has_none_of_anothers(house: House) -> None:
    first = opened(house, "alice")[0]
    between = opened(house, "tom")[0]
    last = opened(house, "alice")[0]
    assert first < between < last
    with pytest.raises(Exception, match="to have opened each of these transactions"):
        house.ask("alice", "heartbeat_txn_range", made("HeartbeatTxnRangeRequest", min=first, max=last))


def test_a_lock_is_not_put_into_anothers_transaction(house: House) -> None:
    (txn,) = opened(house, "alice")
    with pytest.raises(Exception, match="to have opened each of these transactions"):
        locked(house, "tom", txn)


def test_a_write_id_is_not_allocated_for_anothers_transaction(house: House) -> None:
    (txn,) = opened(house, "alice")
    request = made("AllocateTableWriteIdsRequest", dbName="d", tableName="t", txnIds=(txn,))
    with pytest.raises(Exception, match="to have opened each of these transactions"):
        house.ask("tom", "allocate_table_write_ids", request)


def test_a_commit_sets_parameters_only_for_who_may_write_there(house: House) -> None:
    found = house.past("get_table", "d", "t")
    house.past("alter_table", "d", "t", replace(found, parameters={**found.parameters, "_meta": "1"}))
    row = tables.find(house.service.database.reader(), "hive", "d", "t")
    assert row is not None
    key = made("CommitTxnKeyValue", tableId=row.id, key="_meta", value="2")
    last = made("ReplLastIdInfo", database="d", lastReplId=9, table="t")
    for user, field, value in (("alice", "keyValue", key), ("tom", "replLastIdInfo", last), ("tom", "replPolicy", "x")):
        (txn,) = opened(house, user)
        with pytest.raises(Exception, match=DENIED):
            house.ask(user, "commit_txn", made("CommitTxnRequest", txnid=txn, **{field: value}))
    assert house.past("get_table", "d", "t").parameters["_meta"] == "1"
    (txn,) = opened(house, "tom")
    house.ask("tom", "commit_txn", made("CommitTxnRequest", txnid=txn, keyValue=key))
    assert house.past("get_table", "d", "t").parameters["_meta"] == "2"


def test_a_commit_changes_no_parameter_of_a_read_only_server(house: House) -> None:
    (txn,) = opened(house, "tom")
    house.handler = ReadOnly(house.local)
    last = made("ReplLastIdInfo", database="d", lastReplId=9)
    for field in ({"replLastIdInfo": last}, {"keyValue": made("CommitTxnKeyValue", tableId=1, key="_meta", value="2")}):
        with pytest.raises(Exception, match="read-only"):
            house.ask("tom", "commit_txn", made("CommitTxnRequest", txnid=txn, **field))
    house.ask("tom", "commit_txn", made("CommitTxnRequest", txnid=txn))


# --- names that gate and metastore read -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["t\u00a0", "\u2003t", "T ", "t\u3000"])
def test_a_unicode_space_is_part_of_a_name(house: House, name: str) -> None:
    request = made("GetValidWriteIdsRequest", fullTableNames=(f"d.{name}",))
    dynamic = made("AddDynamicPartitions", txnid=1, writeid=1, dbname="d", tablename=name, partitionnames=("p=1",))
    for method, asked in (("get_valid_write_ids", request), ("add_dynamic_partitions", dynamic)):
        with pytest.raises(Exception, match=DENIED):
            house.ask("alice", method, asked)


def test_an_empty_catalog_names_no_schema(house: House) -> None:
    schema = made("ISchema", name="s", catName="hive", dbName="d", schemaType=1)
    house.past("create_ischema", schema)
    for catalog in ("", " "):
        with pytest.raises(MetastoreError):
            house.ask("alice", "get_ischema", made("ISchemaName", catName=catalog, dbName="d", schemaName="s"))
        with pytest.raises(NoSuchObjectException):
            house.past("get_ischema", made("ISchemaName", catName=catalog, dbName="d", schemaName="s"))


# --- reading --------------------------------------------------------------------------------------------------------


def test_texts_in_a_database_are_read_with_select_on_it(house: House) -> None:
    named = {"catName": "hive", "dbName": "d"}
    house.past("create_stored_procedure", made("StoredProcedure", name="p", source="secret", **named))
    house.past("add_package", made("AddPackageRequest", packageName="k", header="secret", body="b", **named))
    house.past("create_ischema", made("ISchema", name="s", schemaType=1, **named))
    version = made("SchemaVersion", schema=made("ISchemaName", schemaName="s", **named), version=1, schemaText="secret")
    house.past("add_schema_version", version)
    calls = {
        "get_stored_procedure": made("StoredProcedureRequest", procName="p", **named),
        "find_package": made("GetPackageRequest", packageName="k", **named),
        "get_schema_latest_version": made("ISchemaName", schemaName="s", **named),
    }
    house.grant(on_database("d"), "SELECT", "reader")
    for name, request in calls.items():
        with pytest.raises(MetastoreError, match="user alice needs SELECT on database d"):
            house.ask("alice", name, request)
        for user in ("dana", "reader", "root"):
            assert "secret" in repr(house.ask(user, name, request))


def test_a_connector_is_read_by_its_owner_and_who_was_granted_it(house: House) -> None:
    house.grant(EVERYTHING, "CREATE", "carl")
    connector = made("DataConnector", name="c", type="mysql", url="u", parameters={"password": "secret"})
    house.ask("carl", "create_dataconnector", replace(connector, ownerName="carl"))
    request = made("GetDataConnectorRequest", connectorName=" C ")
    with pytest.raises(MetastoreError, match="user alice needs SELECT on connector c"):
        house.ask("alice", "get_dataconnector_req", request)
    with pytest.raises(MetastoreError, match="user alice needs SELECT on connector c"):
        house.grant(EVERYTHING, "CREATE", "alice")
        remote = Database(name="r", connector_name="c", ownerName="alice", ownerType=USER)
        house.ask("alice", "create_database", remote)
    ref = HiveObjectRef(objectType=HiveObjectType.DATACONNECTOR, objectName="c")
    house.ask("carl", "grant_privileges", bag(ref, "SELECT", "alice"))
    for user in ("alice", "carl", "root"):
        assert house.ask(user, "get_dataconnector_req", request).parameters == {"password": "secret"}
    with pytest.raises(MetastoreError, match="user alice needs ownership of connector c"):
        house.ask("alice", "drop_dataconnector", "c", False, False)
    house.ask("carl", "drop_dataconnector", "c", False, False)


def test_who_owns_a_connector_owns_no_database_of_its_name_in_a_catalog_named_connector(house: House) -> None:
    catalog = made("Catalog", name="connector", locationUri="file:/nowhere/connector")
    house.past("create_catalog", made("CreateCatalogRequest", catalog=catalog))
    house.past("create_database", Database(name="c", catalogName="connector", ownerName="dana", ownerType=USER))
    house.past("create_dataconnector", made("DataConnector", name="c", type="mysql", url="u", ownerName="carl"))
    # The gate caches both; the connector is cached first.
    house.ask("carl", "get_dataconnector_req", made("GetDataConnectorRequest", connectorName="c"))
    with pytest.raises(MetastoreError, match=r"user carl needs ownership of database connector\.c"):
        house.ask("carl", "drop_database", "@connector#c", False, False)
    house.ask("dana", "drop_database", "@connector#c", False, False)


def test_lists_leave_out_what_the_caller_may_not_read(house: House) -> None:
    house.past("create_table", table("u", "alice", parameters={"comment": "hers"}))
    locked(house, "tom")
    assert [each.tableName for each in house.ask("alice", "get_table_meta", "d", "*", None)] == ["u"]
    assert house.ask("alice", "show_locks", made("ShowLocksRequest")).locks == ()
    assert len(house.ask("tom", "show_locks", made("ShowLocksRequest")).locks) == 1
    opened(house, "tom")
    assert house.ask("alice", "get_open_txns_info").open_txns == ()
    assert len(house.ask("tom", "get_open_txns_info").open_txns) == 1
    assert len(house.ask("root", "get_open_txns_info").open_txns) == 1


def test_materialized_views_are_listed_to_who_may_read_them(house: House) -> None:
    source = made("CreationMetadata", catName="hive", dbName="d", tblName="v", tablesUsed=frozenset({"d.t"}))
    view = table("v", "tom", creationMetadata=source, rewriteEnabled=True)
    house.past("create_table", replace(view, tableType="MATERIALIZED_VIEW", partitionKeys=()))
    name = "get_all_materialized_view_objects_for_rewriting"
    assert house.ask("alice", name) == ()
    assert [each.tableName for each in house.ask("tom", name)] == ["v"]


def test_parameters_are_not_guessed_by_a_filter(house: House) -> None:
    house.past("create_table", table("s", "tom", parameters={"pw": "hunter2"}))
    house.past("create_table", table("z", "alice", parameters={"pw": "hunter2"}))
    guess = 'hive_filter_field_params__pw like "hunter%"'
    assert house.ask("alice", "get_table_names_by_filter", "d", guess, -1) == ("z",)
    assert house.ask("tom", "get_table_names_by_filter", "d", guess, -1) == ("s",)
    # With a limit, a table that is left out would show by the one that it displaced.
    with pytest.raises(MetaException, match="user alice needs SELECT on database d to limit this list"):
        house.ask("alice", "get_table_names_by_filter", "d", guess, 1)
    assert house.ask("dana", "get_table_names_by_filter", "d", guess, 1) == ()


def test_patterns_find_what_the_caller_may_read_and_projections_hide_no_names(house: House) -> None:
    house.past("create_table", table("z", "alice"))

    def found(user: str, **request: Any) -> list[tuple[str, str]]:
        session = Session("10.0.0.7:4711", Generation.HIVE_4_0, user)
        reply = house.answer(session, "get_table_objects_by_name_req", GetTablesRequest(**request))
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


def test_a_request_that_names_no_table_is_not_about_every_table(house: House) -> None:
    for request in (made("ForeignKeysRequest"), made("ForeignKeysRequest", parent_db_name="d")):
        with pytest.raises(MetastoreError, match=DENIED):
            house.ask("alice", "get_foreign_keys", request)


# --- locations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/../secret", "/p=1/../../secret"])
def test_a_relative_path_leads_nowhere_else(house: House, path: str) -> None:
    root = house.past("get_table", "d", "t").sd.location
    part = made("PartitionWithoutSD", values=("1",), relativePath=path)
    sd = StorageDescriptor(cols=(), serdeInfo=SerDeInfo())
    kind = "PartitionSpecWithSharedSD"
    for spec in (
        PartitionSpec(rootPath=root, sharedSDPartitionSpec=made(kind, partitions=(part,), sd=sd)),
        PartitionSpec(sharedSDPartitionSpec=made(kind, partitions=(part,), sd=replace(sd, location=root))),
    ):
        with pytest.raises(MetastoreError, match="USE_LOCATION on the metastore for the location"):
            house.ask("tom", "add_partitions_pspec", (replace(spec, dbName="d", tableName="t"),))


def test_a_relative_path_below_the_table_is_its_own(house: House) -> None:
    root = house.past("get_table", "d", "t").sd.location
    part = made("PartitionWithoutSD", values=("1",), relativePath="/p=1")
    sd = StorageDescriptor(cols=(), serdeInfo=SerDeInfo())
    shared = made("PartitionSpecWithSharedSD", partitions=(part,), sd=sd)
    spec = PartitionSpec(rootPath=root, sharedSDPartitionSpec=shared, dbName="d", tableName="t")
    assert house.ask("tom", "add_partitions_pspec", (spec,)) == 1


# --- the store of tokens --------------------------------------------------------------------------------------------

STORE = [method.name for method in METHODS.values() if method.privileges == "service"]


def test_the_store_of_tokens_and_keys_is_marked_in_the_method_table() -> None:
    assert set(STORE) == {
        *("add_token", "get_token", "remove_token", "get_all_token_identifiers"),
        *("add_master_key", "get_master_keys", "remove_master_key", "update_master_key"),
    }


def proven(user: str, *, by_token: bool = False) -> Session:
    session = session_of(user)
    session.authenticated, session.by_token = True, by_token
    return session


@pytest.mark.parametrize("name", STORE)
def test_only_services_and_admins_who_have_proven_it_use_the_store(house: House, name: str) -> None:
    """Without `authorization: sql`, too."""
    house.handler = ForServices(house.local, ("root", "hive"))
    for session in (proven("alice"), session_of("root"), session_of(None), proven("root", by_token=True)):
        assert f"{DENIED}: {name} is for an authenticated user" in str(house.answer(session, name).error)
    for session in (proven("root"), proven("hive")):
        assert DENIED not in str(house.answer(session, name).error)


def test_a_tokens_holder_gets_no_further_token(house: House) -> None:
    assert house.answer(proven("alice"), "get_delegation_token", "alice", "alice").error is None
    refused = house.answer(proven("alice", by_token=True), "get_delegation_token", "alice", "alice")
    assert "was authenticated by a delegation token" in str(refused.error)
