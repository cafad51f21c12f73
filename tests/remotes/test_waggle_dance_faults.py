"""The ten faults of Waggle Dance that metastored does not have, one test each, by the number in the list of faults."""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterator

import pytest

import metastored
from metastored.errors import ApplicationError, InvalidOperationException, MetaException, NoSuchObjectException
from metastored.structs import (
    AddPrimaryKeyRequest,
    AllocateTableWriteIdsRequest,
    CommitTxnRequest,
    CreationMetadata,
    FireEventRequest,
    FireEventRequestData,
    GetValidWriteIdsRequest,
    InsertEventRequestData,
    LockComponent,
    LockLevel,
    LockRequest,
    LockState,
    LockType,
    OpenTxnRequest,
    PrimaryKeysRequest,
    ShowLocksRequest,
    SQLPrimaryKey,
    UnlockRequest,
)
from metastored.wire.structs import replace
from tests.support.waggle_dance import Federation, federation

pytestmark = pytest.mark.slow

REFUSED = (MetaException, InvalidOperationException, ApplicationError)
TABLE = "remote_table"
ORC = {
    "inputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
    "outputFormat": "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
}


@pytest.fixture(scope="module")
def servers() -> Iterator[Federation]:
    with federation(http_port=0, http_tls="off") as found:
        yield found


@pytest.fixture
def both(servers: Federation) -> Iterator[Federation]:
    yield servers
    servers.clean()


def test_fault_1_truncate_creation_metadata_and_events_are_writes(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    database = "waggle_remote_database"
    inserted = FireEventRequestData(insertData=InsertEventRequestData(filesAdded=("a",)))
    event = FireEventRequest(successful=True, data=inserted, dbName=database, tableName=TABLE)
    metadata = CreationMetadata(catName="hive", dbName=database, tblName=TABLE, tablesUsed=frozenset())
    for name, args in (
        ("truncate_table", (database, TABLE, ())),
        ("update_creation_metadata", ("hive", database, TABLE, metadata)),
        ("fire_listener_event", (event,)),
    ):
        with pytest.raises(REFUSED, match="read-only"):
            both.here.api.call(name, *args)
    assert len(both.there.api.get_partition_names("remote_database", TABLE, -1)) == 2


def test_fault_2_a_renamed_partition_and_a_primary_key_have_the_names_of_the_remote(both: Federation) -> None:
    both.there.create_database("other")
    keyed = metastored.table("other.t", {"id": "bigint"}, partitioned_by={"ds": "string"})
    both.there.create_table(keyed)
    both.there.add_partitions("other.t", [("1",)])
    both.catalog("waggle_remote", "waggle_", access="write")
    (part,) = both.here.api.get_partitions("waggle_other", "t", -1)
    both.here.api.rename_partition("waggle_other", "t", ("1",), replace(part, values=("2",)))
    (renamed,) = both.there.api.get_partitions("other", "t", -1)
    assert (renamed.dbName, renamed.values) == ("other", ("2",))
    key = SQLPrimaryKey(
        table_db="waggle_other",
        table_name="t",
        column_name="id",
        key_seq=1,
        pk_name="pk",
        enable_cstr=False,
        validate_cstr=False,
        rely_cstr=False,
    )
    both.here.api.add_primary_key(AddPrimaryKeyRequest((key,)))
    for client, database in ((both.there, "other"), (both.here, "waggle_other")):
        (found,) = client.api.get_primary_keys(PrimaryKeysRequest(db_name=database, tbl_name="t")).primaryKeys or ()
        assert (found.table_db, found.column_name) == (database, "id")


def lock_request(database: str) -> LockRequest:
    component = LockComponent(
        type=LockType.SHARED_READ, level=LockLevel.TABLE, dbname=database, tablename=TABLE, isTransactional=False
    )
    return LockRequest(component=(component,), user="ann", hostname="h")


def test_fault_3_a_lock_for_reading_is_given_on_a_read_only_remote_and_held_there(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    taken = both.here.api.lock(lock_request("waggle_remote_database"))
    assert taken.state == LockState.ACQUIRED
    held = [(each.dbname, each.tablename) for each in both.there.api.show_locks(ShowLocksRequest()).locks or ()]
    assert held == [("remote_database", TABLE)]
    both.here.api.unlock(UnlockRequest(taken.lockid))
    deadline = time.monotonic() + 30
    while both.there.api.show_locks(ShowLocksRequest()).locks:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_fault_4_write_ids_are_those_of_the_remote(both: Federation) -> None:
    both.there.create_database("acid")
    made = metastored.table("acid.t", {"id": "bigint"})
    assert made.sd is not None
    acid = replace(made, sd=replace(made.sd, **ORC), parameters={"transactional": "true"}, tableType="MANAGED_TABLE")
    both.there.create_table(acid)
    txn = both.there.api.open_txns(OpenTxnRequest(num_txns=1, user="ann", hostname="h")).txn_ids or ()
    both.there.api.allocate_table_write_ids(AllocateTableWriteIdsRequest(dbName="acid", tableName="t", txnIds=txn))
    both.there.api.commit_txn(CommitTxnRequest(txnid=txn[0]))
    both.catalog("waggle_remote", "waggle_")
    (opened,) = both.here.api.open_txns(OpenTxnRequest(num_txns=1, user="ann", hostname="h")).txn_ids or ()
    request = GetValidWriteIdsRequest(fullTableNames=("waggle_acid.t",), validTxnList=f"{opened}:{opened}::")
    (seen,) = both.here.api.get_valid_write_ids(request).tblValidWriteIds or ()
    assert (seen.fullTableName, seen.writeIdHighWaterMark) == ("waggle_acid.t", 1)


def test_fault_5_a_database_that_is_asked_for_by_an_alias_has_that_name_in_the_result(both: Federation) -> None:
    both.catalog("waggle_remote", "", alias__remote_database="booking")
    assert both.here.table("booking.remote_table").dbName == "booking"
    assert {part.dbName for part in both.partitions("booking")} == {"booking"}
    assert both.here.database("booking").name == "booking"


def test_fault_6_neither_upper_case_nor_an_alias_evades_the_list_of_tables_and_create_table_is_checked(
    both: Federation,
) -> None:
    both.catalog(
        "waggle_remote",
        "waggle_",
        access="write",
        tables__REMOTE_database="allowed",
        alias__remote_database="renamed",
    )
    for name in ("waggle_remote_database", "WAGGLE_Remote_Database", "waggle_renamed"):
        assert both.here.tables(name) == ()
        with pytest.raises(NoSuchObjectException):
            both.here.api.get_table(name, "Remote_Table")
        with pytest.raises((MetaException, NoSuchObjectException, InvalidOperationException)):
            both.here.create_table(metastored.table(f"{name.lower()}.secret", {"id": "int"}))
    assert both.there.tables("remote_database") == (TABLE,)


def test_fault_7_creating_a_database_changes_nothing_in_the_definition_of_a_remote(both: Federation) -> None:
    both.catalog(
        "waggle_remote",
        "waggle_",
        access="write",
        writable="new.*",
        alias__remote_database="renamed",
        timeout="7",
        databases="new.*, remote.*",
    )
    before = both.sql("SHOW CREATE REMOTE CATALOG waggle_remote").rows
    both.here.create_database("waggle_new_database")
    both.here.create_database("mine")
    assert both.sql("SHOW CREATE REMOTE CATALOG waggle_remote").rows == before


def test_fault_8_prefixes_match_in_any_case_and_the_longest_wins(both: Federation) -> None:
    both.there.create_database("x_remote_database")
    both.catalog("short", "old_", databases="x_remote_database")
    both.catalog("long", "OLD_X_", databases="remote_database")
    assert both.here.table("Old_X_Remote_Database.remote_table").dbName == "old_x_remote_database"
    assert both.here.databases("old_*") == ("old_x_remote_database",)


def test_fault_9_a_listing_that_lacks_a_remote_fails_and_names_it(both: Federation) -> None:
    both.catalog("gone", "gone_", "DEAD", timeout="2")
    for name, args in (("get_all_databases", ()), ("get_table_meta", ("*", "*", None)), ("get_all_functions", ())):
        with pytest.raises(MetaException, match="gone"):
            both.here.api.call(name, *args)
    assert both.here.databases("local*") == ("local_database",)


def test_fault_10_the_status_of_a_remote_is_a_gauge(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    both.here.tables("waggle_remote_database")
    name = f'metastored_remote_available{{remote="{both.remote.uri}"}} 1.0'

    def metrics() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{both.server.http_port}/metrics") as page:
            text: str = page.read().decode()
        return text

    deadline = time.monotonic() + 30
    while name not in metrics():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert "# TYPE metastored_remote_available gauge" in metrics()


def test_catalogs_with_one_prefix_are_allowed_if_all_but_one_name_their_databases(both: Federation) -> None:
    """As Waggle Dance's own default, MANUAL: the primary shows everything, the others what they map."""
    both.there.create_database("mapped")
    both.catalog("primary")
    both.catalog("federated", databases="mapped")
    rows = both.sql("SHOW REMOTES").dicts()
    assert {row["name"] for row in rows} == {"primary", "federated"}
    names = both.here.databases()
    assert {"mapped", "remote_database"} <= set(names)
    assert len(names) == len(set(names))
    with pytest.raises(metastored.errors.InvalidObjectException, match=r"which remote catalog primary has; give them"):
        both.catalog("third")
