"""The client's document, section 7.5: errors, each with its kind and the names it is about."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import metastored
from metastored import errors
from metastored.catalog import load
from metastored.errors import ErrorKind, kind_of
from metastored.model import values
from metastored.structs import AbortTxnRequest
from tests.client.handlers import WritableMetastore
from tests.specs.conftest import Server
from tests.support.scripted import hang_up, say_and_hang_up, scripted, stall

pytestmark = pytest.mark.slow


def test_7_5_a_a_missing_database_and_table_are_not_found_with_their_names(client: metastored.Client, db: str) -> None:
    with pytest.raises(errors.DatabaseNotFound, match="nowhere") as database:
        client.database("nowhere")
    with pytest.raises(errors.TableNotFound, match=rf"{db}\.nothing") as table:
        client.table(f"{db}.nothing")
    assert {kind_of(each.value) for each in (database, table)} == {ErrorKind.NOT_FOUND}
    assert (database.value.object, database.value.name) == ("database", "nowhere")
    assert (table.value.object, table.value.name) == ("table", f"{db}.nothing")


def test_7_5_b_a_database_and_a_table_that_exist_are_already_exists_with_their_names(
    client: metastored.Client, db: str
) -> None:
    table = metastored.table(f"{db}.t", {"id": "bigint"})
    client.create_table(table)
    with pytest.raises(errors.DatabaseAlreadyExists, match=db) as first:
        client.create_database(db)
    with pytest.raises(errors.TableAlreadyExists, match=rf"{db}\.t") as second:
        client.create_table(table)
    assert {kind_of(each.value) for each in (first, second)} == {ErrorKind.ALREADY_EXISTS}


def test_7_5_c_invalid_addresses_and_configurations_are_invalid_argument() -> None:
    with pytest.raises(errors.InvalidAddress) as address:
        metastored.connect("nowhere")
    with pytest.raises(errors.ConfigError) as configuration:
        load(environment={}, given={"list": [{"name": "h", "type": "hive_metastore"}]})
    assert {kind_of(each.value) for each in (address, configuration)} == {ErrorKind.INVALID_ARGUMENT}


def test_7_5_d_an_unknown_version_a_missing_feature_and_a_failed_conversion_have_errors_of_their_own(
    old: Server,
) -> None:
    assert issubclass(errors.VersionUnknown, errors.Error)
    with old.client() as client, pytest.raises(errors.NotSupported) as feature:
        client.capabilities.has_acid_transactions(check=True)
    assert kind_of(feature.value) is ErrorKind.NOT_SUPPORTED
    with pytest.raises(errors.ConversionError) as conversion:
        values.decimal("varchar(3)")
    assert kind_of(conversion.value) is ErrorKind.INVALID_ARGUMENT


def test_7_5_e_a_full_pool_a_lost_transaction_and_a_refused_lock_have_errors_of_their_own(
    sqlite: Server, db: str
) -> None:
    with scripted(WritableMetastore(()), otherwise=stall) as server:
        client = metastored.connect(
            server.uri,
            pool=metastored.PoolSettings(max_size=1, max_waiting=0),
            timeout=2.0,
            cache=False,
            transport=metastored.TransportSettings(protocol="binary", framed=False),
        )
        with client, ThreadPoolExecutor(1) as threads:
            first = threads.submit(client.databases)
            while not server.requests:
                time.sleep(0.01)
            with pytest.raises(errors.PoolExhausted, match="max_waiting"):
                client.databases()
            with pytest.raises(errors.Error):
                first.result(10)
    with sqlite.client() as client:
        with pytest.raises(errors.TransactionFailed, match="aborted"), client.transaction() as transaction:
            client.api.abort_txn(AbortTxnRequest(txnid=transaction.id))
        with client.lock(db), pytest.raises(errors.LockFailed):
            client.lock(db, timeout=0.1).__enter__()


def test_7_5_f_every_error_of_thrift_is_an_error_of_the_client() -> None:
    for act in (hang_up, say_and_hang_up(b"\x00"), say_and_hang_up(b"\xff" * 40), say_and_hang_up(b"HTTP/1.1 200\r\n")):
        with scripted(otherwise=act) as server, metastored.connect(server.uri, cache=False) as client:
            with pytest.raises(errors.Error) as caught:
                client.databases()
            assert kind_of(caught.value) is ErrorKind.EXTERNAL
            assert str(server.port) in str(caught.value), "the error names the address"
