"""ALTER TABLE as a change of the struct: what a table is after each change. Pure.

Spark keeps its own schema in a table's parameters: a change of columns is made there too.
"""

from __future__ import annotations

from dataclasses import dataclass

from metastored.client.statements.new_tables import check_properties, column_type, fields_of, with_storage
from metastored.client.statements.values import owner_type
from metastored.errors import InvalidOperationException
from metastored.hive.names import normalize
from metastored.hive.types.type_strings import read_type
from metastored.model import makers
from metastored.model.names import TableName
from metastored.model.spark.columns import edited, spark_field
from metastored.model.spark.properties import PROVIDER, schema_from_properties
from metastored.model.spark.types import StructType
from metastored.statements import definitions as s
from metastored.wire.generated.common import FieldSchema, StorageDescriptor, Table
from metastored.wire.structs import replace


@dataclass(frozen=True, slots=True)
class Changed:
    """Changes a table by one action; it is called again if another client changes the table meanwhile."""

    name: TableName
    action: s.Action
    directory: str | None = None
    """The default location after a rename, for a managed table of Spark's."""

    def __call__(self, table: Table) -> Table:
        match self.action:
            case s.SetProperties(pairs):
                check_properties(key for key, _ in pairs)
                return replace(table, parameters={**(table.parameters or {}), **dict(pairs)})
            case s.UnsetProperties(keys, if_exists):
                return replace(table, parameters=without(table.parameters or {}, keys, if_exists, str(self.name)))
            case s.SetLocation(location):
                return located(table, location)
            case s.SetOwner(principal):
                return replace(table, owner=principal.name, ownerType=owner_type(principal))
            case s.SetStorage(storage):
                return with_storage(table, storage)
            case s.AddColumns(columns, _, replaces):
                return self._with_columns(table, columns, replaces)
            case s.ChangeColumn():
                return self._changed_column(table, self.action)
            case s.DropColumns(names):
                return self._without_columns(table, names)
            case s.RenameTo(target):
                renamed = replace(table, tableName=target[-1], dbName=target[-2])
                return renamed if self.directory is None else _with_path(renamed, self.directory)
        raise AssertionError(self.action)

    def _with_columns(self, table: Table, columns: tuple[s.Column, ...], replaces: bool) -> Table:
        full = str(self.name)
        added = fields_of(columns, full)
        fields = [spark_field(each.name or "", read_type(each.type or ""), each.comment) for each in added]
        old = [each.name or "" for each in _columns(table)] if replaces else []
        if replaces:
            makers.check_columns(full, added, table.partitionKeys or ())
            after = replace(table, sd=replace(table.sd or StorageDescriptor(), cols=added))
        else:
            after = makers.with_columns(table, added)
        return replace(after, parameters=edited(table.parameters or {}, old, {}, {}, {}, StructType(tuple(fields))))

    def _changed_column(self, table: Table, action: s.ChangeColumn) -> Table:
        columns = list(_columns(table))
        at = self._position(table, action.name)
        old = columns.pop(at)
        new = replace(
            old,
            name=old.name if action.new_name is None else normalize(action.new_name),
            type=old.type if action.type is None else fields_of([s.Column("c", action.type)], str(self.name))[0].type,
            comment=old.comment if action.comment is None else action.comment,
        )
        if action.after is not None:
            if schema_from_properties(table.parameters or {}) is not None:
                raise InvalidOperationException(
                    f"Spark keeps the order of the columns of {self.name}: change it by Spark's ALTER TABLE"
                )
            at = self._position(replace(table, sd=_with(table, columns)), action.after) + 1 if action.after else 0
        columns.insert(at, new)
        makers.check_columns(str(self.name), tuple(columns), table.partitionKeys or ())
        key = (old.name or "").lower()
        parameters = edited(
            table.parameters or {},
            (),
            {} if action.new_name is None else {key: action.new_name},
            {} if action.type is None else {key: column_type(action.type)},
            {} if action.comment is None else {key: action.comment},
            StructType(()),
        )
        return replace(table, sd=_with(table, columns), parameters=parameters)

    def _without_columns(self, table: Table, names: tuple[str, ...]) -> Table:
        gone = {self._position(table, name) for name in names}
        kept = [each for at, each in enumerate(_columns(table)) if at not in gone]
        if not kept:
            raise InvalidOperationException(f"{self.name} would have no columns: a table needs at least one")
        dropped = [normalize(name) for name in names]
        parameters = edited(table.parameters or {}, dropped, {}, {}, {}, StructType(()))
        return replace(table, sd=_with(table, kept), parameters=parameters)

    def _position(self, table: Table, name: str) -> int:
        names = [(each.name or "").lower() for each in _columns(table)]
        if normalize(name) in names:
            return names.index(normalize(name))
        if normalize(name) in {(each.name or "").lower() for each in table.partitionKeys or ()}:
            raise InvalidOperationException(f"{name} is a partition key of {self.name}, which cannot be changed")
        raise InvalidOperationException(f"{self.name} has no column {name}; its columns are {', '.join(names)}")


def without(parameters: dict[str, str], keys: tuple[str, ...], if_exists: bool, full: str) -> dict[str, str]:
    """Parameters without some of them. Raises InvalidOperationException for one that is not there."""
    check_properties(keys)
    missing = [key for key in keys if key not in parameters]
    if missing and not if_exists:
        raise InvalidOperationException(f"{full} has no property {missing[0]!r}; UNSET … IF EXISTS ignores that")
    return {key: value for key, value in parameters.items() if key not in keys}


def located(table: Table, location: str) -> Table:
    """A table with another location; Spark reads the location of its own tables from the option `path`."""
    after = replace(table, sd=replace(table.sd or StorageDescriptor(), location=location))
    return _with_path(after, location) if has_path(table) else after


def has_path(table: Table) -> bool:
    """Whether Spark keeps the location of a table in its options."""
    serde = table.sd.serdeInfo if table.sd is not None else None
    return PROVIDER in (table.parameters or {}) and serde is not None and "path" in (serde.parameters or {})


def _with_path(table: Table, path: str) -> Table:
    sd = table.sd
    assert sd is not None and sd.serdeInfo is not None
    serde = replace(sd.serdeInfo, parameters={**(sd.serdeInfo.parameters or {}), "path": path})
    return replace(table, sd=replace(sd, serdeInfo=serde))


def _columns(table: Table) -> tuple[FieldSchema, ...]:
    return (table.sd.cols if table.sd is not None else None) or ()


def _with(table: Table, columns: list[FieldSchema]) -> StorageDescriptor:
    return replace(table.sd or StorageDescriptor(), cols=tuple(columns))
