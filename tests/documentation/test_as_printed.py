"""Every page of docs/ and README.md is followed as it is printed, in an empty folder (`following.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, urlsplit, urlunsplit

import boto3
import pyarrow
import pytest
from pyarrow import parquet

import metastored
from tests.documentation.blocks import FOLLOWED, name_of
from tests.documentation.following import Reader
from tests.support.forks import running_server
from tests.support.glue import glue_client
from tests.support.postgres import running_postgres
from tests.support.ssh import bastions

pytestmark = pytest.mark.slow

SPARK: Final = {
    "README.md",
    "docs/guide/acid-sql.md",
    "docs/guide/acid-views.md",
    "docs/guide/acid.md",
    "docs/guide/compaction.md",
    "docs/guide/copies.md",
    "docs/guide/glue.md",
    "docs/guide/lance-rest.md",
    "docs/guide/pipelines.md",
    "docs/guide/remotes.md",
    "docs/guide/repair.md",
    "docs/guide/statements.md",
    "docs/guide/statistics.md",
    "docs/start/acid.md",
    "docs/start/first-steps.md",
}
"""The pages that start Spark. They share one JVM, but for commands that start their own."""

ONE_JVM: Final = {"docs/guide/compaction.md", "docs/guide/pipelines.md", "docs/guide/statements.md"}
"""The pages whose commands start Spark several times: they share a JVM. On other pages each starts its own."""


POSTGRES: Final = {"docs/guide/backup.md", "docs/start/first-steps.md"}
"""The pages whose reader has a PostgreSQL."""


@dataclass
class Has:
    """What a page says that its reader has."""

    peers: dict[str, str] = field(default_factory=dict)
    """Addresses of servers, and what they are in the test."""
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def spark_reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    reader = Reader(tmp_path_factory.mktemp("reader"))
    yield reader
    reader.close()


@pytest.fixture(scope="module")
def plain_reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """For the pages without Spark, whose `python` imports the same modules."""
    reader = Reader(tmp_path_factory.mktemp("reader"))
    yield reader
    reader.close()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=name_of(page),
            marks=[
                mark
                for mark, pages in ((pytest.mark.spark, SPARK), (pytest.mark.postgres, POSTGRES))
                if name_of(page) in pages
            ],
        )
        for page in FOLLOWED
    ],
)
def test_a_page_runs_as_printed(page: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    reader: Reader = request.getfixturevalue("spark_reader" if name_of(page) in SPARK else "plain_reader")
    given = READERS.get(name_of(page))
    with given(request, tmp_path) if given is not None else nothing() as has:
        reader.follow(page, has.peers, has.files, has.variables, one_jvm=name_of(page) in ONE_JVM)


# What readers have

LOGIN: Final = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "testing")

Given = Callable[[pytest.FixtureRequest, Path], AbstractContextManager[Has]]


@contextmanager
def nothing() -> Iterator[Has]:
    yield Has()


@contextmanager
def metastores(databases: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Metastores with a database each, by the address that a page prints: the addresses of the test."""
    with ExitStack() as servers:
        found: dict[str, str] = {}
        for address, database in databases.items():
            server = servers.enter_context(running_server())
            with metastored.connect(server.uri) as client:
                client.create_database(database)
                orders = metastored.table(f"{database}.orders", {"id": "bigint"}, partitioned_by={"ds": "string"})
                client.create_table(orders)
                client.add_partitions(f"{database}.orders", [{"ds": "2024-01-01"}])
            found[address] = server.uri
        yield found


def with_metastores(databases: Mapping[str, str]) -> Given:
    @contextmanager
    def given(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
        with metastores(databases) as found:
            yield Has(peers=found)

    return given


@contextmanager
def waggle_dance(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
    """The files of a Waggle Dance with two metastores."""
    with metastores({"first": "sales", "second": "events"}) as found:
        federation = (
            f"primary-meta-store: {{name: primary, remote-meta-store-uris: '{found['first']}'}}\n"
            f"federated-meta-stores:\n"
            f"- {{name: dw, remote-meta-store-uris: '{found['second']}', database-prefix: dw_}}\n"
        )
        yield Has(
            files={
                "waggle-dance-federation.yml": federation,
                "waggle-dance-server.yml": "database-resolution: PREFIXED\n",
            }
        )


@contextmanager
def glue(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
    """Credentials of an account with the database `sales` in Glue."""
    endpoint = request.getfixturevalue("glue")
    service = glue_client(endpoint, request.getfixturevalue("monkeypatch"))
    descriptor = {
        "Columns": [{"Name": "id", "Type": "bigint"}],
        "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "OutputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "SerdeInfo": {"SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"},
    }
    external = {"TableType": "EXTERNAL_TABLE", "Parameters": {"EXTERNAL": "TRUE"}}
    service.create_database(DatabaseInput={"Name": "sales"})
    for name, keys in (("orders", [{"Name": "ds", "Type": "string"}]), ("plain", [])):
        (folder / name).mkdir()
        storage = descriptor | {"Location": f"file:{folder}/{name}"}
        table = {"Name": name, "StorageDescriptor": storage, "PartitionKeys": keys, **external}
        service.create_table(DatabaseName="sales", TableInput=table)
    rows = pyarrow.table({"id": pyarrow.array([1, 2], pyarrow.int64())})
    parquet.write_table(rows, folder / "plain" / "part.parquet")
    for day in ("2024-01-01", "2024-01-02"):
        (folder / "orders" / f"ds={day}").mkdir()
        parquet.write_table(rows, folder / "orders" / f"ds={day}" / "part.parquet")
        storage = descriptor | {"Location": f"file:{folder}/orders/ds={day}"}
        partition = {"Values": [day], "StorageDescriptor": storage}
        service.create_partition(DatabaseName="sales", TableName="orders", PartitionInput=partition)
    try:
        yield Has(variables={"AWS_ENDPOINT_URL_GLUE": endpoint, **LOGIN})
    finally:
        service.delete_database(Name="sales")


def s3(request: pytest.FixtureRequest) -> dict[str, str]:
    """The variables of an account with the buckets `bucket` and `lake` in S3."""
    endpoint: str = request.getfixturevalue("glue")  # It has the other services, too.
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="testing",
        aws_secret_access_key="testing",
    )
    for bucket in ("bucket", "lake"):
        client.create_bucket(Bucket=bucket)
    return {"AWS_ENDPOINT_URL": endpoint, "AWS_REGION": "us-east-1", **LOGIN}


@contextmanager
def object_store(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
    variables = s3(request)
    keys = "AWS_ACCESS_KEY_ID={} AWS_SECRET_ACCESS_KEY={}"
    endpoint = variables["AWS_ENDPOINT_URL"]
    yield Has(
        {keys.format("…", "…"): keys.format("testing", "testing"), "http://localhost:9000": endpoint}, {}, variables
    )


@contextmanager
def postgresql(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
    """A PostgreSQL with a metastore, and an S3."""
    with running_postgres() as server, server.database() as url:
        with running_server(database_url=url):
            pass
        parts = urlsplit(url)
        folder_of_socket = parse_qs(parts.query)["host"][0]
        restored = urlunsplit(parts._replace(path="/metastore_restored"))
        yield Has(
            {
                "postgresql://user@host/metastore_restored": restored,
                "postgresql://user@host/metastore": url,
                "--host=host --username=user": f"--host={folder_of_socket} --username={parts.username}",
            },
            {},
            s3(request),
        )


@contextmanager
def behind_ssh(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
    """A metastore behind two SSH servers, their keys and certificates."""
    (folder / "ssh").mkdir()
    with (
        metastores({"thrift://metastore.internal:9083": "raw"}) as found,
        bastions(folder / "ssh", "jump", "node") as ssh,
    ):
        yield Has(
            peers=found
            | {
                "jump@bastion.example.com -> hadoop@node.internal": ssh.properties["ssh.tunnel.route"],
                "/etc/metastored/jump.pem,/etc/metastored/node.pem": ssh.properties["ssh.tunnel.private.keys"],
                "file:/etc/metastored/* -> bastion.example.com node.internal metastore.internal": (
                    f"file:{folder}/ssh/* -> 127.0.0.1 localhost"
                ),
                "/etc/metastored/known_hosts": ssh.properties["ssh.tunnel.known.hosts"],
            }
        )


READERS: Final[dict[str, Given]] = {
    "docs/guide/backup.md": postgresql,
    "docs/guide/lance.md": object_store,
    "docs/guide/object-stores.md": object_store,
    "docs/start/first-steps.md": postgresql,
    "README.md": with_metastores({"thrift://old-cluster:9083": "raw_sales"}),
    "docs/guide/connectors.md": behind_ssh,
    "docs/guide/glue.md": glue,
    "docs/guide/switching.md": with_metastores(
        {"thrift://old:9083": "sales", "thrift://old-1:9083": "sales", "thrift://old-2:9083": "hr"}
    ),
    "docs/guide/waggle-dance.md": waggle_dance,
    "docs/start/glue.md": glue,
    "docs/start/replace-hive.md": with_metastores({"thrift://old:9083": "shop"}),
    "docs/start/replace-waggle-dance.md": waggle_dance,
    "docs/start/s3.md": object_store,
}
"""The pages whose reader has something already."""
