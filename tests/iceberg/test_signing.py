"""Remote signing: requests to S3 for the files of one table, which the server signs as privileges allow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from botocore import UNSIGNED
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from pyiceberg.exceptions import SignError
from pyiceberg.io.fsspec import S3V4RestSigner

from metastored.testing import RunningServer
from tests.iceberg.rest_server import SCHEMA, Reply, Rest, iceberg_server, rest_catalog
from tests.server.http.support import DATABASES, PASSWORD, USER
from tests.support.grants import granted, table_ref
from tests.support.s3 import BUCKET, S3, empty_bucket

WAREHOUSE = f"s3://{BUCKET}/warehouse"
ASKED = {"X_Iceberg_Access_Delegation": "vended-credentials,remote-signing"}
ENDPOINT = "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/sign"


class Running(NamedTuple):
    server: RunningServer
    s3: S3

    @property
    def store(self) -> str:
        return self.s3.environment["AWS_ENDPOINT_URL"]


@pytest.fixture(scope="module", params=DATABASES)
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, glue: str) -> Iterator[Running]:
    """Its warehouse is in S3. maja is an administrator, bob is not."""
    folder = tmp_path_factory.mktemp("signing")
    settings = {"authorization": "sql", "admin_users": USER, "iceberg_signing": "on", "warehouse": WAREHOUSE}
    with empty_bucket(glue) as s3, pytest.MonkeyPatch.context() as patch:
        for name, value in {**s3.environment, "AWS_SECRET_ACCESS_KEY": "the secret of the server"}.items():
            patch.setenv(name, value)
        with iceberg_server(folder, request.param, {"bob": "b"}, **settings) as server:
            yield Running(server, s3)


@pytest.fixture
def server(running: Running) -> RunningServer:
    return running.server


def asked(running: Running, key: str, method: str = "GET", **more: Any) -> dict[str, Any]:
    """The body of a request for a signature."""
    uri = f"{running.store}/{BUCKET}/{key}"
    return {"method": method, "region": "us-east-1", "uri": uri, "headers": {}, **more}


def sign(rest: Rest, namespace: str, body: dict[str, Any], table: str = "t") -> Reply:
    return rest.post(f"/namespaces/{namespace}/tables/{table}/sign", body)


def client_of(server: RunningServer, namespace: str, who: str, password: str, table: str = "t") -> Any:
    """A client of S3 without keys, whose requests pyiceberg's own signer sends to the server."""
    catalog = rest_catalog(server, who, password, **{"header.X-Iceberg-Access-Delegation": "remote-signing"})
    loaded = catalog.load_table((namespace, table))
    client = boto3.client(
        "s3",
        endpoint_url=loaded.io.properties["s3.endpoint"],
        region_name=loaded.io.properties["s3.region"],
        config=Config(signature_version=UNSIGNED, retries={"max_attempts": 0}),
    )
    client.meta.events.register("before-sign.s3", S3V4RestSigner(loaded.io.properties))
    return client


# What clients get


@pytest.mark.slow
def test_clients_that_accept_only_signatures_get_the_address_of_the_signer(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("told"))
    assert maja.get("/namespaces/told/tables/t").json["config"] == {}
    config = {
        "client.region": "us-east-1",
        "s3.region": "us-east-1",
        "s3.endpoint": running.store,
        "s3.path-style-access": "true",
        "s3.remote-signing-enabled": "true",
        "s3.signer": "S3V4RestSigner",
        "s3.signer.endpoint": "v1/namespaces/told/tables/t/sign",
    }
    reply = maja.get("/namespaces/told/tables/t", **ASKED)
    assert reply.json["config"] == config and "storage-credentials" not in reply.json
    tag = {"If_None_Match": reply.headers["etag"]}
    assert maja.get("/namespaces/told/tables/t", **tag).status == 304
    assert maja.get("/namespaces/told/tables/t", **tag, **ASKED).json["config"] == config
    made = maja.post("/namespaces/told/tables", {"name": "new", "schema": SCHEMA}, **ASKED)
    assert made.json["config"]["s3.signer.endpoint"] == "v1/namespaces/told/tables/new/sign"
    assert maja.get("/hive/namespaces/told/tables/t", **ASKED).json["config"]["s3.signer.endpoint"] == (
        "v1/hive/namespaces/told/tables/t/sign"
    )
    assert ENDPOINT in maja.get("/config").json["endpoints"]


def test_a_server_without_the_setting_signs_nothing_and_says_so(tmp_path: Path) -> None:
    with iceberg_server(tmp_path) as plain:
        rest = Rest(plain)
        rest.table(rest.namespace("off"))
        assert ENDPOINT not in rest.get("/config").json["endpoints"]
        assert rest.get("/namespaces/off/tables/t", **ASKED).json["config"] == {}
        reply = rest.post("/namespaces/off/tables/t/sign", {})
    assert (reply.status, reply.error) == (406, "UnsupportedOperationException")
    assert "iceberg_signing" in reply.message


@pytest.mark.slow
def test_pyicebergs_signer_reads_and_writes_objects_of_a_table(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("rows"))
    client = client_of(running.server, "rows", USER, PASSWORD)
    key = "warehouse/rows.db/t/data/name=a%2Fb c+ä/1.parquet"  # As Iceberg names the directories of partitions.
    client.put_object(Bucket=BUCKET, Key=key, Body=b"rows")
    assert running.s3.get(key) == b"rows"
    assert client.get_object(Bucket=BUCKET, Key=key, Range="bytes=1-2")["Body"].read() == b"ow"
    assert client.head_object(Bucket=BUCKET, Key=key)["ContentLength"] == 4
    listed = client.list_objects_v2(Bucket=BUCKET, Prefix="warehouse/rows.db/t/data/")
    assert [each["Key"] for each in listed["Contents"]] == [key]
    upload = client.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
    part = client.upload_part(Bucket=BUCKET, Key=key, UploadId=upload, PartNumber=1, Body=b"more rows")
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    client.complete_multipart_upload(Bucket=BUCKET, Key=key, UploadId=upload, MultipartUpload=parts)
    client.copy_object(Bucket=BUCKET, Key=f"{key}.2", CopySource={"Bucket": BUCKET, "Key": key})
    assert running.s3.get(f"{key}.2") == b"more rows"
    client.delete_object(Bucket=BUCKET, Key=key)
    assert key not in running.s3.every_key()
    with pytest.raises(SignError):
        client.get_object(Bucket=BUCKET, Key="warehouse/rows.db/other/data/1.parquet")


# The signature


def botocores(body: dict[str, Any], headers: dict[str, str], payload: str) -> str:
    """The signature that botocore itself makes with the keys of the server, at the moment of a response."""
    sent = {**{name.lower(): values[0] for name, values in body["headers"].items()}, "x-amz-content-sha256": payload}
    request = AWSRequest(method=body["method"], url=body["uri"], headers={**sent, "X-Amz-Date": headers["X-Amz-Date"]})
    moment = headers["X-Amz-Date"]
    request.context["timestamp"] = moment
    assert abs((datetime.strptime(f"{moment}+0000", "%Y%m%dT%H%M%SZ%z")).timestamp() - time.time()) < 60
    auth = S3SigV4Auth(Credentials("testing", "the secret of the server"), "s3", body["region"])
    text: str = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return text


@pytest.mark.slow
def test_a_signature_is_that_of_botocore_for_the_same_request_and_keys(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("same"))
    directory, plain, hashed = "warehouse/same.db/t", "UNSIGNED-PAYLOAD", "0" * 64
    meta = {"x-amz-meta-a": ["1  2"], "Content-Type": ["a/b"]}
    trailer = {"x-amz-trailer": ["x-amz-checksum-crc32"]}
    prefix = directory.replace("/", "%2F")
    for key, method, sent, payload in [
        ("/data/a%20b", "GET", {}, plain),
        ("/x?partNumber=2&uploadId=a%2Bb", "PUT", {"Content-MD5": ["x"]}, plain),
        ("/x", "PUT", {"X-Amz-Content-Sha256": [hashed]}, hashed),
        ("/x", "PUT", trailer, "STREAMING-UNSIGNED-PAYLOAD-TRAILER"),
        (f"?prefix={prefix}%2F&list-type=2", "GET", {}, plain),
        ("/x?uploads", "POST", meta, plain),
    ]:
        body = asked(running, key if key[0] == "?" else directory + key, method, headers=sent)
        reply = sign(maja, "same", body)
        assert reply.status == 200, reply
        assert reply.json["uri"] == body["uri"]
        headers = {name: values[0] for name, values in reply.json["headers"].items()}
        expected = botocores(body, headers, payload)
        assert headers["Authorization"].endswith(f"Signature={expected}")
        assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=testing/")
        assert headers.get("X-Amz-Content-SHA256", payload) == payload
        new = {"Authorization", "X-Amz-Date", "X-Amz-Content-SHA256"}
        assert set(headers) == new - ({"X-Amz-Content-SHA256"} if payload == hashed else set())
        assert "the secret" not in str(reply)


@pytest.mark.slow
def test_headers_that_proxies_change_are_taken_and_not_signed(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("proxies"))
    sent = {"Range": ["bytes=0-3"], "User-Agent": ["x"], "amz-sdk-request": ["attempt=1"], "Accept": ["a", "b"]}
    host = {"Host": [running.store.removeprefix("http://")]}
    reply = sign(maja, "proxies", asked(running, "warehouse/proxies.db/t/x", headers={**sent, **host}))
    (authorization,) = reply.json["headers"]["Authorization"]
    assert "SignedHeaders=host;x-amz-content-sha256;x-amz-date," in authorization


# Rights


@pytest.mark.slow
def test_rights_on_the_table_decide_what_is_signed(running: Running, maja: Rest, bob: Rest) -> None:
    maja.table(maja.namespace("rights"))
    key = "warehouse/rights.db/t/data/1.parquet"

    def statuses() -> list[int]:
        requests = [asked(running, key, method) for method in ("GET", "HEAD", "PUT", "DELETE")]
        requests.append(asked(running, f"{key}?uploadId=1"))
        return [sign(bob, "rights", each).status for each in requests]

    refused = sign(bob, "rights", asked(running, key))
    assert (refused.status, refused.error) == (403, "ForbiddenException")
    assert statuses() == [403] * 5
    granted(running.server, "bob", "SELECT", on=table_ref("rights", "t"))
    assert statuses() == [200, 200, 403, 403, 403]
    assert "INSERT, UPDATE and DELETE" in sign(bob, "rights", asked(running, key, "PUT")).message
    with pytest.raises(SignError):
        client_of(running.server, "rights", "bob", "b").put_object(Bucket=BUCKET, Key=key, Body=b"x")
    granted(running.server, "bob", "INSERT", on=table_ref("rights", "t"))
    assert statuses() == [200, 200, 403, 403, 403]
    granted(running.server, "bob", "UPDATE", "DELETE", on=table_ref("rights", "t"))
    assert statuses() == [200] * 5


@pytest.mark.slow
def test_nobody_without_a_name_gets_a_signature(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("nobody"))
    reply = sign(Rest(running.server), "nobody", asked(running, "warehouse/nobody.db/t/x"))
    assert (reply.status, reply.error) == (403, "ForbiddenException")


@pytest.mark.slow
def test_a_staged_table_is_signed_for_whoever_may_make_it(running: Running, maja: Rest, bob: Rest) -> None:
    maja.namespace("staged")
    staged = {"name": "t", "schema": SCHEMA, "stage-create": True}
    reply = maja.post("/namespaces/staged/tables", staged, **ASKED)
    assert reply.json["config"]["s3.signer.endpoint"] == "v1/namespaces/staged/tables/t/sign"
    key = "warehouse/staged.db/t/data/1.parquet"
    assert sign(maja, "staged", asked(running, key, "PUT")).status == 200
    assert sign(maja, "staged", asked(running, "warehouse/staged.db/u/1", "PUT")).status == 403
    assert sign(bob, "staged", asked(running, key)).status == 403
    elsewhere = {**staged, "location": f"{WAREHOUSE}/staged.db/elsewhere"}
    assert maja.post("/namespaces/staged/tables", elsewhere, **ASKED).json["config"] == {}
    missing = sign(maja, "missing", asked(running, key))
    assert (missing.status, missing.error) == (404, "NoSuchNamespaceException")


# Others change the table meanwhile


@pytest.mark.slow
def test_a_table_that_is_dropped_is_not_signed_for_its_readers(running: Running, maja: Rest, bob: Rest) -> None:
    maja.table(maja.namespace("dropped"))
    granted(running.server, "bob", "SELECT", on=table_ref("dropped", "t"))
    body = asked(running, "warehouse/dropped.db/t/x")
    assert sign(bob, "dropped", body).status == 200
    assert maja.delete("/namespaces/dropped/tables/t").status == 204
    assert sign(bob, "dropped", body).status in (403, 404)


@pytest.mark.slow
def test_a_table_that_is_elsewhere_now_is_signed_there_only(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("moved"))
    before, after = (asked(running, f"warehouse/moved.db/{name}/x") for name in ("t", "u"))
    assert sign(maja, "moved", before).status == 200
    assert maja.delete("/namespaces/moved/tables/t").status == 204
    maja.table("moved", location=f"{WAREHOUSE}/moved.db/u")
    assert sign(maja, "moved", before).status == 403
    assert sign(maja, "moved", after).status == 200


@pytest.mark.slow
def test_a_table_with_another_in_its_directory_is_not_signed(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("shared"))
    body = asked(running, "warehouse/shared.db/t/inner/x")
    assert sign(maja, "shared", body).status == 200
    maja.table("shared", "other", location=f"s3a://{BUCKET}/warehouse/shared.db/t/inner")
    refused = sign(maja, "shared", body)
    assert (refused.status, refused.error) == (403, "ForbiddenException")
    assert "no other table" in refused.message
    assert maja.get("/namespaces/shared/tables/t", **ASKED).json["config"] == {}
    assert sign(maja, "shared", body, "other").status == 200


@pytest.mark.slow
def test_a_table_outside_of_the_warehouse_is_not_signed(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("outside"), location=f"s3://{BUCKET}/elsewhere/t")
    assert maja.get("/namespaces/outside/tables/t", **ASKED).json["config"] == {}
    assert sign(maja, "outside", asked(running, "elsewhere/t/x")).status == 403


@pytest.mark.slow
def test_many_clients_at_once_get_the_signatures_of_their_own_requests(running: Running, maja: Rest) -> None:
    maja.table(maja.namespace("many"))

    def signed(number: int) -> bool:
        body = asked(running, f"warehouse/many.db/t/data/{number}", "GET" if number % 2 else "PUT")
        reply = sign(maja, "many", body)
        headers = {name: str(values[0]) for name, values in reply.json["headers"].items()}
        return headers["Authorization"].endswith(f"Signature={botocores(body, headers, 'UNSIGNED-PAYLOAD')}")

    with ThreadPoolExecutor(12) as threads:
        assert all(threads.map(signed, range(120)))


# Requests of another form; test_signing_hostile.py has those for other objects


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        {"method": None}, {"method": "PATCH"}, {"method": ["GET"]}, {"region": None}, {"region": 7}, {"region": "a\nb"},
        {"uri": None}, {"uri": {}}, {"headers": None}, {"headers": []}, {"headers": {"a": "b"}},
        {"headers": {"range": [1]}}, {"headers": {"range": []}}, {"properties": {"a": 1}}, {"body": 1},
        {"provider": "gcs"},
    ],
)  # fmt: skip
def test_a_body_of_another_form_is_a_bad_request(running: Running, maja: Rest, more: dict[str, Any]) -> None:
    if maja.head("/namespaces/forms/tables/t").status == 404:
        maja.table(maja.namespace("forms"))
    reply = sign(maja, "forms", {**asked(running, "warehouse/forms.db/t/x"), **more})
    assert (reply.status, reply.error) == (400, "BadRequestException")


@pytest.mark.slow
def test_a_body_that_is_nested_too_deeply_is_a_bad_request(maja: Rest) -> None:
    maja.table(maja.namespace("deep"))
    reply = maja.post("/namespaces/deep/tables/t/sign", b'{"properties":' + b'{"a":' * 200 + b"1" + b"}" * 201)
    assert (reply.status, reply.error) == (400, "BadRequestException")
    assert "levels" in reply.message
