"""Definitions of remote catalogs, databases and tables, and the counter of their changes."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def _id() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "remotes",
        sa.Column("id", _id(), primary_key=True),
        sa.Column("cat_id", _id(), sa.ForeignKey("catalogs.id", ondelete="CASCADE")),
        sa.Column("db_id", _id(), sa.ForeignKey("databases.id", ondelete="CASCADE")),
        sa.Column("table_id", _id(), sa.ForeignKey("tables.id", ondelete="CASCADE")),
        sa.Column("fmt", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("cat_id"),
        sa.UniqueConstraint("db_id"),
        sa.UniqueConstraint("table_id"),
    )
    op.execute("INSERT INTO counters (name, value) VALUES ('remotes', 0)")
