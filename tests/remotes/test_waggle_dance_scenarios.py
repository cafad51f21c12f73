"""Waggle Dance's integration scenarios 1 to 12 and 19 to 33, each by its number, with metastored in its place.

Waggle Dance's primary metastore is metastored itself; a federated one is a remote catalog: MANUAL is one with the empty
prefix, PREFIXED one with a prefix. Scenarios about its files and its Redis are in `test_waggle_dance_servers.py`.
"""

from __future__ import annotations

import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import metastored
from metastored.errors import InvalidOperationException, MetaException, MetastoreError, NoSuchObjectException
from metastored.structs import (
    EnvironmentContext,
    Function,
    FunctionType,
    HiveObjectRef,
    HiveObjectType,
    PrincipalType,
)
from metastored.wire.structs import replace
from tests.support.forks import run_command
from tests.support.ssh import bastions
from tests.support.waggle_dance import Federation, federation

pytestmark = pytest.mark.slow

REFUSED = (MetaException, InvalidOperationException)


@pytest.fixture(scope="module")
def servers() -> Iterator[Federation]:
    with federation(http_port=0, http_tls="off") as found:
        yield found


@pytest.fixture
def both(servers: Federation) -> Iterator[Federation]:
    yield servers
    servers.clean()


def shown(both: Federation) -> tuple[str, ...]:
    return tuple(name for name in both.here.databases() if name != "default")


def test_1_typical_a_remote_table_is_what_a_direct_read_gives_under_the_virtual_name(both: Federation) -> None:
    both.catalog("waggle_remote", databases="remote_database")
    assert both.here.table("local_database.local_table").tableName == "local_table"
    direct, seen = both.there.table("remote_database.remote_table"), both.here.table("remote_database.remote_table")
    assert (seen.sd, seen.partitionKeys) == (direct.sd, direct.partitionKeys)
    assert (seen.parameters or {}).items() >= (direct.parameters or {}).items()
    both.catalog("prefixed", "waggle_")
    found = both.partitions("waggle_remote_database")
    expected = both.there.api.get_partitions_by_names(
        "remote_database", "remote_table", ("continent=Europe/country=UK", "continent=Asia/country=China")
    )
    assert len(found) == 2
    assert found == tuple(replace(part, dbName="waggle_remote_database") for part in expected)


def test_2_typical_get_all_functions_lists_those_of_every_metastore_by_local_names(both: Federation) -> None:
    for client, database, name in (
        (both.here, "local_database", "fn1"),
        (both.there, "remote_database", "fn2"),
    ):
        owner = PrincipalType.USER
        client.api.create_function(
            Function(name, database, "com.hotels.hive.FN", "o", owner, functionType=FunctionType.JAVA)
        )
    try:
        both.catalog("waggle_remote", "waggle_remote_")
        found = both.here.api.get_all_functions().functions or ()
        assert sorted((each.dbName, each.functionName) for each in found) == [
            ("local_database", "fn1"),
            ("waggle_remote_remote_database", "fn2"),
        ]
    finally:
        both.here.api.drop_function("local_database", "fn1")
        both.there.api.drop_function("remote_database", "fn2")


def test_3_use_prefix_two_client_connections_at_once(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_remote_")
    with metastored.connect(both.server.uri) as one, metastored.connect(both.server.uri) as two:
        for client in (one, two, one):
            assert client.table("waggle_remote_remote_database.remote_table").dbName == "waggle_remote_remote_database"
            assert client.table("local_database.local_table").dbName == "local_database"


def test_4_many_federated_metastores_list_all_their_databases(both: Federation) -> None:
    for number in range(14):
        both.catalog(f"remote{number}", f"remote{number}_", databases="remote_.*")
    assert {name for name in shown(both) if name.startswith("remote")} == {
        f"remote{number}_remote_database" for number in range(14)
    }
    for number in range(14):
        name = f"remote{number}_remote_database"
        assert both.here.table(f"{name}.remote_table").dbName == name


def test_5_use_primary_prefix_prefixed_and_bare_names_both_resolve_to_what_was_asked_for(both: Federation) -> None:
    both.catalog("primary", "primary_")
    both.catalog("bare")
    for name in ("primary_remote_database", "remote_database"):
        assert both.here.table(f"{name}.remote_table").dbName == name
        assert both.here.database(name).name == name


def test_6_typical_with_graphite_calls_are_counted_by_method_and_remote(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")

    def counted() -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{both.server.http_port}/metrics") as page:
            lines = page.read().decode().splitlines()
        name = f'metastored_remote_calls_total{{method="get_all_tables",remote="{both.remote.uri}"}} '
        return sum(float(line.removeprefix(name)) for line in lines if line.startswith(name))

    before = counted()
    for _ in range(3):
        both.here.api.get_all_tables("waggle_remote_database")
    deadline = time.monotonic() + 30
    while counted() != before + 3:  # Workers publish what they counted a moment later.
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_7_read_write_create_allowed_on_the_primary(both: Federation) -> None:
    both.here.create_database("new_db")
    both.here.create_table(metastored.table("new_db.t", {"id": "int"}))
    assert both.here.table("new_db.t").tableName == "t"
    both.here.drop_table("new_db.t")
    with pytest.raises(NoSuchObjectException):
        both.here.table("new_db.t")


def test_8_read_write_create_allowed_prefixed(both: Federation) -> None:
    both.catalog("primary", "primary_", access="write")
    both.here.create_database("primary_new_db")
    assert "new_db" in both.there.databases() and "primary_new_db" in shown(both)
    both.here.create_table(metastored.table("primary_new_db.t", {"id": "int"}))
    assert both.here.table("primary_new_db.t").dbName == "primary_new_db"
    both.here.drop_table("primary_new_db.t")
    with pytest.raises(NoSuchObjectException):
        both.there.table("new_db.t")


def writable_table(both: Federation) -> None:
    both.there.create_database("other_db")
    both.there.create_table(metastored.table("other_db.t", {"id": "int"}))


def test_9_a_federated_write_is_allowed_where_the_database_is_on_the_list(both: Federation) -> None:
    writable_table(both)
    both.catalog("waggle_remote", "waggle_", access="write", writable="other.*")
    both.here.drop_table("waggle_other_db.t")
    assert both.there.tables("other_db") == ()


def test_10_a_federated_write_is_refused_where_there_is_no_list(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    with pytest.raises(MetaException, match="read-only"):
        both.here.drop_table("waggle_remote_database.remote_table")
    assert both.there.tables("remote_database") == ("remote_table",)


def test_11_a_federated_write_is_refused_where_the_list_does_not_match(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_", access="write", writable="mismatch")
    with pytest.raises(MetaException, match="read-only"):
        both.here.drop_table("waggle_remote_database.remote_table")
    assert both.there.tables("remote_database") == ("remote_table",)


def test_12_database_whitelisting_alter_database_is_refused_or_allowed_by_the_list(both: Federation) -> None:
    both.there.create_database("writable_db")
    both.catalog("primary", access="write", writable="writable_db")
    for name, allowed in (("writable_db", True), ("remote_database", False)):
        seen = both.here.database(name)
        changed = replace(seen, parameters={**(seen.parameters or {}), "colour": "blue"})
        if allowed:
            both.here.api.alter_database(name, changed)
        else:
            with pytest.raises(REFUSED, match="read-only"):
                both.here.api.alter_database(name, changed)
        stored = both.there.database(name).parameters or {}
        assert ("colour" in stored) is allowed
        assert not any(key.startswith(("metastored", "hive.metastore")) for key in stored)


def test_15_a_federated_table_is_renamed_by_alter_table_with_environment_context(both: Federation) -> None:
    writable_table(both)
    both.catalog("waggle_remote", "waggle_", access="write", writable="other_db")
    seen = both.here.table("waggle_other_db.t")
    renamed = replace(seen, tableName="new_name")
    both.here.api.alter_table_with_environment_context("waggle_other_db", "t", renamed, EnvironmentContext({}))
    assert both.there.tables("other_db") == ("new_name",)
    assert both.here.tables("waggle_other_db") == ("new_name",)


def remotes_test(both: Federation) -> subprocess.CompletedProcess[str]:
    return run_command("remotes", "test", "--uri", both.server.uri, timeout=120)


def test_19_the_status_of_a_federation_can_be_asked_for(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    done = remotes_test(both)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "ok     catalog waggle_remote")
    both.catalog("gone", "gone_", "DEAD")
    done = remotes_test(both)
    assert done.returncode == 1 and "FAILED catalog gone" in done.stdout and "ok     catalog waggle" in done.stdout


def test_20_a_table_is_read_through_a_tunnel_whose_configuration_can_be_read(both: Federation, tmp_path: Path) -> None:
    with bastions(tmp_path, "bastion", "node") as ssh:
        keys = ", ".join(f"'{key}' = '{value}'" for key, value in ssh.properties.items())
        both.sql(f"CREATE REMOTE CATALOG tunnelled PREFIX 't_' VIA 'ssh' WITH PROPERTIES (URIS, {keys})")
        assert both.here.table("t_remote_database.remote_table").dbName == "t_remote_database"
        assert len(both.here.api.get_partition_names("t_remote_database", "remote_table", -1)) == 2
        bastion, node = ssh.servers
        assert bastion.reached == [("127.0.0.1", node.port)]
        assert set(node.reached) == {("127.0.0.1", both.remote.port)}
        printed = both.sql("SHOW CREATE REMOTE CATALOG tunnelled").rows[0][0]
        assert "VIA 'ssh'" in printed
        for key, value in ssh.properties.items():
            assert f"'{key}' = '{value}'" in printed
        both.sql("DROP REMOTE CATALOG tunnelled")


@pytest.mark.parametrize("prefix", ["", "waggle_"], ids=["21_manual", "22_prefixed"])
def test_21_22_mapped_databases_are_names_or_regular_expressions(both: Federation, prefix: str) -> None:
    both.there.create_database("hidden")
    both.catalog("waggle_remote", prefix, databases="remote.?database, no_match.*")
    assert shown(both) == ("local_database", f"{prefix}remote_database")
    assert both.here.table(f"{prefix}remote_database.remote_table").dbName == f"{prefix}remote_database"
    with pytest.raises(NoSuchObjectException):
        both.here.database(f"{prefix}hidden")


@pytest.mark.parametrize("prefix", ["", "primary_"], ids=["23_manual", "24_prefixed"])
def test_23_24_a_created_database_is_seen_whatever_the_mapped_databases_are(both: Federation, prefix: str) -> None:
    both.catalog("primary", prefix, databases="remote_database", access="write")
    both.here.create_database(f"{prefix}newly_created")
    assert shown(both) == tuple(sorted(("local_database", f"{prefix}newly_created", f"{prefix}remote_database")))
    assert both.here.database(f"{prefix}newly_created").name == f"{prefix}newly_created"


def more_tables(both: Federation) -> None:
    both.there.create_database("shop")
    for name in ("orders", "order_lines", "secret"):
        both.there.create_table(metastored.table(f"shop.{name}", {"id": "int"}))


def test_25_mapped_tables_filter_listings_and_reads(both: Federation) -> None:
    more_tables(both)
    both.catalog("waggle_remote", "waggle_", tables__shop="orders, secret")
    assert both.here.tables("waggle_shop") == ("orders", "secret")
    assert both.here.api.get_all_tables("waggle_shop") == ("orders", "secret")
    assert both.here.tables("waggle_remote_database") == ("remote_table",)
    with pytest.raises(NoSuchObjectException):
        both.here.table("waggle_shop.order_lines")


def test_26_mapped_tables_may_be_regular_expressions_and_may_match_nothing(both: Federation) -> None:
    more_tables(both)
    both.catalog("waggle_remote", "waggle_", tables__shop="order.*", tables__remote_database="no_match")
    assert both.here.tables("waggle_shop") == ("order_lines", "orders")
    assert both.here.tables("waggle_remote_database") == ()


@pytest.mark.parametrize("prefix", ["waggle_", ""], ids=["27_prefixed", "28_manual"])
def test_27_28_database_name_mapping_gives_a_database_a_further_name(both: Federation, prefix: str) -> None:
    both.there.create_database("shop")
    both.catalog("waggle_remote", prefix, databases="shop, remote_.*", alias__remote_database="renamed")
    names = (f"{prefix}renamed", f"{prefix}remote_database", f"{prefix}shop")
    assert shown(both) == tuple(sorted(("local_database", *names)))
    for name in names[:2]:
        assert both.here.table(f"{name}.remote_table").dbName == name


def test_30_get_privilege_set_with_a_null_object_name(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_")
    for kind, database in (
        (HiveObjectType.GLOBAL, None),
        (HiveObjectType.DATABASE, "local_database"),
        (HiveObjectType.DATABASE, "waggle_remote_database"),
    ):
        ref = HiveObjectRef(objectType=kind, dbName=database, objectName=None)
        assert both.here.api.get_privilege_set(ref, "user", ("group",)) is not None


def test_31_get_table_meta_with_an_exact_name_and_with_wildcards(both: Federation) -> None:
    both.catalog("waggle_remote", "waggle_remote_")
    for databases, tables in (
        ("waggle_remote_remote_database", "*"),
        ("waggle_remote_remote.database", "remote.table"),
        ("waggle.remote_remote_database", "*"),
    ):
        listed = both.here.api.get_table_meta(databases, tables, None)
        names = [(each.dbName, each.tableName) for each in listed]
        assert names == [("waggle_remote_remote_database", "remote_table")], (databases, tables)


@pytest.mark.parametrize("prefix", ["gone_", ""], ids=["32_prefixed", "33_manual"])
def test_32_33_an_unavailable_federated_metastore_does_not_stop_the_primary(both: Federation, prefix: str) -> None:
    both.catalog("gone", prefix, "DEAD", timeout="2")
    assert both.here.table("local_database.local_table").tableName == "local_table"
    with pytest.raises(MetastoreError, match=r"remote database 'gone_x'"):
        both.here.table("gone_x.t")
    assert both.here.tables("local_database") == ("local_table",)
