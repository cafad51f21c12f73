"""The method table: its size in every version, and attributes that other modules rely on."""

from __future__ import annotations

import pytest

from metastored.errors import THRIFT_EXCEPTIONS
from metastored.wire.generated import ENUMS, STRUCTS
from metastored.wire.methods import BY_BYTES, METHODS
from metastored.wire.types import parse_field, parse_returns, parse_type

FB303 = {
    "getName", "getVersion", "getStatus", "getStatusDetails", "getCounters", "getCounter", "setOption", "getOption",
    "getOptions", "getCpuProfile", "aliveSince", "reinitialize", "shutdown",
}  # fmt: skip


def test_the_table_is_complete() -> None:
    assert (len(METHODS), len(STRUCTS), len(THRIFT_EXCEPTIONS)) == (311, 321, 18)


@pytest.mark.parametrize(
    ("version", "count"),
    [("2.3", 154), ("3.1", 207), ("4.0.0", 276), ("4.0.1", 280), ("4.1", 283), ("4.2", 284), ("next", 287)],
)
def test_each_version_has_the_methods_of_its_release_and_of_fb303(version: str, count: int) -> None:
    of_version = {name for name, method in METHODS.items() if version in method.versions}
    assert of_version >= FB303
    assert len(of_version - FB303) == count


def test_get_table_left_the_api_after_4_0_0() -> None:
    assert METHODS["get_table"].versions == ("2.3", "3.1", "4.0.0")
    assert METHODS["get_table_req"].versions[-1] == "next"


def test_a_method_is_found_by_the_bytes_of_its_name() -> None:
    assert BY_BYTES[b"get_table"] is METHODS["get_table"]
    assert len(BY_BYTES) == len(METHODS)


def test_every_type_of_an_argument_or_a_result_is_known() -> None:
    known = {*STRUCTS, *ENUMS, "bool", "byte", "i16", "i32", "i64", "double", "string", "binary", "list", "set", "map"}
    waiting = [field.type for method in METHODS.values() for field in method.args]
    waiting += [method.returns for method in METHODS.values() if method.returns is not None]
    while waiting:
        type = waiting.pop()
        assert type.name in known
        waiting += type.args


def test_a_result_of_bare_names_has_a_role() -> None:
    method = METHODS["get_tables"]
    assert (method.returns, method.returns_role) == (parse_type("list<string>"), "table")


def test_a_result_without_a_role_or_without_a_value_has_no_names() -> None:
    assert METHODS["get_table"].returns_role is None
    assert parse_returns("void") == (None, None)


def test_an_unknown_role_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown role @tabel in 'list<string> @tabel'; known are cat, connector, "):
        parse_returns("list<string> @tabel")
    with pytest.raises(ValueError, match="unknown role @tabel"):
        parse_field("1 string name @tabel")


def test_exceptions_have_the_ids_of_the_asking_version() -> None:
    method = METHODS["get_partition_names"]
    assert method.throws == {"NoSuchObjectException": 1, "MetaException": 2}
    assert method.throws_in("2.3") == {"MetaException": 1}
    assert method.throws_in("4.2") == method.throws


@pytest.mark.parametrize(
    ("name", "route", "merge"),
    [
        ("get_table", "names", "none"),
        ("get_database", "names", "none"),
        ("get_partitions_by_names_req", "names", "none"),
        ("get_table_objects_by_name", "names", "concat"),
        ("get_valid_write_ids", "names", "concat"),
        ("get_databases", "pattern", "sorted_union"),
        ("get_tables", "pattern", "sorted_union"),
        ("get_table_meta", "pattern", "concat"),
        ("get_all_databases", "all", "sorted_union"),
        ("get_all_functions", "all", "concat"),
        ("commit_txn", "id", "none"),
        ("unlock", "id", "none"),
        ("open_txns", "local", "none"),
        ("get_catalogs", "local", "none"),
        ("create_role", "local", "none"),
    ],
)
def test_a_call_goes_where_its_names_are(name: str, route: str, merge: str) -> None:
    assert (METHODS[name].route, METHODS[name].merge) == (route, merge)


@pytest.mark.parametrize("name", ["create_database", "alter_database", "drop_database", "drop_database_req"])
def test_the_definition_of_a_remote_database_is_local(name: str) -> None:
    assert METHODS[name].route == "local"


@pytest.mark.parametrize("name", ["heartbeat", "heartbeat_txn_range", "lock", "check_lock", "set_aggr_stats_for"])
def test_whatever_writes_a_row_costs_a_write(name: str) -> None:
    assert METHODS[name].cost == "write"


@pytest.mark.parametrize("name", ["set_ugi", "open_txns", "lock", "check_lock", "heartbeat", "unlock", "commit_txn"])
def test_methods_that_readers_need_are_session_methods(name: str) -> None:
    assert METHODS[name].verb == "session"


@pytest.mark.parametrize(
    "name", ["open_txns", "lock", "allocate_table_write_ids", "find_next_compact", "truncate_table"]
)
def test_a_call_whose_effect_would_double_is_never_retried(name: str) -> None:
    assert METHODS[name].retry == "never"


def test_every_read_may_be_retried() -> None:
    assert {method.retry for method in METHODS.values() if method.verb == "read"} == {"safe"}


@pytest.mark.parametrize(
    ("name", "privileges"),
    [
        ("get_table", "select table"),
        ("create_table", "create table, use location"),
        ("add_partitions_req", "insert table, use location"),
        ("drop_partition", "delete table"),
        ("drop_table", "drop table"),
        ("allocate_table_write_ids", "own transaction, admin with replPolicy, insert|update|delete table"),
        ("create_role", "admin"),
        ("get_databases", ""),
    ],
)
def test_privileges_follow_sql_standard_authorisation(name: str, privileges: str) -> None:
    assert METHODS[name].privileges == privileges


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("create_table_with_environment_context", "CREATE_TABLE"),
        ("append_partition", "ADD_PARTITION"),
        ("rename_partition_req", "ALTER_PARTITION"),
        ("exchange_partitions", "ADD_PARTITION DROP_PARTITION"),
        ("add_primary_key", "ADD_PRIMARYKEY"),
        ("get_table", ""),
    ],
)
def test_a_change_names_the_notifications_it_writes(name: str, event: str) -> None:
    assert METHODS[name].event == event


def test_only_a_handful_of_methods_have_hooks() -> None:
    by_hook: dict[str, set[str]] = {}
    for method in METHODS.values():
        if method.hook:
            by_hook.setdefault(method.hook, set()).add(method.name)
    assert by_hook.pop("grants") >= {"grant_privileges", "revoke_role", "list_privileges"}
    filtered = by_hook.pop("filter")
    assert filtered >= {"show_locks", "get_table_meta", "get_table_names_by_filter"}
    assert len(filtered) < 10
    assert by_hook == {
        "check": {"check_lock"},
        "definitions": {"get_properties"},
        "end": {"abort_txn", "abort_txns", "commit_txn", "unlock"},
        "heartbeat": {"heartbeat"},
        "txn_range": {"heartbeat_txn_range"},
        "lock": {"lock"},
        "snapshot": {"get_valid_write_ids"},
        "notifications": {"get_next_notification"},
    }
