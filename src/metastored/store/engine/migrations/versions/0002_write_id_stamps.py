"""Counters of write ids get a stamp that changes with every change."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("write_id_counters", sa.Column("stamp", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
