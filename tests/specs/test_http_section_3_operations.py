"""[MS-HMSHTTP] section 3: requests and replies as in its examples, and the nine methods. Misprints are corrected."""

from __future__ import annotations

import http.client
import json
import subprocess
from typing import Any

import pytest
from thrift.protocol.TJSONProtocol import TJSONProtocol
from thrift.Thrift import TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer

import metastored
from metastored.client.retry import Retry
from metastored.errors import AuthenticationError, ConnectError, TransportError
from tests.server.http.support import (
    ALL,
    API,
    DB,
    JSON,
    PASSWORD,
    TABLE,
    THRIFT,
    USER,
    Response,
    any_certificate,
    basic,
)
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow


def body(method: str, *fields: dict[str, Any]) -> str:
    return json.dumps([1, method, 1, 1, {str(at): field for at, field in enumerate(fields, 1)}])


def post(server: Server, method: str, *fields: dict[str, Any]) -> Response:
    with server.browser() as browser:
        return browser.post(body(method, *fields))


def names(server: Server, method: str, *fields: dict[str, Any]) -> list[str]:
    """The names that a call lists, its reply being as in the examples."""
    answer = post(server, method, *fields)
    assert answer.status == 200 and answer.json[:4] == [1, method, 2, 1]
    kind, number, *listed = answer.json[4]["0"]["lst"]
    assert (kind, number) == ("str", len(listed))
    return list(map(str, listed))


def refused(server: Server, method: str, *fields: dict[str, Any]) -> None:
    """Wrong and missing credentials are 401 with a reason, before anything of the body is read."""
    with server.browser() as browser:
        # Each call has a user of its own: after ten failures of one the status would be 429.
        for proof in ({}, basic(f"not.{method}", PASSWORD), basic("", PASSWORD), {"Authorization": "Basic ???"}):
            answer = browser.post(body(method, *fields), credentials=proof)
            assert answer.status == 401 and answer.body.strip() and b"str" not in answer.body
            assert "Basic" in answer.headers["www-authenticate"]


TEXT = tuple[dict[str, Any], ...]
IN_DB: TEXT = ({"str": DB},)
OF_TABLE: TEXT = ({"str": DB}, {"str": TABLE})
MISSING: TEXT = ({"str": DB}, {"str": "nothing"})
TEN: TEXT = ({"i16": 10},)


def test_3_1_1_a_databases_tables_and_partitions_can_be_queried(own: Server) -> None:
    assert DB in names(own, "get_all_databases")
    assert names(own, "get_all_tables", *IN_DB) == [TABLE]
    assert names(own, "get_partition_names", *OF_TABLE, *TEN) == ["hair_color=black", "hair_color=brown"]


def test_3_1_3_a_a_client_that_has_no_server_fails_with_a_reason() -> None:
    uri = f"https://127.0.0.1:1{API}"
    with pytest.raises(ConnectError, match=r"127\.0\.0\.1:1"):
        metastored.connect(uri, user=USER, password=PASSWORD, retry=Retry(1)).databases()


def test_3_1_5_a_the_request_of_the_example_is_accepted(own: Server) -> None:
    done = subprocess.run(
        ["curl", "-s", "-k", "-X", "POST", "-u", f"{USER}:{PASSWORD}", "--data", ALL.decode(),
         "-H", f"Content-Type: {JSON}", f"https://127.0.0.1:{own.https}{API}"],
        capture_output=True, timeout=30, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)[:4] == [1, "get_all_databases", 2, 1]


def test_3_1_5_b_the_header_of_the_example_is_accepted(own: Server) -> None:
    connection = http.client.HTTPSConnection("127.0.0.1", own.https, timeout=30, context=any_certificate())
    try:
        connection.request("POST", API, ALL, {"Content-Type": THRIFT, "Connection": "close", **basic()})
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["connection"] == "close"
        assert json.loads(answer.read())[1] == "get_all_databases"
    finally:
        connection.close()


def test_3_1_5_c_a_body_has_five_positions(own: Server) -> None:
    with own.browser() as browser:
        answer = browser.post('[1, "get_all_databases", 1, 4711, {}]').json
    version, name, kind, number, payload = answer
    assert (version, name, kind, number) == (1, "get_all_databases", 2, 4711)
    assert list(payload) == ["0"]


def test_3_1_5_d_a_call_is_1_a_reply_2_an_exception_3(own: Server) -> None:
    with own.browser() as browser:
        assert browser.post('[1, "get_all_databases", 1, 1, {}]').json[2] == 2
        assert browser.post('[1, "no_such_method", 1, 1, {}]').json[2] == 3


def test_3_1_5_e_a_body_that_is_no_message_is_refused_with_a_reason(own: Server) -> None:
    with own.browser() as browser:
        for bad in (
            "",
            "[]",
            "{}",
            '[1, "get_all_databases", 1, 1',
            "nonsense",
            '[1, "get_all_databases", 1, 1, {}] x',
        ):
            answer = browser.post(bad)
            assert answer.status == 400 and answer.body.strip(), bad
        other = browser.post('[2, "get_all_databases", 1, 1, {}]')
        assert other.status == 400 or other.json[2] == 3


def test_3_1_5_f_a_client_made_with_thrifts_toolchain_is_served(own: Server) -> None:
    sent = TMemoryBuffer()
    writer = TJSONProtocol(sent)
    writer.writeMessageBegin("get_database", TMessageType.CALL, 7)
    writer.writeStructBegin("get_database_args")
    writer.writeFieldBegin("name", TType.STRING, 1)
    writer.writeString("default")
    writer.writeFieldEnd()
    writer.writeFieldStop()
    writer.writeStructEnd()
    writer.writeMessageEnd()
    with own.browser() as browser:
        answer = browser.post(sent.getvalue(), kind=THRIFT)
    reader = TJSONProtocol(TMemoryBuffer(answer.body))
    assert reader.readMessageBegin() == ("get_database", TMessageType.REPLY, 7)
    reader.readStructBegin()
    assert reader.readFieldBegin()[1:] == (TType.STRUCT, 0)
    reader.readStructBegin()
    assert reader.readFieldBegin()[1:] == (TType.STRING, 1)
    assert reader.readString() == "default"


def test_3_1_5_g_a_client_needs_host_port_path_and_basic_authentication_and_no_more(own: Server) -> None:
    uri = f"https://127.0.0.1:{own.https}{API}"
    with metastored.connect(uri, user=USER, password=PASSWORD, tls=any_certificate()) as client:
        assert client.table((DB, TABLE)).tableName == TABLE
    wrong: tuple[dict[str, Any], ...] = ({}, {"user": USER, "password": "wrong"})
    for options in wrong:
        with metastored.connect(uri, tls=any_certificate(), **options) as client:
            with pytest.raises((AuthenticationError, TransportError), match=r"401|password|Authorization|authenticat"):
                client.databases()


# get_all_databases, get_databases, get_database


def test_3_1_5_1_a_all_databases_are_returned_with_the_status_200(own: Server) -> None:
    found = names(own, "get_all_databases")
    assert found == sorted(found) and {"default", DB} <= set(found)


def test_3_1_5_1_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_all_databases")
    with own.browser() as browser:
        assert browser.post(ALL, credentials=basic(USER, "wrong")).status == 401


def test_3_1_5_2_a_the_databases_that_match_a_pattern_are_returned_with_the_status_200(own: Server) -> None:
    assert names(own, "get_databases", {"str": "default*"}) == ["default"]
    assert names(own, "get_databases", {"str": "hms*|default"}) == ["default", DB]
    assert names(own, "get_databases", {"str": "none*"}) == []


def test_3_1_5_2_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_databases", {"str": "*"})


def test_3_1_5_3_a_a_database_is_returned_with_the_status_200_as_in_the_example(own: Server) -> None:
    answer = post(own, "get_database", {"str": "default"})
    assert answer.status == 200
    location = answer.json[4]["0"]["rec"]["3"]["str"]
    assert answer.json == [1, "get_database", 2, 1, {"0": {"rec": {
        "1": {"str": "default"}, "2": {"str": "Default Hive database"}, "3": {"str": location},
        "4": {"map": ["str", "str", 0, {}]}, "6": {"str": "public"}, "7": {"i32": 2},
    }}}]  # fmt: skip


def test_3_1_5_3_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_database", {"str": "default"})


def test_3_1_5_3_c_a_missing_database_is_a_no_such_object_exception(own: Server) -> None:
    answer = post(own, "get_database", {"str": "nothing"})
    assert answer.status == 200 and answer.json[2] == 2
    assert list(answer.json[4]) == ["1"] and "nothing" in answer.json[4]["1"]["rec"]["1"]["str"]


# get_all_tables, get_tables, get_table, get_tables_by_type


def test_3_1_5_4_a_all_tables_of_a_database_are_returned_with_the_status_200(own: Server) -> None:
    assert names(own, "get_all_tables", {"str": DB}) == [TABLE]
    assert names(own, "get_all_tables", {"str": "nothing"}) == [], "as Hive answers"


def test_3_1_5_4_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_all_tables", {"str": DB})


def test_3_1_5_5_a_the_tables_that_match_a_pattern_are_returned_with_the_status_200(own: Server) -> None:
    assert names(own, "get_tables", {"str": DB}, {"str": "*"}) == [TABLE]
    assert names(own, "get_tables", {"str": DB}, {"str": "x*"}) == []


def test_3_1_5_5_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_tables", {"str": DB}, {"str": "*"})


def storage(location: str) -> dict[str, Any]:
    """A storage descriptor as the examples print it."""
    columns = ["rec", 2, {"1": {"str": "name"}, "2": {"str": "string"}}, {"1": {"str": "age"}, "2": {"str": "int"}}]
    return {
        "1": {"lst": columns}, "2": {"str": location},
        "3": {"str": "org.apache.hadoop.mapred.SequenceFileInputFormat"},
        "4": {"str": "org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat"},
        "5": {"tf": 0}, "6": {"i32": -1},
        "7": {"rec": {"2": {"str": "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"},
                      "3": {"map": ["str", "str", 1, {"serialization.format": "1"}]}}},
        "8": {"lst": ["str", 0]}, "9": {"lst": ["rec", 0]}, "10": {"map": ["str", "str", 0, {}]},
        "11": {"rec": {"1": {"lst": ["str", 0]}, "2": {"lst": ["lst", 0]}, "3": {"map": ["lst", "str", 0, {}]}}},
        "12": {"tf": 0},
    }  # fmt: skip


def test_3_1_5_6_a_a_table_is_returned_with_the_status_200_field_by_field_as_in_the_example(own: Server) -> None:
    answer = post(own, "get_table", *OF_TABLE)
    assert answer.status == 200 and answer.json[:4] == [1, "get_table", 2, 1]
    table = answer.json[4]["0"]["rec"]
    parameters = table.pop("9")["map"]
    assert parameters[:3] == ["str", "str", len(parameters[3])]
    assert {"comment", "transient_lastDdlTime"} <= set(parameters[3])
    location = table["7"]["rec"]["2"]["str"]
    assert location.endswith(f"/{DB}.db/{TABLE}")
    assert table == {
        "1": {"str": TABLE}, "2": {"str": DB}, "3": {"str": "root"}, "4": table["4"], "5": {"i32": 0}, "6": {"i32": 0},
        "7": {"rec": storage(location)},
        "8": {"lst": ["rec", 1, {"1": {"str": "hair_color"}, "2": {"str": "string"}}]},
        "12": {"str": "MANAGED_TABLE"}, "15": {"tf": 0},
    }  # fmt: skip
    assert table["4"]["i32"] > 1_566_250_831


def test_3_1_5_6_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_table", *OF_TABLE)


def test_3_1_5_6_c_a_missing_table_is_a_no_such_object_exception(own: Server) -> None:
    answer = post(own, "get_table", *MISSING)
    assert answer.status == 200 and list(answer.json[4]) == ["2"]
    assert f"{DB}.nothing" in answer.json[4]["2"]["rec"]["1"]["str"]


def test_3_1_5_7_a_the_tables_of_a_type_that_match_a_pattern_are_returned_with_the_status_200(own: Server) -> None:
    every = ({"str": DB}, {"str": ".*"})
    assert names(own, "get_tables_by_type", *every, {"str": "MANAGED_TABLE"}) == [TABLE]
    assert names(own, "get_tables_by_type", *every, {"str": "VIRTUAL_VIEW"}) == []


def test_3_1_5_7_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_tables_by_type", {"str": DB}, {"str": ".*"}, {"str": "MANAGED_TABLE"})


# get_partition_names, get_partitions


def test_3_1_5_8_a_the_names_of_partitions_are_returned_with_the_status_200(own: Server) -> None:
    assert names(own, "get_partition_names", *OF_TABLE, *TEN) == ["hair_color=black", "hair_color=brown"]


def test_3_1_5_8_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_partition_names", *OF_TABLE, *TEN)


def test_3_1_5_8_c_a_missing_table_is_the_declared_exception_with_its_name(own: Server) -> None:
    answer = post(own, "get_partition_names", *MISSING, *TEN)
    assert answer.status == 200 and answer.json[2] == 2, "a reply: the schema declares MetaException as 1"
    assert list(answer.json[4]) == ["1"]
    assert answer.json[4]["1"]["rec"]["1"]["str"].endswith(f"{DB}.nothing table not found")


def test_3_1_5_8_d_max_parts_limits_the_list(own: Server) -> None:
    assert names(own, "get_partition_names", *OF_TABLE, {"i16": 1}) == ["hair_color=black"]
    assert len(names(own, "get_partition_names", *OF_TABLE, {"i16": -1})) == 2
    assert len(names(own, "get_partition_names", *OF_TABLE)) == 2, "-1 is the default"


def test_3_1_5_9_a_partitions_are_returned_with_the_status_200_field_by_field_as_in_the_example(own: Server) -> None:
    answer = post(own, "get_partitions", *OF_TABLE, *TEN)
    assert answer.status == 200 and answer.json[:4] == [1, "get_partitions", 2, 1]
    kind, number, *found = answer.json[4]["0"]["lst"]
    assert (kind, number) == ("rec", 2)
    for color, partition in zip(("black", "brown"), found, strict=True):
        parameters = partition.pop("7")["map"]
        assert parameters[:3] == ["str", "str", len(parameters[3])] and "transient_lastDdlTime" in parameters[3]
        location = partition["6"]["rec"]["2"]["str"]
        assert location.endswith(f"/{TABLE}/hair_color={color}")
        assert partition == {
            "1": {"lst": ["str", 1, color]}, "2": {"str": DB}, "3": {"str": TABLE}, "4": partition["4"],
            "5": {"i32": 0}, "6": {"rec": storage(location)},
        }  # fmt: skip


def test_3_1_5_9_b_without_the_right_credentials_the_status_is_401(own: Server) -> None:
    refused(own, "get_partitions", *OF_TABLE, *TEN)


def test_3_1_5_9_c_a_missing_table_is_a_no_such_object_exception(own: Server) -> None:
    answer = post(own, "get_partitions", *MISSING, *TEN)
    assert answer.status == 200 and list(answer.json[4]) == ["1"]
    assert f"{DB}.nothing" in answer.json[4]["1"]["rec"]["1"]["str"]


def test_3_1_5_9_d_max_parts_limits_the_list(own: Server) -> None:
    assert post(own, "get_partitions", *OF_TABLE, {"i16": 1}).json[4]["0"]["lst"][1] == 1
    assert post(own, "get_partitions", *OF_TABLE, {"i16": -1}).json[4]["0"]["lst"][1] == 2
