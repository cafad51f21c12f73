"""The rows of marks: an event, such as a completed load, of a partition name. The partition need not exist."""

from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.transaction import Transaction

_THIS = "table_id = :table_id AND name = :name AND type = :type"
_FIND = Statement(f"SELECT time FROM partition_marks WHERE {_THIS}")
_DELETE = Statement(f"DELETE FROM partition_marks WHERE {_THIS}")
_INSERT = Statement(insert_into("partition_marks", "table_id", "name", "type", "time"))


def mark(tx: Transaction, table_id: int, name: str, type: int, time: int) -> None:
    """Sets a mark, or updates its time."""
    tx.run(_DELETE, table_id=table_id, name=name, type=type)
    tx.run(_INSERT, table_id=table_id, name=name, type=type, time=time)


def is_marked(tx: Transaction, table_id: int, name: str, type: int) -> bool:
    return tx.one(_FIND, table_id=table_id, name=name, type=type) is not None
