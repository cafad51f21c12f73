"""The rows of marks: an event, such as a completed load, of a partition name. The partition need not exist."""

import sqlalchemy as sa

from metastored.store.engine import schema
from metastored.store.engine.statements import Statement, bound
from metastored.store.engine.transaction import Transaction

_m = schema.partition_marks.c
_THIS = sa.and_(
    _m.table_id == sa.bindparam("table_id"), _m.name == sa.bindparam("name"), _m.type == sa.bindparam("type")
)
_FIND = Statement(sa.select(_m.time).where(_THIS))
_DELETE = Statement(sa.delete(schema.partition_marks).where(_THIS))
_INSERT = Statement(sa.insert(schema.partition_marks).values(bound("table_id", "name", "type", "time")))


def mark(tx: Transaction, table_id: int, name: str, type: int, time: int) -> None:
    """Sets a mark, or updates its time."""
    tx.run(_DELETE, table_id=table_id, name=name, type=type)
    tx.run(_INSERT, table_id=table_id, name=name, type=type, time=time)


def is_marked(tx: Transaction, table_id: int, name: str, type: int) -> bool:
    return tx.one(_FIND, table_id=table_id, name=name, type=type) is not None
