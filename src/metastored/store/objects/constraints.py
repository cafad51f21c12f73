"""The rows of constraints, one for each column of each. Constraints are not checked here.

The parent of a foreign key is the table it refers to; every other constraint has none. A constraint is deleted with
either of its tables.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from metastored.store.engine.statements import Statement, insert_into
from metastored.store.engine.transaction import Transaction


class NewConstraint(NamedTuple):
    """A row to be added."""

    kind: str
    name: str
    position: int
    table_id: int
    column_name: str | None
    flags: int
    parent_id: int | None = None
    parent_column: str | None = None
    update_rule: int | None = None
    delete_rule: int | None = None
    value: str | None = None


class ConstraintRow(NamedTuple):
    """A row, with the names of its tables."""

    kind: str
    name: str
    position: int
    catalog: str
    database: str
    table: str
    column_name: str | None
    flags: int
    update_rule: int | None
    delete_rule: int | None
    value: str | None
    parent_id: int | None
    parent_database: str | None
    parent_table: str | None
    parent_column: str | None


_SELECT = """
    SELECT k.kind, k.name, k.position, c.name, d.name, t.name, k.column_name, k.flags,
        k.update_rule, k.delete_rule, k.value, k.parent_id, pd.name, pt.name, k.parent_column
    FROM constraints k
    JOIN tables t ON k.table_id = t.id
    JOIN databases d ON t.db_id = d.id
    JOIN catalogs c ON d.cat_id = c.id
    LEFT JOIN tables pt ON k.parent_id = pt.id
    LEFT JOIN databases pd ON pt.db_id = pd.id
"""
"""The tables `pt` and `pd` are the parent and its database. The conditions follow, and the order by `k.id`."""
_FIND = Statement(f"{_SELECT} WHERE k.table_id = :table_id AND k.kind IN :kinds ORDER BY k.id")
_TAKEN = Statement("SELECT count(*) FROM constraints WHERE name = :name")
_TAKEN_IN_TABLE = Statement("SELECT count(*) FROM constraints WHERE name = :name AND table_id = :table_id")
_INSERT = Statement(insert_into("constraints", *NewConstraint._fields), positions=NewConstraint._fields)
_DELETE = Statement("DELETE FROM constraints WHERE (table_id = :table_id OR parent_id = :table_id) AND name = :name")
_DELETE_ON_COLUMNS = Statement(
    """
    DELETE FROM constraints WHERE (table_id, name) IN (
        SELECT table_id, name FROM constraints
        WHERE table_id = :table_id AND column_name IN :columns
            OR parent_id = :table_id AND parent_column IN :columns
    )
    """
)
_RENAME = Statement("UPDATE constraints SET column_name = :new WHERE table_id = :table_id AND column_name = :old")
_RENAME_PARENT = Statement(
    "UPDATE constraints SET parent_column = :new WHERE parent_id = :table_id AND parent_column = :old"
)


def of_table(tx: Transaction, table_id: int, *kinds: str) -> list[ConstraintRow]:
    """The constraints of these kinds on a table, in the order they were added."""
    return list(map(ConstraintRow._make, tx.all(_FIND, table_id=table_id, kinds=tx.list(kinds))))


_FILTERS = {"parent_database": "pd.name", "parent_table": "pt.name", "database": "d.name", "table": "t.name"}


@lru_cache
def _foreign_keys(filters: tuple[str, ...]) -> Statement:
    conditions = "".join(f" AND {_FILTERS[name]} = :{name}" for name in filters)
    return Statement(f"{_SELECT} WHERE k.kind = :kind AND c.name = :catalog{conditions} ORDER BY k.id")


def referring(tx: Transaction, kind: str, catalog: str, **names: str | None) -> list[ConstraintRow]:
    """Constraints of one kind by the names of their tables and parents; a name that is None matches any."""
    parameters = {key: name for key, name in names.items() if name is not None}
    result = tx.all(_foreign_keys(tuple(sorted(parameters))), kind=kind, catalog=catalog, **parameters)
    return list(map(ConstraintRow._make, result))


def is_taken(tx: Transaction, name: str, table_id: int | None = None) -> bool:
    """Whether a table has a constraint of this name; without a table, whether any table has."""
    if table_id is None:
        return tx.one(_TAKEN, name=name) != (0,)
    return tx.one(_TAKEN_IN_TABLE, name=name, table_id=table_id) != (0,)


def insert_many(tx: Transaction, rows: Sequence[NewConstraint]) -> None:
    tx.many(_INSERT, rows)


def delete(tx: Transaction, table_id: int, name: str) -> int:
    """Deletes a constraint on a table, or one that refers to it; returns how many rows it had."""
    return tx.run(_DELETE, table_id=table_id, name=name)


def delete_on_columns(tx: Transaction, table_id: int, columns: Sequence[str]) -> int:
    """Delete every constraint that has one of these columns of a table."""
    return tx.run(_DELETE_ON_COLUMNS, table_id=table_id, columns=tx.list(columns))


def rename_column(tx: Transaction, table_id: int, old: str, new: str) -> None:
    """Updates constraints after a column of a table was renamed."""
    tx.run(_RENAME, table_id=table_id, old=old, new=new)
    tx.run(_RENAME_PARENT, table_id=table_id, old=old, new=new)
