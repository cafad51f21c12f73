"""Lance's REST namespaces on the HTTPS port, with Lance's own client: both namespaces, all operations, all callers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lance
import lance_namespace as models
import pyarrow as pa
import pytest
from lance_namespace.errors import (
    InvalidInputError,
    ServiceUnavailableError,
    UnauthenticatedError,
)

import metastored
from metastored.config import load
from metastored.errors import ConfigError, install_command
from metastored.lance import Hive2Namespace, Hive3Namespace
from metastored.lance.rest.operations import OPERATIONS, Body
from metastored.lance.rest.serving import is_served
from metastored.server.tls import made_certificate
from metastored.testing import RunningServer
from tests.lance.rest_server import ca, lance_server, make_table, rest
from tests.lance.rest_support import POINTS, ipc, outcomes
from tests.lance.rest_support import client as lances_client
from tests.server.http.support import DATABASES, USER, Browser, basic, browser, http_server
from tests.transfer.support import command, environment

pytestmark = pytest.mark.slow

KINDS = pytest.mark.parametrize(("kind", "above"), [("hive2", []), ("hive3", ["hive"])], ids=["hive2", "hive3"])
ARROW = "application/vnd.apache.arrow.stream"
JSON = "application/json"


@pytest.fixture(scope="module", params=DATABASES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with lance_server(tmp_path_factory.mktemp("lance"), request.param, audit="on") as running:
        yield running


@KINDS
def test_lances_client_gets_what_the_namespace_itself_returns(
    server: RunningServer, kind: str, above: list[str]
) -> None:
    over_rest = outcomes(rest(server, kind), above)
    direct = (Hive2Namespace if kind == "hive2" else Hive3Namespace)(uri=server.uri, ugi=USER)
    try:
        assert over_rest == outcomes(direct, above)
    finally:
        direct.close()
    assert over_rest["neighbours"] == [2, 2]
    assert over_rest["drop it again"] == "TableNotFoundError"


@KINDS
def test_operations_that_are_not_served_are_406_with_code_0(server: RunningServer, kind: str, above: list[str]) -> None:
    space = Hive2Namespace if kind == "hive2" else Hive3Namespace
    with browser(server) as client:
        for operation in OPERATIONS.values():
            if not is_served(space, operation):
                path = operation.path.replace("{id}", "$".join([*above, "db", "t"])).replace("{index_name}", "i")
                reply = client.request(operation.verb, f"/lance/{kind}{path}", b"{}", basic() | {"Content-Type": JSON})
                assert (operation.name, reply.status, reply.json["code"]) == (operation.name, 406, 0)
        reply = client.post("{}", f"/lance/{kind}/v1/table/a/unheard_of", kind=JSON)
        assert (reply.status, reply.json["code"]) == (406, 0)


def test_a_table_is_written_and_read_by_lance_through_the_namespace(server: RunningServer) -> None:
    namespace = rest(server)
    namespace.create_namespace(models.CreateNamespaceRequest(id=["through"]))
    lance.write_dataset(POINTS, namespace_client=namespace, table_id=["through", "t"], mode="create")
    lance.write_dataset(POINTS, namespace_client=namespace, table_id=["through", "t"], mode="append")
    assert lance.dataset(namespace_client=namespace, table_id=["through", "t"]).count_rows() == 6


def test_concurrent_commits_of_tables_that_the_metastore_manages_lose_nothing(tmp_path: Path) -> None:
    with lance_server(tmp_path, lance_managed_by="impl") as server:
        namespace = rest(server)
        id = make_table(namespace, "managed")
        assert namespace.describe_table(models.DescribeTableRequest(id=id)).managed_versioning

        def append(number: int) -> None:
            more = pa.table({"id": [number], "vector": POINTS["vector"][:1].combine_chunks()})
            own = rest(server)
            if number % 2:
                lance.write_dataset(more, namespace_client=own, table_id=id, mode="append")
            else:
                own.insert_into_table(models.InsertIntoTableRequest(id=id, mode="append"), ipc(more))

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(append, range(100, 112)))
        found = lance.dataset(namespace_client=namespace, table_id=id).to_table(columns=["id"])["id"].to_pylist()
        assert sorted(found) == [1, 2, 3, *range(100, 112)]
        with metastored.connect(server.uri) as client:
            assert (client.table("managed.t").parameters or {})["version"] == "13"


# Callers


def test_a_caller_without_or_with_wrong_credentials_is_unauthenticated(tmp_path: Path) -> None:
    with lance_server(tmp_path, password_login="on", audit="on") as server:
        request = models.ListNamespacesRequest(id=[])
        for namespace in (
            rest(server, password="wrong"),
            lances_client(
                uri=f"https://localhost:{server.http_port}/lance/hive2", **{"tls.ssl_ca_cert": str(ca(server))}
            ),
        ):
            with pytest.raises(UnauthenticatedError):
                namespace.list_namespaces(request)
        assert rest(server).list_namespaces(request).namespaces == ["default"]
        with browser(server) as client:
            reply = client.request("GET", "/lance/hive2/v1/namespace/$/list")
        assert (reply.status, reply.json["code"], "Basic" in reply.headers["www-authenticate"]) == (401, 16, True)


def test_a_server_whose_certificate_is_unknown_is_not_called(server: RunningServer, tmp_path: Path) -> None:
    other, _ = made_certificate(tmp_path)
    namespace = lances_client(
        uri=f"https://localhost:{server.http_port}/lance/hive2", **{"tls.ssl_ca_cert": str(other)}
    )
    with pytest.raises(ServiceUnavailableError, match="InvalidCertificate"):
        namespace.list_namespaces(models.ListNamespacesRequest(id=[]))


def test_calls_are_in_the_audit_log_under_the_caller(server: RunningServer) -> None:
    rest(server).create_namespace(models.CreateNamespaceRequest(id=["audited"]))
    (line,) = [line for line in server.log.splitlines() if "method=create_database" in line and "audited" in line]
    assert f"user={USER} " in line and f'object="audited,{USER}"' in line


def test_options_of_the_storage_and_other_file_systems_are_refused(server: RunningServer) -> None:
    namespace = rest(server)
    options = {"aws_endpoint": "http://169.254.169.254"}
    with pytest.raises(InvalidInputError, match="storage_options"):
        namespace.create_table(
            models.CreateTableRequest(id=["default", "options"], storage_options=options), ipc(POINTS)
        )
    with pytest.raises(InvalidInputError, match="location"):
        namespace.register_table(models.RegisterTableRequest(id=["default", "remote"], location="oss://bucket/t"))


# Requests that are none


def post(client: Browser, path: str, body: Any, kind: str = JSON) -> tuple[int, int, str]:
    reply = client.post(body, f"/lance/hive2/v1/{path}", kind=kind)
    return reply.status, reply.json["code"], reply.json["error"]


@pytest.mark.parametrize(
    ("path", "body", "kind", "status", "said"),
    [
        ("table/db$t/describe", "{", JSON, 400, "not JSON"),
        ("table/db$t/describe", "{}", "text/plain", 415, "application/json"),
        ("table/db$t/create", b"rows", JSON, 415, ARROW),
        ("table/db$t/create", b"rows", ARROW, 400, ""),
        ("table/t/describe", "{}", JSON, 400, "['t']"),
        ("table/a$b$c/describe", "{}", JSON, 400, "['a', 'b', 'c']"),
        ("table/db$t/describe", " " * (4 * 1024 * 1024 + 1), JSON, 413, "4194304"),
    ],
)
def test_a_request_that_cannot_be_served_has_code_13_and_a_sentence(
    server: RunningServer, path: str, body: Any, kind: str, status: int, said: str
) -> None:
    with browser(server) as client:
        found = post(client, path, body, kind)
    assert found[:2] == (status, 13)
    assert said in found[2]


def test_another_method_of_http_is_refused_and_the_right_one_named(server: RunningServer) -> None:
    with browser(server) as client:
        reply = client.request("GET", "/lance/hive2/v1/table/db$t/describe", headers=basic())
    assert (reply.status, reply.headers["allow"], reply.json["code"]) == (405, "POST", 13)


@pytest.mark.parametrize("header", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_requests_of_web_pages_are_refused(server: RunningServer, header: dict[str, str]) -> None:
    with browser(server) as client:
        reply = client.request("POST", "/lance/hive2/v1/table/db$t/drop", headers=basic() | header)
    assert (reply.status, reply.json["code"]) == (403, 15)


def test_a_table_of_another_format_is_invalid_input(server: RunningServer) -> None:
    with metastored.connect(server.uri) as client:
        client.create_database("formats")
        client.create_table(metastored.table("formats.parquet", {"id": "int"}, format="parquet"))
    with pytest.raises(InvalidInputError):
        rest(server).describe_table(models.DescribeTableRequest(id=["formats", "parquet"]))


def test_the_rows_of_every_operation_with_rows_are_required(server: RunningServer) -> None:
    with browser(server) as client:
        for operation in OPERATIONS.values():
            if operation.body is Body.ROWS:
                path = operation.path.replace("{id}", "default$t").removeprefix("/v1/")
                assert post(client, path, b"", ARROW)[0] in (400, 404)


# Settings


def test_a_server_serves_no_lance_unless_it_is_turned_on(tmp_path: Path) -> None:
    with http_server(tmp_path) as server, browser(server) as client:
        assert client.post("{}", "/lance/hive2/v1/table/db$t/describe", kind=JSON).status == 404


def test_a_server_without_the_optional_dependency_does_not_start_and_names_it(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['lance'] = None")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command("serve", "--port", "0", "--http-port", "0", "--lance", "on", "--data", str(tmp_path / "data")),
        capture_output=True,
        text=True,
        timeout=60,
        env={**environment(), "PYTHONPATH": path},
    )
    assert done.returncode == 2
    assert install_command("lance") in done.stderr.splitlines()[-1]


def test_tables_are_made_below_the_root_of_the_settings(tmp_path: Path) -> None:
    with lance_server(tmp_path, lance_root=tmp_path / "lances") as server:
        namespace = rest(server)
        location = namespace.describe_table(models.DescribeTableRequest(id=make_table(namespace, "rooted"))).location
    assert location == f"{tmp_path}/lances/rooted.db/t"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"http_path": "/lance"}, "/lance"),
        ({"http_path": "/lance/hive2"}, "/lance"),
        ({"lance": "on", "directories": "off"}, "directories"),
        ({"lance": "on", "directories": "local"}, "directories"),
        ({"lance_managed_by": "nobody"}, "storage"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(flags: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load(None, environment={}, flags=flags)


def test_the_error_of_lances_form_is_json_and_names_the_code(server: RunningServer) -> None:
    with browser(server) as client:
        reply = client.post("{}", "/lance/hive2/v1/table/default$nope/describe", kind=JSON)
    assert reply.headers["content-type"] == JSON
    assert json.loads(reply.body)["code"] == 4
