"""Directory jobs that failed get the time of their next attempt; those that failed before are due at once."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column(
        "warehouse_jobs", sa.Column("next_attempt", sa.BigInteger(), nullable=False, server_default=sa.text("0"))
    )
    op.execute("UPDATE warehouse_jobs SET next_attempt = 1 WHERE attempts > 0")
