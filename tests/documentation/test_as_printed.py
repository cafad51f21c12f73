"""Every page of docs/ and README.md is followed as it is printed, in an empty folder (`following.py`)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

import metastored
from metastored.config import load
from metastored.testing import running_server
from tests.documentation.blocks import NO_CODE, PAGES, Block, blocks
from tests.documentation.following import SERVE, Reader
from tests.support.apache import ROOT
from tests.support.glue import glue_client
from tests.support.ssh import bastions

pytestmark = pytest.mark.slow

SIGNATURES: Final = "docs/reference/python.md"
"""A generated page: its blocks are signatures."""
SPARK: Final = {
    "README.md",
    "docs/guide/acid-sql.md",
    "docs/guide/acid.md",
    "docs/guide/compaction.md",
    "docs/guide/copies.md",
    "docs/guide/lance-rest.md",
    "docs/guide/pipelines.md",
    "docs/guide/remotes.md",
    "docs/guide/repair.md",
    "docs/guide/statistics.md",
    "docs/start/acid.md",
    "docs/start/first-steps.md",
}
"""The pages that start Spark. They share one JVM, but for commands that start their own."""


@dataclass
class Has:
    """What a page says that its reader has."""

    peers: dict[str, str] = field(default_factory=dict)
    """Addresses of servers, and what they are in the test."""
    files: dict[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


def code(page: Path) -> list[Block]:
    """The blocks of a page that are run."""
    if page == ROOT / SIGNATURES:
        return []
    return [block for block in blocks(page) if block.language not in NO_CODE and block.reason is None]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


FOLLOWED: Final = [page for page in PAGES if code(page)]


@pytest.fixture(scope="module")
def spark_reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    reader = Reader(tmp_path_factory.mktemp("reader"))
    yield reader
    reader.close()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.spark if name_of(page) in SPARK else (), id=name_of(page))
        for page in FOLLOWED
    ],
)
def test_a_page_runs_as_printed(page: Path, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    needs_spark = name_of(page) in SPARK
    reader = request.getfixturevalue("spark_reader") if needs_spark else Reader(tmp_path)
    given = READERS.get(name_of(page))
    try:
        with given(request, tmp_path) if given is not None else nothing() as has:
            reader.follow(page, has.peers, has.files, has.variables)
    finally:
        if not needs_spark:
            reader.close()


# What readers have

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
        storage = descriptor | {"Location": f"file:{folder}/{name}"}
        table = {"Name": name, "StorageDescriptor": storage, "PartitionKeys": keys, **external}
        service.create_table(DatabaseName="sales", TableInput=table)
    for day in ("2024-01-01", "2024-01-02"):
        storage = descriptor | {"Location": f"file:{folder}/orders/ds={day}"}
        partition = {"Values": [day], "StorageDescriptor": storage}
        service.create_partition(DatabaseName="sales", TableName="orders", PartitionInput=partition)
    keys_of_aws = {name: "testing" for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    try:
        yield Has(variables={"AWS_ENDPOINT_URL_GLUE": endpoint, **keys_of_aws})
    finally:
        service.delete_database(Name="sales")


@contextmanager
def behind_ssh(request: pytest.FixtureRequest, folder: Path) -> Iterator[Has]:
    """A metastore behind two SSH servers, their keys and certificates."""
    (folder / "ssh").mkdir()
    with metastores({"thrift://metastore.internal:9083": "raw"}) as found, bastions(folder / "ssh", "jump", "node") as ssh:
        yield Has(
            peers=found
            | {
                "jump@bastion.example.com -> hadoop@node.internal": ssh.properties["ssh.tunnel.route"],
                "/etc/metastored/jump.pem,/etc/metastored/node.pem": ssh.properties["ssh.tunnel.private.keys"],
                "/etc/metastored/known_hosts": ssh.properties["ssh.tunnel.known.hosts"],
            }
        )


READERS: Final[dict[str, Given]] = {
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
}
"""The pages whose reader has something already."""


# What holds for all pages


def test_every_block_that_is_not_run_says_why() -> None:
    reasons = {f"{block.page}:{block.line}": block.reason for page in PAGES for block in blocks(page) if block.reason}
    assert not [place for place, reason in reasons.items() if "spark" in reason.lower()]
    named = {path for reason in reasons.values() for path in re.findall(r"tests/[\w/.]*\w", reason)}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
    assert len(reasons) < sum(len(code(page)) for page in FOLLOWED) / 5, reasons


@pytest.mark.parametrize("page", FOLLOWED, ids=name_of)
def test_a_page_with_a_server_names_the_second_terminal(page: Path) -> None:
    found = code(page)
    for block, following in itertools.pairwise(found):
        if block.language == "bash" and SERVE in block.text and SERVE not in following.text:
            assert re.search("(?:second|third|fourth) terminal", following.prose), f"{following.page}:{following.line}"


def test_only_pages_that_are_listed_start_spark() -> None:
    starts = re.compile(r"SparkSession|spark\.session\(|pipeline run|compact (?:worker|initiator)")
    assert SPARK == {name_of(page) for page in FOLLOWED if any(starts.search(block.text) for block in code(page))}


@pytest.mark.parametrize("page", FOLLOWED, ids=name_of)
def test_the_settings_of_a_page_are_accepted(page: Path, tmp_path: Path) -> None:
    for block in code(page):
        if block.file == "metastored.yaml":
            file = tmp_path / "metastored.yaml"
            file.write_text(block.text, encoding="utf-8")
            assert load(file, environment={})


DATABASE: Final = re.compile(
    r"create (?:remote )?(?:database|schema) (?:if not exists )?(\w+)|create_database\(\"(\w+)\""
    r"|CreateNamespaceRequest\(id=\[\"(\w+)\"|CatalogDatabase\(\"(\w+)\"",
    re.IGNORECASE,
)


def test_each_guide_uses_databases_of_its_own() -> None:
    """A reader who follows several guides with one server has no conflict."""
    users: dict[str, set[str]] = {}
    for page in FOLLOWED:
        if "guide" in page.parts:
            for found in DATABASE.finditer("\n".join(block.text for block in code(page))):
                users.setdefault(next(filter(None, found.groups())), set()).add(page.name)
    assert {name: pages for name, pages in users.items() if len(pages) > 1} == {}
