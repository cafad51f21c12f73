"""The client's document, section 3: versions, capabilities, fallbacks, protocols and types."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from metastored.catalog import CatalogManager, ColumnStatus, TableDefinition
from metastored.client.versions import FEATURES, HiveVersion, parse_version
from metastored.errors import NotSupported, TransportError
from metastored.hive.types.type_strings import Struct
from tests.server.http.support import DB, TABLE
from tests.specs.conftest import Server
from tests.support.hive_2_0 import hive_2_0
from tests.support.scripted import hang_up, scripted

pytestmark = pytest.mark.slow

# 3.2.1


def test_3_2_1_a_a_server_with_get_metastore_db_uuid_is_detected_as_3_0_or_later(
    server: Server, client: metastored.Client
) -> None:
    has_uuid = client.capabilities.knows("get_metastore_db_uuid")
    assert has_uuid == (server.version >= (3, 0)) == (client.capabilities.version() >= (3, 0))


def test_3_2_1_b_an_older_server_is_detected_by_what_it_lacks(old: Server) -> None:
    with old.client() as client:
        assert client.capabilities.version()[:2] == (2, 3)
    with hive_2_0() as uri, metastored.connect(uri) as client:
        assert client.capabilities.version()[:2] == (2, 0)


def test_3_2_1_c_a_version_has_three_numbers_and_is_ordered() -> None:
    version = HiveVersion(3, 1, 3)
    assert (version.major, version.minor, version.patch) == (3, 1, 3)
    assert HiveVersion(2, 3, 9) < HiveVersion(3, 0, 0) < version < HiveVersion(4, 0, 0)
    assert parse_version("4.0.1") == HiveVersion(4, 0, 1) and parse_version("nothing") is None


# 3.2.2


def test_3_2_2_a_databases_tables_and_partitions_are_features_of_every_version(client: metastored.Client) -> None:
    assert client.capabilities.has_databases() and client.capabilities.has_tables()
    assert client.capabilities.has_partitions()


def test_3_2_2_b_locks_statistics_and_bulk_operations_are_there_since_2_3(client: metastored.Client) -> None:
    for feature in ("lock_service", "table_statistics", "bulk_operations", "partition_batching"):
        assert client.capabilities.supports(feature), feature


def test_3_2_2_c_acid_transactions_materialized_views_and_the_schema_registry_are_there_since_3_0(
    server: Server, client: metastored.Client
) -> None:
    for feature in ("acid_transactions", "materialized_views", "schema_registry"):
        assert client.capabilities.supports(feature) == (server.version >= (3, 0)), feature


def test_3_2_2_d_constraints_beyond_keys_are_there_since_3_1(server: Server, client: metastored.Client) -> None:
    assert client.capabilities.has_constraints() == (server.version >= (3, 1))


def test_3_2_2_e_supports_says_whether_a_feature_is_there(sqlite: Server, old: Server) -> None:
    with sqlite.client() as client:
        assert all(client.capabilities.supports(name) for name in FEATURES)
    with old.client() as client:
        assert not client.capabilities.supports("acid_transactions")
        with pytest.raises(
            NotSupported, match=r"is Hive 2\.3 and has no get_valid_write_ids.*Hive has this since 3\.0"
        ):
            client.capabilities.supports("acid_transactions", check=True)


# 3.2.3


def test_3_2_3_a_list_tables_uses_one_call_for_the_names_and_one_for_each_batch(
    server: Server, client: metastored.Client, db: str
) -> None:
    for number in range(5):
        client.create_table(metastored.table(f"{db}.t{number}", {"id": "bigint"}))
    with server.client(cache=False, batch=2) as other:
        assert len(list(other.table_objects(db))) == 5
        before = other.api.calls
        assert [table.tableName for table in other.table_objects(db)] == [f"t{number}" for number in range(5)]
        assert other.api.calls - before == 1 + 3


def test_3_2_3_b_without_bulk_operations_the_tables_are_read_one_by_one(own: Server) -> None:
    with own.nine(cache=False) as client:
        assert [table.tableName for table in client.table_objects(DB)] == [TABLE]
        before = client.api.calls
        list(client.table_objects(DB))
        assert client.api.calls - before <= 4, "the names, what is not there any more, and the table"


# 3.2.4


def test_3_2_4_a_binary_is_the_default_protocol_and_compact_can_be_chosen(own: Server) -> None:
    with scripted(otherwise=hang_up) as server:
        with metastored.connect(server.uri, cache=False) as client, pytest.raises(TransportError):
            client.databases()
        assert server.requests[0].startswith(b"\x80\x01")
        compact = metastored.connect(
            server.uri, cache=False, transport=metastored.TransportSettings(protocol="compact", framed=False)
        )
        with compact as client, pytest.raises(TransportError):
            client.databases()
        assert server.requests[-1].startswith(b"\x82")
    with own.client(transport=metastored.TransportSettings(protocol="compact")) as client:
        assert "default" in client.databases()


def test_3_2_4_b_the_transport_is_buffered_or_framed_and_found_out_where_it_is_not_given(server: Server) -> None:
    for framed in (None, False):
        with server.client(transport=metastored.TransportSettings(framed=framed)) as client:
            assert "default" in client.databases()
    if server.is_own:
        with server.client(transport=metastored.TransportSettings(framed=True)) as client:
            assert "default" in client.databases()


# 3.3

NESTED = {
    "a": "array<map<string,struct<x:int,y:decimal(10,2)>>>",
    "b": "struct<name:string,tags:array<string>>",
    "c": "map<int,double>",
    "d": "uniontype<int,string>",
}


def test_3_3_a_nested_type_strings_are_read_from_every_version(catalogs: CatalogManager, db: str) -> None:
    columns = [ColumnStatus(name, type) for name, type in NESTED.items()]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, format="orc"))
    found = catalogs.get_table(f"{db}.t")
    assert {each.name: each.data_type for each in found.columns} == NESTED
    assert isinstance(found.column("b").hive_type, Struct)
    assert str(found.column("c").arrow().type) == "map<int32, double>"


def test_3_3_b_a_column_has_a_name_a_type_nullability_a_comment_a_default_and_its_roles(
    catalogs: CatalogManager, db: str
) -> None:
    columns = [ColumnStatus("id", "bigint", "the key"), ColumnStatus("name", "string"), ColumnStatus("ds", "date")]
    catalogs.create_table(f"{db}.t", TableDefinition(columns=columns, partition_by=["ds"]))
    first, second, key = catalogs.get_table(f"{db}.t").columns
    assert (first.name, first.data_type, first.comment) == ("id", "bigint", "the key")
    assert (first.nullable, first.default, first.generated_always_as) == (True, None, None)
    assert (second.comment, second.is_partition, second.is_bucket, second.is_cluster) == (None, False, False, False)
    assert key.is_partition


# 3.4


@pytest.fixture(
    params=[
        "hive_2_0",
        pytest.param("hive_2_3", marks=(pytest.mark.apache, pytest.mark.slow)),
        pytest.param("hive_3_0", marks=(pytest.mark.peers, pytest.mark.slow)),
        pytest.param("hive_3_1", marks=(pytest.mark.apache, pytest.mark.slow)),
        pytest.param("hive_4_0_1", marks=(pytest.mark.peers, pytest.mark.slow)),
    ]
)
def version(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """The number of a version, and the address of such a server."""
    number = request.param.removeprefix("hive_").replace("_", ".")[:3]
    if request.param == "hive_2_0":
        with hive_2_0() as uri:
            yield number, uri
    else:
        yield number, request.getfixturevalue(request.param).uri


def test_3_4_a_every_version_in_the_table_is_served(version: tuple[str, str], db: str) -> None:
    number, uri = version
    with metastored.connect(uri) as client:
        assert ".".join(map(str, client.capabilities.version()[:2])) == number
        client.create_database(db)
        client.create_table(metastored.table(f"{db}.t", {"id": "bigint"}, partitioned_by={"ds": "string"}))
        client.add_partitions(f"{db}.t", [["1"], ["2"]])
        assert [table.tableName for table in client.table_objects(db)] == ["t"]
        assert [part.values for part in client.partitions(f"{db}.t", where="ds > '1'")] == [("2",)]
        client.drop_database(db, cascade=True)
        assert db not in client.databases()
