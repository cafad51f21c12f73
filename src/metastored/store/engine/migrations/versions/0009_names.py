"""Databases get stamps that change with the names of their tables, written by triggers; partitions get an index of ids.

The triggers are those of `triggers.py`: a later revision that changes them replaces them.
"""

import sqlalchemy as sa
from alembic import op

from metastored.store.engine.stamps import new_stamp
from metastored.store.engine.statements import SQLITE
from metastored.store.engine.triggers import trigger_statements

revision = "0009"
down_revision = "0008"


def _id() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    connection = op.get_bind()
    dialect = connection.dialect.name
    if dialect != SQLITE:
        # Servers of the former version may write meanwhile, and lock tables before databases and partitions.
        op.execute("LOCK TABLE tables IN SHARE ROW EXCLUSIVE MODE")
    op.create_table(
        "table_name_stamps",
        sa.Column(
            "db_id", _id(), sa.ForeignKey("databases.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
        ),
        sa.Column("stamp", sa.BigInteger(), nullable=False),
    )
    for statement in trigger_statements(dialect):
        connection.exec_driver_sql(statement)
    # Nobody else writes to the tables now. A number that is the same for all databases is none that any had before.
    op.execute(f"INSERT INTO table_name_stamps (db_id, stamp) SELECT id, {new_stamp()} FROM databases")
    op.create_index("partitions_ids", "partitions", ["table_id", "id"])
    if dialect == SQLITE:
        op.execute("INSERT INTO sqlite_stat1 VALUES ('partitions', 'partitions_ids', '1000000 10000 1')")
