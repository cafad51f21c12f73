"""The client's document, section 4: ACID metadata, transactions, locks and writes."""

from __future__ import annotations

import getpass
import socket
from collections.abc import Iterator

import pytest

import metastored
from metastored.catalog import CatalogManager, ColumnStatus, TableDefinition
from metastored.errors import LockFailed, NoSuchLockException, NotSupported
from metastored.hive.transactions.snapshots import ValidWriteIdList
from metastored.model.acid import is_full_acid, is_insert_only
from metastored.structs import CheckLockRequest, CreateTableRequest, LockState, ShowLocksRequest, TxnInfo
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow

FULL = {"transactional": "true"}
INSERT_ONLY = {**FULL, "transactional_properties": "insert_only"}
ABLE = ("HIVEMANAGEDINSERTREAD", "HIVEMANAGEDINSERTWRITE", "HIVEFULLACIDREAD", "HIVEFULLACIDWRITE")
"""Hive 4 creates transactional tables only for clients that can read and write them."""


def create(server: Server, client: metastored.Client, name: str, properties: dict[str, str]) -> None:
    format = "orc" if properties == FULL else "parquet"
    table = metastored.table(name, {"id": "bigint"}, format=format, properties=properties)
    if server.version < (4, 0):
        client.create_table(table)
    else:
        client.api.create_table_req(CreateTableRequest(table=table, processorCapabilities=ABLE))


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.postgres),
        pytest.param("hive_3_1", marks=(pytest.mark.apache, pytest.mark.slow)),
        pytest.param("hive_4_0_1", marks=(pytest.mark.peers, pytest.mark.slow)),
    ]
)
def acid(request: pytest.FixtureRequest, db: str) -> Iterator[Server]:
    """A server with transactions, and a transactional table `t` in `db`.

    Apache's standalone metastores have no class of ORC and refuse tables with full ACID: there it is insert-only.
    """
    if request.param in ("sqlite", "postgresql"):
        server: Server = request.getfixturevalue("_own")(request.param)
    else:
        server = Server(request.param, request.getfixturevalue(request.param).uri)
    with server.client() as client:
        client.create_database(db)
        create(server, client, f"{db}.t", FULL if server.is_own else INSERT_ONLY)
        yield server
        client.drop_database(db, cascade=True)


def state(client: metastored.Client, transaction: int) -> TxnInfo | None:
    """A transaction that is open or aborted, as the server knows it."""
    for each in client.api.get_open_txns_info().open_txns or ():
        if each.id == transaction:
            return each
    return None


def locks(client: metastored.Client, db: str) -> list[int | None]:
    """The kinds of locks on the table of a test."""
    return [each.type for each in client.api.show_locks(ShowLocksRequest()).locks or () if each.dbname == db]


# 4.2


def test_4_2_a_a_transactional_table_has_its_acid_metadata(acid: Server, db: str) -> None:
    with acid.client() as client, acid.catalogs() as catalogs:
        with client.write(f"{db}.t") as write:
            pass
        with client.write(f"{db}.t") as second:
            pass
        found = catalogs.get_table(f"{db}.t").acid
        assert found is not None and found.insert_only == (not acid.is_own)
        assert found.write_id == second.write_id == write.write_id + 1
        assert found.transaction_id is not None and found.transaction_id >= second.transaction.id
        assert found.bucket_count is None


def test_4_2_b_the_valid_write_ids_are_a_text_that_hives_readers_take(acid: Server, db: str) -> None:
    with acid.client() as client, acid.catalogs() as catalogs:
        with client.write(f"{db}.t"):
            pass
        with pytest.raises(ZeroDivisionError), client.write(f"{db}.t"):
            raise ZeroDivisionError
        found = catalogs.get_table(f"{db}.t").acid
        assert found is not None and found.valid_write_ids is not None
        seen = ValidWriteIdList.parse(str(found.valid_write_ids))
        assert seen.high_watermark == 2
        assert seen.is_valid(1) and not seen.is_valid(2), "the second was aborted"


def test_4_2_c_a_table_that_is_not_transactional_has_none(catalogs: CatalogManager, db: str) -> None:
    plain = TableDefinition(columns=[ColumnStatus("id", "bigint")])
    assert catalogs.create_table(f"{db}.plain", plain).acid is None
    no = TableDefinition(columns=[ColumnStatus("id", "bigint")], properties={"transactional": "false"})
    assert catalogs.create_table(f"{db}.no", no).acid is None


# 4.3


def test_4_3_a_a_transaction_is_opened_with_user_and_host_and_committed(acid: Server) -> None:
    with acid.client() as client:
        with client.transaction() as transaction:
            found = state(client, transaction.id)
            assert found is not None and found.hostname == socket.gethostname()
            assert found.user == getpass.getuser()
        assert state(client, transaction.id) is None


def test_4_3_b_a_transaction_is_aborted(acid: Server, db: str) -> None:
    with acid.client() as client:
        with pytest.raises(ZeroDivisionError), client.transaction() as transaction:
            transaction.write_id(f"{db}.t")
            raise ZeroDivisionError
        opened = client.api.get_open_txns()
        assert transaction.ended and state(client, transaction.id) is not None
        assert transaction.id in (opened.open_txns or ()) and opened.abortedBits


def test_4_3_c_a_write_id_of_a_table_is_allocated_in_a_transaction(acid: Server, db: str) -> None:
    with acid.client() as client:
        found = []
        for _ in range(3):
            with client.transaction() as transaction:
                found.append(transaction.write_id(f"{db}.t"))
        assert found == [1, 2, 3]


def test_4_3_d_a_server_without_acid_transactions_is_refused_with_not_supported(old: Server) -> None:
    with old.client() as client, pytest.raises(NotSupported, match="transactions with write ids of a table"):
        client.transaction().__enter__()


# 4.4


def test_4_4_a_a_lock_is_acquired_checked_and_released_by_its_id(client: metastored.Client, db: str) -> None:
    with client.lock(f"{db}.t") as lock:
        assert lock.id > 0
        assert client.api.check_lock(CheckLockRequest(lockid=lock.id)).state == LockState.ACQUIRED
    with pytest.raises(NoSuchLockException):
        client.api.check_lock(CheckLockRequest(lockid=lock.id))


def test_4_4_b_locks_are_shared_exclusive_and_semi_shared(client: metastored.Client, db: str) -> None:
    for type, other, together in (
        ("shared_read", "shared_read", True),
        ("shared_read", "shared_write", True),
        ("shared_write", "exclusive", False),
        ("exclusive", "shared_read", False),
    ):
        with client.lock(f"{db}.t", type=type) as lock:
            assert lock.id
            if together:
                with client.lock(f"{db}.t", type=other) as second:
                    assert second.id
            else:
                with pytest.raises(LockFailed), client.lock(f"{db}.t", type=other, timeout=0.1):
                    pass


def test_4_4_c_a_lock_that_others_hold_is_waiting_and_then_fails(client: metastored.Client, db: str) -> None:
    with client.lock(f"{db}.t"):
        with pytest.raises(LockFailed, match=rf"no exclusive lock on {db}\.t within 0\.2 s: others hold locks on it"):
            client.lock(f"{db}.t", timeout=0.2).__enter__()
    with client.lock(f"{db}.t", timeout=10.0) as free:
        assert free.id


def test_4_4_d_a_server_without_the_lock_service_is_refused_with_not_supported(own: Server) -> None:
    with own.nine() as client, pytest.raises(NotSupported, match="lock"):
        client.lock("default.t").__enter__()


# 4.5, 4.6, 4.7


def test_4_5_a_a_transactional_table_that_is_read_has_transactional_and_write_id_among_its_options(
    acid: Server, db: str
) -> None:
    with acid.client() as client, acid.catalogs() as catalogs:
        with client.write(f"{db}.t") as write:
            pass
        options = catalogs.get_table(f"{db}.t").options
        assert (options.get("transactional"), options.get("write_id")) == ("true", str(write.write_id))


def test_4_6_a_a_write_opens_a_transaction_takes_a_lock_and_a_write_id_and_commits(acid: Server, db: str) -> None:
    with acid.client() as client:
        with client.write(f"{db}.t") as write:
            assert state(client, write.transaction.id) is not None
            assert len(locks(client, db)) == 1
            assert write.write_id == 1
        assert state(client, write.transaction.id) is None
        assert locks(client, db) == []
        with client.read(f"{db}.t") as read:
            assert read.snapshots[f"{db}.t"].is_valid(1)


def test_4_6_b_inserts_share_the_table_and_updates_and_deletes_exclude_one_another(acid: Server, db: str) -> None:
    with acid.client() as client:
        with client.write(f"{db}.t"), client.write(f"{db}.t"):
            assert len(locks(client, db)) == 2
        for operation in ("update", "delete") if acid.is_own else ("overwrite",):
            with client.write(f"{db}.t", operation, exclusive=True):
                with pytest.raises(LockFailed):
                    client.write(f"{db}.t", operation, exclusive=True, timeout=0.1).__enter__()


def test_4_6_c_a_write_that_fails_is_aborted_and_its_lock_released(acid: Server, db: str) -> None:
    with acid.client() as client:
        with pytest.raises(ZeroDivisionError), client.write(f"{db}.t") as write:
            raise ZeroDivisionError
        assert locks(client, db) == []
        assert write.transaction.id in (client.api.get_open_txns().open_txns or ()), "open or aborted"
        with client.read(f"{db}.t") as read:
            assert not read.snapshots[f"{db}.t"].is_valid(write.write_id)


def test_4_7_a_transactional_properties_are_detected_and_acid_tables_read_and_written(acid: Server, db: str) -> None:
    with acid.client() as client:
        found = client.table(f"{db}.t").parameters
        assert is_full_acid(found) == acid.is_own
        create(acid, client, f"{db}.only", INSERT_ONLY)
        assert is_insert_only(client.table(f"{db}.only").parameters)
        for name in ("t", "only"):
            with client.write(f"{db}.{name}") as write:
                assert write.write_id == 1
            with client.read(f"{db}.{name}") as read:
                assert read.snapshots[f"{db}.{name}"].high_watermark == 1
