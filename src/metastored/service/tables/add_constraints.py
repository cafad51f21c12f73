"""Constraints: adding them, to an existing table or with a new one.

The checks are Hive's: its tables and columns exist, its name is unique in the metastore or, since Hive 4, in its table;
a table has one primary key, and a foreign key refers to all columns of a key, with the same types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from metastored.errors import MetaException, MetastoreError, NoSuchObjectException
from metastored.hive.constraints import CHECK, DEFAULT, FOREIGN, NOT_NULL, PRIMARY, UNIQUE
from metastored.hive.names import normalize
from metastored.model.names import DatabaseName
from metastored.service.core import rows
from metastored.service.core.changes import record
from metastored.service.core.conflicts import locked
from metastored.service.core.context import Context
from metastored.service.core.serving import method
from metastored.service.tables.get import required_table_name
from metastored.store.engine.transaction import Transaction
from metastored.store.objects import constraints as store
from metastored.store.objects import tables
from metastored.store.objects.constraints import NewConstraint
from metastored.store.objects.tables import TableRow
from metastored.wire.codec import binary
from metastored.wire.generated.common import SQLForeignKey, Table
from metastored.wire.generated.constraints import (
    AddCheckConstraintRequest,
    AddDefaultConstraintRequest,
    AddForeignKeyRequest,
    AddNotNullConstraintRequest,
    AddPrimaryKeyRequest,
    AddUniqueConstraintRequest,
)
from metastored.wire.structs import replace


class _Kind(NamedTuple):
    """The differences between the six kinds: the field with the constraint's name, and Hive's texts."""

    name_field: str
    event: str
    prefix: str
    value_field: str | None = None


_KINDS: Final = {
    PRIMARY: _Kind("pk_name", "ADD_PRIMARYKEY", "pk"),
    FOREIGN: _Kind("fk_name", "ADD_FOREIGNKEY", "fk"),
    UNIQUE: _Kind("uk_name", "ADD_UNIQUECONSTRAINT", "uk"),
    NOT_NULL: _Kind("nn_name", "ADD_NOTNULLCONSTRAINT", "nn"),
    DEFAULT: _Kind("dc_name", "ADD_DEFAULTCONSTRAINT", "dc", "default_value"),
    CHECK: _Kind("dc_name", "ADD_CHECKCONSTRAINT", "dc", "check_expression"),
}


@method
def add_primary_key(ctx: Context, req: AddPrimaryKeyRequest) -> None:
    _add(ctx, {PRIMARY: req.primaryKeyCols})


@method
def add_foreign_key(ctx: Context, req: AddForeignKeyRequest) -> None:
    _add(ctx, {FOREIGN: req.foreignKeyCols})


@method
def add_unique_constraint(ctx: Context, req: AddUniqueConstraintRequest) -> None:
    _add(ctx, {UNIQUE: req.uniqueConstraintCols})


@method
def add_not_null_constraint(ctx: Context, req: AddNotNullConstraintRequest) -> None:
    _add(ctx, {NOT_NULL: req.notNullConstraintCols})


@method
def add_default_constraint(ctx: Context, req: AddDefaultConstraintRequest) -> None:
    _add(ctx, {DEFAULT: req.defaultConstraintCols})


@method
def add_check_constraint(ctx: Context, req: AddCheckConstraintRequest) -> None:
    _add(ctx, {CHECK: req.checkConstraintCols})


ConstraintsByKind = Mapping[str, Sequence[Any] | None]
"""Constraints by kind: for each a struct for each of its columns.

Keys come before the foreign keys that refer to them.
"""


def _add(ctx: Context, constraints: ConstraintsByKind) -> None:
    ctx.database.run(lambda tx: add_all(ctx, tx, constraints, NoSuchObjectException))


def add_all(ctx: Context, tx: Transaction, constraints: ConstraintsByKind, missing: type[MetastoreError]) -> None:
    """Adds constraints, by kind, inside of a transaction; `missing` is the error for tables and columns."""
    adding = _Adding(ctx, tx, missing)
    events: list[tuple[str, Sequence[Any]]] = []
    for kind, columns in constraints.items():
        if columns:
            events.append((kind, adding.foreign(columns) if kind == FOREIGN else adding.plain(kind, columns)))
    for kind, added in events:
        # The event of a foreign key is one of the table it refers to.
        database, table = added[0][:2] if kind in (PRIMARY, FOREIGN) else added[0][1:3]
        where = ctx.name(database, added[0].catName)
        record(ctx, tx, _KINDS[kind].event, where, normalize(table), [(kind, binary.encode(one)) for one in added])


class _Adding:
    """The constraints of one request, being added. Tables are looked up and locked once."""

    def __init__(self, ctx: Context, tx: Transaction, missing: type[MetastoreError]) -> None:
        self._ctx = ctx
        self._tx = tx
        self._missing = missing
        self._known: dict[tuple[DatabaseName, str], tuple[TableRow, Table]] = {}

    def _table(self, what: str, cat: str | None, db: str | None, name: str | None) -> tuple[TableRow, Table]:
        where, key = self._ctx.name(db, cat), required_table_name(name)
        known = self._known.get((where, key))
        if known is None:
            row = tables.find(self._tx, *where, key)
            if row is None:
                raise self._missing(f"{what} table not found: {key}")
            row = locked(self._tx, row)
            known = self._known[where, key] = (row, rows.table_of(row, *where))
        return known

    def _column(self, what: str, table: Table, name: str | None) -> str:
        column = normalize(name or "")
        if column not in _types(table):
            raise self._missing(f"{what} column not found: {column}")
        return column

    def _name(self, kind: str, constraint: Any, last: str | None, table_id: int, *described: str) -> str:
        """The constraint's own name, or a new one for its first column, which the other columns share."""
        name: str | None = getattr(constraint, _KINDS[kind].name_field)
        if name is None:
            first = getattr(constraint, "key_seq", 1) == 1
            return _generated(self._ctx, self._tx, *described, _KINDS[kind].prefix) if first or last is None else last
        unique_name = normalize(name)
        among = table_id if self._ctx.accepted.names_constraints_by_table else None
        if unique_name != last and store.is_taken(self._tx, unique_name, among):
            raise MetaException(f"Constraint name already exists: {unique_name}")
        return unique_name

    def plain(self, kind: str, constraints: Sequence[Any]) -> list[Any]:
        """Adds constraints of every kind but foreign keys. Returns them with their names filled in."""
        new: list[NewConstraint] = []
        added: list[Any] = []
        last: str | None = None
        for one in constraints:
            row, table = self._table("Parent", one.catName, one.table_db, one.table_name)
            column = None
            if kind != CHECK or one.column_name is not None:
                column = self._column("Parent", table, one.column_name)
            if kind == PRIMARY and store.of_table(self._tx, row.id, PRIMARY):
                where = DatabaseName(table.catName or "", table.dbName or "")
                raise MetaException(f" Primary key already exists for: {self._ctx.full_name(where, row.name)}")
            last = self._name(kind, one, last, row.id, table.dbName or "", row.name, column or "null")
            value = _KINDS[kind].value_field
            new.append(
                NewConstraint(
                    kind=kind,
                    name=last,
                    position=getattr(one, "key_seq", None) or 1,
                    table_id=row.id,
                    column_name=column,
                    flags=_packed(one),
                    value=getattr(one, value) if value is not None else None,
                )
            )
            added.append(replace(one, catName=table.catName, **{_KINDS[kind].name_field: last}))
        store.insert_many(self._tx, new)
        return added

    def foreign(self, constraints: Sequence[SQLForeignKey]) -> list[SQLForeignKey]:
        new: list[NewConstraint] = []
        added: list[SQLForeignKey] = []
        if len({normalize(one.catName) for one in constraints if one.catName is not None}) > 1:
            raise self._missing("Foreign keys cannot span catalogs")
        for key in _keys(constraints):
            first, last = key[0], None
            child_row, child = self._table("Child", first.catName, first.fktable_db, first.fktable_name)
            parent_row, parent = self._table("Parent", first.catName, first.pktable_db, first.pktable_name)
            for one in key:
                column = self._column("Child", child, one.fkcolumn_name)
                referred = self._column("Parent", parent, one.pkcolumn_name)
                described = (child.dbName, child_row.name, parent.dbName, parent_row.name, referred, column)
                last = self._name(FOREIGN, one, last, child_row.id, *(part or "" for part in described))
                new.append(
                    NewConstraint(
                        kind=FOREIGN,
                        name=last,
                        position=one.key_seq or 1,
                        table_id=child_row.id,
                        column_name=column,
                        flags=_packed(one),
                        parent_id=parent_row.id,
                        parent_column=referred,
                        update_rule=one.update_rule,
                        delete_rule=one.delete_rule,
                    )
                )
                added.append(replace(one, catName=child.catName, fk_name=last))
            if self._ctx.rules.checks_foreign_keys:
                self._check_reference(key, child, parent_row, parent)
        store.insert_many(self._tx, new)
        return added

    def _check_reference(self, key: Sequence[SQLForeignKey], child: Table, parent_row: TableRow, parent: Table) -> None:
        """A foreign key must refer to all columns of a primary or unique key, with the same types."""
        types, parent_types = _types(child), _types(parent)
        keys = store.of_table(self._tx, parent_row.id, PRIMARY, UNIQUE)
        if not keys:
            raise MetaException(
                "Trying to define foreign key but there are no primary keys or unique keys for referenced table"
            )
        possible = set()
        for _, columns in groupby(sorted(keys, key=lambda row: row.name), key=lambda row: row.name):
            ordered = sorted(columns, key=lambda row: row.position)
            possible.add(_signature((row.column_name or "", parent_types[row.column_name or ""]) for row in ordered))
        own = [(normalize(one.fkcolumn_name or ""), normalize(one.pkcolumn_name or "")) for one in key]
        referred = _signature((there, types[here]) for here, there in own)
        if referred not in possible:
            raise MetaException(
                f"Foreign key references {referred} but no corresponding primary key or unique key exists."
                f" Possible keys: [{', '.join(sorted(possible))}]"
            )
        if child == parent and _signature((here, types[here]) for here, _ in own) == referred:
            raise MetaException(f"Cannot be both foreign key and primary/unique key on same table: {referred}")


def _types(table: Table) -> dict[str, str]:
    """The types of a table's columns and partition keys."""
    columns = (table.sd.cols if table.sd is not None else None) or ()
    return {field.name or "": field.type or "" for field in (*columns, *(table.partitionKeys or ()))}


def _keys(columns: Sequence[SQLForeignKey]) -> Iterable[list[SQLForeignKey]]:
    """The columns of each key: a key begins where the sequence does."""
    key: list[SQLForeignKey] = []
    for one in columns:
        if key and one.key_seq == 1:
            yield key
            key = []
        key.append(one)
    if key:
        yield key


def _signature(columns: Iterable[tuple[str, str]]) -> str:
    return "".join(f"{name}:{type_};" for name, type_ in columns)


def _packed(constraint: Any) -> int:
    return 4 * bool(constraint.enable_cstr) + 2 * bool(constraint.validate_cstr) + bool(constraint.rely_cstr)


def _generated(ctx: Context, tx: Transaction, *described: str) -> str:
    """A name in Hive's form: the kind, a hash of the object, the time, a counter."""
    number = _java_hash("{" + ",".join(described) + "}") & 0xFFFFFFF
    moment = int(ctx.service.clock() * 1000)
    counter = 0
    while store.is_taken(tx, name := f"{described[-1]}_{number}_{moment}_{counter}"):
        counter += 1
    return name


def _java_hash(text: str) -> int:
    """Java's String.hashCode."""
    data = text.encode("utf-16-be", "surrogatepass")
    number = 0
    for at in range(0, len(data), 2):
        number = (31 * number + int.from_bytes(data[at : at + 2])) & 0xFFFFFFFF
    return number
