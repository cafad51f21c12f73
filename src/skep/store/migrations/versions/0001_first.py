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
    counters = op.create_table(
        "counters",
        _required("name", _name()),
        _required("value", sa.BigInteger()),
        sa.PrimaryKeyConstraint("name"),
    )
    op.bulk_insert(counters, [{"name": name, "value": 0} for name in ("event", "version", "token")])
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
    if op.get_bind().dialect.name == "sqlite":
        op.execute("ANALYZE sqlite_schema")
        op.execute(
            "INSERT INTO sqlite_stat1 VALUES "
            "('partitions', 'sqlite_autoindex_partitions_1', '1000000 10000 1'), "
            "('partitions', 'partitions_values', '1000000 10000 100 1')"
        )
