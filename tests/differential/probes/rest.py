"""Calls that no other script makes: counters, caches of files, keys, forms with an environment, locks of rebuilds."""

from __future__ import annotations

from typing import Any

from metastored.wire.generated.common import CreationMetadata, EnvironmentContext
from metastored.wire.generated.databases import Database
from metastored.wire.generated.files import (
    CacheFileMetadataRequest,
    ClearFileMetadataRequest,
    GetFileMetadataByExprRequest,
    GetFileMetadataRequest,
    PutFileMetadataRequest,
)
from metastored.wire.generated.roles import PrivilegeBag
from metastored.wire.generated.service import CmRecycleRequest
from tests.differential.probes.objects import field
from tests.differential.script import SINCE_3_1, Probe, ask
from tests.support.objects import table

DB = "rst"
ENV = EnvironmentContext({})
VALUES = field("values")
ALL_COMMITTED = "1:9223372036854775807::"


def view() -> CreationMetadata:
    return CreationMetadata("hive", DB, "mv", frozenset({f"{DB}.t"}), f"1${DB}.t:1:9223372036854775807::")


def number(result: Any) -> Any:
    return isinstance(result, int)


SCRIPT: list[Probe] = [
    # --- every service
    ask("seconds", "aliveSince"),
    ask("none", "getCounter", "nope"),
    ask("all", "getCounters", show=lambda result: type(result).__name__),
    ask("any", "setOption", "x", "y"),
    ask("what was set", "getOption", "x"),
    ask("again", "reinitialize"),
    ask("after that", "getStatus"),
    # --- footers of files
    ask("some", "get_file_metadata", GetFileMetadataRequest((1, 2))),
    ask("some", "get_file_metadata_by_expr", GetFileMetadataByExprRequest((1, 2), b"x", True, 1)),
    ask("some", "put_file_metadata", PutFileMetadataRequest((1,), (b"x",), 1)),
    ask("some", "clear_file_metadata", ClearFileMetadataRequest((1,))),
    ask("some", "cache_file_metadata", CacheFileMetadataRequest(DB, "t", None, True)),
    # --- keys and tokens
    ask("new", "add_master_key", "k", show=number),
    ask("one", "get_master_keys"),
    ask("nobody's", "get_delegation_token", "u", "r"),
    ask("no token", "renew_delegation_token", "zz"),
    ask("no token", "cancel_delegation_token", "zz"),
    # --- with an environment
    ask("for them", "create_database", Database(name=DB)),
    ask("for them", "create_table", table(DB, "t", keys="ds string, h int")),
    ask("plain", "append_partition_with_environment_context", DB, "t", ("1", "1"), ENV, show=VALUES),
    ask("taken", "append_partition_with_environment_context", DB, "t", ("1", "1"), ENV),
    ask("plain", "append_partition_by_name_with_environment_context", DB, "t", "ds=1/h=2", ENV, show=VALUES),
    ask("of no table", "append_partition_by_name_with_environment_context", DB, "nope", "ds=1/h=2", ENV),
    ask("plain", "drop_partition_by_name_with_environment_context", DB, "t", "ds=1/h=2", True, ENV),
    ask("missing", "drop_partition_by_name_with_environment_context", DB, "t", "ds=1/h=2", True, ENV),
    ask("what is left", "get_partition_names", DB, "t", -1),
    # --- the rest
    ask("nothing at all", "grant_privileges", PrivilegeBag(())),
    ask("a missing place", "cm_recycle", CmRecycleRequest("{X}/nothing", True), versions=SINCE_3_1),
    ask("of no transaction", "get_lock_materialization_rebuild", DB, "mv", 1, versions=SINCE_3_1, show=field("state")),
    ask("of another", "get_lock_materialization_rebuild", DB, "mv", 2, versions=SINCE_3_1, show=field("state")),
    ask("its own", "heartbeat_lock_materialization_rebuild", DB, "mv", 1, versions=SINCE_3_1),
    ask("another's", "heartbeat_lock_materialization_rebuild", DB, "mv", 2, versions=SINCE_3_1),
    ask("of nothing", "heartbeat_lock_materialization_rebuild", DB, "zz", 1, versions=SINCE_3_1),
    ask("unchanged", "get_materialization_invalidation_info", view(), ALL_COMMITTED, versions=SINCE_3_1),
    ask("with all", "drop_database", DB, True, True),
]
