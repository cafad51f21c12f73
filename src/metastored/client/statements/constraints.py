"""Constraints of statements as structs of the metastore's API, and back as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from metastored.client.statements.values import table_of
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName, TableName
from metastored.statements.definitions import Column, Constraint
from metastored.wire.generated.common import (
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
)


class Constraints(NamedTuple):
    """All constraints of a table, in the order of the API's arguments."""

    primary_keys: tuple[SQLPrimaryKey, ...] = ()
    foreign_keys: tuple[SQLForeignKey, ...] = ()
    unique: tuple[SQLUniqueConstraint, ...] = ()
    not_null: tuple[SQLNotNullConstraint, ...] = ()
    defaults: tuple[SQLDefaultConstraint, ...] = ()
    checks: tuple[SQLCheckConstraint, ...] = ()


def constraints_of(constraints: Iterable[Constraint], columns: Iterable[Column], name: TableName) -> Constraints:
    """Constraints as the API takes them. NOT NULL, DEFAULT and CHECK are enabled unless DISABLE is written."""
    by_field: dict[str, list[Any]] = {field: [] for field in Constraints._fields}
    cat, db, table = name.catalog_field, name.database, name.table
    for each in constraints:
        states = (_is_enabled(each), "VALIDATE" in each.states, "RELY" in each.states)
        own = [normalize(column) for column in each.columns]
        if each.kind == "PRIMARY KEY":
            rows: list[Any] = [SQLPrimaryKey(db, table, c, at, each.name, *states, cat) for at, c in enumerate(own, 1)]
            by_field["primary_keys"] += rows
        elif each.kind == "UNIQUE":
            rows = [SQLUniqueConstraint(cat, db, table, c, at, each.name, *states) for at, c in enumerate(own, 1)]
            by_field["unique"] += rows
        elif each.kind == "FOREIGN KEY":
            parent = table_of(each.references, DatabaseName(name.catalog, db))
            for at, (column, other) in enumerate(zip(own, each.referenced, strict=True), 1):
                to = (parent.database, parent.table, normalize(other))
                row = SQLForeignKey(*to, db, table, column, at, 0, 0, each.name, None, *states, cat)
                by_field["foreign_keys"].append(row)
        else:
            by_field["checks"].append(SQLCheckConstraint(cat, db, table, None, each.condition, each.name, *states))
    for field in columns:
        on = (cat, db, table, normalize(field.name))
        if field.not_null:
            by_field["not_null"].append(SQLNotNullConstraint(*on, None, True, False, False))
        if field.default is not None:
            by_field["defaults"].append(SQLDefaultConstraint(*on, field.default, None, True, False, False))
    return Constraints(**{kind: tuple(each) for kind, each in by_field.items()})


def _is_enabled(constraint: Constraint) -> bool:
    if constraint.kind == "CHECK":
        return "DISABLE" not in constraint.states
    return "ENABLE" in constraint.states
