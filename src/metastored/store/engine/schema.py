"""The tables of the store, for SQLite and PostgreSQL alike. It never opens a database.

A row holds the columns that queries need and a `body`: the encoded object without the fields that vary by caller, name
or compatibility. `fmt` numbers the encoding of the body. A change here needs a new file in `migrations/versions`, and
`tools/create_tables.py` writes the statements that create the tables: a test checks that they and the migrations give
the same schema. A server does not import this module, nor SQLAlchemy: only migrations and copies of databases do.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeEngine

from metastored.store.engine.stored import VALUE_COLUMNS

metadata = MetaData()


def _id() -> BigInteger:
    # Only a column of exactly the type INTEGER can be SQLite's own row id.
    return BigInteger().with_variant(Integer(), "sqlite")


def _name() -> Text:
    # Names sort by code point everywhere, whatever the locale of the PostgreSQL server is.
    return Text().with_variant(Text(collation="C"), "postgresql")


def _column(name: str, type_: TypeEngine[Any], *args: Any) -> Column[Any]:
    return Column(name, type_, *args, nullable=False)


def _reference(column: str, *, cascade: bool = False) -> ForeignKey:
    return ForeignKey(column, ondelete="CASCADE" if cascade else None)


def _partial(name: str, *columns: str, where: str) -> Index:
    return Index(name, *columns, sqlite_where=text(where), postgresql_where=text(where))


def _table(name: str, *args: Any, **options: Any) -> Table:
    return Table(name, metadata, *args, **options)


meta = _table(
    "meta",
    _column("key", _name()),
    _column("value", Text()),
    PrimaryKeyConstraint("key"),
)

catalogs = _table(
    "catalogs",
    Column("id", _id(), primary_key=True),
    _column("name", _name()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    UniqueConstraint("name"),
    # Clients compare the id of an object to detect that it was recreated, so ids are never reused.
    sqlite_autoincrement=True,
)

databases = _table(
    "databases",
    Column("id", _id(), primary_key=True),
    _column("cat_id", _id(), _reference("catalogs.id")),
    _column("name", _name()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    UniqueConstraint("cat_id", "name"),
    sqlite_autoincrement=True,
)

tables = _table(
    "tables",
    Column("id", _id(), primary_key=True),
    _column("db_id", _id(), _reference("databases.id")),
    _column("name", _name()),
    _column("type", _name()),
    Column("owner", _name()),
    _column("last_access", BigInteger()),
    _column("write_id", BigInteger()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    Column("creation_metadata", LargeBinary()),
    # A new number after each change of the column statistics of partitions; 0 while none were written: a cache compares
    # it.
    Column("statistics_stamp", BigInteger(), nullable=False, server_default=text("0")),
    UniqueConstraint("db_id", "name"),
    Index("tables_type", "db_id", "type"),
    sqlite_autoincrement=True,
)

# A new number after each change of the names or types of a database's tables: a cache compares it. Only triggers write
# it (`triggers.py`), so writes of any program are noticed. A database without a stamp has had no table.
table_name_stamps = _table(
    "table_name_stamps",
    Column("db_id", _id(), _reference("databases.id", cascade=True), primary_key=True, autoincrement=False),
    _column("stamp", BigInteger()),
)

table_params = _table(
    "table_params",
    _column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("key", _name()),
    _column("value", _name()),
    PrimaryKeyConstraint("table_id", "key"),
    Index("table_params_value", "key", "value"),
    sqlite_with_rowid=False,
)

shapes = _table(
    "shapes",
    _column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("no", Integer()),
    _column("sd", LargeBinary()),
    PrimaryKeyConstraint("table_id", "no"),
    sqlite_with_rowid=False,
)

bases = _table(
    "bases",
    _column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("no", Integer()),
    _column("uri", Text()),
    PrimaryKeyConstraint("table_id", "no"),
    sqlite_with_rowid=False,
)

partitions = _table(
    "partitions",
    Column("id", _id(), primary_key=True),
    _column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("name", _name()),
    *(Column(value, _name()) for value in VALUE_COLUMNS),
    Column("shape", Integer()),
    Column("base", Integer()),
    Column("suffix", Text()),
    _column("write_id", BigInteger()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    UniqueConstraint("table_id", "name"),
    Index("partitions_values", "table_id", "v1", "v2"),
    # The newest partition of a table: a cache compares it.
    Index("partitions_ids", "table_id", "id"),
)

partition_marks = _table(
    "partition_marks",
    _column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("name", _name()),
    _column("type", Integer()),
    _column("time", BigInteger()),
    PrimaryKeyConstraint("table_id", "name", "type"),
    sqlite_with_rowid=False,
)


def _statistics(name: str, owner: str, reference: str) -> Table:
    return _table(
        name,
        _column(owner, _id(), _reference(reference, cascade=True)),
        _column("column_name", _name()),
        _column("engine", _name()),
        _column("type", _name()),
        _column("kind", _name()),
        _column("last_analyzed", BigInteger()),
        # The values that are aggregated over partitions; dates and timestamps are whole numbers, decimals only in the
        # body.
        Column("low", BigInteger()),
        Column("high", BigInteger()),
        Column("double_low", Double()),
        Column("double_high", Double()),
        Column("nulls", BigInteger()),
        Column("distincts", BigInteger()),
        Column("average_length", Double()),
        Column("max_length", BigInteger()),
        Column("trues", BigInteger()),
        Column("falses", BigInteger()),
        _column("fmt", Integer()),
        _column("body", LargeBinary()),
        # Not part of the body: few calls need them, and they are most of the bytes.
        Column("bit_vector", LargeBinary()),
        Column("histogram", LargeBinary()),
        PrimaryKeyConstraint(owner, "column_name", "engine"),
        # The rows of a partition are stored together: those of a thousand are read in one go.
        sqlite_with_rowid=False,
    )


table_statistics = _statistics("table_statistics", "table_id", "tables.id")
partition_statistics = _statistics("partition_statistics", "partition_id", "partitions.id")

constraints = _table(
    "constraints",
    Column("id", _id(), primary_key=True),
    _column("kind", _name()),
    _column("name", _name()),
    _column("position", Integer()),
    _column("table_id", _id(), _reference("tables.id", cascade=True)),
    # A check may be on the complete table.
    Column("column_name", _name()),
    _column("flags", Integer()),
    # The key that a foreign key refers to.
    Column("parent_id", _id(), _reference("tables.id", cascade=True)),
    Column("parent_column", _name()),
    Column("update_rule", Integer()),
    Column("delete_rule", Integer()),
    Column("value", Text()),
    # Before 4.0 a name is unique in the metastore, later in its table: the service checks that.
    UniqueConstraint("table_id", "name", "position"),
    Index("constraints_name", "name"),
    Index("constraints_parent", "parent_id"),
)

functions = _table(
    "functions",
    Column("id", _id(), primary_key=True),
    _column("db_id", _id(), _reference("databases.id")),
    _column("name", _name()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    UniqueConstraint("db_id", "name"),
)

events = _table(
    "events",
    Column("id", _id(), primary_key=True, autoincrement=False),
    _column("time", BigInteger()),
    _column("type", _name()),
    Column("cat", _name()),
    Column("db", _name()),
    Column("tbl", _name()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
)

documents = _table(
    "documents",
    Column("id", _id(), primary_key=True),
    _column("kind", _name()),
    # The owner with which a document is deleted, if it has one.
    Column("db_id", _id(), _reference("databases.id", cascade=True)),
    Column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("parent", _name()),
    _column("key", _name()),
    _column("at", BigInteger()),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    UniqueConstraint("kind", "parent", "key"),
    Index("documents_at", "kind", "parent", "at"),
    Index("documents_db_id", "db_id"),
    Index("documents_table_id", "table_id"),
    # Ids are shown to clients as the numbers of executions, which must not be reused.
    sqlite_autoincrement=True,
)

remotes = _table(
    "remotes",
    Column("id", _id(), primary_key=True),
    # The object that is remote: exactly one of the three. The definition has its names, and goes away with it.
    Column("cat_id", _id(), _reference("catalogs.id", cascade=True)),
    Column("db_id", _id(), _reference("databases.id", cascade=True)),
    Column("table_id", _id(), _reference("tables.id", cascade=True)),
    _column("fmt", Integer()),
    _column("body", LargeBinary()),
    UniqueConstraint("cat_id"),
    UniqueConstraint("db_id"),
    UniqueConstraint("table_id"),
)

counters = _table(
    "counters",
    _column("name", _name()),
    _column("value", BigInteger()),
    PrimaryKeyConstraint("name"),
)

warehouse_jobs = _table(
    "warehouse_jobs",
    Column("id", _id(), primary_key=True),
    _column("kind", _name()),
    _column("source", Text()),
    Column("target", Text()),
    _column("created", BigInteger()),
    _column("attempts", Integer()),
    Column("error", Text()),
    Column("next_attempt", BigInteger(), nullable=False, server_default=text("0")),
    # A server that is slow to delete a finished job must not delete a newer one with the same id.
    sqlite_autoincrement=True,
)

roles = _table(
    "roles",
    _column("name", _name()),
    Column("owner", _name()),
    _column("create_time", BigInteger()),
    PrimaryKeyConstraint("name"),
)

# --- transactions, locks, compactions ---------------------------------------------------------------------------
#
# Hive stores these by name, not by the id of a table: clients lock tables that do not exist yet, and a table's write
# ids
# are allocated before it is looked up. `renamed` and `dropped` of store/transactions/resources.py update the names.

txns = _table(
    "txns",
    Column("id", _id(), primary_key=True, autoincrement=False),
    _column("state", Integer()),
    _column("type", Integer()),
    _column("user_name", Text()),
    _column("host", Text()),
    _column("started", BigInteger()),
    _column("heartbeat", BigInteger()),
    # The lowest transaction that was open when this one began: its snapshots may still exclude it.
    _column("min_open", BigInteger()),
    Column("ended", BigInteger()),
    Column("reason", Text()),
    # The caller who opened it; it may differ from the user that the request names. Without one, that user.
    Column("opened_by", Text()),
    # The rows that snapshots and timeouts read: never the committed ones, which are most.
    _partial("txns_unfinished", "id", "state", "type", where="state <> 1"),
)

txn_components = _table(
    "txn_components",
    _column("txn_id", BigInteger()),
    _column("cat", _name()),
    _column("db", _name()),
    Column("tbl", _name()),
    Column("part", _name()),
    _column("op", _name()),
    Column("write_id", BigInteger()),
    Index("txn_components_txn", "txn_id"),
    Index("txn_components_name", "cat", "db", "tbl"),
)

completed_components = _table(
    "completed_components",
    _column("txn_id", BigInteger()),
    _column("cat", _name()),
    _column("db", _name()),
    Column("tbl", _name()),
    Column("part", _name()),
    Column("write_id", BigInteger()),
    _column("update_delete", Integer()),
    _column("time", BigInteger()),
    Index("completed_components_txn", "txn_id"),
    Index("completed_components_name", "cat", "db", "tbl", "write_id"),
)

write_sets = _table(
    "write_sets",
    _column("txn_id", BigInteger()),
    _column("commit_id", BigInteger()),
    _column("cat", _name()),
    _column("db", _name()),
    Column("tbl", _name()),
    Column("part", _name()),
    _column("op", _name()),
    Index("write_sets_name", "cat", "db", "tbl", "commit_id"),
)

write_id_counters = _table(
    "write_id_counters",
    Column("id", _id(), primary_key=True),
    _column("cat", _name()),
    _column("db", _name()),
    _column("tbl", _name()),
    _column("next", BigInteger()),
    # A new number after each change of the counter or of its ids: a cache compares it.
    Column("stamp", BigInteger(), nullable=False, server_default=text("0")),
    UniqueConstraint("cat", "db", "tbl"),
)

write_ids = _table(
    "write_ids",
    _column("counter_id", _id(), _reference("write_id_counters.id", cascade=True)),
    _column("write_id", BigInteger()),
    _column("txn_id", BigInteger()),
    PrimaryKeyConstraint("counter_id", "write_id"),
    UniqueConstraint("txn_id", "counter_id"),
    sqlite_with_rowid=False,
)

min_history = _table(
    "min_history",
    _column("txn_id", BigInteger()),
    _column("cat", _name()),
    _column("db", _name()),
    _column("tbl", _name()),
    _column("write_id", BigInteger()),
    Index("min_history_txn", "txn_id"),
    Index("min_history_name", "cat", "db", "tbl"),
)

replicated_txns = _table(
    "replicated_txns",
    _column("policy", _name()),
    _column("source", BigInteger()),
    _column("target", BigInteger()),
    PrimaryKeyConstraint("policy", "source"),
    Index("replicated_txns_target", "target"),
    sqlite_with_rowid=False,
)

locks = _table(
    "locks",
    _column("ext_id", _id()),
    _column("int_id", Integer()),
    _column("txn_id", BigInteger()),
    _column("cat", _name()),
    _column("db", _name()),
    Column("tbl", _name()),
    Column("part", _name()),
    _column("state", Integer()),
    _column("type", Integer()),
    _column("heartbeat", BigInteger()),
    Column("acquired", BigInteger()),
    _column("user_name", Text()),
    _column("host", Text()),
    Column("agent", Text()),
    Column("blocked_ext", BigInteger()),
    Column("blocked_int", Integer()),
    Column("opened_by", Text()),
    PrimaryKeyConstraint("ext_id", "int_id"),
    Index("locks_name", "cat", "db", "tbl"),
    Index("locks_txn", "txn_id"),
    sqlite_with_rowid=False,
)

rebuild_locks = _table(
    "rebuild_locks",
    _column("cat", _name()),
    _column("db", _name()),
    _column("tbl", _name()),
    _column("txn_id", BigInteger()),
    _column("heartbeat", BigInteger()),
    PrimaryKeyConstraint("cat", "db", "tbl"),
    sqlite_with_rowid=False,
)

remote_leases = _table(
    "remote_leases",
    Column("id", _id(), primary_key=True),
    _column("endpoint", Text()),
    _column("txn_id", BigInteger()),
    _column("lock_id", BigInteger()),
    _column("remote_txn", BigInteger()),
    _column("remote_lock", BigInteger()),
    _column("snapshot", Text()),
    _column("user_name", Text()),
)
Index("remote_leases_txn", remote_leases.c.txn_id)
Index("remote_leases_lock", remote_leases.c.lock_id)

compactions = _table(
    "compactions",
    Column("id", _id(), primary_key=True, autoincrement=False),
    _column("cat", _name()),
    _column("db", _name()),
    _column("tbl", _name()),
    Column("part", _name()),
    _column("state", _name()),
    _column("type", Integer()),
    Column("properties", Text()),
    Column("worker_id", Text()),
    Column("worker_version", Text()),
    Column("initiator_id", Text()),
    Column("initiator_version", Text()),
    Column("start", BigInteger()),
    Column("end", BigInteger()),
    Column("run_as", Text()),
    Column("highest_write_id", BigInteger()),
    Column("hadoop_job_id", Text()),
    Column("error_message", Text()),
    Column("enqueue_time", BigInteger()),
    _column("retry_retention", BigInteger()),
    Column("cleaner_start", BigInteger()),
    Column("next_txn_id", BigInteger()),
    Column("txn_id", BigInteger()),
    Column("commit_time", BigInteger()),
    Column("pool", _name()),
    Column("buckets", Integer()),
    Column("order_by", Text()),
    Index("compactions_name", "cat", "db", "tbl"),
    _partial("compactions_queue", "state", "id", where="state IN ('i', 'w', 'r')"),
    _partial("compactions_txn", "txn_id", where="txn_id IS NOT NULL"),
)

compaction_metrics = _table(
    "compaction_metrics",
    _column("cat", _name()),
    _column("db", _name()),
    _column("tbl", _name()),
    # Empty for a table without partitions: a key cannot be null.
    _column("part", _name()),
    _column("type", Integer()),
    _column("value", Integer()),
    _column("version", Integer()),
    PrimaryKeyConstraint("cat", "db", "tbl", "part", "type"),
    sqlite_with_rowid=False,
)

role_grants = _table(
    "role_grants",
    _column("role", _name(), _reference("roles.name", cascade=True)),
    _column("principal", _name()),
    _column("principal_type", Integer()),
    _column("grant_option", Boolean()),
    _column("create_time", BigInteger()),
    Column("grantor", _name()),
    Column("grantor_type", Integer()),
    PrimaryKeyConstraint("role", "principal", "principal_type"),
    Index("role_grants_principal", "principal", "principal_type"),
)

grants = _table(
    "grants",
    Column("id", _id(), primary_key=True),
    _column("object_type", Integer()),
    # By the ids of the objects, so that a rename keeps the grants and a drop deletes them.
    Column("db_id", _id(), _reference("databases.id", cascade=True)),
    Column("table_id", _id(), _reference("tables.id", cascade=True)),
    Column("partition_id", _id(), _reference("partitions.id", cascade=True)),
    Column("column_name", _name()),
    Column("connector", _name()),
    _column("principal", _name()),
    _column("principal_type", Integer()),
    _column("privilege", _name()),
    _column("grant_option", Boolean()),
    _column("create_time", BigInteger()),
    Column("grantor", _name()),
    Column("grantor_type", Integer()),
    Column("authorizer", _name()),
    Index("grants_principal", "principal", "principal_type"),
    Index("grants_db", "db_id"),
    Index("grants_table", "table_id"),
    Index("grants_partition", "partition_id"),
)

tokens = _table(
    "tokens",
    _column("identifier", _name()),
    _column("token", Text()),
    Column("expires", BigInteger()),
    PrimaryKeyConstraint("identifier"),
    Index("tokens_expires", "expires"),
)

master_keys = _table(
    "master_keys",
    Column("id", _id(), primary_key=True),
    _column("key", Text()),
    # A token names the key that signed it; if a number were reused, it would refer to another key.
    sqlite_autoincrement=True,
)

rate_counters = _table(
    "rate_counters",
    _column("principal", _name()),
    _column("minute", BigInteger()),
    _column("calls", BigInteger()),
    PrimaryKeyConstraint("principal", "minute"),
    Index("rate_counters_minute", "minute"),
)

users = _table(
    "users",
    _column("name", _name()),
    _column("password", Text()),
    _column("create_time", BigInteger()),
    _column("change_time", BigInteger()),
    PrimaryKeyConstraint("name"),
)


def own_rows() -> list[Table]:
    """The tables whose rows metastored writes itself, those that others refer to first.

    Rows of the other tables are written by triggers. A copy of a database gets its own.
    """
    return [table for table in metadata.sorted_tables if table is not table_name_stamps]
