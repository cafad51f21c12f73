"""Metastores of several versions behind one metastored, as Waggle Dance's compatibility tests have them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import metastored
from metastored.errors import NoSuchObjectException
from metastored.structs import (
    CheckConstraintsRequest,
    ForeignKeysRequest,
    GetTableRequest,
    GetTablesRequest,
    NotNullConstraintsRequest,
    PrimaryKeysRequest,
)
from tests.support.apache import ApacheMetastore
from tests.support.forks import running_server

pytestmark = [pytest.mark.apache, pytest.mark.slow]

NAME = "waggle_versions"
PREFIXES = ("h2_", "h3_")


@pytest.fixture(scope="module")
def client(hive_2_3: ApacheMetastore, hive_3_1: ApacheMetastore) -> Iterator[metastored.Client]:
    """metastored with Hive 2.3.10 under h2_ and Hive 3.1.3 under h3_."""
    with running_server() as server, metastored.connect(server.uri, cache=False) as here:
        for prefix, hive in zip(PREFIXES, (hive_2_3, hive_3_1), strict=True):
            with metastored.connect(hive.uri) as there:
                there.create_database(NAME)
                table = metastored.table(f"{NAME}.t", {"id": "bigint"}, partitioned_by={"ds": "string"})
                there.create_table(table)
                there.add_partitions(f"{NAME}.t", [("1",), ("2",)])
            here.sql(
                f"CREATE REMOTE CATALOG {prefix}hive PREFIX '{prefix}' WITH PROPERTIES ('hive.metastore.uris' = "
                f"'{hive.uri}', 'metastored.remote.databases' = '{NAME}')"
            )
        yield here
    for hive in (hive_2_3, hive_3_1):
        with metastored.connect(hive.uri) as there:
            there.drop_database(NAME, cascade=True)


def test_databases_of_both_versions_are_listed_together(client: metastored.Client) -> None:
    assert client.databases() == ("default", *(prefix + NAME for prefix in PREFIXES))
    listed = client.api.get_table_meta("*", "*", None)
    assert [(each.dbName, each.tableName) for each in listed] == [(prefix + NAME, "t") for prefix in PREFIXES]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_table_is_read_by_the_calls_of_clients_of_every_version(client: metastored.Client, prefix: str) -> None:
    database = prefix + NAME
    assert client.api.get_table(database, "t").dbName == database
    wrapped = client.api.get_table_req(GetTableRequest(dbName=database, tblName="t")).table
    assert wrapped is not None and wrapped.dbName == database
    request = GetTablesRequest(dbName=database, tblNames=("t",))
    assert [each.dbName for each in client.api.get_table_objects_by_name_req(request).tables or ()] == [database]
    found = client.api.get_partitions_by_filter(database, "t", "ds = '2'", -1)
    assert [(each.dbName, each.values) for each in found] == [(database, ("2",))]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_constraints_that_a_version_does_not_have_are_none(client: metastored.Client, prefix: str) -> None:
    database = prefix + NAME
    keys = client.api.get_primary_keys(PrimaryKeysRequest(db_name=database, tbl_name="t"))
    assert not keys.primaryKeys
    foreign = ForeignKeysRequest(foreign_db_name=database, foreign_tbl_name="t")
    assert not client.api.get_foreign_keys(foreign).foreignKeys
    for request, method in (
        (NotNullConstraintsRequest(catName="hive", db_name=database, tbl_name="t"), "get_not_null_constraints"),
        (CheckConstraintsRequest(catName="hive", db_name=database, tbl_name="t"), "get_check_constraints"),
    ):
        assert client.api.call(method, request)[0] == ()


@pytest.mark.parametrize("prefix", PREFIXES)
def test_errors_have_local_names(client: metastored.Client, prefix: str) -> None:
    with pytest.raises(NoSuchObjectException, match=rf"{prefix}{NAME}\.nothing"):
        client.api.get_table(prefix + NAME, "nothing")
