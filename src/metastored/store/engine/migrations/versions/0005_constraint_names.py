"""The names of constraints are unique among those of a table, no longer in the whole metastore."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_COLUMNS = (
    *("id", "kind", "name", "position", "table_id", "column_name", "flags", "parent_id", "parent_column"),
    *("update_rule", "delete_rule", "value"),
)


def _id() -> sa.BigInteger:
    return sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _required(name: str, type_: Any, *args: Any) -> sa.Column[Any]:
    return sa.Column(name, type_, *args, nullable=False)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _copy()
    else:
        op.drop_constraint("constraints_name_position_key", "constraints")
        op.drop_index("constraints_table")
        op.execute("ALTER TABLE constraints ADD UNIQUE (table_id, name, position)")
    op.create_index("constraints_name", "constraints", ["name"])


def _copy() -> None:
    """SQLite cannot change what is unique in a table."""
    op.rename_table("constraints", "old_constraints")
    for index in ("constraints_table", "constraints_parent"):
        op.drop_index(index)
    op.create_table(
        "constraints",
        sa.Column("id", _id(), primary_key=True),
        _required("kind", sa.Text()),
        _required("name", sa.Text()),
        _required("position", sa.Integer()),
        _required("table_id", _id(), sa.ForeignKey("tables.id", ondelete="CASCADE")),
        sa.Column("column_name", sa.Text()),
        _required("flags", sa.Integer()),
        sa.Column("parent_id", _id(), sa.ForeignKey("tables.id", ondelete="CASCADE")),
        sa.Column("parent_column", sa.Text()),
        sa.Column("update_rule", sa.Integer()),
        sa.Column("delete_rule", sa.Integer()),
        sa.Column("value", sa.Text()),
        sa.UniqueConstraint("table_id", "name", "position"),
    )
    op.create_index("constraints_parent", "constraints", ["parent_id"])
    names = ", ".join(_COLUMNS)
    op.execute(f"INSERT INTO constraints ({names}) SELECT {names} FROM old_constraints")
    op.drop_table("old_constraints")
