"""The real Apache metastores start, return their version, and are stopped when the block ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import thriftpy2
from thriftpy2.rpc import client_context

from tests.support import apache
from tests.support.apache import ApacheMetastore, MissingPeer, StartFailure, apache_2_3, apache_peer
from tests.support.thrift_probe import call_for_string, call_for_strings, is_up

HIVES = [
    # Before Hive 4 the version of a server is a constant that was not updated with the releases.
    pytest.param("hive_2_3", "3.0", marks=pytest.mark.apache),
    pytest.param("hive_3_0", "3.0", marks=pytest.mark.peers),
    pytest.param("hive_3_1", "3.0", marks=pytest.mark.apache),
    # No other test of `make test` uses this one.
    pytest.param("hive_4_0_0", "4.0.0", marks=[pytest.mark.peers, pytest.mark.soak]),
    pytest.param("hive_4_0_1", "4.0.1", marks=pytest.mark.peers),
    pytest.param("hive_4_1_0", "4.1.0", marks=pytest.mark.peers),
]


@pytest.mark.parametrize(("fixture", "version"), HIVES)
def test_a_real_metastore_starts_and_serves_calls(request: pytest.FixtureRequest, fixture: str, version: str) -> None:
    metastore: ApacheMetastore = request.getfixturevalue(fixture)
    assert call_for_string(metastore.host, metastore.port, "getVersion") == version
    assert "default" in call_for_strings(metastore.host, metastore.port, "get_all_databases")


@pytest.mark.parametrize(("fixture", "version"), HIVES)
def test_a_real_metastore_can_be_written_to(request: pytest.FixtureRequest, fixture: str, version: str) -> None:
    metastore: ApacheMetastore = request.getfixturevalue(fixture)
    idl = thriftpy2.load(str(Path(__file__).with_name("smoke.thrift")), module_name="smoke_thrift")
    with client_context(idl.ThriftHiveMetastore, metastore.host, metastore.port, socket_timeout=30_000) as client:
        client.create_database(idl.Database(name="smoke", parameters={}))
        client.create_table(
            idl.Table(
                dbName="smoke",
                tableName="t",
                owner="ann",
                sd=idl.StorageDescriptor(
                    cols=[idl.FieldSchema(name="a", type="int")],
                    inputFormat="org.apache.hadoop.mapred.TextInputFormat",
                    outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
                    compressed=False,
                    numBuckets=-1,
                    serdeInfo=idl.SerDeInfo(
                        serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={}
                    ),
                    bucketCols=[],
                    parameters={},
                ),
                partitionKeys=[],
                parameters={"EXTERNAL": "TRUE"},
                tableType="EXTERNAL_TABLE",
            )
        )
        assert client.get_all_tables("smoke") == ["t"]
        transactions = client.open_txns(idl.OpenTxnRequest(num_txns=2, user="ann", hostname="here"))
    assert len(transactions.txn_ids) == 2
    assert list(metastore.warehouse.rglob("smoke.db/t"))


@pytest.mark.apache
def test_a_server_is_stopped_when_its_block_ends() -> None:
    with apache_2_3() as metastore:
        assert is_up(metastore.host, metastore.port)
    assert not is_up(metastore.host, metastore.port)
    assert not metastore.warehouse.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(metastore.pid, 0)


@pytest.mark.apache
def test_a_server_that_cannot_start_shows_the_end_of_its_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apache, "HEAP", "-Xmx1k")
    with pytest.raises(StartFailure, match=r"(?s)Hive 2\.3\.10 ended with status 1\. .*heap"), apache_2_3():
        pass


def test_a_version_that_is_not_installed_names_the_command_that_installs_it() -> None:
    with pytest.raises(MissingPeer, match=r"Hive 0\.1 .*make peers installs it"), apache_peer("0.1"):
        pass
