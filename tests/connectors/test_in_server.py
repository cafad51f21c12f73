"""Each connector in a real server: remotes of every kind, made by ordinary calls and read by an ordinary client."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
from pyiceberg.catalog.rest import RestCatalog as TheirRestCatalog

import metastored
from metastored.errors import InvalidObjectException, MetaException, ObjectNotFound
from metastored.testing import RunningServer
from metastored.wire.generated.common import SerDeInfo, StorageDescriptor, Table
from metastored.wire.generated.databases import Database
from tests.connectors.test_iceberg_remote import Lake
from tests.server.http.support import PASSWORD, USER, http_server
from tests.server.support import certificate
from tests.support.forks import running_server
from tests.support.iceberg_rest import RestCatalog

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose remotes may send the secrets of a folder to this machine; ann is an administrator."""
    secrets = tmp_path_factory.mktemp("secrets")
    (secrets / "aws").write_text("testing")
    (secrets / "password").write_text(PASSWORD)
    with running_server(
        remotes_references=f"file:{secrets}/* -> localhost 127.0.0.1",
        remotes_hosts="localhost,127.0.0.1,*.example.com",
        admin_users="ann",
    ) as running:
        SECRETS["folder"] = str(secrets)
        yield running


SECRETS: dict[str, str] = {}


@pytest.fixture
def client(server: RunningServer) -> Iterator[Any]:
    with metastored.connect(server.uri, user="ann", cache=False) as found:
        yield found


def name_of(kind: str) -> str:
    return f"{kind}_{uuid.uuid4().hex[:8]}"


def test_a_database_of_glue(client: Any, glue: str) -> None:
    there, here = name_of("raw"), name_of("glue")
    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing", "region_name": "us-east-1"}
    far: Any = boto3.client("glue", endpoint_url=glue, **keys)
    far.create_database(DatabaseInput={"Name": there})
    columns = {"Columns": [{"Name": "id", "Type": "bigint"}], "Location": "s3://bucket/t"}
    keys_of = [{"Name": "ds", "Type": "string"}]
    table = {"Name": "t", "StorageDescriptor": columns, "PartitionKeys": keys_of, "TableType": "EXTERNAL_TABLE"}
    far.create_table(DatabaseName=there, TableInput=table)
    for day in ("1", "2"):
        far.create_partition(
            DatabaseName=there, TableName="t", PartitionInput={"Values": [day], "StorageDescriptor": columns}
        )
    definition = {
        "metastored.remote": there,
        "metastored.remote.via": "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory",
        "aws.glue.endpoint": glue,
        "aws.region": "us-east-1",
        "aws.access.key.id": "testing",
        "aws.secret.access.key": f"file:{SECRETS['folder']}/aws",
    }
    client.api.create_database(Database(here, parameters=definition))
    assert client.tables(here) == ("t",)
    found = client.table(f"{here}.t")
    assert (found.dbName, found.sd.location) == (here, "s3://bucket/t")
    assert found.parameters["metastored.remote"] == f"{there}.t"
    parts = list(client.partitions(f"{here}.t", "ds = '2'"))
    assert [(part.dbName, part.values) for part in parts] == [(here, ("2",))]
    with pytest.raises(ObjectNotFound):
        client.table(f"{here}.none")
    with pytest.raises(MetaException, match="read"):
        client.drop_table(f"{here}.t")
    client.drop_database(here)
    assert [each["Name"] for each in far.get_tables(DatabaseName=there)["TableList"]] == ["t"]
    far.close()


def test_a_table_of_iceberg_at_a_path(client: Any, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    here = name_of("lake")
    client.api.create_database(Database(here))
    definition = {"iceberg.table.path": lake.orders.location()}
    client.create_table(Table(tableName="orders", dbName=here, sd=StorageDescriptor(cols=()), parameters=definition))
    assert client.tables(here) == ("orders",)
    found = client.table(f"{here}.orders")
    assert found.parameters["metadata_location"] == lake.metadata
    assert found.parameters["metastored.remote.via"] == "iceberg"
    assert [column.name for column in found.sd.cols] == ["id", "name"]
    client.drop_table(f"{here}.orders")
    assert lake.catalog.load_table("Sales.orders").scan().to_arrow().num_rows == 3
    lake.catalog.close()


def test_a_database_of_an_iceberg_rest_catalog(client: Any, iceberg_rest: RestCatalog) -> None:
    there, here = name_of("There"), name_of("rest")
    far = TheirRestCatalog("rest", uri=iceberg_rest.uri)
    far.create_namespace(there)
    far.create_table(f"{there}.orders", pa.schema([("id", pa.int64())]))
    definition = {
        "metastored.remote": there,
        "iceberg.catalog.uri": iceberg_rest.uri,
        "metastored.remote.via": "iceberg",
    }
    client.api.create_database(Database(here, parameters=definition))
    assert client.tables(here) == ("orders",)
    assert client.table(f"{here}.orders").dbName == here
    far.drop_table(f"{there}.orders")
    far.drop_namespace(there)
    far.close()


def test_a_database_of_another_metastored_over_https(client: Any, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    here = name_of("web")
    with http_server(tmp_path, tls_certificate=cert, tls_key=key) as far:
        with metastored.connect(far.uri, user="ann") as there:
            there.create_database("raw")
            sd = StorageDescriptor(cols=(), serdeInfo=SerDeInfo())
            there.create_table(Table(tableName="clicks", dbName="raw", sd=sd, parameters={}, tableType="MANAGED_TABLE"))
        definition = {
            "metastored.remote": "raw",
            "hive.metastore.uris": f"https://localhost:{far.http_port}/metastore",
            "hive.metastore.truststore.path": str(cert),
            "metastored.remote.user": USER,
            "metastored.remote.password": f"file:{SECRETS['folder']}/password",
        }
        client.api.create_database(Database(here, parameters=definition))
        assert client.tables(here) == ("clicks",)
        assert client.table(f"{here}.clicks").dbName == here
        shown = client.database(here).parameters
        assert shown["metastored.remote.via"] == "http"
        assert PASSWORD not in str(shown)


def test_hosts_that_are_not_allowed_are_refused_in_definitions_and_at_connections(client: Any) -> None:
    with pytest.raises(InvalidObjectException, match="remotes_hosts allows"):
        client.api.create_database(
            Database(name_of("no"), parameters={"hive.metastore.uris": "thrift://10.1.1.1:9083"})
        )
    here = name_of("later")
    definition = {"hive.metastore.uris": "thrift://no-such-host.example.com:9083"}
    client.api.create_database(Database(here, parameters=definition))
    with pytest.raises(MetaException, match=r"no-such-host\.example\.com cannot be resolved"):
        client.table(f"{here}.t")
