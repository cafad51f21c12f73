"""Reads and writes of transactional tables: the calls, their order, their locks, and what others see of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from metastored.client.acid import keeps_writers_out, lock_type
from metastored.client.versions import HiveVersion
from metastored.errors import InvalidInputException, LockFailed, TransactionFailed, TxnAbortedException
from metastored.model.acid import Acid, acid_of
from metastored.model.formats import FORMATS
from metastored.wire.generated.common import DataOperationType, StorageDescriptor, Table
from metastored.wire.generated.locks import LockLevel, LockState, LockType
from metastored.wire.generated.notifications import GetAllWriteEventInfoRequest
from metastored.wire.generated.partitions import Partition
from metastored.wire.generated.tables import CreateTableRequest
from metastored.wire.generated.transactions import AbortTxnRequest, AbortTxnsRequest, OpenTxnRequest, TxnType
from metastored.wire.structs import replace
from tests.client.handlers import LockingMetastore, table_of
from tests.client.test_behaviour import table_of as real_table
from tests.support.driven import connected
from tests.support.forks import running_server

FULL = {"transactional": "true", "transactional_properties": "default"}
INSERT_ONLY = {"transactional": "true", "transactional_properties": "insert_only"}


def there(parameters: dict[str, str] = FULL) -> LockingMetastore:
    return LockingMetastore((replace(table_of("sales", "orders"), parameters=parameters),))


def said(metastore: LockingMetastore) -> list[str]:
    """The calls in their order, without those that detect the version."""
    asked = ("getVersion", "get_metastore_db_uuid", "alter_catalog", "get_table_objects_by_name_req", "show_locks")
    return [name for name in metastore.called if name not in asked]


# Properties of a table


@pytest.mark.parametrize(
    ("parameters", "buckets", "write_id", "expected"),
    [
        ({}, -1, None, None),
        ({"transactional": "false"}, -1, None, None),
        ({"transactional": "TRUE"}, -1, -1, Acid(False, None, None, None)),
        (FULL | {"bucketing_version": "2"}, 4, 7, Acid(False, 7, 4, 2)),
        (INSERT_ONLY | {"bucketing_version": "?"}, 0, None, Acid(True, None, None, None)),
    ],
)
def test_the_parameters_of_a_table_show_whether_it_is_transactional(
    parameters: dict[str, str], buckets: int, write_id: int | None, expected: Acid | None
) -> None:
    table = Table(parameters=parameters, sd=StorageDescriptor(numBuckets=buckets), writeId=write_id)
    assert acid_of(table) == expected
    assert acid_of(Table()) is None


@pytest.mark.parametrize(
    ("version", "exclusive", "insert", "update", "overwrite"),
    [
        (HiveVersion(3, 1), True, LockType.SHARED_READ, LockType.SHARED_WRITE, LockType.EXCLUSIVE),
        (HiveVersion(3, 1), False, LockType.SHARED_READ, LockType.SHARED_WRITE, LockType.EXCLUSIVE),
        (HiveVersion(4, 0, 1), True, LockType.SHARED_READ, LockType.EXCL_WRITE, LockType.EXCLUSIVE),
        (HiveVersion(4, 1, 0), False, LockType.SHARED_WRITE, LockType.SHARED_WRITE, LockType.EXCL_WRITE),
    ],
)
def test_each_version_has_its_locks(
    version: HiveVersion, exclusive: bool, insert: int, update: int, overwrite: int
) -> None:
    found = {operation: lock_type(operation, version, exclusive) for operation in ("insert", "update", "overwrite")}
    assert found == {"insert": insert, "update": update, "overwrite": overwrite}
    assert lock_type("delete", version, exclusive) == lock_type("merge", version, exclusive) == update


def test_writers_exclude_one_another_before_hive_4_1() -> None:
    assert [keeps_writers_out(HiveVersion(*each)) for each in ((3, 1), (4, 0), (4, 1))] == [True, True, False]


# The calls


def test_a_write_makes_hives_calls_in_hives_order(half: str) -> None:
    metastore = there()
    with connected(half, handler=metastore, cache=False, user="ann") as client:
        with client.write("sales.orders", "update") as write:
            assert (write.transaction.id, write.write_id) == (7, 3)
            assert (write.snapshot.table, write.snapshot.high_watermark, write.snapshot.open) == (
                "sales.orders",
                3,
                (2,),
            )
            write.add_partitions([Partition(values=("1",))])
            write.wrote("ds=1", "ds=2")
            write.wrote("ds=3", operation="delete")
    calls = said(metastore)
    assert calls[calls.index("open_txns") :] == [
        *("open_txns", "allocate_table_write_ids", "lock", "get_open_txns", "get_valid_write_ids"),
        *("add_partitions_req", "add_dynamic_partitions", "add_dynamic_partitions", "commit_txn"),
    ]
    (component,) = metastore.locked[0].component or ()
    assert (component.level, component.type, component.operationType) == (
        LockLevel.TABLE, LockType.SHARED_WRITE, DataOperationType.UPDATE,
    )  # fmt: skip
    assert (component.isTransactional, component.isDynamicPartitionWrite) == (True, True)
    told = {each.operationType: (each.writeid, each.partitionnames) for each in metastore.written}
    assert told == {
        DataOperationType.UPDATE: (3, ("ds=1", "ds=2")),
        DataOperationType.DELETE: (3, ("ds=3",)),
    }
    assert metastore.commits[0].exclWriteEnabled is None, "this server is older than 4.0"
    assert metastore.parts[("sales", "orders")][("1",)].writeId == 3
    assert metastore.unlocked == []


def test_a_read_takes_its_snapshot_after_its_lock(half: str) -> None:
    metastore = there()
    with connected(half, handler=metastore, cache=False) as client:
        with client.read("sales.orders") as read:
            assert read.snapshots["sales.orders"].open == (2,)
    calls = said(metastore)
    assert calls[calls.index("open_txns") :] == [
        *("open_txns", "lock", "get_open_txns", "get_valid_write_ids", "commit_txn"),
    ]
    assert metastore.opened[0].txn_type == TxnType.READ_ONLY
    (component,) = metastore.locked[0].component or ()
    assert (component.type, component.operationType) == (LockType.SHARED_READ, DataOperationType.SELECT)


def test_locks_can_be_narrowed_to_partitions(half: str) -> None:
    metastore = there()
    with connected(half, handler=metastore) as client, client.write("sales.orders", partitions=["ds=1", "ds=2"]):
        pass
    found = [
        (each.level, each.partitionname, each.isDynamicPartitionWrite) for each in metastore.locked[0].component or ()
    ]
    assert found == [(LockLevel.PARTITION, "ds=1", False), (LockLevel.PARTITION, "ds=2", False)]


def test_a_write_that_fails_is_aborted(half: str) -> None:
    metastore = there()
    with connected(half, handler=metastore) as client:
        with pytest.raises(RuntimeError, match="on purpose"), client.write("sales.orders"):
            raise RuntimeError("on purpose")
    assert metastore.ended == ["abort"]


def test_a_lock_that_is_not_acquired_aborts_the_write(half: str) -> None:
    metastore = there()
    metastore.states = [LockState.WAITING]
    with connected(half, handler=metastore) as client:
        for entered in (client.write("sales.orders", timeout=0.1), client.read("sales.orders", timeout=0.1)):
            with pytest.raises(LockFailed, match=r"no shared_read lock on sales\.orders within 0\.1 s"), entered:
                raise AssertionError("it was given")
    assert metastore.ended == ["abort", "abort"]


def test_partitions_that_are_refused_abort_the_write(half: str) -> None:
    metastore = there()
    metastore.refuses_partitions = TxnAbortedException("too late")
    with connected(half, handler=metastore) as client:
        with pytest.raises(TransactionFailed, match="7 was aborted: too late"), client.write("sales.orders") as write:
            write.wrote()
            write.wrote("ds=1")
    assert metastore.ended == ["abort"]


def test_a_write_that_ends_early_is_not_ended_again(half: str) -> None:
    metastore = there()
    with connected(half, handler=metastore) as client:
        with client.write("sales.orders") as write:
            write.abort()
        with client.write("sales.orders") as write:
            write.commit()
    assert metastore.ended == ["abort", "commit"]


def test_a_write_that_is_not_possible_is_refused_before_a_transaction_is_opened(half: str) -> None:
    metastore = there(INSERT_ONLY)
    metastore.create_table(table_of("sales", "plain"))
    with connected(half, handler=metastore) as client:
        with pytest.raises(InvalidInputException, match="known are insert, update, delete, merge, overwrite"):
            client.write("sales.orders", "upsert")
        with pytest.raises(InvalidInputException, match="a read needs the name of a table"):
            client.read()
        for entered in (client.write("sales.plain"), client.read("sales.plain")):
            with pytest.raises(InvalidInputException, match=r"sales\.plain is not transactional"), entered:
                raise AssertionError
        with pytest.raises(InvalidInputException, match="insert-only: there is no update"):
            with client.write("sales.orders", "update"):
                raise AssertionError
        with client.write("sales.orders") as write, pytest.raises(InvalidInputException, match="'upsert'"):
            write.wrote("ds=1", operation="upsert")
    assert metastore.called.count("open_txns") == 1


# Real servers


@pytest.fixture(
    scope="module",
    params=[
        "metastored",
        "metastored_4_2",
        pytest.param("hive_3_1", marks=(pytest.mark.apache, pytest.mark.slow)),
        pytest.param("hive_4_1_0", marks=(pytest.mark.peers, pytest.mark.slow)),
    ],
)
def uri(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param.startswith("metastored"):
        with running_server(**({"compat": "4.2"} if request.param == "metastored_4_2" else {})) as running:
            yield running.uri
    else:
        yield request.getfixturevalue(request.param).uri


def made(client: Any, table: Table) -> None:
    if client.capabilities.version() < (4, 0):
        client.create_table(table)
    else:
        # Hive 4 makes transactional tables only for those who say that they can read and write them.
        able = ("HIVEMANAGEDINSERTREAD", "HIVEMANAGEDINSERTWRITE", "HIVEFULLACIDREAD", "HIVEFULLACIDWRITE")
        client.api.create_table_req(CreateTableRequest(table=table, processorCapabilities=able))


@pytest.fixture
def table(uri: str, half: str) -> Iterator[tuple[Any, str]]:
    """A client and a transactional table of the test's own, partitioned by `ds`."""
    db = f"acid_{uuid.uuid4().hex[:12]}"
    with connected(half, uri, user="ann") as client:
        client.create_database(db)
        made(client, replace(real_table(db, "t", ("ds",)), parameters=INSERT_ONLY))
        yield client, f"{db}.t"
        client.drop_table(f"{db}.t", delete_data=False)


def test_a_reader_sees_committed_writes_and_no_aborted_ones(table: tuple[Any, str]) -> None:
    client, name = table
    with client.write(name) as first:
        first.wrote("ds=1")
    with pytest.raises(RuntimeError), client.write(name) as second:
        raise RuntimeError("on purpose")
    with client.read(name) as read:
        seen = read.snapshots[name]
        assert seen.is_valid(first.write_id)
        assert not seen.is_valid(second.write_id)
        assert seen.is_aborted(second.write_id)
    assert second.write_id == first.write_id + 1


def test_a_reader_does_not_see_a_write_that_is_still_open(table: tuple[Any, str]) -> None:
    client, name = table
    with client.write(name) as write, client.read(name) as read:
        assert not read.snapshots[name].is_valid(write.write_id)
        assert write.snapshot.is_valid(write.write_id)


def test_a_table_that_is_added_to_a_read_is_seen_at_its_first_snapshot(table: tuple[Any, str]) -> None:
    client, name = table
    other = f"{name}_2"
    made(client, replace(real_table(name.partition(".")[0], "t_2", ("ds",)), parameters=INSERT_ONLY))
    with client.write(other) as before:
        pass
    with client.read(name) as read:
        visible = read.visible
        with client.write(other) as after:
            pass
        read.add(other, name)
        assert read.visible == visible and visible.is_valid(before.transaction.id)
        assert set(read.snapshots) == {name, other}
        assert read.snapshots[other].is_valid(before.write_id) and not read.snapshots[other].is_valid(after.write_id)
    client.drop_table(other, delete_data=False)


def test_writes_of_one_transaction_have_one_write_id_of_a_table_and_end_together(table: tuple[Any, str]) -> None:
    client, name = table
    with client.transaction() as transaction:
        joined = getattr(transaction, "_inner", transaction)
        with client.write(name, transaction=joined) as one:
            one.wrote("ds=1")
        with client.write(name, transaction=joined) as two:
            assert two.write_id == one.write_id and two.snapshot.is_valid(one.write_id)
            assert two.visible == one.visible
        with client.read(name) as read:
            assert not read.snapshots[name].is_valid(one.write_id)
    with client.read(name) as read:
        assert read.snapshots[name].is_valid(one.write_id)


def test_an_overwrite_waits_for_readers(table: tuple[Any, str]) -> None:
    client, name = table
    version = client.capabilities.version()
    with client.read(name):
        if version < (4, 1):
            with pytest.raises(LockFailed), client.write(name, "overwrite", timeout=0.3):
                raise AssertionError("it was given")
        else:
            with client.write(name, "overwrite"):
                pass
    with client.write(name, "overwrite"):
        pass


def test_two_writers_share_a_table_or_wait_as_their_version_of_hive_does(table: tuple[Any, str]) -> None:
    client, name = table
    with client.transaction() as one, one.lock(name, type="shared_write"):
        if client.capabilities.version() < (4, 0):
            with pytest.raises(LockFailed), client.transaction() as two:
                with two.lock(name, type="shared_write", timeout=0.3):
                    raise AssertionError("it was given")
        else:
            with client.transaction() as two, two.lock(name, type="shared_write"):
                pass


@pytest.mark.parametrize("uri", ["metastored", "metastored_4_2"], indirect=True)
def test_of_two_concurrent_updates_one_is_committed(table: tuple[Any, str]) -> None:
    # Apache's metastores without the rest of Hive take no table whose rows can be changed.
    client, name = table
    db = name.partition(".")[0]
    orc = FORMATS["orc"]
    plain = real_table(db, "changing")
    assert plain.sd is not None and plain.sd.serdeInfo is not None
    storage = replace(
        plain.sd,
        inputFormat=orc.input,
        outputFormat=orc.output,
        serdeInfo=replace(plain.sd.serdeInfo, serializationLib=orc.serde),
    )
    made(client, replace(plain, sd=storage, parameters=FULL))
    changing = f"{db}.changing"
    if client.capabilities.version() < (4, 1):
        with client.write(changing, "update"), pytest.raises(LockFailed):
            with client.write(changing, "delete", timeout=0.3):
                raise AssertionError("it was given")
    else:
        # They share: the first to commit has won.
        with pytest.raises(TransactionFailed, match="was aborted"), client.write(changing, "update"):
            with client.write(changing, "delete"):
                pass
    client.drop_table(changing, delete_data=False)


def test_new_partitions_belong_to_the_write(table: tuple[Any, str]) -> None:
    client, name = table
    storage = client.table(name).sd
    with client.write(name) as write:
        assert write.add_partitions([Partition(values=("2024-01-01",), sd=replace(storage, location=None))]) == 1
    assert client.partition_names(name) == ("ds=2024-01-01",)


def test_the_files_of_a_write_are_in_the_notification_log_of_hive_4(table: tuple[Any, str]) -> None:
    client, name = table
    storage = client.table(name).sd
    with client.write(name) as write:
        write.add_partitions([Partition(values=("1",), sd=replace(storage, location=None))])
        write.added_files("file:/w/t/ds=1/delta_1/bucket_0", "file:/w/t/ds=1/delta_1/bucket_1", partition=("1",))
    if client.capabilities.version() < (4, 0):
        return  # It has no such call: the commit went through without.
    asked = GetAllWriteEventInfoRequest(txnId=write.transaction.id)
    found = client.api.get_all_write_event_info(asked)
    if not found:
        # Apache's metastore keeps them only with a listener; that it took the call is what can be seen.
        assert client.api.getVersion() == "4.1.0"
        return
    assert [(info.writeId, info.partition) for info in found] == [(write.write_id, "ds=1")]
    assert found[0].files is not None
    assert found[0].files.count("bucket_") == 2


def test_files_are_reported_with_a_value_for_each_partition_key(half: str) -> None:
    metastore = there()
    with connected(half, handler=metastore, cache=False) as client:
        with pytest.raises(InvalidInputException, match=r"is partitioned by \(ds\), and 3 values"):
            with client.write("sales.orders") as write:
                write.added_files("file:/x", partition=("1", "2", "3"))
    assert "add_write_notification_log" not in metastore.called
    assert metastore.called[-1] == "abort_txn"


def test_a_transaction_that_another_client_aborted_cannot_be_committed(table: tuple[Any, str]) -> None:
    client, name = table
    with pytest.raises(TransactionFailed, match="was aborted"), client.write(name) as write:
        client.api.abort_txn(AbortTxnRequest(txnid=write.transaction.id))


def test_a_read_beside_many_open_transactions_is_understood_by_every_version(table: tuple[Any, str]) -> None:
    """Hive 4 writes runs of ids as `5-9`, and Hive 3.1 cannot read them."""
    client, name = table
    opened = client.api.open_txns(OpenTxnRequest(num_txns=7, user="ann", hostname="here")).txn_ids
    try:
        with client.read(name) as read:
            assert set(opened) <= set(read.visible.open)
    finally:
        client.api.abort_txns(AbortTxnsRequest(txn_ids=opened))
