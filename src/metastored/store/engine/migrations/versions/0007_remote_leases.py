"""Locks and transactions at remotes that belong to those of this metastore."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def _id() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "remote_leases",
        sa.Column("id", _id(), primary_key=True),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("txn_id", sa.BigInteger(), nullable=False),
        sa.Column("lock_id", sa.BigInteger(), nullable=False),
        sa.Column("remote_txn", sa.BigInteger(), nullable=False),
        sa.Column("remote_lock", sa.BigInteger(), nullable=False),
        sa.Column("snapshot", sa.Text(), nullable=False),
        sa.Column("user_name", sa.Text(), nullable=False),
    )
    op.create_index("remote_leases_txn", "remote_leases", ["txn_id"])
    op.create_index("remote_leases_lock", "remote_leases", ["lock_id"])
