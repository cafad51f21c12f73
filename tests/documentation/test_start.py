"""Each page of docs/start, followed literally in an empty folder, does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

import metastored
from metastored.testing import running_server
from tests.documentation.blocks import programs
from tests.documentation.following import follow
from tests.support.apache import ROOT
from tests.support.glue import glue_client

pytestmark = pytest.mark.slow

ELSEWHERE = {"first-steps.md"}
"""Followed by tests/clients/test_first_session.py."""
HERE = {"pytest.md", "replace-hive.md", "replace-waggle-dance.md", "lance.md", "glue.md", "acid.md"}


def test_every_page_of_the_start_is_followed_by_a_test() -> None:
    assert {path.name for path in (ROOT / "docs/start").glob("*.md")} == HERE | ELSEWHERE


def test_a_test_of_the_readers_own_has_a_metastore(tmp_path: Path) -> None:
    assert "1 passed" in follow("start/pytest.md", tmp_path, file="test_orders.py")


def test_a_metastore_is_copied_compared_and_served(tmp_path: Path) -> None:
    with running_server() as old, metastored.connect(old.uri) as client:
        client.create_database("shop")
        client.create_table(metastored.table("shop.orders", {"id": "bigint"}, partitioned_by={"ds": "string"}))
        client.add_partitions("shop.orders", [{"ds": "2024-01-01"}])
        printed = follow("start/replace-hive.md", tmp_path, {"thrift://old:9083": old.uri})
    assert "shop" in printed


def test_the_metastores_of_a_waggle_dance_are_behind_one_server(tmp_path: Path) -> None:
    with running_server() as first, running_server() as second:
        for server, name in ((first, "sales"), (second, "events")):
            with metastored.connect(server.uri) as client:
                client.create_database(name)
        (tmp_path / "waggle-dance-federation.yml").write_text(
            f"primary-meta-store: {{name: primary, remote-meta-store-uris: '{first.uri}'}}\n"
            f"federated-meta-stores:\n- {{name: dw, remote-meta-store-uris: '{second.uri}', database-prefix: dw_}}\n",
            encoding="utf-8",
        )
        (tmp_path / "waggle-dance-server.yml").write_text("database-resolution: PREFIXED\n", encoding="utf-8")
        printed = follow("start/replace-waggle-dance.md", tmp_path)
    assert "sales" in printed
    assert "dw_events" in printed


def test_a_vector_is_found_in_a_lance_table(tmp_path: Path) -> None:
    assert follow("start/lance.md", tmp_path) == "['pear']\n"


@pytest.mark.spark
def test_an_acid_table_is_updated_deleted_from_and_merged_into(tmp_path: Path) -> None:
    (expected,) = programs("docs/start/acid.md", "text")
    assert expected in follow("start/acid.md", tmp_path)


def test_a_database_of_glue_is_a_database_of_the_metastore(
    glue: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = glue_client(glue, monkeypatch)
    service.create_database(DatabaseInput={"Name": "sales"})
    columns = [{"Name": "id", "Type": "bigint"}]
    service.create_table(
        DatabaseName="sales",
        TableInput={"Name": "orders", "StorageDescriptor": {"Columns": columns, "Location": "s3://b/orders"}},
    )
    endpoint = f"'aws.glue.endpoint' = '{glue}', 'aws.region'"
    printed = follow("start/glue.md", tmp_path, {"'aws.region'": endpoint})
    assert "orders" in printed
    assert "bigint" in printed
