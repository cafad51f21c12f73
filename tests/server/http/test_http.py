"""The Hive Metastore HTTP protocol: the examples of its specification, statuses and headers."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from metastored.errors import ApplicationError
from metastored.testing import RunningServer
from metastored.wire.codec import binary
from metastored.wire.connection import ClientConnection
from metastored.wire.message import Reply
from metastored.wire.methods import METHODS
from tests.server.http.support import (
    API,
    DB,
    JSON,
    PASSWORD,
    TABLE,
    THRIFT,
    Browser,
    any_certificate,
    basic,
    browser,
    fill,
    http_server,
    who,
)
from tests.server.support import PATIENCE, Peer, rest_of, users_of_events


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with http_server(tmp_path_factory.mktemp("http"), request_timeout=2, audit="on") as running:
        fill(running)
        yield running


@pytest.fixture
def client(server: RunningServer) -> Iterator[Browser]:
    with browser(server) as found:
        yield found


# The specification's own examples, section 3.1.5, their misprints corrected

LISTS = {
    '[1, "get_all_databases", 1, 1, {}]': ["default", DB],
    '[1, "get_databases", 1, 1, {"1": {"str": "default*"}}]': ["default"],
    '[1, "get_all_tables", 1, 1, {"1": {"str": "default"}}]': [],
    '[1,"get_tables",1,1,{"1":{"str":"default"},"2":{"str":"*"}}]': [],
    '[1, "get_tables_by_type", 1, 1, {"1": {"str": "DB"}, "2": {"str": ".*"}, "3": {"str": "MANAGED_TABLE"}}]': [TABLE],
    '[1, "get_partition_names", 1, 1, {"1": {"str": "DB"}, "2": {"str": "test_table"}, "3": {"i16": 10}}]': [
        "hair_color=black",
        "hair_color=brown",
    ],
}


@pytest.mark.parametrize(("request_body", "names"), LISTS.items(), ids=[json.loads(each)[1] for each in LISTS])
def test_a_list_of_names_is_returned_as_in_the_specification(
    client: Browser, request_body: str, names: list[str]
) -> None:
    response = client.post(request_body.replace("DB", DB))
    assert response.status == 200
    assert response.headers["content-type"] == JSON
    method = json.loads(request_body)[1]
    assert response.json == [1, method, 2, 1, {"0": {"lst": ["str", len(names), *names]}}]


def test_the_default_database_is_returned_as_in_the_specification(server: RunningServer, client: Browser) -> None:
    response = client.post('[1, "get_database", 1, 1, {"1": {"str": "default"}}]').json
    location = response[4]["0"]["rec"]["3"]["str"]
    assert location.endswith("/warehouse")
    assert response == [1, "get_database", 2, 1, {"0": {"rec": {
        "1": {"str": "default"}, "2": {"str": "Default Hive database"}, "3": {"str": location},
        "4": {"map": ["str", "str", 0, {}]}, "6": {"str": "public"}, "7": {"i32": 2},
    }}}]  # fmt: skip


def call(method: str, *fields: dict[str, Any]) -> str:
    """A call in TJSON, its arguments numbered from 1."""
    return json.dumps([1, method, 1, 1, {str(at): field for at, field in enumerate(fields, 1)}])


def sd(location: str) -> dict[str, Any]:
    """A storage descriptor as the specification prints it."""
    columns = ["rec", 2, {"1": {"str": "name"}, "2": {"str": "string"}}, {"1": {"str": "age"}, "2": {"str": "int"}}]
    return {
        "1": {"lst": columns},
        "2": {"str": location},
        "3": {"str": "org.apache.hadoop.mapred.SequenceFileInputFormat"},
        "4": {"str": "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat"},
        "5": {"tf": 0},
        "6": {"i32": -1},
        "7": {"rec": {
            "2": {"str": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"},
            "3": {"map": ["str", "str", 1, {"serialization.format": "1"}]},
        }},
        "8": {"lst": ["str", 0]},
        "9": {"lst": ["rec", 0]},
        "10": {"map": ["str", "str", 0, {}]},
        "11": {"rec": {
            "1": {"lst": ["str", 0]}, "2": {"lst": ["lst", 0]}, "3": {"map": ["lst", "str", 0, {}]},
        }},
        "12": {"tf": 0},
    }  # fmt: skip


def test_a_table_is_returned_field_by_field_as_in_the_specification(client: Browser) -> None:
    response = client.post(call("get_table", {"str": DB}, {"str": TABLE})).json
    assert response[:4] == [1, "get_table", 2, 1]
    table = response[4]["0"]["rec"]
    assert list(table) == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "12", "15"]
    assert table["7"]["rec"] == sd(table["7"]["rec"]["2"]["str"])
    assert table["8"] == {"lst": ["rec", 1, {"1": {"str": "hair_color"}, "2": {"str": "string"}}]}
    assert [table[each] for each in ("1", "2", "3", "4", "12", "15")] == [
        {"str": TABLE}, {"str": DB}, {"str": "root"}, {"i32": table["4"]["i32"]}, {"str": "MANAGED_TABLE"}, {"tf": 0},
    ]  # fmt: skip
    kind, value, count, parameters = table["9"]["map"]
    assert (kind, value, count) == ("str", "str", len(parameters))
    assert parameters["comment"] == "Table Comment"


def test_partitions_are_returned_field_by_field_as_in_the_specification(client: Browser) -> None:
    body = call("get_partitions", {"str": DB}, {"str": TABLE}, {"i16": 10})
    response = client.post(body).json
    assert response[:4] == [1, "get_partitions", 2, 1]
    kind, count, *partitions = response[4]["0"]["lst"]
    assert (kind, count, len(partitions)) == ("rec", 2, 2)
    for color, partition in zip(("black", "brown"), partitions, strict=True):
        assert list(partition) == ["1", "2", "3", "4", "5", "6", "7"]
        assert partition["1"] == {"lst": ["str", 1, color]}
        location = partition["6"]["rec"]["2"]["str"]
        assert location.endswith(f"/{TABLE}/hair_color={color}")
        assert partition["6"]["rec"] == sd(location)


def test_a_body_as_misprinted_in_the_specification_gets_400_and_says_where(client: Browser) -> None:
    response = client.post('[1,"get_tables",1,1,{"1":{"str":"default"},"2":{"str":"*"}]}')
    assert response.status == 400
    assert b"was expected at character" in response.body and response.body.count(b"\n") == 1


def test_the_header_of_the_specifications_example_is_taken_though_its_label_is_another(client: Browser) -> None:
    response = client.post('[1, "get_all_databases", 1, 1, {}]', kind=THRIFT, Connection="close")
    assert (response.status, response.headers["content-type"], response.headers["connection"]) == (200, THRIFT, "close")


def test_replies_have_the_fields_of_hive_2_3_0_even_if_a_catalog_is_named(client: Browser) -> None:
    response = client.post('[1, "get_database", 1, 1, {"1": {"str": "@hive#default"}}]').json
    assert list(response[4]["0"]["rec"]) == ["1", "2", "3", "4", "6", "7"]
    body = call("get_partitions", {"str": f"@hive#{DB}"}, {"str": TABLE}, {"i16": -1})
    assert list(client.post(body).json[4]["0"]["lst"][2]) == ["1", "2", "3", "4", "5", "6", "7"]


# Thrift's own errors


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        ('[2,"get_table",1,77,{}]', ApplicationError.PROTOCOL_ERROR, "version 2 of TJSON; only 1 is accepted"),
        ('[1,"get_table",2,77,{}]', ApplicationError.INVALID_MESSAGE_TYPE, "Invalid message type 2"),
        ('[1,"get_table",9,77,{}]', ApplicationError.INVALID_MESSAGE_TYPE, "Invalid message type 9"),
        ('[1,"no_method",1,77,{}]', ApplicationError.UNKNOWN_METHOD, "Invalid method name: 'no_method'"),
        ('[1,"drop_table",1,77,{}]', ApplicationError.UNKNOWN_METHOD, "Invalid method name: 'drop_table'"),
    ],
)
def test_a_message_that_is_not_a_call_gets_a_thrift_exception_with_its_number(
    client: Browser, body: str, kind: int, text: str
) -> None:
    response = client.post(body)
    assert response.status == 200
    version, _, message_type, seqid, error = response.json
    assert (version, message_type, seqid, error["2"]) == (1, 3, 77, {"i32": kind})
    assert error["1"]["str"].startswith(text)


def test_a_missing_table_is_the_exception_that_the_api_declares(client: Browser) -> None:
    response = client.post('[1,"get_table",1,5,{"1":{"str":"default"},"2":{"str":"nothing"}}]').json
    assert response == [1, "get_table", 2, 5, {"2": {"rec": {"1": {"str": "default.nothing table not found"}}}}]


# HTTP around it


def test_without_credentials_a_request_is_refused_with_the_accepted_kinds(client: Browser) -> None:
    response = client.post('[1,"get_all_databases",1,1,{}]', credentials={})
    assert response.status == 401
    assert response.headers["www-authenticate"].startswith("Basic ")
    assert response.body == b"this server requires authentication, and the request has no Authorization\n"


def test_after_a_refusal_the_connection_continues(client: Browser) -> None:
    assert client.post("x" * 500_000, credentials={}).status == 401
    assert client.post('[1,"get_all_databases",1,1,{}]').status == 200


@pytest.mark.parametrize("header", ["Basic", "Basic ?", "Basic bWFqYQ==", "Bearer x", "Digest x", "Negotiate x", ""])
def test_malformed_credentials_are_refused(client: Browser, header: str, server: RunningServer) -> None:
    assert client.post('[1,"get_all_databases",1,1,{}]', credentials={"Authorization": header}).status in (401, 429)


@pytest.mark.parametrize("path", [API, "/metastore"])
@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_only_post_is_taken(client: Browser, path: str, verb: str) -> None:
    response = client.request(verb, path)
    assert (response.status, response.headers["allow"]) == (405, "POST")
    assert response.body == f"{verb} is not for this path: POST a Thrift message\n".encode()


def test_an_unknown_path_is_refused_with_the_list_of_paths(client: Browser) -> None:
    response = client.post("[]", "/elsewhere")
    assert response.status == 404
    assert API.encode() in response.body and response.body.count(b"\n") == 1


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_labels_that_pages_of_other_sites_could_send_are_refused(client: Browser, kind: str) -> None:
    response = client.post('[1,"getName",1,1,{}]', "/metastore", kind=kind, credentials={})
    assert response.status == 415
    assert JSON.encode() in response.body and response.body.count(b"\n") == 1


def test_a_compressed_request_and_another_protocol_get_415(client: Browser) -> None:
    assert client.post(b"x", Content_Encoding="gzip").status == 415
    response = client.post(ClientConnection().send(METHODS["get_all_databases"], b"\0"), kind=THRIFT)
    assert (response.status, response.body) == (
        415,
        b"this path takes Thrift's JSON only, not binary: use /metastore\n",
    )


@pytest.mark.parametrize(
    "body", ["", " ", "[1", "nonsense", '{"a":1}', '[1,"get_all_databases",1,1,{}] more', "\x16\x03\x01"]
)
def test_a_body_that_is_not_one_message_gets_400_in_one_line(client: Browser, body: str) -> None:
    response = client.post(body)
    assert response.status == 400
    assert response.body.count(b"\n") == 1 and len(response.body) > 20


def test_a_body_that_is_too_long_gets_413_before_it_is_read(server: RunningServer) -> None:
    with browser(server) as client:
        client.connection.putrequest("POST", API)
        for name, value in {**basic(), "Content-Type": JSON, "Content-Length": str(1 << 30)}.items():
            client.connection.putheader(name, value)
        client.connection.endheaders()
        response = client.connection.getresponse()
        assert (response.status, response.getheader("connection")) == (413, "close")
        assert response.read() == b"the body has more than 1048576 bytes, which is the most that is taken\n"


def test_a_chunked_body_that_grows_too_long_gets_413(server: RunningServer) -> None:
    with browser(server) as client:
        response = client.request("POST", API, iter([b"x" * 600_000] * 2), {**basic(), "Content-Type": JSON})
        assert response.status == 413


def test_chunked_bodies_are_taken_and_connections_kept(client: Browser) -> None:
    parts = [b'[1,"get_all_', b'databases",1,', b"3,{}]"]
    for _ in range(3):
        response = client.request("POST", API, iter(parts), {**basic(), "Content-Type": JSON}, encode_chunked=True)
        assert response.json[4]["0"]["lst"][2:] == ["default", DB]
    assert "connection" not in response.headers and "date" in response.headers


def test_long_responses_are_compressed_on_request(client: Browser) -> None:
    body = call("get_partitions", {"str": DB}, {"str": TABLE}, {"i16": -1})
    zipped, plain = client.post(body, Accept_Encoding="gzip, br"), client.post(body, Accept_Encoding="gzip;q=0")
    assert zipped.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert len(zipped.body) < len(plain.body)
    assert gzip.decompress(zipped.body) == plain.body


def test_plain_http_on_the_https_port_gets_a_response_with_the_reason(server: RunningServer) -> None:
    assert server.http_port is not None
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=PATIENCE) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"400 Bad Request" in (said := plain.recv(4096)) and b"This port serves HTTPS" in said


def test_http_on_the_thrift_port_is_sent_to_the_other(server: RunningServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as plain:
        plain.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert f"HTTPS is on port {server.http_port}.".encode() in plain.recv(4096)


# /metastore, as Hive 4's clients call it


@pytest.mark.parametrize("protocol", ["binary", "compact", "json"])
def test_all_methods_are_served_at_metastore_in_each_protocol(client: Browser, protocol: str) -> None:
    def result(name: str, *args: Any) -> Any:
        wire, method = ClientConnection(protocol), METHODS[name]
        response = client.post(
            wire.send(method, binary.encode_args(method, args)), "/metastore",
            kind=THRIFT, credentials={"x-actor-username": "willy"},
        )  # fmt: skip
        assert (response.status, response.headers["content-type"]) == (200, THRIFT)
        wire.receive_data(response.body)
        reply = wire.next_event()
        assert isinstance(reply, Reply)
        return reply.value(method)

    assert DB in result("get_all_databases")
    assert result("get_table", DB, TABLE).tableName == TABLE
    assert [each.values for each in result("get_partitions", DB, TABLE, -1)] == [("black",), ("brown",)]
    assert result("get_catalogs").names == ("hive",)
    # Each request is a session of its own: the user of one request is not the user of the next.
    assert result("setMetaConf", "metastore.try.direct.sql", "false") is None
    assert result("getMetaConf", "metastore.try.direct.sql") == "true"


def test_a_oneway_call_gets_an_empty_response(client: Browser) -> None:
    response = client.post('[1,"shutdown",4,1,{}]', "/metastore")
    assert (response.status, response.body) == (200, b"")
    assert client.request("GET", "/health").status == 200


def test_the_name_in_the_header_is_accepted_unless_another_user_is_authenticated(
    server: RunningServer, client: Browser
) -> None:
    body = '[1,"create_database",1,1,{"1":{"rec":{"1":{"str":"willys"}}}}]'
    assert client.post(body, "/metastore", credentials={"x-actor-username": "willy"}).json[2] == 2
    body = '[1,"create_database",1,1,{"1":{"rec":{"1":{"str":"majas"}}}}]'
    # An authenticated user does not become another user by a header.
    assert client.post(body, "/metastore", credentials={**basic(), "x-actor-username": "willy"}).json[2] == 2
    assert who(server, "willys") == "willy"
    assert who(server, "majas") == "maja"
    assert (users_of_events(server, "willys"), users_of_events(server, "majas")) == ({"willy"}, {"maja"})


# Health, readiness and metrics


def test_health_and_readiness_need_no_authentication(client: Browser) -> None:
    assert client.request("GET", "/health").body == b"ok\n"
    assert client.request("GET", "/ready").body == b"ready\n"


def test_the_metrics_count_calls_of_both_ports(server: RunningServer, client: Browser) -> None:
    def calls() -> float:
        lines = client.request("GET", "/metrics").body.decode().splitlines()
        return next(
            (float(x.split()[1]) for x in lines if x.startswith('metastored_calls_total{method="getVersion"}')), 0.0
        )

    before = calls()
    client.post('[1,"getVersion",1,1,{}]', "/metastore", credentials={})
    with Peer(server.port) as peer:
        peer.call("getVersion")
    assert calls() == before + 2
    text = client.request("GET", "/metrics").body.decode()
    for name in (
        "metastored_errors_total",
        "metastored_call_seconds_bucket",
        "metastored_connections ",
        'metastored_pool_waiting{pool="calls"}',
        'metastored_pool_waiting{pool="authentication"}',
        'metastored_pool_threads{pool="streams"}',
        "metastored_streams",
    ):
        assert name in text
    assert PASSWORD not in text


# Peers that misbehave


def raw(server: RunningServer) -> socket.socket:
    assert server.http_port is not None
    return any_certificate().wrap_socket(socket.create_connection(("127.0.0.1", server.http_port), timeout=PATIENCE))


def head(length: int) -> bytes:
    return (
        f"POST {API} HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\nContent-Length: {length}\r\n"
        f"Authorization: {basic()['Authorization']}\r\n\r\n"
    ).encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent", [b"", b"POST / HT", head(100), head(100) + b"[1,"], ids=["nothing", "head", "no body", "body"]
)
def test_a_peer_that_stops_is_dropped_while_others_are_served(
    server: RunningServer, client: Browser, sent: bytes
) -> None:
    with raw(server) as slow:
        slow.sendall(sent)
        assert client.post('[1,"get_all_databases",1,1,{}]').status == 200
        assert slow.recv(1) == b""
    assert client.post('[1,"get_all_databases",1,1,{}]').status == 200


@pytest.mark.slow
def test_a_half_open_handshake_is_dropped_while_others_are_served(server: RunningServer, client: Browser) -> None:
    assert server.http_port is not None
    with socket.create_connection(("127.0.0.1", server.http_port), timeout=PATIENCE) as half:
        half.sendall(b"\x16\x03\x01\x02\x00\x01")
        assert client.post('[1,"get_all_databases",1,1,{}]').status == 200
        assert rest_of(half) == b""


def test_a_head_that_never_ends_is_refused(server: RunningServer) -> None:
    with raw(server) as endless:
        endless.sendall(b"GET /health HTTP/1.1\r\n" + b"x-y: z\r\n" * 20_000)
        assert endless.recv(4096).startswith(b"HTTP/1.1 400 ")
