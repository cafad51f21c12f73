"""What parameters define a remote, and which are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from metastored.errors import InvalidObjectException
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import CATALOG_KEYS, KEYS, MASK, remote_keys, short_name, without_remote_keys
from metastored.model.remotes.values import Access, is_remote, read_remote, remote_parameters

URIS = {"hive.metastore.uris": "thrift://old:9083"}


def refusal(parameters: dict[str, str], table: str | None = None) -> str:
    with pytest.raises(InvalidObjectException) as caught:
        read_remote("hive", "d", table, parameters)
    return caught.value.message or ""


def test_an_address_alone_makes_a_read_only_remote_of_the_same_name() -> None:
    remote = read_remote("hive", "Sales", None, URIS)
    assert (remote.catalog, remote.database, remote.table) == ("hive", "sales", None)
    assert (remote.remote_database, remote.remote_table) == ("sales", None)
    assert remote.endpoint == Endpoint("thrift", (("hive.metastore.uris", "thrift://old:9083"),))
    assert (remote.access, remote.cache_seconds) == (Access.READ, 0.0)


@pytest.mark.parametrize(
    ("given", "expected"), [("Raw.Clicks", ("raw", "clicks")), ("Clicks", ("d", "clicks")), ("", ("d", "t"))]
)
def test_the_remote_name_of_a_table_may_name_its_database_or_not(given: str, expected: tuple[str, str]) -> None:
    remote = read_remote("hive", "D", "T", URIS | ({"metastored.remote": given} if given else {}))
    assert (remote.remote_database, remote.remote_table) == expected


@pytest.mark.parametrize("name", ["a.b", "a.", ".", "a..b"])
def test_a_remote_database_has_one_name(name: str) -> None:
    assert "must be the name of the remote database" in refusal(URIS | {"metastored.remote": name})


def test_a_table_cannot_have_three_names() -> None:
    assert "must be database.table" in refusal(URIS | {"metastored.remote": "a.b.c"}, "t")


def test_iceberg_keeps_the_case_of_names_and_nested_namespaces() -> None:
    parameters = {"iceberg.catalog.uri": "https://rest/", "metastored.remote": "Top.Inner.Events"}
    remote = read_remote("hive", "d", "t", parameters)
    assert (remote.remote_database, remote.remote_table, remote.endpoint.via) == ("Top.Inner", "Events", "iceberg")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("org.apache.hadoop.hive.metastore.ThriftHiveMetastoreClientFactory", "thrift"),
        ("org.apache.hadoop.hive.metastore.SSHThriftHiveMetastoreClientFactory", "ssh"),
        ("com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory", "glue"),
        ("xxx.yyy.iceberg.hive.zzz.IcebergTableHiveClientFactory", "iceberg"),
        ("Thrift", "thrift"),
        ("nessie", "nessie"),
    ],
)
def test_class_names_match_by_their_last_part(name: str, short: str) -> None:
    assert short_name(name) == short


def test_a_via_that_is_no_name_is_refused() -> None:
    assert "names no connector" in refusal(URIS | {"metastored.remote.via": "a b"})


@pytest.mark.parametrize(
    ("parameters", "via"),
    [
        (URIS, "thrift"),
        (URIS | {"ssh.tunnel.route": "u@bastion -> u@node"}, "ssh"),
        ({"hive.metastore.uris": "https://other/metastore"}, "http"),
        ({"iceberg.table.path": "s3://b/t/metadata.json"}, "iceberg"),
        ({"metastored.remote": "r", "aws.glue.endpoint": "https://glue"}, "glue"),
        ({"hive.metastore.client.factory.class": "x.AWSGlueDataCatalogHiveClientFactory"}, "glue"),
    ],
)
def test_the_connector_is_implied_by_the_keys(parameters: dict[str, str], via: str) -> None:
    assert read_remote("hive", "d", "t", parameters).endpoint.via == via


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        (URIS | {"metastored.remote.acces": "write"}, "did you mean 'metastored.remote.access'?"),
        (URIS | {"favourite.colour": "blue"}, "'favourite.colour' is not a key of a remote"),
        ({"metastored.remote": "r"}, "'hive.metastore.uris' is missing"),
        ({"hive.metastore.uris": ""}, "is empty"),
        ({"hive.metastore.uris": "old:9083"}, "is not the address of a metastore"),
        ({"hive.metastore.uris": "thrift://old"}, "is not the address of a metastore"),
        ({"hive.metastore.uris": "thrift://old:port"}, "is not an address"),
        (URIS | {"metastored.remote.access": "all"}, "must be read or write"),
        (URIS | {"metastored.remote.timeout": "soon"}, "must be seconds"),
        (URIS | {"metastored.remote.timeout": "0"}, "must be more than 0"),
        (URIS | {"metastored.remote.timeout": "9e99"}, "must be seconds"),
        (URIS | {"metastored.remote.cache": "-1"}, "must be seconds"),
        (URIS | {"hive.metastore.use.SSL": "yes"}, "must be true or false"),
        (URIS | {"aws.glue.endpoint": "https://glue"}, "is a key of glue remotes, and this one is via thrift"),
        (URIS | {"metastored.remote.via": "http"}, "has addresses with http or https://"),
        (URIS | {"metastored.remote.via": "ssh"}, "'ssh.tunnel.route' is missing"),
        (URIS | {"metastored.remote.prefix": "x_"}, "is a key of remote catalogs only"),
        (URIS | {"metastored.remote.password": MASK}, "give the secret itself"),
        (URIS | {"metastored.remote.tables": "(?=a)"}, r"neither a name nor a regular expression: at position 2"),
        (URIS | {"metastored.remote.tables": "a**"}, "a repetition is repeated"),
        (URIS | {"metastored.remote.tables": "a("}, "is neither a name nor a regular expression"),
        ({"metastored.remote.via": "iceberg"}, "'iceberg.table.path' or 'iceberg.catalog.uri' is missing"),
    ],
)
def test_a_definition_that_cannot_work_is_refused_with_the_reason(parameters: dict[str, str], reason: str) -> None:
    assert reason in refusal(parameters)


@pytest.mark.parametrize(
    "key",
    [
        "spark.sql.sources.provider",
        "spark.sql.create.version",
        "EXTERNAL",
        "transient_lastDdlTime",
        "bucketing_version",
        "numFiles",
        "trino_version",
    ],
)
def test_what_engines_add_to_a_new_table_by_themselves_is_ignored(key: str) -> None:
    assert read_remote("hive", "d", "t", URIS | {key: "1"}) == read_remote("hive", "d", "t", URIS)


@pytest.mark.parametrize(("text", "seconds"), [("10", 10), ("0.5", 0.5), ("500ms", 0.5), ("2m", 120), ("1 h", 3600)])
def test_times_have_units(text: str, seconds: float) -> None:
    assert read_remote("hive", "d", None, URIS | {"metastored.remote.timeout": text}).endpoint.timeout == seconds


def test_a_connector_of_an_entry_point_has_keys_that_begin_with_its_name() -> None:
    parameters = {"metastored.remote.via": "nessie", "nessie.ref": "main", "nessie.token": "abc"}
    remote = read_remote("hive", "d", None, parameters)
    assert remote.endpoint.get("nessie.ref") == "main"
    assert remote_parameters(remote, masked=True)["nessie.token"] == MASK
    assert "'other.ref' is not a key" in refusal(parameters | {"other.ref": "main"})


def test_a_definition_written_as_parameters_is_read_as_the_same_one() -> None:
    parameters = URIS | {
        "metastored.remote": "r",
        "metastored.remote.access": "write",
        "metastored.remote.timeout": "2.5",
        "metastored.remote.cache": "5m",
        "metastored.remote.tables": "a.*, b{1,2}",
        "metastored.remote.password": "s3cret",
    }
    remote = read_remote("hive", "d", None, parameters)
    assert read_remote("hive", "d", None, remote_parameters(remote, masked=False)) == remote


def test_secrets_are_masked_and_references_are_not() -> None:
    secret = read_remote("hive", "d", None, URIS | {"metastored.remote.password": "s3cret"})
    reference = read_remote("hive", "d", None, URIS | {"metastored.remote.password": "env:METASTORED_REMOTE__X"})
    assert remote_parameters(secret, masked=True)["metastored.remote.password"] == MASK
    assert remote_parameters(reference, masked=True)["metastored.remote.password"] == "env:METASTORED_REMOTE__X"


def test_a_password_in_an_address_is_masked_too() -> None:
    remote = read_remote("hive", "d", None, {"iceberg.catalog.uri": "postgresql://u:pw@db/c"})
    assert remote_parameters(remote, masked=True)["iceberg.catalog.uri"] == f"postgresql://u:{MASK}@db/c"


def test_no_text_of_a_remote_has_its_secrets() -> None:
    remote = read_remote("hive", "d", None, URIS | {"metastored.remote.password": "s3cret"})
    assert "s3cret" not in f"{remote} {remote!r} {remote.endpoint} {remote.endpoint!r}"


def test_an_allow_list_matches_whole_names_in_any_case() -> None:
    remote = read_remote("hive", "d", None, URIS | {"metastored.remote.tables": "orders, web_.*"})
    assert [name in remote.tables for name in ("orders", "ORDERS", "web_x", "orders_2", "x")] == [
        *(True, True, True),
        *(False, False),
    ]


def test_parameters_are_told_apart_into_those_of_the_definition_and_those_of_the_object() -> None:
    given = URIS | {"metastored.remote": "r", "owner.team": "web", "numRows": "3"}
    assert is_remote(given) and not is_remote({"owner.team": "web"}) and not is_remote(None)
    assert remote_keys(given) == URIS | {"metastored.remote": "r"}
    assert without_remote_keys(given) == {"owner.team": "web", "numRows": "3"}


def test_the_reference_has_every_key() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/reference/remotes.md").read_text("utf-8")
    missing = [key.name for key in (*KEYS, *CATALOG_KEYS) if f"`{key.name}" not in page]
    assert not missing
