"""The client's document, section 6: what a catalog does, its settings, and the example configuration."""

from __future__ import annotations

import logging
import textwrap
from pathlib import Path
from typing import Any

import pytest

from metastored.catalog import (
    CatalogManager,
    ColumnStatus,
    DatabaseDefinition,
    TableChanges,
    TableDefinition,
    TableKind,
    ViewDefinition,
    load,
)
from metastored.catalog._sync.hive import HiveProvider
from metastored.catalog.settings import CacheKeys, HiveCatalog, MemoryCatalog, PoolKeys, ThriftKeys
from metastored.client.cache import CacheStats
from metastored.errors import (
    DatabaseNotFound,
    Error,
    ErrorKind,
    InvalidInputException,
    ObjectAlreadyExists,
    ObjectNotFound,
    TransportError,
    kind_of,
)
from tests.catalog.test_settings import APPLICATION
from tests.specs.conftest import Server

pytestmark = pytest.mark.slow

COLUMNS = [ColumnStatus("id", "bigint"), ColumnStatus("name", "string")]
TABLE = TableDefinition(columns=COLUMNS)
VIEW = ViewDefinition(definition="SELECT 1 AS id", columns=[ColumnStatus("id", "int")])


def cache(catalogs: CatalogManager) -> CacheStats:
    provider = catalogs.provider()
    assert isinstance(provider, HiveProvider)
    found = provider.client.cache_stats()
    assert found is not None
    return found


# 6.1


def test_6_1_a_a_provider_has_a_name(catalogs: CatalogManager) -> None:
    assert catalogs.provider().name == "hive"
    assert catalogs.catalogs == ("hive",)


def test_6_1_b_create_database_takes_comment_location_and_properties_and_returns_the_database(
    server: Server, db: str, tmp_path: Path
) -> None:
    with server.catalogs() as catalogs:
        given = DatabaseDefinition(comment="words", location=f"file:{tmp_path}/here", properties={"a": "1"})
        made = catalogs.create_database(db, given)
        assert (made.catalog, made.database, made.comment) == ("hive", (db,), "words")
        assert made.location == f"file:{tmp_path}/here" and made.properties["a"] == "1"
        catalogs.drop_database(db)


def test_6_1_c_create_database_takes_if_not_exists(catalogs: CatalogManager, db: str) -> None:
    with pytest.raises(ObjectAlreadyExists, match=db):
        catalogs.create_database(db)
    assert catalogs.create_database(db, if_not_exists=True).name == db


def test_6_1_d_drop_database_takes_if_exists_and_cascade(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TABLE)
    with pytest.raises(Error):
        catalogs.drop_database(db)
    catalogs.drop_database(db, cascade=True)
    with pytest.raises(DatabaseNotFound, match=db):
        catalogs.drop_database(db)
    catalogs.drop_database(db, if_exists=True)


def test_6_1_e_get_database_is_answered_from_the_cache_the_second_time(catalogs: CatalogManager, db: str) -> None:
    first = catalogs.get_database(db)
    before = cache(catalogs)
    assert catalogs.get_database(db) == first
    after = cache(catalogs)
    assert (after.hits - before.hits, after.misses - before.misses) == (1, 0)


def test_6_1_f_list_databases_takes_a_pattern(catalogs: CatalogManager, db: str) -> None:
    assert [each.name for each in catalogs.list_databases(pattern=f"{db}*")] == [db]
    assert {db, "default"} <= {each.name for each in catalogs.list_databases()}


def test_6_1_g_create_table_returns_the_table_and_takes_if_not_exists(catalogs: CatalogManager, db: str) -> None:
    made = catalogs.create_table(f"{db}.t", TABLE)
    assert (made.catalog, made.database, made.name, made.kind) == ("hive", (db,), "t", TableKind.TABLE)
    assert [(each.name, each.data_type) for each in made.columns] == [("id", "bigint"), ("name", "string")]
    with pytest.raises(ObjectAlreadyExists, match=rf"{db}\.t"):
        catalogs.create_table(f"{db}.t", TABLE)
    assert catalogs.create_table(f"{db}.t", TABLE, if_not_exists=True) == made


def test_6_1_h_get_table_is_answered_from_the_cache_the_second_time(catalogs: CatalogManager, db: str) -> None:
    first = catalogs.create_table(f"{db}.t", TABLE)
    catalogs.get_table(f"{db}.t")
    before = cache(catalogs)
    assert catalogs.get_table(f"{db}.t") == first
    after = cache(catalogs)
    assert after.hits > before.hits and after.misses == before.misses


def test_6_1_i_list_tables_takes_a_pattern(catalogs: CatalogManager, db: str) -> None:
    for name in ("one", "two", "three"):
        catalogs.create_table(f"{db}.{name}", TABLE)
    # Hive 4 returns tables in the order of their creation.
    assert {each.name for each in catalogs.list_tables(db)} == {"one", "three", "two"}
    assert {each.name for each in catalogs.list_tables(db, "t*")} == {"three", "two"}
    assert {each.name for each in catalogs.list_tables(db, "one|two")} == {"one", "two"}


def test_6_1_j_drop_table_takes_if_exists(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TABLE)
    catalogs.drop_table(f"{db}.t")
    with pytest.raises(ObjectNotFound, match=rf"{db}\.t"):
        catalogs.drop_table(f"{db}.t")
    catalogs.drop_table(f"{db}.t", if_exists=True)


def test_6_1_k_a_view_is_created_and_read(catalogs: CatalogManager, db: str) -> None:
    made = catalogs.create_view(f"{db}.v", VIEW)
    assert (made.kind, made.definition, made.is_view) == (TableKind.VIEW, "SELECT 1 AS id", True)
    assert catalogs.get_view(f"{db}.v") == made == catalogs.get_table(f"{db}.v")


def test_6_1_l_get_view_of_a_table_is_not_found(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TABLE)
    with pytest.raises(ObjectNotFound, match=rf"{db}\.t is a table, not a view") as caught:
        catalogs.get_view(f"{db}.t")
    assert (caught.value.object, kind_of(caught.value)) == ("view", ErrorKind.NOT_FOUND)


def test_6_1_m_list_views_lists_views_alone(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_table(f"{db}.t", TABLE)
    catalogs.create_view(f"{db}.v", VIEW)
    assert [each.name for each in catalogs.list_views(db)] == ["v"]
    assert [each.name for each in catalogs.list_views(db, "x*")] == []


def test_6_1_n_drop_view_takes_if_exists(catalogs: CatalogManager, db: str) -> None:
    catalogs.create_view(f"{db}.v", VIEW)
    catalogs.drop_view(f"{db}.v")
    with pytest.raises(ObjectNotFound, match=rf"{db}\.v"):
        catalogs.drop_view(f"{db}.v")
    catalogs.drop_view(f"{db}.v", if_exists=True)
    catalogs.create_table(f"{db}.t", TABLE)
    with pytest.raises(InvalidInputException, match="drop it with drop_table"):
        catalogs.drop_view(f"{db}.t")


def test_6_1_o_changes_invalidate_the_cache(catalogs: CatalogManager, db: str) -> None:
    with pytest.raises(ObjectNotFound):
        catalogs.get_table(f"{db}.t")
    catalogs.create_table(f"{db}.t", TABLE)
    assert catalogs.get_table(f"{db}.t").comment is None
    catalogs.alter_table(f"{db}.t", TableChanges(comment="new"))
    assert catalogs.get_table(f"{db}.t").comment == "new"
    assert [each.name for each in catalogs.list_tables(db)] == ["t"]
    catalogs.drop_table(f"{db}.t")
    assert catalogs.list_tables(db) == []
    with pytest.raises(ObjectNotFound):
        catalogs.get_table(f"{db}.t")


def test_6_1_p_a_missing_database_is_not_found_with_its_name_in_every_call(server: Server) -> None:
    with server.catalogs() as catalogs:
        for call in (
            lambda: catalogs.get_database("nowhere"),
            lambda: catalogs.drop_database("nowhere"),
            lambda: catalogs.list_tables("nowhere"),
            lambda: catalogs.list_views("nowhere"),
            lambda: catalogs.get_table("nowhere.t"),
            lambda: catalogs.create_table("nowhere.t", TABLE),
            lambda: catalogs.create_view("nowhere.v", VIEW),
            lambda: list(catalogs.list_partitions("nowhere.t")),
        ):
            with pytest.raises(Error) as caught:
                call()
            assert kind_of(caught.value) is ErrorKind.NOT_FOUND, caught.value
            # The name, and what is missing: not the bare word.
            assert "nowhere" in str(caught.value) and str(caught.value) != "nowhere"


# 6.2


def test_6_2_a_memory_and_hive_metastore_are_types_of_catalogs() -> None:
    entries = [
        {"name": "sail", "type": "memory", "initial_database": ["first"], "initial_database_comment": "words"},
        {"name": "hive", "type": "hive_metastore", "uri": "thrift://h:9083"},
    ]
    memory, hive = load(environment={}, given={"list": entries}).list
    assert isinstance(memory, MemoryCatalog) and isinstance(hive, HiveCatalog)
    with CatalogManager.load(environment={}, list=entries[:1]) as catalogs:
        assert catalogs.get_database("first").comment == "words"


def test_6_2_b_the_pool_has_its_keys_and_defaults() -> None:
    keys = PoolKeys()
    assert (keys.max_size, keys.min_idle) == (10, 2)
    assert (keys.connection_timeout_ms, keys.idle_timeout_ms) == (30_000, 600_000)


def test_6_2_c_the_cache_has_its_keys_and_defaults() -> None:
    keys = CacheKeys()
    assert (keys.enabled, keys.max_capacity, keys.ttl_seconds, keys.tti_seconds) == (True, 10_000, 300, 180)


def test_6_2_d_thrift_has_its_keys_and_defaults(server: Server) -> None:
    keys = ThriftKeys()
    assert (keys.protocol, keys.timeout_ms) == ("binary", 60_000)
    # The document's default is framed, which no Apache metastore speaks; both are found out.
    assert keys.transport == "auto"
    with server.catalogs() as catalogs:
        assert catalogs.get_database("default").name == "default"
    if server.is_own:
        with server.catalogs(thrift={"transport": "framed"}) as catalogs:
            assert catalogs.get_database("default").name == "default"


# 6.3


def two(server: Server, **keys: Any) -> CatalogManager:
    entries = [
        {"name": "sail", "type": "memory"},
        {"name": "hive", "type": "hive_metastore", "uri": server.uri, **keys},
    ]
    return CatalogManager.load(environment={}, list=entries, default_catalog="hive", default_database=["default"])


def test_6_3_a_a_manager_holds_several_catalogs_a_default_one_and_a_default_database(own: Server, db: str) -> None:
    with two(own) as catalogs:
        assert catalogs.catalogs == ("sail", "hive")
        assert (catalogs.default_catalog, catalogs.default_database) == ("hive", ("default",))
        assert catalogs.get_database().catalog == "hive"
        catalogs.create_database(f"sail.{db}")
        assert [each.name for each in catalogs.list_databases("sail", db)] == [db]
        assert catalogs.list_databases(pattern=db) == []
        catalogs.use("sail", db)
        assert catalogs.create_table("t", TABLE).full_name == f"sail.{db}.t"


def test_6_3_b_without_a_username_the_user_is_hive(own: Server) -> None:
    entry = load(environment={}, given={"list": [{"name": "h", "type": "hive_metastore", "uri": "thrift://h"}]}).list[0]
    assert isinstance(entry, HiveCatalog)
    with own.catalogs() as catalogs, own.catalogs(username="hadoop") as others:
        for manager, user in ((catalogs, "hive"), (others, "hadoop")):
            provider = manager.provider()
            assert isinstance(provider, HiveProvider)
            with provider.client.transaction() as transaction:
                found = provider.client.api.get_open_txns_info().open_txns or ()
                assert [each.user for each in found if each.id == transaction.id] == [user]


def test_6_3_c_a_catalog_that_cannot_be_created_is_an_error_that_names_it() -> None:
    entry = {"name": "far", "type": "hive_metastore", "uri": "thrift://127.0.0.1:1"}
    with CatalogManager.load(environment={}, list=[entry]) as catalogs:
        with pytest.raises(TransportError, match=r"catalog 'far': cannot connect to thrift://127\.0\.0\.1:1"):
            catalogs.list_databases()


def test_6_3_d_global_temporary_views_are_in_their_database_in_any_case_of_its_name(own: Server) -> None:
    with two(own) as catalogs:
        catalogs.temporary.create("seen", VIEW, shared=True)
        catalogs.temporary.create("mine", VIEW)
        assert catalogs.get_view("mine").kind is TableKind.TEMPORARY_VIEW
        for database in ("global_temp", "GLOBAL_TEMP", "Global_Temp"):
            assert catalogs.get_table(f"{database}.seen").kind is TableKind.GLOBAL_TEMPORARY_VIEW
            assert catalogs.get_view(f"{database}.SEEN").name == "seen"
            assert [each.name for each in catalogs.list_views(database)] == ["seen"]
        catalogs.drop_view("GLOBAL_TEMP.seen")
        with pytest.raises(ObjectNotFound):
            catalogs.get_view("global_temp.seen")
        catalogs.drop_view("mine")
        with pytest.raises(ObjectNotFound):
            catalogs.get_view("mine")


# 6.4


def test_6_4_a_the_example_configuration_works_as_printed_but_for_the_address(own: Server, tmp_path: Path) -> None:
    file = tmp_path / "application.yaml"
    file.write_text(APPLICATION.replace("thrift://hms-server:9083", own.uri))
    with CatalogManager.load(file, environment={}) as catalogs:
        assert catalogs.get_database("hive.default").name == "default"
        assert catalogs.get_database("sail.default").comment == "Default in-memory database"
        provider = catalogs.provider("hive")
        assert isinstance(provider, HiveProvider)
        stats = provider.client.pool_stats()
        assert stats is not None and stats.size >= 5


def test_6_4_b_a_transport_that_the_server_does_not_speak_is_an_error_that_names_the_key_to_change(
    old: Server, current: Server
) -> None:
    for server in (old, current):
        keys = {"thrift": {"transport": "framed", "timeout_ms": 5000}}
        with server.catalogs(**keys) as catalogs, pytest.raises(Error, match=r"set thrift\.transport to auto"):
            catalogs.list_databases()


def test_6_4_c_passwords_are_shown_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = "s3cret-honey"
    file = tmp_path / "application.yaml"
    file.write_text(
        textwrap.dedent(f"""
        catalog:
          list:
            - name: hive
              type: hive_metastore
              uri: "https://127.0.0.1:1/metastore"
              username: maja
              password: "{secret}"
        """)
    )
    settings = load(file, environment={})
    assert isinstance(settings.list[0], HiveCatalog) and settings.list[0].password == secret
    shown = [repr(settings), str(settings), repr(settings.list[0]), repr(settings.list)]
    with caplog.at_level(logging.DEBUG), CatalogManager.of(settings) as catalogs:
        shown += [repr(catalogs)]
        with pytest.raises(Error) as caught:
            catalogs.list_databases()
        shown += [str(caught.value), repr(caught.value)]
    assert not [text for text in (*shown, caplog.text) if secret in text]
