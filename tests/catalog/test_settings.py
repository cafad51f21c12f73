"""The settings of catalogs: the file of the design, the environment, and code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from metastored.catalog.settings import (
    CacheKeys,
    GlueCatalog,
    HiveCatalog,
    IcebergCatalog,
    MemoryCatalog,
    PoolKeys,
    ThriftKeys,
    load,
)
from metastored.config import load as load_server
from metastored.errors import ConfigError

APPLICATION = """
# application.yaml

catalog:
  default_catalog: "hive"
  default_database: ["default"]
  global_temporary_database: ["global_temp"]

  list:
    # In-memory catalog for temporary tables
    - name: "sail"
      type: "memory"
      initial_database: ["default"]
      initial_database_comment: "Default in-memory database"

    # Hive Metastore catalog
    - name: "hive"
      type: "hive_metastore"
      uri: "thrift://hms-server:9083"
      username: "hadoop"
      password: null  # Optional

      connection_pool:
        max_size: 20
        min_idle: 5
        connection_timeout_ms: 30000
        idle_timeout_ms: 600000

      cache:
        enabled: true
        max_capacity: 10000
        ttl_seconds: 300
        tti_seconds: 180

      thrift:
        protocol: "binary"
        transport: "framed"
        timeout_ms: 60000
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "application.yaml"
    path.write_text(APPLICATION)
    return path


def loaded(*entries: dict[str, Any], **given: Any) -> Any:
    return load(environment={}, given={"list": entries, **given})


def test_the_file_of_the_design_loads_unchanged(file: Path) -> None:
    found = load(file, environment={})
    assert (found.default_catalog, found.default_database) == ("hive", ("default",))
    assert found.global_temporary_database == ("global_temp",)
    assert found.list == (
        MemoryCatalog(
            name="sail", initial_database=("default",), initial_database_comment="Default in-memory database"
        ),
        HiveCatalog(
            name="hive",
            uri="thrift://hms-server:9083",
            username="hadoop",
            password=None,
            connection_pool=PoolKeys(max_size=20, min_idle=5, connection_timeout_ms=30_000, idle_timeout_ms=600_000),
            cache=CacheKeys(enabled=True, max_capacity=10_000, ttl_seconds=300, tti_seconds=180),
            thrift=ThriftKeys(protocol="binary", transport="framed", timeout_ms=60_000),
        ),
    )


def test_keys_that_are_left_out_have_the_defaults_of_the_design_except_the_transport() -> None:
    (hive,) = loaded({"name": "h", "type": "hive", "uri": "thrift://a:9083"}).list
    assert hive.connection_pool == PoolKeys(
        max_size=10, min_idle=2, connection_timeout_ms=30_000, idle_timeout_ms=600_000
    )
    assert hive.cache == CacheKeys(enabled=True, max_capacity=10_000, ttl_seconds=300, tti_seconds=180)
    assert hive.thrift == ThriftKeys(protocol="binary", transport="auto", timeout_ms=60_000)
    assert (hive.username, hive.password) == (None, None)
    found = loaded({"name": "m", "type": "memory"})
    assert found.list == (MemoryCatalog(name="m"),)
    assert (found.default_catalog, found.default_database) == ("m", ("default",))
    assert found.global_temporary_database == ("global_temp",)


def test_hive_metastore_has_shorter_and_other_spellings() -> None:
    for kind in ("hive", "hive_metastore", "Hive-Metastore"):
        assert isinstance(loaded({"name": "h", "type": kind, "uri": "thrift://a"}).list[0], HiveCatalog)


def test_iceberg_and_glue_get_the_options_of_their_libraries() -> None:
    entry = {
        "name": "i",
        "type": "iceberg",
        "uri": "http://a",
        "warehouse": "s3://b",
        "properties": {"ssl": True, "n": 1},
    }
    found = loaded(entry, {"name": "g", "type": "glue", "region": "eu-west-1", "endpoint": "http://c"})
    iceberg, glue = found.list
    assert isinstance(iceberg, IcebergCatalog) and isinstance(glue, GlueCatalog)
    assert iceberg.options == {"type": "rest", "uri": "http://a", "warehouse": "s3://b", "ssl": "true", "n": "1"}
    assert glue.options == {"region_name": "eu-west-1", "endpoint_url": "http://c"}
    assert (iceberg.cache.enabled, glue.cache.enabled, iceberg.nested_namespaces) == (False, False, False)


def test_settings_can_be_objects_in_code() -> None:
    catalog = MemoryCatalog(name="m")
    assert load(environment={}, given={"list": [catalog]}).list == (catalog,)


# The environment


def test_the_environment_names_the_file_and_overrides_it(file: Path) -> None:
    found = load(
        environment={
            "METASTORED_CATALOG__FILE": str(file),
            "METASTORED_CATALOG__DEFAULT_CATALOG": "sail",
            "METASTORED_CATALOG__DEFAULT_DATABASE": "sales",
            "METASTORED_CATALOG__LIST__HIVE__PASSWORD": "{not: yaml",
            "METASTORED_CATALOG__LIST__HIVE__CACHE__TTL_SECONDS": "7",
            "METASTORED_CATALOG__LIST__HIVE__USERNAME": "",
            "OTHER": "x",
        }
    )
    hive = found.list[1]
    assert isinstance(hive, HiveCatalog)
    assert (found.default_catalog, found.default_database) == ("sail", ("sales",))
    assert (hive.password, hive.cache.ttl_seconds, hive.cache.tti_seconds, hive.username) == (
        "{not: yaml", 7, 180, "hadoop",
    )  # fmt: skip


def test_the_list_can_be_in_the_environment() -> None:
    text = "[{name: a, type: memory}, {name: b, type: hive, uri: 'thrift://x'}]"
    assert [each.name for each in load(environment={"METASTORED_CATALOG__LIST": text}).list] == ["a", "b"]


def test_code_overrides_the_environment_and_the_file(file: Path) -> None:
    assert (
        load(file, {"METASTORED_CATALOG__DEFAULT_CATALOG": "sail"}, {"default_catalog": "hive"}).default_catalog
        == "hive"
    )


def test_a_server_ignores_variables_of_catalogs() -> None:
    assert load_server(environment={"METASTORED_CATALOG__DEFAULT_CATALOG": "x", "METASTORED_PORT": "7"}).port == 7


# What is refused


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"type": "hive", "uri": "thrift://a", "usrname": "x"}, "unknown key 'usrname'; did you mean 'username'"),
        (
            {"type": "hive", "uri": "thrift://a", "connection_pool": {"maxsize": 1}},
            r"list\[x\]\.connection_pool: unknown key 'maxsize'; did you mean 'max_size'",
        ),
        ({"type": "hiv"}, r"type is 'hiv'; did you mean 'hive'"),
        ({}, "type is None; known are memory, hive_metastore, hive, iceberg, glue"),
        ({"type": "hive"}, r"list\[x\]: uri is missing"),
        ({"type": "hive", "uri": None}, "uri is missing"),
        ({"type": "hive", "uri": 7}, r"uri is 7; a text was expected"),
        ({"type": "hive", "uri": "a", "cache": {"enabled": "maybe"}}, "enabled is 'maybe'; true or false was expected"),
        ({"type": "hive", "uri": "a", "cache": 3}, "keys and values were expected, found a int"),
        ({"type": "hive", "uri": "a", "cache": {"ttl_seconds": -1}}, "a whole number was expected"),
        ({"type": "hive", "uri": "a", "thrift": {"transport": "pigeon"}}, "one of auto, buffered, framed was expected"),
        ({"type": "iceberg", "uri": "a", "catalog": "hadoop"}, "one of rest, sql was expected"),
        ({"type": "iceberg", "uri": "a", "properties": "x"}, "keys and values were expected"),
        ({"type": "memory", "initial_database": []}, "a database's name was expected"),
    ],
)
def test_wrong_keys_and_values_are_refused_with_what_was_expected(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        loaded({"name": "x", **entry})


@pytest.mark.parametrize("word", ["true", "TRUE", "yes", "On", "1", 1, True])
def test_true_has_the_words_of_the_servers_settings(word: Any) -> None:
    (hive,) = loaded({"name": "h", "type": "hive", "uri": "a", "cache": {"enabled": word}}).list
    assert hive.cache.enabled is True
    assert load_server(flags={"audit": word}, environment={}).audit == "on"


@pytest.mark.parametrize("word", ["false", "No", "off", "0", 0, False])
def test_false_has_the_words_of_the_servers_settings(word: Any) -> None:
    (hive,) = loaded({"name": "h", "type": "hive", "uri": "a", "cache": {"enabled": word}}).list
    assert hive.cache.enabled is False
    assert load_server(flags={"audit": word}, environment={}).audit == "off"


def test_no_repr_and_no_error_shows_a_secret() -> None:
    found = loaded(
        {"name": "h", "type": "hive", "uri": "thrift://a", "password": "secret"},
        {"name": "g", "type": "glue", "secret_access_key": "secret", "access_key_id": "secret",
         "session_token": "secret"},
        {"name": "i", "type": "iceberg", "catalog": "sql", "uri": "postgresql://u:secret@h/d",
         "properties": {"token": "secret"}},
    )  # fmt: skip
    assert "secret" not in repr(found).replace("secret_access_key", "")
    entries: list[Any] = [
        ["secret"],
        {"name": "h", "type": "hive", "uri": "thrift://a", "connection_pool": ["secret"]},
        {"name": "i", "type": "iceberg", "uri": ["postgresql://u:secret@h/d"]},
        {"name": "i", "type": "iceberg", "uri": "a", "properties": "secret"},
    ]
    for entry in entries:
        with pytest.raises(ConfigError) as refused:
            loaded(entry)
        assert "secret" not in str(refused.value)


def test_values_can_be_texts_or_null() -> None:
    entry = {"name": "h", "type": "hive", "uri": "a", "cache": {"enabled": "False", "ttl_seconds": "9"}, "thrift": None}
    (hive,) = loaded(entry, default_database="a.b").list
    assert (hive.cache.enabled, hive.cache.ttl_seconds, hive.thrift) == (False, 9, ThriftKeys())
    (pool,) = loaded({"name": "h", "type": "hive", "uri": "a", "connection_pool": {"min_idle": None}}).list
    assert pool.connection_pool.min_idle is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "must have at least one catalog"),
        ({"list": "memory"}, "must have at least one catalog"),
        ({"list": ["memory"]}, r"list\[0\]: keys and values were expected"),
        ({"list": [{"name": "a", "type": "memory"}] * 2}, "more than one catalog of the name a"),
        ({"list": [{"name": "a", "type": "memory"}], "default_catalog": "b"}, "default_catalog is 'b'; known are a"),
        ({"list": [{"name": "a", "type": "memory"}], "default_catalogue": "a"}, "did you mean 'default_catalog'"),
    ],
)
def test_invalid_lists_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(environment={}, given=given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("catalog: [", "not valid YAML"),
        ("", "a section `catalog:` was expected"),
        ("catalog: 3", "a section `catalog:` was expected"),
        ("catalog: {list: []}\ncatalogs: 1", "unknown key 'catalogs'; did you mean 'catalog'"),
        ("catalog: {lists: []}", "unknown key 'lists' in catalog; did you mean 'list'"),
    ],
)
def test_invalid_files_are_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "catalogs.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"catalogs.yaml: {message}"):
        load(path, environment={})
    with pytest.raises(ConfigError, match=r"none\.yaml: No such file"):
        load(tmp_path / "none.yaml", environment={})


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("METASTORED_CATALOG__LIST__HIVES__URI", r"names no catalog of the list; did you mean 'hive'"),
        ("METASTORED_CATALOG__LIST__HIVE", "is not a key; write METASTORED_CATALOG__LIST__NAME__KEY"),
        ("METASTORED_CATALOG__DEFAULT__CATALOG", "is not a key"),
        ("METASTORED_CATALOG__LIST__HIVE__URL", "unknown key 'url'; did you mean 'uri'"),
        (
            "METASTORED_CATALOG__DEFAULT_CATALOGS",
            "the environment: unknown key 'default_catalogs' in catalog; did you mean",
        ),
    ],
)
def test_unknown_variables_are_refused(file: Path, variable: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(file, environment={variable: "x"})


@pytest.mark.parametrize(("value", "seconds"), [(0, 0.0), (2.5, 2.5), ("10", 10.0)])
def test_the_time_between_two_polls_of_events_is_a_key_of_the_cache(value: Any, seconds: float) -> None:
    (hive,) = loaded({"name": "h", "type": "hive", "uri": "thrift://a", "cache": {"events_every": value}}).list
    assert hive.cache.events_every == seconds


@pytest.mark.parametrize("value", [-1, "often", True, [1], float("inf")])
def test_a_time_between_two_polls_of_events_that_is_no_number_of_seconds_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match=r"catalog\.list\[h\]\.cache\.events_every is .*a number of seconds"):
        loaded({"name": "h", "type": "hive", "uri": "thrift://a", "cache": {"events_every": value}})
