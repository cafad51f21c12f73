"""Metadata files in object stores: a warehouse in S3, written by the server and by pyiceberg, and one in Azure.

pyiceberg's own driver for Azure, adlfs, is not installed, so no test writes rows there.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metastored.errors import StoreError
from metastored.store.warehouse.directories import Warehouse
from tests.iceberg.rest_server import ROWS, Rest, iceberg_server, rest_catalog
from tests.support.apache import MissingPeer
from tests.support.azurite import CONTAINER, running_azurite
from tests.support.azurite import ROOT as AZURE
from tests.support.s3 import BUCKET, empty_bucket

pytestmark = pytest.mark.slow


def test_a_table_in_s3_is_made_committed_to_and_purged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, glue: str
) -> None:
    with empty_bucket(glue) as s3:
        for name, value in s3.environment.items():
            monkeypatch.setenv(name, value)
        with iceberg_server(tmp_path, warehouse=f"s3://{BUCKET}/warehouse") as server:
            rest = Rest(server)
            made = rest.table(rest.namespace("n"))
            key = made["metadata-location"].removeprefix(f"s3://{BUCKET}/")
            assert json.loads(s3.get(key)) == made["metadata"]
            endpoint = {"s3.endpoint": s3.environment["AWS_ENDPOINT_URL"], "s3.region": "us-east-1"}
            catalog = rest_catalog(server, **endpoint)
            catalog.create_table("n.rows", ROWS.schema).append(ROWS)
            assert catalog.load_table("n.rows").scan().to_arrow().num_rows == 3
            wrong = {"type": "assert-current-schema-id", "current-schema-id": 7}
            update = {"action": "set-properties", "updates": {"a": "b"}}
            assert rest.commit("n", "t", update, requirements=[wrong]).status == 409
            assert rest.commit("n", "t", update).status == 200
            assert len(s3.keys("warehouse/n.db/t/metadata/")) == 2
            assert rest.delete("/namespaces/n/tables/t?purgeRequested=true").status == 204
            assert [each for each in s3.keys("warehouse/n.db/t/") if each.endswith(".json")] == []


@pytest.mark.peers
def test_a_table_in_azure_is_made_committed_to_and_purged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        with running_azurite(tmp_path) as azurite:
            for name, value in azurite.environment.items():
                monkeypatch.setenv(name, value)
            with iceberg_server(tmp_path / "server", warehouse=f"{AZURE}/warehouse") as server:
                rest = Rest(server)
                made = rest.table(rest.namespace("n"))
                file = made["metadata-location"].replace(AZURE, CONTAINER)
                with azurite.files.open_input_stream(file) as reading:
                    assert json.loads(reading.read()) == made["metadata"]
                wrong = {"type": "assert-current-schema-id", "current-schema-id": 7}
                update = {"action": "set-properties", "updates": {"a": "b"}}
                assert rest.commit("n", "t", update, requirements=[wrong]).status == 409
                assert rest.commit("n", "t", update).status == 200
                assert len(azurite.names("warehouse/n.db/t/metadata")) == 2
                with ThreadPoolExecutor(4) as pool:
                    updates = [{"action": "set-properties", "updates": {f"by{at}": "x"}} for at in range(8)]
                    replies = list(pool.map(lambda each: rest.commit("n", "t", each).status, updates))
                assert replies == [200] * 8 and len(azurite.names("warehouse/n.db/t/metadata")) == 10
                assert {f"by{at}" for at in range(8)} <= rest.load("n")["metadata"]["properties"].keys()
                assert rest.delete("/namespaces/n/tables/t?purgeRequested=true").status == 204
                assert azurite.names("warehouse/n.db/t") == []
    except MissingPeer as reason:
        pytest.skip(str(reason))


def test_a_file_is_written_once_read_in_part_and_removed(tmp_path: Path) -> None:
    warehouse, file = Warehouse(f"file:{tmp_path}"), f"file:{tmp_path}/a/b/c.json"
    warehouse.write_file(file, b"content")
    assert warehouse.read_file(file, 4) == b"cont"
    with pytest.raises(StoreError, match="exists"):
        warehouse.write_file(file, b"other")
    assert warehouse.read_file(file, 100) == b"content"
    warehouse.remove_file(file)
    with pytest.raises(StoreError, match="could not remove"):
        warehouse.remove_file(file)
    with pytest.raises(StoreError):
        warehouse.remove_file(f"file:{tmp_path}/a")


def test_a_server_without_directories_reads_and_writes_no_file(tmp_path: Path) -> None:
    warehouse = Warehouse(f"file:{tmp_path}", "off")
    with pytest.raises(StoreError, match="directories is off"):
        warehouse.write_file(f"file:{tmp_path}/x", b"")
    with pytest.raises(StoreError, match="location_schemes"):
        Warehouse(f"file:{tmp_path}", schemes=()).read_file("s3://b/x", 1)
