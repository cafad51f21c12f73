"""Converts constraints between Hive's structs, one for each column, and `status.Constraint`. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from metastored.catalog.status import Constraint, ConstraintKind
from metastored.errors import InvalidInputException
from metastored.model.names import TableName, table_name
from metastored.wire.generated.common import (
    SQLCheckConstraint,
    SQLDefaultConstraint,
    SQLForeignKey,
    SQLNotNullConstraint,
    SQLPrimaryKey,
    SQLUniqueConstraint,
)

IN_HIVE_2_3: Final = frozenset({ConstraintKind.PRIMARY_KEY, ConstraintKind.FOREIGN_KEY})
"""The kinds of constraints that Hive 2.3 has; the others exist since 3.0."""


class HiveConstraints(NamedTuple):
    """A table's constraints as `create_table_with_constraints` takes them."""

    primary_keys: tuple[SQLPrimaryKey, ...] = ()
    foreign_keys: tuple[SQLForeignKey, ...] = ()
    unique: tuple[SQLUniqueConstraint, ...] = ()
    not_null: tuple[SQLNotNullConstraint, ...] = ()
    defaults: tuple[SQLDefaultConstraint, ...] = ()
    checks: tuple[SQLCheckConstraint, ...] = ()


def hive_constraints(table: TableName, given: Iterable[Constraint]) -> HiveConstraints:
    by_kind: dict[ConstraintKind, list[Any]] = {kind: [] for kind in ConstraintKind}
    for each in given:
        by_kind[each.kind] += _structs(table, each)
    return HiveConstraints(
        tuple(by_kind[ConstraintKind.PRIMARY_KEY]),
        tuple(by_kind[ConstraintKind.FOREIGN_KEY]),
        tuple(by_kind[ConstraintKind.UNIQUE]),
        tuple(by_kind[ConstraintKind.NOT_NULL]),
        tuple(by_kind[ConstraintKind.DEFAULT]),
        tuple(by_kind[ConstraintKind.CHECK]),
    )


def _structs(table: TableName, given: Constraint) -> list[Any]:
    _check(given)
    flags: dict[str, Any] = {"enable_cstr": given.enabled, "validate_cstr": given.validated, "rely_cstr": given.rely}
    own: dict[str, Any] = {"table_db": table.database, "table_name": table.table}
    numbered = list(enumerate(given.columns, start=1))
    match given.kind:
        case ConstraintKind.PRIMARY_KEY:
            return [
                SQLPrimaryKey(column_name=name, key_seq=at, pk_name=given.name, **own, **flags) for at, name in numbered
            ]
        case ConstraintKind.FOREIGN_KEY:
            return _foreign_key(table, given, flags)
        case ConstraintKind.UNIQUE:
            return [
                SQLUniqueConstraint(column_name=name, key_seq=at, uk_name=given.name, **own, **flags)
                for at, name in numbered
            ]
        case ConstraintKind.NOT_NULL:
            return [SQLNotNullConstraint(column_name=name, nn_name=given.name, **own, **flags) for _, name in numbered]
        case ConstraintKind.DEFAULT:
            return [
                SQLDefaultConstraint(
                    column_name=given.columns[0], default_value=given.expression, dc_name=given.name, **own, **flags
                )
            ]
        case ConstraintKind.CHECK:
            column = given.columns[0] if given.columns else None
            return [
                SQLCheckConstraint(
                    column_name=column, check_expression=given.expression, dc_name=given.name, **own, **flags
                )
            ]


def _foreign_key(table: TableName, given: Constraint, flags: dict[str, Any]) -> list[Any]:
    assert given.references is not None
    parent, columns = table_name(given.references[0]), given.references[1]
    return [
        SQLForeignKey(
            pktable_db=parent.database,
            pktable_name=parent.table,
            pkcolumn_name=theirs,
            fktable_db=table.database,
            fktable_name=table.table,
            fkcolumn_name=ours,
            key_seq=at,
            update_rule=0,
            delete_rule=0,
            fk_name=given.name,
            **flags,
        )
        for at, (ours, theirs) in enumerate(zip(given.columns, columns, strict=True), start=1)
    ]


def _check(given: Constraint) -> None:
    wrong = None
    if not given.columns and given.kind is not ConstraintKind.CHECK:
        wrong = "needs a column"
    elif given.kind is ConstraintKind.FOREIGN_KEY and given.references is None:
        wrong = "needs the table and columns that it references"
    elif given.references is not None and len(given.references[1]) != len(given.columns):
        wrong = "has another number of columns than it references"
    elif given.kind in (ConstraintKind.DEFAULT, ConstraintKind.CHECK) and not given.expression:
        wrong = "needs an expression"
    elif given.kind is ConstraintKind.DEFAULT and len(given.columns) != 1:
        wrong = "is of one column"
    if wrong is not None:
        raise InvalidInputException(f"a constraint ({given.kind.value} {given.name or ''}) {wrong}".replace(" )", ")"))


_NAMES: Final = ("pk_name", "fk_name", "uk_name", "nn_name", "dc_name")
_KINDS: Final[dict[type, ConstraintKind]] = {
    SQLPrimaryKey: ConstraintKind.PRIMARY_KEY,
    SQLForeignKey: ConstraintKind.FOREIGN_KEY,
    SQLUniqueConstraint: ConstraintKind.UNIQUE,
    SQLNotNullConstraint: ConstraintKind.NOT_NULL,
    SQLDefaultConstraint: ConstraintKind.DEFAULT,
    SQLCheckConstraint: ConstraintKind.CHECK,
}


def constraints_of(structs: Iterable[Any]) -> tuple[Constraint, ...]:
    """Groups Hive's structs, one for each column, into constraints."""
    together: dict[tuple[ConstraintKind, str], list[Any]] = {}
    for each in structs:
        kind = _KINDS[type(each)]
        name = each.fk_name if kind is ConstraintKind.FOREIGN_KEY else _name(each)
        together.setdefault((kind, name or ""), []).append(each)
    return tuple(
        _constraint(kind, name, sorted(each, key=lambda one: getattr(one, "key_seq", 0) or 0))
        for (kind, name), each in together.items()
    )


def _name(struct: Any) -> str | None:
    return next((getattr(struct, name) for name in _NAMES if getattr(struct, name, None) is not None), None)


def _constraint(kind: ConstraintKind, name: str, structs: list[Any]) -> Constraint:
    first, foreign = structs[0], kind is ConstraintKind.FOREIGN_KEY
    columns = [each.fkcolumn_name if foreign else each.column_name for each in structs]
    return Constraint(
        kind=kind,
        columns=tuple(column for column in columns if column),
        name=name or None,
        references=(f"{first.pktable_db}.{first.pktable_name}", tuple(each.pkcolumn_name or "" for each in structs))
        if foreign
        else None,
        expression=getattr(first, "default_value", None) or getattr(first, "check_expression", None),
        enabled=bool(first.enable_cstr),
        validated=bool(first.validate_cstr),
        rely=bool(first.rely_cstr),
    )
