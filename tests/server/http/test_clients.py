"""Other clients on the HTTP port: curl, Apache Thrift's THttpClient, and Thrift for Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from metastored.errors import ApplicationError, NoSuchObjectException
from metastored.testing import RunningServer
from tests.server.http.support import (
    API,
    DB,
    JSON,
    PASSWORD,
    TABLE,
    THRIFT,
    USER,
    any_certificate,
    basic,
    fill,
    http_server,
)
from tests.support.apache import PEERS
from tests.support.apache_thrift import ApacheHttpClient

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with http_server(tmp_path_factory.mktemp("http")) as running:
        fill(running)
        yield running


def apache(server: RunningServer, path: str, protocol: str, version: str, **headers: str) -> ApacheHttpClient:
    uri = f"https://127.0.0.1:{server.http_port}{path}"
    return ApacheHttpClient(uri, protocol, version, any_certificate(), headers)


def curl(server: RunningServer, data: str, *words: str, path: str = API, kind: str = JSON) -> tuple[int, str]:
    """Runs curl as in the specification; returns the status and the output."""
    program = shutil.which("curl")
    assert program is not None, "curl is part of every machine that builds this"
    done = subprocess.run(
        [
            *(program, "-k", "-sS", "-X", "POST", "--max-time", "60", "-w", "\n%{http_code}", "--data", data),
            *("-H", f"Content-Type: {kind}", *words, f"https://127.0.0.1:{server.http_port}{path}"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    body, _, status = done.stdout.rpartition("\n")
    return int(status), body


@pytest.mark.parametrize(
    ("data", "result"),
    [
        ('[1, "get_all_databases", 1, 1, {}]', {"lst": ["str", 2, "default", DB]}),
        ('[1, "get_databases", 1, 1, {"1": {"str": "default*"}}]', {"lst": ["str", 1, "default"]}),
        ('[1, "get_all_tables", 1, 1, {"1": {"str": "default"}}]', {"lst": ["str", 0]}),
        ('[1,"get_tables",1,1,{"1":{"str":"default"},"2":{"str":"*"}}]', {"lst": ["str", 0]}),
    ],
)
@pytest.mark.parametrize("kind", [JSON, THRIFT])
def test_curl_gets_the_responses_of_the_specification(
    server: RunningServer, data: str, result: dict[str, object], kind: str
) -> None:
    status, body = curl(server, data, "-u", f"{USER}:{PASSWORD}", kind=kind)
    assert status == 200
    assert json.loads(body) == [1, json.loads(data)[1], 2, 1, {"0": result}]


def test_curl_reads_a_compressed_response_and_gets_errors_in_one_line(server: RunningServer) -> None:
    data = f'[1,"get_partitions",1,1,{{"1":{{"str":"{DB}"}},"2":{{"str":"{TABLE}"}},"3":{{"i16":-1}}}}]'
    status, body = curl(server, data, "-u", f"{USER}:{PASSWORD}", "--compressed", "-H", "Transfer-Encoding: chunked")
    assert (status, json.loads(body)[4]["0"]["lst"][:2]) == (200, ["rec", 2])
    assert curl(server, data)[0] == 401
    assert curl(server, data, "-u", f"{USER}:wrong") == (401, "the user or the password is wrong\n")


def test_apache_thrift_reads_all_nine_methods_in_json(server: RunningServer) -> None:
    with apache(server, API, "json", "2.3", **basic()) as client:
        assert client.call("get_all_databases") == ("default", DB)
        assert client.call("get_databases", "hms*") == (DB,)
        assert client.call("get_database", DB).name == DB
        assert client.call("get_all_tables", DB) == client.call("get_tables", DB, "*") == (TABLE,)
        assert client.call("get_tables_by_type", DB, "*", "MANAGED_TABLE") == (TABLE,)
        table = client.call("get_table", DB, TABLE)
        assert (table.tableName, table.owner, table.partitionKeys[0].name) == (TABLE, "root", "hair_color")
        assert client.call("get_partition_names", DB, TABLE, 10) == ("hair_color=black", "hair_color=brown")
        assert [each.values for each in client.call("get_partitions", DB, TABLE, -1)] == [("black",), ("brown",)]
        with pytest.raises(NoSuchObjectException, match="nothing table not found"):
            client.call("get_table", DB, "nothing")
        with pytest.raises(ApplicationError, match="Invalid method name: 'drop_database'"):
            client.call("drop_database", DB, True, True)


@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
@pytest.mark.parametrize("version", ["3.1", "4.2"])
def test_a_client_as_hive_4_has_it_calls_any_method(server: RunningServer, protocol: str, version: str) -> None:
    headers = {"x-actor-username": "willy", "Content-Type": "application/x-thrift"}
    with apache(server, "/metastore", protocol, version, **headers) as client:
        assert client.call("get_all_databases") == ("default", DB)
        assert client.call("get_table", DB, TABLE).catName == "hive"
        assert [each.values for each in client.call("get_partitions", DB, TABLE, -1)] == [("black",), ("brown",)]
        assert client.call("get_catalogs").names == ("hive",)


@pytest.mark.peers
def test_thrift_for_node_reads_the_nine_methods(server: RunningServer) -> None:
    node, modules = shutil.which("node"), PEERS / "node_modules"
    if node is None:
        pytest.skip("node is not on this machine: apt-get install nodejs installs it")
    if not (modules / "thrift").is_dir():
        pytest.skip("Thrift for Node is not on this machine: make peers installs it")
    program = Path(__file__).with_name("http_client.js")
    words = [modules, server.http_port, API, basic()["Authorization"], DB, TABLE]
    done = subprocess.run([node, program, *map(str, words)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["databases"] == ["default", DB]
    assert said["partitions"] == ["hair_color=black", "hair_color=brown"]
    assert "Invalid method name: 'drop_database'" in said["refused"]
