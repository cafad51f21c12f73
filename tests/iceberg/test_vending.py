"""Credentials for clients: keys of S3 for one table, which expire, made by STS as the privileges of a caller allow."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import pytest

from metastored.iceberg.errors import Unavailable
from metastored.iceberg.s3.vending import (
    Keys,
    S3Directory,
    Vendor,
    client_properties,
    policy_of,
    s3_directory,
    session_name,
)
from metastored.testing import RunningServer
from tests.iceberg.rest_server import ROWS, SCHEMA, Rest, iceberg_server, rest_catalog
from tests.server.http.support import DATABASES, PASSWORD, USER
from tests.support.grants import granted, table_ref
from tests.support.s3 import BUCKET, empty_bucket

ROLE = "arn:aws:iam::123456789012:role/lake"
WAREHOUSE = f"s3://{BUCKET}/warehouse"
ASKED = {"X_Iceberg_Access_Delegation": "vended-credentials,remote-signing"}


# The policy


def test_a_policy_is_for_the_objects_of_one_directory() -> None:
    reads = json.loads(policy_of(S3Directory("lake", ("w", "t")), "aws", writes=False))["Statement"]
    assert [each["Resource"] for each in reads] == ["arn:aws:s3:::lake/w/t/*", "arn:aws:s3:::lake"]
    assert reads[1] == {
        "Effect": "Allow",
        "Action": "s3:ListBucket",
        "Resource": "arn:aws:s3:::lake",
        "Condition": {"StringLike": {"s3:prefix": ["w/t/*"]}},
    }
    assert not any(word in str(reads) for word in ("Put", "Delete"))
    writes = json.loads(policy_of(S3Directory("lake", ("w", "t")), "aws-cn", writes=True))["Statement"]
    assert {"s3:PutObject", "s3:DeleteObject", "s3:GetObject"} <= set(writes[0]["Action"])
    assert writes[0]["Resource"] == "arn:aws-cn:s3:::lake/w/t/*"


@pytest.mark.parametrize(
    "location",
    [
        "s3://lake", "s3://lake/", "s3://lake/w/*/t", "s3://lake/w/t?", "s3://lake/w/${aws:username}", "s3://lake/w/../x",
        "s3://lake/w//t", "s3://lake/./t", 's3://lake/w/"t', "s3://lake/w/t\n", "s3://*/w/t", "s3://LAKE/w", "gs://lake/w",
        "file:/w/t", "s3://user:key@lake/w", "",
    ],
)  # fmt: skip
def test_a_location_that_no_policy_can_name_has_no_place(location: str) -> None:
    assert s3_directory(location) is None


def test_schemes_and_a_slash_at_the_end_do_not_matter() -> None:
    assert {s3_directory(each) for each in ("s3://lake/w/t", "s3a://lake/w/t/", "s3n://lake/w/t")} == {
        S3Directory("lake", ("w", "t"))
    }


@pytest.mark.parametrize(
    "location",
    ["s3://lake/warehouse", "s3://lake/warehouse2/t", "s3://lake/other/t", "s3://pond/warehouse/t", "file:/t"],
)
def test_nothing_is_vended_outside_of_the_warehouse(location: str) -> None:
    vendor = Vendor(ROLE, 900, "s3://lake/warehouse", {}, lambda session, policy: pytest.fail("STS was called"))
    assert vendor.credentials("bob", location, alone, writes=False) is None


def alone() -> bool:
    return True


def keys(number: int, seconds: float) -> Keys:
    return Keys(f"id{number}", "secret", "token", datetime.now(UTC) + timedelta(seconds=seconds))


def test_keys_are_kept_for_half_of_their_time_by_user_place_and_right() -> None:
    made: list[str] = []

    def assume(session: str, policy: str) -> Keys:
        made.append(session)
        return keys(len(made), 900 if len(made) < 4 else 440)

    vendor = Vendor(ROLE, 900, "s3://lake/w", {"s3.endpoint": "http://s3"}, assume)

    def id_of(user: str, table: str, writes: bool) -> str:
        vended = vendor.credentials(user, f"s3://lake/w/{table}", alone, writes=writes)
        assert vended is not None and vended.prefix == f"s3://lake/w/{table}/"
        assert vended.config["s3.endpoint"] == "http://s3"
        return vended.config["s3.access-key-id"]

    assert [id_of("ann", "t", False), id_of("ann", "t", False)] == ["id1", "id1"]
    assert [id_of("ann", "t", True), id_of("bob", "t", False), id_of("ann", "u", False)] == ["id2", "id3", "id4"]
    assert id_of("ann", "u", False) == "id5"  # Less than half of its time was left.


def test_many_clients_that_ask_at_once_all_get_keys_of_their_own() -> None:
    vendor = Vendor(ROLE, 900, "s3://lake/w", {}, lambda session, policy: keys(1, 900)._replace(id=session))

    def id_of(number: int) -> str:
        vended = vendor.credentials(f"user{number % 4}", "s3://lake/w/t", alone, writes=False)
        assert vended is not None
        return vended.config["s3.access-key-id"]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(id_of, range(200)))
    assert found == [f"metastored-user{number % 4}" for number in range(200)]


def test_names_of_sessions_have_only_what_aws_takes() -> None:
    assert session_name("ann@example.org") == "metastored-ann@example.org"
    assert session_name("a b/ü\n") == "metastored-a-b---"
    assert len(session_name("x" * 300)) == 64


def test_clients_get_the_region_and_address_of_the_server() -> None:
    environment = {"AWS_REGION": "eu-central-1", "AWS_ENDPOINT_URL": "http://all", "AWS_ENDPOINT_URL_S3": "http://s3"}
    assert client_properties(environment) == {
        "client.region": "eu-central-1",
        "s3.region": "eu-central-1",
        "s3.endpoint": "http://s3",
        "s3.path-style-access": "true",
    }
    assert client_properties({"AWS_SECRET_ACCESS_KEY": "secret"}) == {}


# A server


class Sts(NamedTuple):
    """A service that answers AssumeRole with new keys, and keeps what it was asked."""

    uri: str
    asked: list[dict[str, str]]


def answer(number: int, status: int) -> bytes:
    expires = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    if status != 200:
        return (
            b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>secret reason</Message></Error></ErrorResponse>"
        )
    made = (
        f"<AccessKeyId>vended{number}</AccessKeyId><SecretAccessKey>secret{number}</SecretAccessKey>"
        f"<SessionToken>token{number}</SessionToken><Expiration>{expires}</Expiration>"
    )
    result = f"<AssumeRoleResult><Credentials>{made}</Credentials></AssumeRoleResult>"
    return (
        f'<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">{result}</AssumeRoleResponse>'.encode()
    )


@pytest.fixture(scope="module")
def sts() -> Iterator[Sts]:
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append({name: values[0] for name, values in parse_qs(body).items()})
            status = 403 if "forbidden" in asked[-1].get("Policy", "") else 200
            content = answer(len(asked), status)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Sts(f"http://127.0.0.1:{server.server_port}", asked)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module", params=DATABASES)
def server(
    request: pytest.FixtureRequest, sts: Sts, tmp_path_factory: pytest.TempPathFactory, glue: str
) -> Iterator[RunningServer]:
    """Its warehouse is in S3. maja is an administrator, bob is not."""
    folder = tmp_path_factory.mktemp("vending")
    settings = {"authorization": "sql", "admin_users": USER, "iceberg_role": ROLE, "warehouse": WAREHOUSE}
    settings["iceberg_signing"] = "on"
    with empty_bucket(glue) as s3, pytest.MonkeyPatch.context() as patch:
        for name, value in {**s3.environment, "AWS_ENDPOINT_URL_STS": sts.uri}.items():
            patch.setenv(name, value)
        with iceberg_server(folder, request.param, {"bob": "b"}, **settings) as running:
            yield running


def policy(asked: dict[str, str]) -> tuple[str, bool]:
    """The resource of the policy that was sent, and whether it is to write."""
    allowed = json.loads(asked["Policy"])["Statement"][0]
    return allowed["Resource"], "s3:PutObject" in allowed["Action"]


def vended(reply: Any) -> dict[str, str]:
    (credential,) = reply["storage-credentials"]
    assert credential["config"] == reply.get("config", credential["config"])
    config: dict[str, str] = credential["config"]
    return config


@pytest.mark.slow
def test_keys_are_given_to_clients_that_ask_for_them_and_are_never_those_of_the_server(sts: Sts, maja: Rest) -> None:
    maja.table(maja.namespace("asked"))
    path = "/namespaces/asked/tables/t"
    plain = maja.get(path)
    assert plain.json["config"] == {} and "storage-credentials" not in plain.json
    before = len(sts.asked)
    config = vended(maja.get(path, **ASKED).json)
    assert config["s3.access-key-id"] == f"vended{len(sts.asked)}" and len(sts.asked) == before + 1
    assert "testing" not in config.values()
    asked = sts.asked[-1]
    assert (asked["Action"], asked["RoleArn"], asked["DurationSeconds"]) == ("AssumeRole", ROLE, "3600")
    assert asked["RoleSessionName"] == f"metastored-{USER}"
    assert policy(asked) == (f"arn:aws:s3:::{BUCKET}/warehouse/asked.db/t/*", True)
    assert vended(maja.get(f"{path}/credentials").json) == config  # The same keys: most of their time is left.


@pytest.mark.slow
def test_a_client_with_an_etag_gets_keys_too(maja: Rest) -> None:
    maja.table(maja.namespace("tagged"))
    path = "/namespaces/tagged/tables/t"
    tag = maja.get(path).headers["etag"]
    assert maja.get(path, If_None_Match=tag).status == 304
    assert vended(maja.get(path, If_None_Match=tag, **ASKED).json)


@pytest.mark.slow
def test_rights_on_the_table_decide_what_keys_are_for(server: RunningServer, sts: Sts, maja: Rest, bob: Rest) -> None:
    maja.table(maja.namespace("rights"))
    path = "/namespaces/rights/tables/t"
    before = len(sts.asked)
    for refused in (bob.get(path, **ASKED), bob.get(f"{path}/credentials")):
        assert (refused.status, refused.error) == (403, "ForbiddenException")
    assert len(sts.asked) == before
    granted(server, "bob", "SELECT", on=table_ref("rights", "t"))
    vended(bob.get(path, **ASKED).json)
    assert policy(sts.asked[-1]) == (f"arn:aws:s3:::{BUCKET}/warehouse/rights.db/t/*", False)
    granted(server, "bob", "INSERT", on=table_ref("rights", "t"))
    vended(bob.get(path, **ASKED).json)
    assert len(sts.asked) == before + 1  # Whoever can write a file could replace any other: INSERT is not enough.
    granted(server, "bob", "UPDATE", "DELETE", on=table_ref("rights", "t"))
    vended(bob.get(path, **ASKED).json)
    assert policy(sts.asked[-1]) == (f"arn:aws:s3:::{BUCKET}/warehouse/rights.db/t/*", True)


@pytest.mark.slow
def test_a_new_table_gets_keys_also_while_it_is_staged(sts: Sts, maja: Rest, bob: Rest) -> None:
    maja.namespace("new")
    body = {"name": "made", "schema": SCHEMA}
    vended(maja.post("/namespaces/new/tables", body, **ASKED).json)
    assert policy(sts.asked[-1]) == (f"arn:aws:s3:::{BUCKET}/warehouse/new.db/made/*", True)
    staged = {**body, "name": "staged", "stage-create": True}
    vended(maja.post("/namespaces/new/tables", staged, **ASKED).json)
    assert policy(sts.asked[-1]) == (f"arn:aws:s3:::{BUCKET}/warehouse/new.db/staged/*", True)
    before = len(sts.asked)
    refused = bob.post("/namespaces/new/tables", {**staged, "name": "bobs"}, **ASKED)
    assert (refused.status, refused.error, len(sts.asked)) == (403, "ForbiddenException", before)


@pytest.mark.slow
def test_no_keys_are_given_for_a_place_outside_of_the_warehouse(sts: Sts, maja: Rest) -> None:
    maja.table(maja.namespace("outside"), location=f"s3://{BUCKET}/elsewhere/t")
    before = len(sts.asked)
    reply = maja.get("/namespaces/outside/tables/t", **ASKED)
    assert (reply.status, reply.json["config"], len(sts.asked)) == (200, {}, before)
    assert maja.get("/namespaces/outside/tables/t/credentials").json == {"storage-credentials": []}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_no_keys_are_given_for_a_directory_with_files_of_another_table(sts: Sts, maja: Rest, scheme: str) -> None:
    """A table that was renamed keeps its directory, and its old name is free: for bob, say, who may not read it."""
    namespace = maja.namespace(f"shared_{scheme}")
    maja.table(namespace, "anns", location=f"{scheme}://{BUCKET}/warehouse/{namespace}.db/t/inner")
    before = len(sts.asked)
    staged = {"name": "t", "schema": SCHEMA, "stage-create": True}
    reply = maja.post(f"/namespaces/{namespace}/tables", staged, **ASKED)
    assert (reply.status, reply.json["config"]) == (200, {})
    maja.table(namespace)
    assert maja.get(f"/namespaces/{namespace}/tables/t/credentials").json == {"storage-credentials": []}
    assert len(sts.asked) == before
    assert vended(maja.get(f"/namespaces/{namespace}/tables/anns", **ASKED).json)


@pytest.mark.slow
def test_a_parameter_of_another_table_that_names_the_directory_does_not_matter(maja: Rest) -> None:
    """Otherwise whoever may create a table could keep keys from the users of every other."""
    namespace = maja.namespace("named")
    made = maja.table(namespace)
    maja.table(namespace, "other", properties={"named": made["metadata"]["location"]})
    assert vended(maja.get(f"/namespaces/{namespace}/tables/t", **ASKED).json)


@pytest.mark.slow
def test_a_client_that_accepts_only_signatures_gets_those_of_the_keys_of_the_role(sts: Sts, maja: Rest) -> None:
    maja.table(maja.namespace("signed"))
    path = "/namespaces/signed/tables/t"
    assert "s3.signer.endpoint" not in vended(maja.get(path, **ASKED).json)  # It accepts both.
    reply = maja.get(path, X_Iceberg_Access_Delegation="remote-signing").json
    assert reply["config"]["s3.signer.endpoint"] == "v1/namespaces/signed/tables/t/sign"
    assert not {"s3.access-key-id", "s3.secret-access-key"} & set(reply["config"])
    uri = f"{reply['config']['s3.endpoint']}/{BUCKET}/warehouse/signed.db/t/x"
    body = {"method": "PUT", "region": "us-east-1", "uri": uri, "headers": {}}
    signed = maja.post(f"{path}/sign", body).json["headers"]
    number = len(sts.asked)
    assert policy(sts.asked[-1]) == (f"arn:aws:s3:::{BUCKET}/warehouse/signed.db/t/*", True)
    assert f"Credential=vended{number}/" in signed["Authorization"][0]
    assert signed["X-Amz-Security-Token"] == [f"token{number}"] and f"secret{number}" not in str(signed)


@pytest.mark.slow
def test_a_refusal_of_sts_is_an_error_without_its_reason(maja: Rest) -> None:
    maja.table(maja.namespace("forbidden"))
    reply = maja.get("/namespaces/forbidden/tables/t", **ASKED)
    assert (reply.status, reply.error) == (503, "ServiceUnavailableException")
    assert "secret reason" not in reply.message
    assert maja.get("/namespaces/forbidden/tables/t").status == 200


@pytest.mark.slow
def test_pyiceberg_writes_and_reads_rows_with_nothing_but_the_keys_of_the_server(
    server: RunningServer, maja: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    maja.namespace("rows")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"):
        monkeypatch.delenv(name)
    catalog = rest_catalog(server, USER, PASSWORD)  # It asks for keys by itself.
    catalog.create_table("rows.t", ROWS.schema).append(ROWS)
    table = catalog.load_table("rows.t")
    assert table.io.properties["s3.access-key-id"].startswith("vended")
    assert table.scan().to_arrow().num_rows == ROWS.num_rows


def test_sts_that_is_not_there_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {
        "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:9", "AWS_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1",
        "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with pytest.raises(Unavailable, match="the log of the server says why"):
        Vendor(ROLE, 900, WAREHOUSE, {}).credentials("ann", f"{WAREHOUSE}/t", alone, writes=False)
