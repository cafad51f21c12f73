"""Transactions and locks get the caller who opened them."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("txns", sa.Column("opened_by", sa.Text()))
    op.add_column("locks", sa.Column("opened_by", sa.Text()))
