"""Requests to S3 that are never signed: for other objects, hosts, operations and headers, and in forms that programs
read differently. And those that are."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from metastored.errors import MissingExtra
from metastored.iceberg.errors import BadRequest, Forbidden, IcebergError, Unavailable
from metastored.iceberg.s3.addresses import Store, address_of
from metastored.iceberg.s3.requests import S3Request, s3_request
from metastored.iceberg.s3.signer import Signer, SigningKeys, TableSigner, keys_of_environment, signature
from metastored.iceberg.s3.vending import Keys, S3Directory, Vendor
from metastored.iceberg.signing import client_config
from metastored.model.names import TableName
from tests.iceberg.test_vending import ROLE, keys

STORE = Store("us-east-1", "http://s3.local:9000")
TABLE = S3Directory("lake", ("w", "t"))
HERE = "http://s3.local:9000/lake/w/t"
MULTI = "http://s3.local:9000/lake?delete"


def asked(uri: str, method: str = "GET", **more: Any) -> S3Request:
    fields = {"method": method, "region": "us-east-1", "uri": uri, "headers": {}, **more}
    return s3_request(fields, more.pop("store", STORE), TABLE)


def delete_of(*keys: str, more: str = "") -> str:
    objects = "".join(f"<Object><Key>{key}</Key></Object>" for key in keys)
    return f'<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{objects}{more}</Delete>'


# Other objects and hosts


@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("http://s3.local:9000/pond/w/t/x", Forbidden),
        ("http://s3.local:9000/lake2/w/t/x", Forbidden),
        ("http://s3.local:9000/lake/w/u/x", Forbidden),
        ("http://s3.local:9000/lake/w/t2/x", Forbidden),
        ("http://s3.local:9000/lake/w/t", Forbidden),
        ("http://s3.local:9000/lake/W/t/x", Forbidden),
        ("http://s3.local:9000/lake//w/t/x", Forbidden),
        ("http://s3.local:9000//lake/w/t/x", Forbidden),
        ("http://s3.local:9000/lake/x/w/t/x", Forbidden),
        ("http://s3.local:9000/lake", Forbidden),
        ("http://s3.local:9000/lake/", Forbidden),
        ("http://s3.local:9000/", Forbidden),
        ("http://s3.local:9000", Forbidden),
        ("http://s3.local/lake/w/t/x", Forbidden),
        ("http://s3.local:9001/lake/w/t/x", Forbidden),
        ("https://s3.local:9000/lake/w/t/x", Forbidden),
        ("http://evil.local:9000/lake/w/t/x", Forbidden),
        ("http://s3.local.evil:9000/lake/w/t/x", Forbidden),
        ("http://pond.s3.local:9000/w/t/x", Forbidden),
        ("http://lake.s3.local:9000/lake/w/t/x", Forbidden),
        ("http://lake.lake.s3.local:9000/w/t/x", Forbidden),
        ("https://lake.s3.us-east-1.amazonaws.com/w/t/x", Forbidden),
        ("http://user@s3.local:9000/lake/w/t/x", BadRequest),
        ("http://s3.local:9000@evil/lake/w/t/x", BadRequest),
        ("http://user:secret@s3.local:9000/lake/w/t/x", BadRequest),
        ("http://s3.local:9000/lake/w/t/x#y", BadRequest),
        ("http://s3.local:9000\\lake/w/t/x", BadRequest),
        ("http://s3.local:90000000/lake/w/t/x", BadRequest),
        ("http://s3.local:/lake/w/t/x", BadRequest),
        ("http:/s3.local:9000/lake/w/t/x", BadRequest),
        ("//s3.local:9000/lake/w/t/x", BadRequest),
        ("file:///lake/w/t/x", BadRequest),
        ("s3://lake/w/t/x", BadRequest),
        ("", BadRequest),
        (f"{HERE}/x\n", BadRequest),
        (f"{HERE}/x y", BadRequest),
        (f"{HERE}/ü", BadRequest),
        (f"{HERE}/\x00", BadRequest),
        (f"{HERE}/{'x' * 9000}", BadRequest),
    ],
)
def test_a_uri_of_something_else_is_refused(uri: str, error: type[IcebergError]) -> None:
    with pytest.raises(error) as raised:
        asked(uri)
    assert type(raised.value) is error


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/../u/x", Forbidden),
        ("/./x", Forbidden),
        ("/x/..", Forbidden),
        ("/a/../../u/x", Forbidden),
        ("//x", Forbidden),
        ("/a//x", Forbidden),
        ("/%2e%2e/u/x", BadRequest),
        ("/%2E%2E/u/x", BadRequest),
        ("/.%2e/u/x", BadRequest),
        ("%2fx", BadRequest),
        ("%2Fx", BadRequest),
        ("/a%2F..%2Fx", BadRequest),
        ("/%252e%252e/u/x", Forbidden),
        ("/%252E%252E%252Fu/x", Forbidden),
        ("/a%252F..%252F..%252Fu", Forbidden),
        ("/%25252e%25252e/u/x", Forbidden),
        ("/%2525252525252e", Forbidden),
        ("/..%5Cu", Forbidden),
        ("/a%5C..%5Cu", Forbidden),
        ("/a%00b", Forbidden),
        ("/a%0Ab", Forbidden),
        ("/a%2500b", Forbidden),
        ("/a%C0%AEb", BadRequest),
        ("/a%FFb", BadRequest),
        ("/a%zz", BadRequest),
        ("/a%", BadRequest),
        ("/a%c3%a4", BadRequest),
        ("/a+b", BadRequest),
        ("/a=b", BadRequest),
        ("/a;b", BadRequest),
        ("/%61", BadRequest),
    ],
)
def test_dots_and_encodings_that_could_lead_elsewhere_are_refused(path: str, error: type[IcebergError]) -> None:
    with pytest.raises(error) as raised:
        asked(HERE + path)
    assert type(raised.value) is error


@pytest.mark.parametrize(
    "path",
    [
        "/x",
        "/data/a%3D1/1.parquet",
        "/data/a%3Db%252Fc/1",
        "/",
        "/data/",
        "/...",
        "/a..b",
        "/%C3%A4",
        "/~-_.",
        "/100%25",
    ],
)
def test_objects_of_the_table_are_signed(path: str) -> None:
    assert asked(HERE + path).uri == HERE + path
    assert asked(f"http://lake.s3.local:9000/w/t{path}").uri.endswith(path)


def test_the_addresses_of_aws_are_those_of_the_region() -> None:
    aws = Store("eu-west-1")
    for host in (
        "s3.eu-west-1.amazonaws.com/lake", "lake.s3.eu-west-1.amazonaws.com",
        "s3.dualstack.eu-west-1.amazonaws.com/lake",
        "lake.s3.amazonaws.com", "lake.s3.eu-west-1.amazonaws.com:443", "LAKE.s3.eu-west-1.amazonaws.com",
    ):  # fmt: skip
        assert address_of(f"https://{host}/w/t/x", aws, "eu-west-1", "lake").key == "w/t/x"
    for host in (
        "s3.eu-west-2.amazonaws.com/lake", "s3.eu-west-1.amazonaws.com.evil/lake",
        "evil-s3.eu-west-1.amazonaws.com/lake",
        "pond.s3.eu-west-1.amazonaws.com", "lake.s3.eu-west-1.amazonaws.com.cn", "lake.s3.eu-west-1.amazonaws.com:80",
        "lake.s3-website.eu-west-1.amazonaws.com", "lake.s3-accesspoint.eu-west-1.amazonaws.com",
    ):  # fmt: skip
        with pytest.raises(Forbidden):
            address_of(f"https://{host}/w/t/x", aws, "eu-west-1", "lake")
    with pytest.raises(Forbidden):
        address_of("http://lake.s3.eu-west-1.amazonaws.com/w/t/x", aws, "eu-west-1", "lake")
    china = address_of("https://lake.s3.cn-north-1.amazonaws.com.cn/x", Store(), "cn-north-1", "lake")
    assert china.host_header == "lake.s3.cn-north-1.amazonaws.com.cn"


def test_a_store_may_be_below_a_path_and_at_an_address_of_version_6() -> None:
    below = Store(None, "https://gate.local/s3/")
    assert address_of("https://gate.local/s3/lake/w/t/x", below, "local", "lake").key == "w/t/x"
    with pytest.raises(Forbidden):
        address_of("https://gate.local/lake/w/t/x", below, "local", "lake")
    assert (
        address_of("http://[::1]:9000/lake/x", Store(None, "http://[::1]:9000"), "a", "lake").host_header
        == "[::1]:9000"
    )


@pytest.mark.parametrize(("region", "error"), [("eu-west-1", Forbidden), ("", BadRequest), ("us/east", BadRequest)])
def test_another_region_is_refused(region: str, error: type[IcebergError]) -> None:
    with pytest.raises(error):
        asked(f"{HERE}/x", region=region)


# Other operations


@pytest.mark.parametrize(
    ("method", "uri"),
    [
        *(("GET", f"{HERE}/x?{each}") for each in (
            "acl", "tagging", "policy", "torrent", "attributes", "legal-hold", "retention", "uploads", "versions",
            "X-Amz-Signature=a", "response-content-type=text%2Fhtml", "x-amz-acl=public-read", "Acl", "uploadId=1&acl",
        )),
        *(("PUT", f"{HERE}/x?{each}") for each in (
            "acl", "tagging", "retention", "legal-hold", "uploadId=1", "partNumber=1", "versionId=1",
        )),
        *(("POST", f"{HERE}/x{each}") for each in ("", "?restore", "?select&select-type=2", "?delete", "?uploads&acl")),
        *(("DELETE", f"{HERE}/x?{each}") for each in ("versionId=1", "tagging", "acl")),
        *(("GET", f"http://s3.local:9000/lake{each}") for each in (
            "", "/", "?acl", "?policy", "?location", "?uploads", "?versions&prefix=w%2Ft%2F", "?prefix=w%2Ft%2F",
            "?list-type=2", "?list-type=2&prefix=w%2Ft%2F&fetch-owner=true", "?list-type=2&prefix=",
            "?list-type=2&prefix=w",
            "?list-type=2&prefix=w%2Ft", "?list-type=2&prefix=w%2Fu%2F", "?list-type=2&prefix=w%2Ft%2F..%2Fu%2F",
        )),
        *(("PUT", f"http://s3.local:9000/lake{each}") for each in ("", "/", "?policy", "?acl", "?website")),
        ("DELETE", "http://s3.local:9000/lake"), ("POST", "http://s3.local:9000/lake"), ("HEAD",
        "http://s3.local:9000/lake"),
    ],
)  # fmt: skip
def test_other_operations_are_refused(method: str, uri: str) -> None:
    with pytest.raises(Forbidden):
        asked(uri, method)


@pytest.mark.parametrize(
    "query",
    [
        "", "=", "&", "partNumber=1&partNumber=2", "partNumber=0", "partNumber=a", "partNumber=123456", "versionId=",
        "versionId=a+b", "versionId=a/b", "versionId=%41", "part%4Eumber=1", "partNumber=1;acl", "partNumber=1?acl",
        "uploadId=", "versionId=%ff", "a.b=1",
    ],
)  # fmt: skip
def test_queries_that_programs_read_differently_are_bad_requests(query: str) -> None:
    with pytest.raises(BadRequest):
        asked(f"{HERE}/x?{query}")


def test_a_list_of_another_version_is_a_bad_request() -> None:
    with pytest.raises(BadRequest, match="list-type"):
        asked("http://s3.local:9000/lake?list-type=1&prefix=w%2Ft%2F")


@pytest.mark.parametrize(
    ("method", "query", "writes"),
    [
        ("GET", "", False), ("HEAD", "?versionId=a", False), ("GET", "?partNumber=1", False), ("GET",
        "?x-id=GetObject", False),
        ("GET", "?uploadId=a", True), ("PUT", "", True), ("PUT", "?partNumber=1&uploadId=a", True), ("POST",
        "?uploads", True),
        ("POST", "?uploads=", True), ("POST", "?uploadId=a", True), ("DELETE", "", True), ("DELETE",
        "?uploadId=a", True),
    ],
)  # fmt: skip
def test_operations_need_the_right_to_read_or_to_write(method: str, query: str, writes: bool) -> None:
    assert asked(f"{HERE}/x{query}", method).writes is writes


def test_a_list_of_the_table_needs_the_right_to_read() -> None:
    query = "list-type=2&prefix=w%2Ft%2F&delimiter=%2F&max-keys=10&encoding-type=url"
    assert not asked(f"http://s3.local:9000/lake?{query}").writes
    assert not asked(f"http://lake.s3.local:9000/?{query}").writes


# Headers


@pytest.mark.parametrize(
    "name",
    [
        "x-amz-acl", "X-Amz-Grant-Read", "x-amz-grant-full-control", "x-amz-security-token", "Authorization",
        "x-amz-date",
        "x-amz-tagging", "x-amz-website-redirect-location", "x-amz-object-lock-mode",
        "x-amz-bypass-governance-retention",
        "x-amz-request-payer", "x-amz-server-side-encryption-customer-key", "x-amz-mfa", "x-amz-rename-source",
        "x-http-method-override", "x-forwarded-host", "cookie", "x-amz-unknown",
    ],
)  # fmt: skip
def test_headers_that_grant_or_redirect_are_refused(name: str) -> None:
    with pytest.raises(Forbidden, match=name.lower()):
        asked(f"{HERE}/x", "PUT", headers={name: ["a"]})


@pytest.mark.parametrize(
    ("headers", "error"),
    [
        ({"x-amz-copy-source": ["/lake/w/u/x"]}, Forbidden),
        ({"x-amz-copy-source": ["pond/w/t/x"]}, Forbidden),
        ({"x-amz-copy-source": ["lake/w/t/../u/x"]}, Forbidden),
        ({"x-amz-copy-source": ["arn:aws:s3:us-east-1:1:accesspoint/a/object/x"]}, BadRequest),
        ({"x-amz-copy-source": ["lake/w/t/x?versionId=1"]}, BadRequest),
        ({"x-amz-copy-source": ["lake%2Fw%2Ft%2Fx"]}, BadRequest),
        ({"x-amz-copy-source": ["//lake/w/t/x"]}, Forbidden),
        ({"x-amz-copy-source": ["lake/w/t/x", "lake/w/u/x"]}, BadRequest),
        ({"x-amz-copy-source": [""]}, Forbidden),
        ({"host": ["evil.local"]}, BadRequest),
        ({"host": ["s3.local"]}, BadRequest),
        ({"host": ["s3.local:9000", "evil"]}, BadRequest),
        ({"range": ["a\r\nx-amz-acl: public-read"]}, BadRequest),
        ({"content-type": ["ü"]}, BadRequest),
        ({"a b": ["c"]}, BadRequest),
        ({"": ["c"]}, BadRequest),
        ({"content-type\n": ["c"]}, BadRequest),
        ({"range": ["a"], "Range": ["b"]}, BadRequest),
        ({"range": ["x" * 20_000]}, BadRequest),
        ({f"x-amz-meta-{number}": ["x"] for number in range(200)}, BadRequest),
        ({"x-amz-content-sha256": ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD"]}, BadRequest),
        ({"x-amz-content-sha256": ["abc"]}, BadRequest),
    ],
)
def test_headers_with_other_values_are_refused(headers: dict[str, list[str]], error: type[IcebergError]) -> None:
    with pytest.raises(error) as raised:
        asked(f"{HERE}/x", "PUT", headers=headers)
    assert type(raised.value) is error


def test_a_copy_within_the_table_is_signed_with_its_source() -> None:
    for source in ("lake/w/t/a%20b", "/lake/w/t/a%20b"):
        request = asked(f"{HERE}/x", "PUT", headers={"X-Amz-Copy-Source": [source]})
        assert request.headers == {"x-amz-copy-source": source}


# Deletes of several objects


def test_a_delete_of_several_objects_is_signed_with_its_content() -> None:
    body = '<?xml version="1.0" encoding="UTF-8"?>' + delete_of("w/t/a", "w/t/b&amp;c", more="<Quiet>true</Quiet>")
    request = asked(MULTI, "POST", body=body)
    assert request.writes and request.payload == sha256(body.encode()).hexdigest()
    assert asked(MULTI, "POST", body="<Delete><Object><Key>w/t/a</Key></Object></Delete>").writes


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (None, BadRequest),
        ("", BadRequest),
        (delete_of("w/t/a", "w/u/b"), Forbidden),
        (delete_of("w/t/../u/b"), Forbidden),
        (delete_of(" w/t/a"), Forbidden),
        (delete_of("w/t/&#46;&#46;/u"), Forbidden),
        (delete_of("w/t/a</Key><Key>w/u/b"), BadRequest),
        (delete_of("w/t/a</Key><VersionId>1</VersionId><Key>w/t/b"), Forbidden),
        (delete_of("w/t/<b/>a"), BadRequest),
        (delete_of(""), BadRequest),
        (delete_of(), BadRequest),
        (delete_of("w/t/a", more="<Objects><Key>w/u/b</Key></Objects>"), BadRequest),
        (delete_of("w/t/a", more="<Quiet><Object><Key>w/u/b</Key></Object></Quiet>"), BadRequest),
        (delete_of("w/t/a", more='<Object xmlns="other"><Key>w/u/b</Key></Object>'), BadRequest),
        (delete_of("w/t/a", more='<Object a="b"><Key>w/u/b</Key></Object>'), BadRequest),
        ('<!DOCTYPE Delete [<!ENTITY a "w/u/b">]>' + delete_of("&a;"), BadRequest),
        (delete_of("w/t/<!-- -->a"), BadRequest),
        (delete_of("<![CDATA[w/t/a]]>"), BadRequest),
        ('<?xml version="1.0" encoding="utf-7"?>' + delete_of("w/t/a"), BadRequest),
        ('<?xml version="1.0" encoding="utf-16"?>' + delete_of("w/t/a"), BadRequest),
        ("<Delete>", BadRequest),
        ("{}", BadRequest),
        ("<a>" * 50_000 + "</a>" * 50_000, BadRequest),
        (delete_of(*["w/t/a"] * 1001), BadRequest),
        (delete_of("w/t/" + "a" * 3_000_000), BadRequest),
    ],
)
def test_a_delete_of_anything_else_is_refused(body: str | None, error: type[IcebergError]) -> None:
    with pytest.raises(error) as raised:
        asked(MULTI, "POST", body=body)
    assert type(raised.value) is error


def test_a_delete_whose_content_may_be_another_is_refused() -> None:
    for sent in ("UNSIGNED-PAYLOAD", "0" * 64):
        with pytest.raises(BadRequest, match="SHA-256 of body"):
            asked(MULTI, "POST", body=delete_of("w/t/a"), headers={"x-amz-content-sha256": [sent]})


# Keys


def alone() -> bool:
    return True


def made(
    signer: Signer, user: str = "bob", location: str = "s3://lake/w/t", writes: bool = False
) -> TableSigner | None:
    return signer.of_table(user, location, alone, writes=writes)


def test_the_keys_of_the_role_are_used_where_there_is_one() -> None:
    policies: list[str] = []

    def assume(session: str, policy: str) -> Keys:
        policies.append(policy)
        return keys(len(policies), 900)

    signer = Signer("s3://lake/w", Vendor(ROLE, 900, "s3://lake/w", {}, assume), {"AWS_REGION": "us-east-1"})
    table = made(signer)
    assert table is not None and table.keys() == SigningKeys("id1", "secret", "token")
    assert "lake/w/t/*" in policies[0] and "PutObject" not in policies[0]
    headers = table.sign(s3_request(
        {"method": "GET", "region": "us-east-1", "uri": "https://s3.us-east-1.amazonaws.com/lake/w/t/x", "headers": {}},
        table.store,
        table.directory,
    ))  # fmt: skip
    assert headers["X-Amz-Security-Token"] == ["token"] and "Credential=id1/" in headers["Authorization"][0]


def test_nothing_is_signed_outside_of_the_warehouse_and_beside_another_table() -> None:
    signer = Signer("s3://lake/w", None, {}, lambda: SigningKeys("a", "b", None))
    assert made(signer, location="s3://lake/v/t") is made(signer, location="file:/w/t") is None
    assert signer.of_table("bob", "s3://lake/w/t", lambda: False, writes=True) is None


def test_a_server_without_keys_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    found = keys_of_environment()
    with pytest.raises(Unavailable, match="no keys"):
        found()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    assert found() == SigningKeys("a", "b", None)


def test_without_the_extra_the_server_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(MissingExtra, match="iceberg_signing"):
        Signer("s3://lake/w", None)


def test_the_secret_is_not_in_a_signature() -> None:
    assert "the secret" not in str(signature(asked(f"{HERE}/x"), SigningKeys("id", "the secret", None)))


def test_names_in_the_address_of_the_signer_are_encoded() -> None:
    table = made(Signer("s3://lake/w", None, {}, lambda: SigningKeys("a", "b", None)))
    assert table is not None
    config = client_config("a/b", TableName("a/b", "d b", "t?ä"), table)
    assert config["s3.signer.endpoint"] == "v1/a%2Fb/namespaces/d%20b/tables/t%3F%C3%A4/sign"
