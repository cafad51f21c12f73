"""The code blocks of guides and references that need one local server, or none, are run as they are written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import metastored
from metastored.config import load
from metastored.testing import running_server
from tests.documentation.blocks import blocks, programs
from tests.documentation.following import environment, follow, free_port, run
from tests.support.apache import ROOT
from tests.support.glue import glue_client

pytestmark = pytest.mark.slow


def test_a_backup_is_made_restored_and_migrated(tmp_path: Path) -> None:
    with running_server(data=tmp_path / "metastore") as server, metastored.connect(server.uri) as client:
        client.create_database("shop")
    (tmp_path / "backups").mkdir()
    # A database of this version has nothing to migrate: exit code 0.
    follow("guide/backup.md", tmp_path, {"/backups": str(tmp_path / "backups")})
    with running_server(data=tmp_path / "metastore") as server, metastored.connect(server.uri) as client:
        assert "shop" in client.databases()


def test_a_compaction_is_requested_and_listed(tmp_path: Path) -> None:
    with running_server() as server, metastored.connect(server.uri) as client:
        client.create_database("shop")
        acid = {"transactional": "true"}
        keys = {"ds": "string"}
        client.create_table(
            metastored.table("shop.orders", {"id": "bigint"}, partitioned_by=keys, format="orc", properties=acid)
        )
        client.add_partitions("shop.orders", ["ds=2026-01-01"])
        printed = follow("guide/compaction.md", tmp_path, variables={"METASTORED_URI": server.uri})
    assert re.search(r"shop.*orders.*ds=2026-01-01.*major", printed, re.IGNORECASE)


def test_a_hive_metastore_is_imported_compared_served_and_exported_to(tmp_path: Path) -> None:
    with running_server() as old, running_server() as other:
        for server, name in ((old, "sales"), (other, "hr")):
            with metastored.connect(server.uri) as client:
                client.create_database(name)
                client.create_table(metastored.table(f"{name}.people", {"id": "bigint"}))
        both = f"sales=thrift://old-1:9083 hr=thrift://old-2:9083 --into {tmp_path}/both"
        replaced = {
            "sales=thrift://old-1:9083 hr=thrift://old-2:9083 --into ./metastore": both,
            "thrift://old-1:9083": old.uri,
            "thrift://old-2:9083": other.uri,
            "thrift://old:9083": old.uri,
        }
        follow("guide/switching.md", tmp_path, replaced)
        with running_server(data=tmp_path / "both", warehouse=None) as server:
            with metastored.connect(server.uri) as client:
                assert client.table("sales.sales.people").tableName == client.table("hr.hr.people").tableName
        with running_server(data=tmp_path / "metastore", warehouse=None) as server:
            with metastored.connect(server.uri) as client:
                assert client.tables("sales") == ("people",)


def test_the_tables_of_glue_are_shown_registered_and_compared(
    glue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = glue_client(glue, monkeypatch)
    service.create_database(DatabaseInput={"Name": "moved"})
    descriptor = {
        "Columns": [{"Name": "id", "Type": "bigint"}],
        "Location": f"file:{tmp_path}/orders",
        "InputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "OutputFormat": "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "SerdeInfo": {"SerializationLibrary": "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"},
    }
    external = {"TableType": "EXTERNAL_TABLE", "Parameters": {"EXTERNAL": "TRUE"}}
    keys = [{"Name": "ds", "Type": "string"}]
    orders = {"Name": "orders", "StorageDescriptor": descriptor, "PartitionKeys": keys, **external}
    plain = {"Name": "plain", "StorageDescriptor": descriptor | {"Location": f"file:{tmp_path}/plain"}, **external}
    for table in (orders, plain):
        service.create_table(DatabaseName="moved", TableInput=table)
    for day in ("2024-01-01", "2024-01-02"):
        there = descriptor | {"Location": f"file:{tmp_path}/orders/ds={day}"}
        partition = {"Values": [day], "StorageDescriptor": there}
        service.create_partition(DatabaseName="moved", TableName="orders", PartitionInput=partition)
    endpoint = f"'aws.glue.endpoint' = '{glue}', 'aws.region'"
    printed = follow("guide/glue.md", tmp_path, {"'aws.region'": endpoint, "CONNECTED TO sales": "CONNECTED TO moved"})
    assert "orders: 1 columns, 2 partitions\nplain: 1 columns, 0 partitions\n" in printed
    with running_server(data=tmp_path / "metastore", warehouse=None) as server:
        with metastored.connect(server.uri) as client:
            assert set(client.databases()) == {"default", "sales"}
            assert client.table("sales.orders").tableType == "EXTERNAL_TABLE"
            partition_of = client.partition("sales.orders", "ds=2024-01-02")
            assert partition_of.sd is not None and partition_of.sd.location == f"file:{tmp_path}/orders/ds=2024-01-02"


def test_a_warehouse_is_moved(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    with running_server(data=tmp_path / "metastore", warehouse=folder / "old") as server:
        with metastored.connect(server.uri) as client:
            client.create_database("shop")
    follow("guide/moving-a-warehouse.md", tmp_path, {"/data/": f"{folder}/"})
    with running_server(data=tmp_path / "metastore", warehouse=None) as server:
        with metastored.connect(server.uri) as client:
            assert client.database("shop").locationUri == f"file:{folder}/new/shop.db"


def test_the_steps_of_a_pipeline_are_shown(tmp_path: Path) -> None:
    (file,) = programs("docs/guide/pipelines.md", "yaml")
    (tmp_path / "daily.yml").write_text(file, encoding="utf-8")
    printed = follow("guide/pipelines.md", tmp_path)
    assert all(step in printed for step in ("fetch", "totals", "statistics"))


def test_a_user_is_added_changed_listed_and_removed(tmp_path: Path) -> None:
    for name in ("password.txt", "new-password.txt"):
        (tmp_path / name).write_text(f"a {name}\n", encoding="utf-8")
    assert "maja" in follow("guide/users.md", tmp_path, variables={"HOME": str(tmp_path)})


def test_lance_tables_are_written_and_read_over_rest(tmp_path: Path) -> None:
    rows = 'import pyarrow\nrows = pyarrow.table({"id": [1, 2]})\n'
    create = 'namespace.create_namespace(lance_namespace.CreateNamespaceRequest(id=["shop"]))\n'
    replaced = {
        "9443": str(free_port()),
        "/home/ann": str(tmp_path),
        "import base64\n": f"import base64\n{rows}",
        "lance.write_dataset": f"{create}lance.write_dataset",
        "lance.dataset(": "print(lance.dataset(",
        "count_rows()": "count_rows())",
    }
    assert follow("guide/lance-rest.md", tmp_path, replaced, variables={"HOME": str(tmp_path)}).endswith("2\n")


def test_a_server_is_called_over_https_by_curl(tmp_path: Path) -> None:
    replaced = {"9443": str(free_port()), "-u admin": "-s -u 'admin:a password'", "?database=sales": ""}
    printed = follow("reference/server.md", tmp_path, replaced, variables={"HOME": str(tmp_path)})
    assert '"default"' in printed
    assert '"columns"' in printed


def test_the_ready_file_has_the_keys_of_the_reference() -> None:
    (example,) = programs("docs/reference/server.md", "json")
    with running_server(http_port=0, http_tls="off", workers=2) as server:
        assert set(json.loads(server.ready_file.read_text("utf-8"))) == set(json.loads(example))


def test_pyiceberg_opens_the_catalog(tmp_path: Path) -> None:
    (program,) = programs("docs/guide/engines.md", "python")
    names: dict[str, Any] = {}
    with running_server() as server:
        exec(program.replace("thrift://127.0.0.1:9083", server.uri), names)
        assert ("default",) in names["catalog"].list_namespaces()


def test_the_statement_of_the_readme_makes_a_remote_database(tmp_path: Path) -> None:
    (statement,) = programs("README.md", "sql")
    with running_server() as old, running_server() as server, metastored.connect(server.uri) as client:
        with metastored.connect(old.uri) as there:
            there.create_database("raw_sales")
            there.create_table(metastored.table("raw_sales.orders", {"id": "bigint"}))
        text = statement.replace("thrift://old-cluster:9083", old.uri)
        run(["metastored", "sql", "--uri", server.uri, "-e", text], tmp_path, environment())
        assert client.tables("sales") == ("orders",)


def test_a_test_of_the_reader_has_a_server() -> None:
    examples = [text for text in programs("docs/start/first-steps.md", "python") if "def test_my_job" in text]
    called = []

    def run_my_job(metastore_uri: str, warehouse: str) -> None:
        with metastored.connect(metastore_uri) as client:
            called.append((client.databases(), warehouse))

    for example in examples:
        names: dict[str, Any] = {"run_my_job": run_my_job}
        exec(example, names)
        if "metastored_server" in example:
            with running_server() as server:
                names["test_my_job"](server)
        else:
            names["test_my_job"]()
    assert [databases for databases, _ in called] == [("default",)] * 2


@pytest.mark.parametrize("page", ["guide/authorization.md", "guide/users.md", "reference/configuration.md"])
def test_the_settings_of_a_page_are_accepted(page: str, tmp_path: Path) -> None:
    files = [block for block in blocks(ROOT / "docs" / page) if block.language == "yaml"]
    assert files
    for block in files:
        file = tmp_path / "metastored.yaml"
        file.write_text(block.text, encoding="utf-8")
        assert load(file, environment={})
