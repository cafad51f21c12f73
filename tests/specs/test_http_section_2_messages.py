"""[MS-HMSHTTP] section 2: the transport, the address, and the structures in Thrift's JSON."""

from __future__ import annotations

import http.client
import json
import ssl
from pathlib import Path
from typing import Any

import pytest

from tests.server.http.support import ALL, API, DB, JSON, TABLE, any_certificate, basic, browser, http_server
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow


def ask(server: Server, method: str, *fields: dict[str, Any]) -> Any:
    """The payload of a reply."""
    payload = {str(at): field for at, field in enumerate(fields, 1)}
    with server.browser() as found:
        answer = found.post(json.dumps([1, method, 1, 1, payload]))
    assert answer.status == 200
    return answer.json[4]


def kinds(struct: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The type of each field of a struct in Thrift's JSON."""
    return {number: next(iter(value)) for number, value in struct.items()}


def test_2_1_a_messages_use_https_with_tls(own: Server) -> None:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = any_certificate()
        context.minimum_version = context.maximum_version = version
        connection = http.client.HTTPSConnection("127.0.0.1", own.https, timeout=30, context=context)
        try:
            connection.request("POST", API, ALL, {"Content-Type": JSON, **basic()})
            assert connection.getresponse().status == 200
            assert connection.sock.version() == version.name.replace("_", ".")
        finally:
            connection.close()


def test_2_1_b_plain_http_is_refused(own: Server) -> None:
    plain = http.client.HTTPConnection("127.0.0.1", own.https, timeout=30)
    try:
        plain.request("POST", API, ALL, {"Content-Type": JSON, **basic()})
        answer = plain.getresponse()
        assert answer.status == 400 and b"https://" in answer.read()
    finally:
        plain.close()


def test_2_2_2_a_post_is_the_operation_and_others_are_refused(own: Server) -> None:
    for verb in ("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        with own.browser() as found:
            refused = found.request(verb, API, headers=basic())
            assert (refused.status, refused.headers["allow"]) == (405, "POST"), verb


def test_2_2_3_a_an_address_is_made_of_cluster_ip_knox_port_and_path(own: Server) -> None:
    with own.browser() as found:
        assert found.post(ALL, API).status == 200
        assert found.post(ALL, "/gateway/other/hmshttpthrift/api/hms").status == 404


def test_2_2_3_3_a_the_path_is_the_one_that_a_gateway_maps_to_and_can_be_changed(tmp_path: Path) -> None:
    assert API == "/gateway/default/hmshttpthrift/api/hms"
    with http_server(tmp_path, http_path="/api/hms") as running, browser(running) as found:
        assert (found.post(ALL, "/api/hms").status, found.post(ALL, API).status) == (200, 404)


def test_2_2_4_a_the_structures_are_those_of_hive_2_3_without_later_fields(own: Server) -> None:
    table = ask(own, "get_table", {"str": DB}, {"str": TABLE})["0"]["rec"]
    assert max(map(int, table)) <= 15
    partition = ask(own, "get_partitions", {"str": DB}, {"str": TABLE}, {"i16": 1})["0"]["lst"][2]
    assert max(map(int, partition)) <= 8
    database = ask(own, "get_database", {"str": DB})["0"]["rec"]
    assert max(map(int, database)) <= 7


def test_2_2_4_1_a_a_database_has_its_seven_fields(own: Server) -> None:
    found = kinds(ask(own, "get_database", {"str": "default"})["0"]["rec"])
    # Privileges (5) are optional, and are returned only if the call requests them.
    assert found == {"1": "str", "2": "str", "3": "str", "4": "map", "6": "str", "7": "i32"}


def test_2_2_4_2_a_a_table_has_its_fifteen_fields(own: Server) -> None:
    found = kinds(ask(own, "get_table", {"str": DB}, {"str": TABLE})["0"]["rec"])
    # The texts of a view (10 and 11) are null for a table; privileges (13) and temporary (14) are optional.
    assert found == {
        "1": "str", "2": "str", "3": "str", "4": "i32", "5": "i32", "6": "i32", "7": "rec", "8": "lst", "9": "map",
        "12": "str", "15": "tf",
    }  # fmt: skip


def test_2_2_4_3_a_a_partition_has_its_eight_fields(own: Server) -> None:
    listed = ask(own, "get_partitions", {"str": DB}, {"str": TABLE}, {"i16": -1})["0"]["lst"]
    assert listed[:2] == ["rec", 2]
    for each in listed[2:]:
        assert kinds(each) == {
            "1": "lst", "2": "str", "3": "str", "4": "i32", "5": "i32", "6": "rec", "7": "map",
        }  # fmt: skip


def test_2_2_4_4_a_a_meta_exception_carries_its_message(own: Server) -> None:
    payload = ask(own, "get_partition_names", {"str": DB}, {"str": "nothing"}, {"i16": -1})
    ((_, raised),) = payload.items()
    assert "nothing" in raised["rec"]["1"]["str"]


def test_2_2_4_5_a_a_no_such_object_exception_carries_its_message(own: Server) -> None:
    payload = ask(own, "get_table", {"str": DB}, {"str": "nothing"})
    assert "nothing" in payload["2"]["rec"]["1"]["str"]
