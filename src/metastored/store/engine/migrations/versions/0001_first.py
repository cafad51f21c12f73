"""The first schema."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def _id() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _name() -> sa.Text:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _required(name: str, type_: Any, *args: Any) -> sa.Column[Any]:
    return sa.Column(name, type_, *args, nullable=False)


def _of(column: str, ondelete: str | None = None) -> sa.ForeignKey:
    return sa.ForeignKey(column, ondelete=ondelete)


def _partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))


def upgrade() -> None:
    op.create_table(
        "meta",
        _required("key", _name()),
        _required("value", sa.Text()),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "catalogs",
        sa.Column("id", _id(), primary_key=True),
        _required("name", _name()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "databases",
        sa.Column("id", _id(), primary_key=True),
        _required("cat_id", _id(), _of("catalogs.id")),
        _required("name", _name()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
        sa.UniqueConstraint("cat_id", "name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tables",
        sa.Column("id", _id(), primary_key=True),
        _required("db_id", _id(), _of("databases.id")),
        _required("name", _name()),
        _required("type", _name()),
        sa.Column("owner", _name()),
        _required("last_access", sa.BigInteger()),
        _required("write_id", sa.BigInteger()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
        sa.Column("creation_metadata", sa.LargeBinary()),
        sa.UniqueConstraint("db_id", "name"),
        sqlite_autoincrement=True,
    )
    op.create_index("tables_type", "tables", ["db_id", "type"])
    op.create_table(
        "table_params",
        _required("table_id", _id(), _of("tables.id", "CASCADE")),
        _required("key", _name()),
        _required("value", _name()),
        sa.PrimaryKeyConstraint("table_id", "key"),
        sqlite_with_rowid=False,
    )
    op.create_index("table_params_value", "table_params", ["key", "value"])
    op.create_table(
        "shapes",
        _required("table_id", _id(), _of("tables.id", "CASCADE")),
        _required("no", sa.Integer()),
        _required("sd", sa.LargeBinary()),
        sa.PrimaryKeyConstraint("table_id", "no"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "bases",
        _required("table_id", _id(), _of("tables.id", "CASCADE")),
        _required("no", sa.Integer()),
        _required("uri", sa.Text()),
        sa.PrimaryKeyConstraint("table_id", "no"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "partitions",
        sa.Column("id", _id(), primary_key=True),
        _required("table_id", _id(), _of("tables.id", "CASCADE")),
        _required("name", _name()),
        *(sa.Column(f"v{number}", _name()) for number in range(1, 9)),
        sa.Column("shape", sa.Integer()),
        sa.Column("base", sa.Integer()),
        sa.Column("suffix", sa.Text()),
        _required("write_id", sa.BigInteger()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
        sa.UniqueConstraint("table_id", "name"),
    )
    op.create_index("partitions_values", "partitions", ["table_id", "v1", "v2"])
    for owner in ("table", "partition"):
        op.create_table(
            f"{owner}_statistics",
            _required(f"{owner}_id", _id(), _of(f"{owner}s.id", "CASCADE")),
            _required("column_name", _name()),
            _required("engine", _name()),
            _required("type", _name()),
            _required("kind", _name()),
            _required("last_analyzed", sa.BigInteger()),
            sa.Column("low", sa.BigInteger()),
            sa.Column("high", sa.BigInteger()),
            sa.Column("double_low", sa.Double()),
            sa.Column("double_high", sa.Double()),
            sa.Column("nulls", sa.BigInteger()),
            sa.Column("distincts", sa.BigInteger()),
            sa.Column("average_length", sa.Double()),
            sa.Column("max_length", sa.BigInteger()),
            sa.Column("trues", sa.BigInteger()),
            sa.Column("falses", sa.BigInteger()),
            _required("fmt", sa.Integer()),
            _required("body", sa.LargeBinary()),
            sa.Column("bit_vector", sa.LargeBinary()),
            sa.Column("histogram", sa.LargeBinary()),
            sa.PrimaryKeyConstraint(f"{owner}_id", "column_name", "engine"),
            sqlite_with_rowid=False,
        )
    op.create_table(
        "constraints",
        sa.Column("id", _id(), primary_key=True),
        _required("kind", _name()),
        _required("name", _name()),
        _required("position", sa.Integer()),
        _required("table_id", _id(), _of("tables.id", "CASCADE")),
        sa.Column("column_name", _name()),
        _required("flags", sa.Integer()),
        sa.Column("parent_id", _id(), _of("tables.id", "CASCADE")),
        sa.Column("parent_column", _name()),
        sa.Column("update_rule", sa.Integer()),
        sa.Column("delete_rule", sa.Integer()),
        sa.Column("value", sa.Text()),
        sa.UniqueConstraint("name", "position"),
    )
    op.create_index("constraints_table", "constraints", ["table_id"])
    op.create_index("constraints_parent", "constraints", ["parent_id"])
    op.create_table(
        "partition_marks",
        _required("table_id", _id(), _of("tables.id", "CASCADE")),
        _required("name", _name()),
        _required("type", sa.Integer()),
        _required("time", sa.BigInteger()),
        sa.PrimaryKeyConstraint("table_id", "name", "type"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "functions",
        sa.Column("id", _id(), primary_key=True),
        _required("db_id", _id(), _of("databases.id")),
        _required("name", _name()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
        sa.UniqueConstraint("db_id", "name"),
    )
    op.create_table(
        "events",
        sa.Column("id", _id(), primary_key=True, autoincrement=False),
        _required("time", sa.BigInteger()),
        _required("type", _name()),
        sa.Column("cat", _name()),
        sa.Column("db", _name()),
        sa.Column("tbl", _name()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
    )
    op.create_table(
        "documents",
        sa.Column("id", _id(), primary_key=True),
        _required("kind", _name()),
        sa.Column("db_id", _id(), _of("databases.id", "CASCADE")),
        sa.Column("table_id", _id(), _of("tables.id", "CASCADE")),
        _required("parent", _name()),
        _required("key", _name()),
        _required("at", sa.BigInteger()),
        _required("fmt", sa.Integer()),
        _required("body", sa.LargeBinary()),
        sa.UniqueConstraint("kind", "parent", "key"),
        sqlite_autoincrement=True,
    )
    op.create_index("documents_at", "documents", ["kind", "parent", "at"])
    op.create_index("documents_db_id", "documents", ["db_id"])
    op.create_index("documents_table_id", "documents", ["table_id"])
    counters = op.create_table(
        "counters",
        _required("name", _name()),
        _required("value", sa.BigInteger()),
        sa.PrimaryKeyConstraint("name"),
    )
    first = ("event", "version", "txn", "lock", "compaction", "token")
    op.bulk_insert(counters, [{"name": name, "value": 0} for name in first])
    op.create_table(
        "warehouse_jobs",
        sa.Column("id", _id(), primary_key=True),
        _required("kind", _name()),
        _required("source", sa.Text()),
        sa.Column("target", sa.Text()),
        _required("created", sa.BigInteger()),
        _required("attempts", sa.Integer()),
        sa.Column("error", sa.Text()),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "roles",
        _required("name", _name()),
        sa.Column("owner", _name()),
        _required("create_time", sa.BigInteger()),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "txns",
        sa.Column("id", _id(), primary_key=True, autoincrement=False),
        _required("state", sa.Integer()),
        _required("type", sa.Integer()),
        _required("user_name", sa.Text()),
        _required("host", sa.Text()),
        _required("started", sa.BigInteger()),
        _required("heartbeat", sa.BigInteger()),
        _required("min_open", sa.BigInteger()),
        sa.Column("ended", sa.BigInteger()),
        sa.Column("reason", sa.Text()),
    )
    _partial_index("txns_unfinished", "txns", ["id", "state", "type"], "state <> 1")
    op.create_table(
        "txn_components",
        _required("txn_id", sa.BigInteger()),
        _required("cat", _name()),
        _required("db", _name()),
        sa.Column("tbl", _name()),
        sa.Column("part", _name()),
        _required("op", _name()),
        sa.Column("write_id", sa.BigInteger()),
    )
    op.create_index("txn_components_txn", "txn_components", ["txn_id"])
    op.create_index("txn_components_name", "txn_components", ["cat", "db", "tbl"])
    op.create_table(
        "completed_components",
        _required("txn_id", sa.BigInteger()),
        _required("cat", _name()),
        _required("db", _name()),
        sa.Column("tbl", _name()),
        sa.Column("part", _name()),
        sa.Column("write_id", sa.BigInteger()),
        _required("update_delete", sa.Integer()),
        _required("time", sa.BigInteger()),
    )
    op.create_index("completed_components_txn", "completed_components", ["txn_id"])
    op.create_index("completed_components_name", "completed_components", ["cat", "db", "tbl", "write_id"])
    op.create_table(
        "write_sets",
        _required("txn_id", sa.BigInteger()),
        _required("commit_id", sa.BigInteger()),
        _required("cat", _name()),
        _required("db", _name()),
        sa.Column("tbl", _name()),
        sa.Column("part", _name()),
        _required("op", _name()),
    )
    op.create_index("write_sets_name", "write_sets", ["cat", "db", "tbl", "commit_id"])
    op.create_table(
        "write_id_counters",
        sa.Column("id", _id(), primary_key=True),
        _required("cat", _name()),
        _required("db", _name()),
        _required("tbl", _name()),
        _required("next", sa.BigInteger()),
        sa.UniqueConstraint("cat", "db", "tbl"),
    )
    op.create_table(
        "write_ids",
        _required("counter_id", _id(), _of("write_id_counters.id", "CASCADE")),
        _required("write_id", sa.BigInteger()),
        _required("txn_id", sa.BigInteger()),
        sa.PrimaryKeyConstraint("counter_id", "write_id"),
        sa.UniqueConstraint("txn_id", "counter_id"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "min_history",
        _required("txn_id", sa.BigInteger()),
        _required("cat", _name()),
        _required("db", _name()),
        _required("tbl", _name()),
        _required("write_id", sa.BigInteger()),
    )
    op.create_index("min_history_txn", "min_history", ["txn_id"])
    op.create_index("min_history_name", "min_history", ["cat", "db", "tbl"])
    op.create_table(
        "replicated_txns",
        _required("policy", _name()),
        _required("source", sa.BigInteger()),
        _required("target", sa.BigInteger()),
        sa.PrimaryKeyConstraint("policy", "source"),
        sqlite_with_rowid=False,
    )
    op.create_index("replicated_txns_target", "replicated_txns", ["target"])
    op.create_table(
        "locks",
        _required("ext_id", _id()),
        _required("int_id", sa.Integer()),
        _required("txn_id", sa.BigInteger()),
        _required("cat", _name()),
        _required("db", _name()),
        sa.Column("tbl", _name()),
        sa.Column("part", _name()),
        _required("state", sa.Integer()),
        _required("type", sa.Integer()),
        _required("heartbeat", sa.BigInteger()),
        sa.Column("acquired", sa.BigInteger()),
        _required("user_name", sa.Text()),
        _required("host", sa.Text()),
        sa.Column("agent", sa.Text()),
        sa.Column("blocked_ext", sa.BigInteger()),
        sa.Column("blocked_int", sa.Integer()),
        sa.PrimaryKeyConstraint("ext_id", "int_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("locks_name", "locks", ["cat", "db", "tbl"])
    op.create_index("locks_txn", "locks", ["txn_id"])
    op.create_table(
        "rebuild_locks",
        _required("cat", _name()),
        _required("db", _name()),
        _required("tbl", _name()),
        _required("txn_id", sa.BigInteger()),
        _required("heartbeat", sa.BigInteger()),
        sa.PrimaryKeyConstraint("cat", "db", "tbl"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "compactions",
        sa.Column("id", _id(), primary_key=True, autoincrement=False),
        _required("cat", _name()),
        _required("db", _name()),
        _required("tbl", _name()),
        sa.Column("part", _name()),
        _required("state", _name()),
        _required("type", sa.Integer()),
        sa.Column("properties", sa.Text()),
        sa.Column("worker_id", sa.Text()),
        sa.Column("worker_version", sa.Text()),
        sa.Column("initiator_id", sa.Text()),
        sa.Column("initiator_version", sa.Text()),
        sa.Column("start", sa.BigInteger()),
        sa.Column("end", sa.BigInteger()),
        sa.Column("run_as", sa.Text()),
        sa.Column("highest_write_id", sa.BigInteger()),
        sa.Column("hadoop_job_id", sa.Text()),
        sa.Column("error_message", sa.Text()),
        sa.Column("enqueue_time", sa.BigInteger()),
        _required("retry_retention", sa.BigInteger()),
        sa.Column("cleaner_start", sa.BigInteger()),
        sa.Column("next_txn_id", sa.BigInteger()),
        sa.Column("txn_id", sa.BigInteger()),
        sa.Column("commit_time", sa.BigInteger()),
        sa.Column("pool", _name()),
        sa.Column("buckets", sa.Integer()),
        sa.Column("order_by", sa.Text()),
    )
    op.create_index("compactions_name", "compactions", ["cat", "db", "tbl"])
    _partial_index("compactions_queue", "compactions", ["state", "id"], "state IN ('i', 'w', 'r')")
    _partial_index("compactions_txn", "compactions", ["txn_id"], "txn_id IS NOT NULL")
    op.create_table(
        "compaction_metrics",
        _required("cat", _name()),
        _required("db", _name()),
        _required("tbl", _name()),
        _required("part", _name()),
        _required("type", sa.Integer()),
        _required("value", sa.Integer()),
        _required("version", sa.Integer()),
        sa.PrimaryKeyConstraint("cat", "db", "tbl", "part", "type"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "role_grants",
        _required("role", _name(), _of("roles.name", "CASCADE")),
        _required("principal", _name()),
        _required("principal_type", sa.Integer()),
        _required("grant_option", sa.Boolean()),
        _required("create_time", sa.BigInteger()),
        sa.Column("grantor", _name()),
        sa.Column("grantor_type", sa.Integer()),
        sa.PrimaryKeyConstraint("role", "principal", "principal_type"),
    )
    op.create_index("role_grants_principal", "role_grants", ["principal", "principal_type"])
    op.create_table(
        "grants",
        sa.Column("id", _id(), primary_key=True),
        _required("object_type", sa.Integer()),
        sa.Column("db_id", _id(), _of("databases.id", "CASCADE")),
        sa.Column("table_id", _id(), _of("tables.id", "CASCADE")),
        sa.Column("partition_id", _id(), _of("partitions.id", "CASCADE")),
        sa.Column("column_name", _name()),
        sa.Column("connector", _name()),
        _required("principal", _name()),
        _required("principal_type", sa.Integer()),
        _required("privilege", _name()),
        _required("grant_option", sa.Boolean()),
        _required("create_time", sa.BigInteger()),
        sa.Column("grantor", _name()),
        sa.Column("grantor_type", sa.Integer()),
        sa.Column("authorizer", _name()),
    )
    op.create_index("grants_principal", "grants", ["principal", "principal_type"])
    op.create_index("grants_db", "grants", ["db_id"])
    op.create_index("grants_table", "grants", ["table_id"])
    op.create_index("grants_partition", "grants", ["partition_id"])
    op.create_table(
        "tokens",
        _required("identifier", _name()),
        _required("token", sa.Text()),
        sa.Column("expires", sa.BigInteger()),
        sa.PrimaryKeyConstraint("identifier"),
    )
    op.create_index("tokens_expires", "tokens", ["expires"])
    op.create_table(
        "master_keys",
        sa.Column("id", _id(), primary_key=True),
        _required("key", sa.Text()),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rate_counters",
        _required("principal", _name()),
        _required("minute", sa.BigInteger()),
        _required("calls", sa.BigInteger()),
        sa.PrimaryKeyConstraint("principal", "minute"),
    )
    op.create_index("rate_counters_minute", "rate_counters", ["minute"])
    op.create_table(
        "users",
        _required("name", _name()),
        _required("password", sa.Text()),
        _required("create_time", sa.BigInteger()),
        _required("change_time", sa.BigInteger()),
        sa.PrimaryKeyConstraint("name"),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute("ANALYZE sqlite_schema")
        op.execute(
            "INSERT INTO sqlite_stat1 VALUES "
            "('partitions', 'sqlite_autoindex_partitions_1', '1000000 10000 1'), "
            "('partitions', 'partitions_values', '1000000 10000 100 1'), "
            "('table_statistics', 'table_statistics', '1000000 50 2 1'), "
            "('partition_statistics', 'partition_statistics', '1000000 50 2 1')"
        )
