"""Tables get a stamp that changes with the column statistics of their partitions.

Existing tables may have such statistics, so their stamps must differ from 0, and from each other.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("tables", sa.Column("statistics_stamp", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    op.execute("UPDATE tables SET statistics_stamp = -id")
